"""The commands about bundles: `farm new`, `farm check`, `farm derive`, `farm serve`; and `farm doctor`."""

import asyncio
import json
import socket
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from servers import check as checking
from servers.agent_door import AgentDoor, serve_stdio
from servers.bundle import load, load_scenarios
from servers.bundle_files import text_of, write_text
from servers.catalogue_commands import app as catalogue_app
from servers.command_options import AsJson, Bundle, Bundles, bundle_of, folder_of
from servers.doors.stdio import standard_streams
from servers.errors import BundleError
from servers.guest.walls import WALLS
from servers.guests import Guests
from servers.library import Library
from servers.logs import Level, to_stderr
from servers.new_bundle import new_bundle
from servers.orders import Launch, Ticket
from servers.plural import counted
from servers.serving import listen, run, serving, url_of
from servers.terminal import Terminal, marked
from servers.worker import Worker
from servers.worker_process import die_with_parent, until_told_to_stop
from servers.worker_process import serve as serve_worker

app = typer.Typer()
app.registered_commands += catalogue_app.registered_commands
out = Terminal()
err = Terminal(stderr=True)


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="The new environment's id, which is also its folder's name.")],
) -> None:
    """Make a small, complete environment of your own in this folder, to be changed step by step."""
    folder = new_bundle(name, Path())
    out.print(f"{folder}/ is a complete environment: {', '.join(sorted(path.name for path in folder.iterdir()))}")
    out.print(
        f"Next:\n"
        f"  farm check {name}                                   is anything wrong with it?\n"
        f"  farm play {name} --scenario swap_a_game --gold      watch its reference solution\n"
        f"docs/reference/bundles.md goes on from there.",
        markup=False,
        soft_wrap=True,
    )


class Checked(NamedTuple):
    """What `farm check` says of a bundle."""

    bundle: str
    findings: list[str]
    tools: int = 0
    scenarios: int = 0
    advice: list[str] = []
    """What is allowed and could be better; it makes no bundle unsound."""


@app.command()
def check(bundles: Bundles, as_json: AsJson = False) -> None:
    """Print everything that is wrong with bundles. Exit code 1 when anything is."""
    seen = asyncio.run(_check([folder_of(bundle) for bundle in bundles], lambda one: None if as_json else _tell(one)))
    if as_json:
        out.print_data([{"sound": not one.findings, **one._asdict()} for one in seen])
    if any(one.findings for one in seen):
        raise typer.Exit(1)


async def _check(folders: list[Path], on_checked: Callable[[Checked], None]) -> list[Checked]:
    """What is wrong with bundles; `on_checked` has each as soon as it is known."""
    seen: list[Checked] = []
    async with Guests() as guests:
        for folder in folders:
            found = await checking.findings(folder, guests)
            one = Checked(folder.name, found)
            if not found:
                environment = load(folder)
                scenarios = load_scenarios(environment)
                advice = checking.advice(environment, list(scenarios.values()))
                one = Checked(folder.name, [], len(environment.tools), len(scenarios), advice)
            on_checked(one)
            seen.append(one)
    return seen


def _tell(one: Checked) -> None:
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


async def _derive(folder: Path) -> list[checking.Tool]:
    async with Guests() as guests:
        return await checking.derived(folder, guests)


@app.command()
def serve(
    bundle: Bundle,
    scenario: Annotated[str | None, typer.Option(help="Start from this scenario's setup.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the ids that the instance makes.")] = 0,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Serve over HTTP on this port of this machine.")
    ] = None,
) -> None:
    """Serve one fresh instance of a bundle to one MCP client: over stdio, or over HTTP with --port."""
    folder = bundle_of(bundle)
    if port is not None:
        run(_serve(folder, scenario, seed, lambda worker, ticket: _over_http(worker, ticket, port)))
        return
    if sys.stdin.isatty():
        err.print("Waiting for an MCP client on standard input. `farm connect` prints the configuration of one.")
    asyncio.run(_serve(folder, scenario, seed, _over_stdio))


async def _over_stdio(worker: Worker, ticket: Ticket) -> None:
    with standard_streams() as (incoming, outgoing):
        await serve_stdio(worker, ticket.instance, incoming, outgoing)


async def _over_http(worker: Worker, ticket: Ticket, port: int) -> None:
    door = AgentDoor(worker, loopback_only=True)
    listening = listen("127.0.0.1", port)
    async with door.running(), serving(door, listening):
        err.print(f"{url_of(listening)}{ticket.path}\nAuthorization: Bearer {ticket.token}", soft_wrap=True)
        await until_told_to_stop()


async def _serve(
    folder: Path, scenario_id: str | None, seed: int, serve_it: Callable[[Worker, Ticket], Awaitable[None]]
) -> None:
    library = Library([folder.parent])
    launch = Launch(environment=folder.name, seed=seed)
    if scenario_id is not None:
        scenario = library.scenario(folder.name, scenario_id)
        launch = launch.model_copy(update={"setup": scenario.setup, "clock": scenario.clock})
    with tempfile.TemporaryDirectory(prefix="farm-") as state:
        async with Worker(library, Path(state)) as worker:
            [ticket] = await worker.launch(launch)
            await serve_it(worker, ticket)


@app.command(hidden=True)
def worker(
    state: Annotated[Path, typer.Option(help="The folder of this worker's instances.")],
    fd: Annotated[int, typer.Option(help="The listening socket, inherited from `farm up`.")],
    parent: Annotated[int, typer.Option(help="The process of `farm up`, with which this one ends.")],
    library: Annotated[list[Path], typer.Option(help="Folders of bundles.")],
    loopback_only: Annotated[bool, typer.Option(help="Answer only requests to loopback names.")] = False,
    walls_required: Annotated[bool, typer.Option(help="Refuse to start when a wall is missing.")] = False,
    calls_per_second: Annotated[float | None, typer.Option(help="The most that an instance takes.")] = None,
    log_level: Annotated[Level, typer.Option(help="The least that is logged.")] = "info",
) -> None:
    """Run one worker of a farm, started by `farm up --workers N`.

    The first line of its input is its control token, the second where spans go, which may hold a password.
    """
    die_with_parent(parent)
    token, otel = sys.stdin.readline().strip(), sys.stdin.readline().strip()
    to_stderr(log_level, process=state.name, otel=otel or None)
    listening = socket.socket(fileno=fd)
    worker_served = serve_worker(
        Library(library),
        state,
        listening,
        token=token,
        loopback_only=loopback_only,
        walls_required=walls_required,
        calls_per_second=calls_per_second,
    )
    run(worker_served)


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Say which walls stand around guests on this machine. Exit code 1 when one is missing."""
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
