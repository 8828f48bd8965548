"""The commands about bundles: `farm new`, `farm check`, `farm derive`; and `farm doctor`."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from servers.authoring.check import advice, derived, findings
from servers.authoring.new_bundle import new_bundle
from servers.bundle.description import Tool
from servers.bundle.environment import load
from servers.bundle.files import text_of, write_text
from servers.cli.command_options import AsJson, Bundle, Bundles, folder_of, folders_of
from servers.errors import BundleError
from servers.guest.walls import WALLS
from servers.sandbox.guest_pool import Guests
from servers.scenario.scenario_file import load_scenarios
from servers.text.terminal import Terminal, hints, marked
from servers.text.wording import counted

app = typer.Typer()
out = Terminal()


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="The new environment's id, which is also its folder's name.")],
) -> None:
    """Make a small, complete environment in this folder, as a start for your own."""
    folder = new_bundle(name, Path())
    out.print(f"{folder}/ is a complete environment: {', '.join(sorted(path.name for path in folder.iterdir()))}")
    out.print(
        hints(
            "Next:",
            (f"farm check {name}", "is anything wrong with it?"),
            (f"farm play {name} --scenario swap_a_game --gold", "watch its reference solution"),
        )
    )
    out.print("docs/how-to/write-by-hand.md shows the next steps.")


class BundleFindings(NamedTuple):
    """The findings of `farm check` about a bundle."""

    bundle: str
    findings: list[str]
    tools: int = 0
    scenarios: int = 0
    advice: list[str] = []
    """Advice does not make a bundle unsound."""


@app.command()
def check(bundles: Bundles, as_json: AsJson = False) -> None:
    """Print all findings about bundles. Exit code 1 if there are any."""
    seen = asyncio.run(_check(folders_of(bundles), lambda one: None if as_json else _tell(one)))
    if as_json:
        out.print_data([{"sound": not one.findings, **one._asdict()} for one in seen])
    if any(one.findings for one in seen):
        raise typer.Exit(1)


async def _check(folders: list[Path], on_checked: Callable[[BundleFindings], None]) -> list[BundleFindings]:
    """Check bundles. `on_checked` gets each result immediately."""
    seen: list[BundleFindings] = []
    async with Guests() as guests:
        for folder in folders:
            found = await findings(folder, guests)
            one = BundleFindings(folder.name, found)
            if not found:
                environment = load(folder)
                scenarios = load_scenarios(environment)
                better = advice(environment, list(scenarios.values()))
                one = BundleFindings(folder.name, [], len(environment.tools), len(scenarios), better)
            on_checked(one)
            seen.append(one)
    return seen


def _tell(one: BundleFindings) -> None:
    for line in (*one.findings, *(f"advice: {line}" for line in one.advice)):
        out.print(line, markup=False, soft_wrap=True)
    if not one.findings:
        out.print(f"{one.bundle}: sound ({counted(one.tools, 'tool')}, {counted(one.scenarios, 'scenario')})")


@app.command()
def derive(
    bundle: Bundle,
    write: Annotated[bool, typer.Option("--write", help="Write the schemas into environment.json.")] = False,
) -> None:
    """Derive the tool schemas of a bundle from the signatures and docstrings of its tools.py."""
    folder = folder_of(bundle)
    tools = [tool.model_dump() for tool in asyncio.run(_derive(folder))]
    if not write:
        out.print_json(json.dumps(tools))
        return
    path = folder / "environment.json"
    try:
        description = json.loads(text_of(path))
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{path}: cannot be read: {error}") from None
    if not isinstance(description, dict):
        raise BundleError(f"{path}: the whole: is not an object")
    write_text(path, json.dumps({**description, "tools": tools}, indent=2, ensure_ascii=False) + "\n")
    out.print(f"{path}: {counted(len(tools), 'tool')} written", soft_wrap=True)


async def _derive(folder: Path) -> list[Tool]:
    async with Guests() as guests:
        return await derived(folder, guests)


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Show which walls around guests this machine has. Exit code 1 if one is missing."""
    standing = asyncio.run(_walls())
    if as_json:
        out.print_data([{"wall": wall, "stands": wall in standing, "promise": text} for wall, text in WALLS.items()])
    for wall, promise in WALLS.items() if not as_json else ():
        out.print(marked("[green]stands [/]" if wall in standing else "[red]missing[/]"), f" {wall:10}  {promise}")
    if set(WALLS) - set(standing):
        raise typer.Exit(1)


async def _walls() -> tuple[str, ...]:
    async with Guests() as guests:
        return await guests.walls()
