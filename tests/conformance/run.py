"""The command `python -m tests.conformance.run`: the MCP conformance suite against our door, as a table.

Exit code 0 when everything that can apply passes, 1 when something does not, 2 when the suite cannot be run.
"""

import asyncio
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.console import Console
from rich.table import Table

from tests.conformance.doors import launched
from tests.conformance.scenarios import EXCLUDED, FIXTURE_ONLY, NEW, OLD, RUN, Target, known
from tests.conformance.suite import Check, Suite, SuiteError

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)
OF_ANY_MESSAGE = "wire-schema-valid"
Packages = Annotated[Path, typer.Option(help="Folder that the npm packages are installed into.")]


class Verdict(NamedTuple):
    """What became of a scenario."""

    passed: bool
    text: str
    failures: tuple[str, ...] = ()


def main(packages: Packages = Path(__file__).parent) -> None:
    """Run the MCP conformance suite against an instance's door, and against its fixture behind the same door."""
    try:
        verdicts, strangers = asyncio.run(_verdicts(Suite(packages.resolve())))
    except SuiteError as error:
        err.print(error, markup=False)
        raise typer.Exit(2) from None
    out.print(_table(verdicts))
    failures = [line for verdict in verdicts.values() for line in verdict.failures] + strangers
    for line in failures:
        out.print(line, markup=False, soft_wrap=True)
    left_out = ", ".join(f"{len(excluded)} of {revision}" for revision, excluded in EXCLUDED.items())
    run = f"{sum(verdict.passed for verdict in verdicts.values())} of {len(verdicts)} runs passed"
    out.print(f"{run}; excluded, for the reasons in tests/conformance/README.md: {left_out}")
    if failures:
        raise typer.Exit(1)


async def _verdicts(suite: Suite) -> tuple[dict[tuple[str, Target, str], Verdict], list[str]]:
    """The verdicts by scenario, target and revision; and a line for each scenario that has no place in our lists."""
    await suite.install()
    verdicts: dict[tuple[str, Target, str], Verdict] = {}
    strangers: list[str] = []
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        async with launched(Path(folder) / "state") as doors:
            for (target, revision), names in RUN.items():
                async with doors.open(target) as url:
                    results = await suite.run(url, revision, Path(folder) / target / revision)
                for name in names:
                    excused = FIXTURE_ONLY.get(name, frozenset[str]()) if target == "instance" else frozenset[str]()
                    where = f"{name} ({target}, {revision})"
                    verdicts[name, target, revision] = _verdict(where, results.get(name, []), excused)
    for revision in (OLD, NEW):
        for name in sorted(await suite.scenarios(revision) ^ known(revision)):
            strangers.append(f"{name} ({revision}): stands in only one of the suite and tests/conformance/scenarios.py")
    return verdicts, strangers


def _verdict(where: str, checks: list[Check], excused: frozenset[str]) -> Verdict:
    """Passed: something of the scenario's own succeeded, and nothing failed that the target could have passed."""
    failed = [check for check in checks if check.status in ("FAILURE", "WARNING") and check.id not in excused]
    good = sum(check.status == "SUCCESS" and check.id != OF_ANY_MESSAGE for check in checks)
    if failed or not good:
        lines = [f"{where}: {check.id}: {check.message}" for check in failed] or [f"{where}: nothing was checked"]
        return Verdict(False, f"FAILED ({len(failed)} of {good + len(failed)})", tuple(lines))
    beside = f", {len(excused)} on the fixture alone" if excused else ""
    return Verdict(True, f"passed ({good}{beside})")


def _table(verdicts: dict[tuple[str, Target, str], Verdict]) -> Table:
    table = Table("scenario", "on", OLD, NEW, title="MCP conformance (checks that succeeded)")
    for name, target in _rows(verdicts):
        cells = [verdicts.get((name, target, revision)) for revision in (OLD, NEW)]
        table.add_row(name, target, *(cell.text if cell else "" for cell in cells))
    for name in sorted(EXCLUDED[OLD].keys() | EXCLUDED[NEW].keys()):
        table.add_row(name, "", *("excluded" if name in EXCLUDED[revision] else "" for revision in (OLD, NEW)))
    return table


def _rows(keys: Iterable[tuple[str, Target, str]]) -> list[tuple[str, Target]]:
    """The instance first, then the fixture; by name."""
    rows = {(name, target) for name, target, _ in keys}
    return sorted(rows, key=lambda row: (row[1] == "fixture", row[0]))


if __name__ == "__main__":
    typer.run(main)
