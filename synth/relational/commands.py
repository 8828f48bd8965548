"""The command that compares a rewritten bundle with the imported one: `farm equal`."""

from pathlib import Path
from typing import Annotated

import typer
import uvloop
from rich.table import Table

from servers.cli.command_options import AsJson, folder_of
from servers.text.terminal import Terminal, marked
from servers.text.wording import counted, noun
from synth.relational.equivalence import CALLS, Equivalence, compare
from synth.relational.twin_file import Twin, twin_of

app = typer.Typer()
out = Terminal()


@app.command(name="equal")
def equal(
    bundle: Annotated[Path, typer.Argument(help="A rewritten bundle: its folder, or an id of the farm's own.")],
    imported: Annotated[Path, typer.Argument(help="The folder of the imported bundle that it was written from.")],
    calls: Annotated[int, typer.Option(min=1, max=100_000, help="How many calls to draw.")] = CALLS,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the calls: the same gives the same calls.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Compare a rewritten bundle with the imported one that it was written from. Exit code 1 if they differ."""
    folder = folder_of(bundle)
    twin = twin_of(folder)
    found = uvloop.run(compare(folder_of(imported), folder, twin, calls=calls, seed=seed))
    if as_json:
        out.print_data({"bundle": folder.name, "findings": found.findings, **found.shown.model_dump(mode="json")})
    else:
        _show(folder.name, twin, found)
    if found.findings:
        raise typer.Exit(1)


def _show(name: str, twin: Twin, found: Equivalence) -> None:
    tools = Table("tool", "both succeed", "both refuse", "differ as declared")
    for tool, one in found.tools.items():
        tools.add_row(tool, str(one.ok), str(one.refused), str(one.differed or ""))
    out.print(tools)
    for one, times in zip(twin.differences, found.differences, strict=True):
        said = f" ({one.says!r})" if one.says else ""
        out.print(
            f"  declared: {one.tool}: {one.kind}{said}: {one.why}; seen in {counted(times, 'call')}", markup=False
        )
    for finding in found.findings:
        out.print(f"  {finding}", markup=False, soft_wrap=True)
    verdict = "[bold]{}[/] [red]differs[/] from {}: {}" if found.findings else "[bold]{}[/] [green]equals[/] {}: {}"
    told = (
        f"{counted(found.calls, 'call')} from {counted(found.starts, 'start')}, "
        f"{counted(found.states, 'state')} compared, {len(twin.differences)} declared "
        f"{noun(len(twin.differences), 'difference')}"
    )
    out.print(marked(verdict, name, twin.imported, told), soft_wrap=True)
