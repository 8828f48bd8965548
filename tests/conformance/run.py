"""The command `python -m tests.conformance.run`: the MCP conformance suite against our door, as a table.

Exit code 0 when everything that can apply passes, 1 when something does not, 2 when the suite cannot be run.
"""

import asyncio
import tempfile
from pathlib import Path
from typing import Annotated, TypeAlias

import typer
from rich.console import Console
from rich.table import Table

from tests.conformance.doors import launched
from tests.conformance.process import RunError
from tests.conformance.scenarios import BEYOND_AN_INSTANCE, EXCLUDED, NEW, OLD, RUN, Target, known
from tests.conformance.suite import Suite
from tests.conformance.verdict import Verdict, judged

Verdicts: TypeAlias = dict[tuple[Target, str, str], Verdict]
# Not below tests/: a Node brings Python files, which are not ours to check.
OWN_FOLDER = Path(__file__).parent.parent.parent / ".farm" / "conformance"
out = Console(highlight=False, width=100)
err = Console(stderr=True, highlight=False)


def main(
    packages: Annotated[Path, typer.Option(help="Folder for the npm packages.")] = OWN_FOLDER,
) -> None:
    """Run the MCP conformance suite against an instance's door, and against its fixture behind the same door."""
    try:
        verdicts, strangers = asyncio.run(_run(Suite(packages.resolve())))
    except RunError as error:
        err.print(error, markup=False)
        raise typer.Exit(2) from None
    failures = [line for verdict in verdicts.values() for line in verdict.failures] + strangers
    out.print(_table(verdicts))
    out.print("In brackets: the checks that succeeded; `not n`: those that only the fixture can pass.")
    out.print("Why scenarios are excluded: tests/conformance/README.md")
    out.print(f"{sum(verdict.passed for verdict in verdicts.values())} of {len(verdicts)} passed")
    for line in failures:
        out.print(line, markup=False, soft_wrap=True)
    if failures:
        raise typer.Exit(1)


async def _run(suite: Suite) -> tuple[Verdicts, list[str]]:
    """The verdicts by target, scenario and revision; and a line for each scenario without a place in our lists."""
    await suite.install()
    verdicts: Verdicts = {}
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        async with launched(Path(folder) / "state") as doors:
            for (target, revision), names in RUN.items():
                async with doors.opened(target) as url:
                    results = await suite.results(url, revision, Path(folder) / target / revision)
                for name in names:
                    beyond = BEYOND_AN_INSTANCE.get(name, ()) if target == "instance" else ()
                    where = f"{name} ({target}, {revision})"
                    verdicts[target, name, revision] = judged(where, results.get(name, []), beyond=beyond)
    strangers = [
        f"{name} ({revision}): stands in only one of the suite and tests/conformance/scenarios.py"
        for revision in (OLD, NEW)
        for name in sorted(await suite.scenarios(revision) ^ known(revision))
    ]
    return verdicts, strangers


def _table(verdicts: Verdicts) -> Table:
    table = Table("scenario", "on", OLD, NEW, title="MCP conformance")
    for target in ("instance", "fixture"):
        for name in sorted({name for where, name, _ in verdicts if where == target}):
            cells = (verdicts.get((target, name, revision)) for revision in (OLD, NEW))
            table.add_row(name, target, *(cell.text if cell else "" for cell in cells))
    for name in sorted(EXCLUDED[OLD].keys() | EXCLUDED[NEW].keys()):
        table.add_row(name, "", *("excluded" if name in EXCLUDED[revision] else "" for revision in (OLD, NEW)))
    return table


if __name__ == "__main__":
    typer.run(main)
