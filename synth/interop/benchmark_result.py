"""What `farm benchmark` prints at its end: a benchmark's numbers, beside what others report."""

from typing import Any, get_args

from rich.table import Table

from evals.benchmarks.harness import Checker
from evals.report.official_number import REFERENCES, PartNumber, part_numbers, whole
from evals.report.tables import estimate
from evals.runs.folder import RunFolder
from evals.runs.suite import Suite
from servers.text.terminal import Terminal

out = Terminal()


def tell_result(suite: Suite, folder: RunFolder, *, as_json: bool) -> None:
    """Print the numbers of a run. Raises RequestError if it cannot be read."""
    parts = part_numbers(folder)
    if as_json:
        out.print_data(_data(suite, parts))
    else:
        _tell(suite, parts)


def _data(suite: Suite, parts: list[PartNumber]) -> dict[str, Any]:
    return {
        "benchmark": suite.name,
        "model": suite.agent_name,
        "user_model": suite.user.model if suite.user else None,
        "limits_of": suite.limits_of,
        "numbers": {one: whole(parts, one) for one in _checkers(parts)},
        "parts": [{**one._asdict(), "success": one.success._asdict() if one.success else None} for one in parts],
        "references": [one._asdict() for one in REFERENCES],
    }


def _checkers(parts: list[PartNumber]) -> list[Checker]:
    return [one for one in get_args(Checker) if any(part.checker == one for part in parts)]


def _tell(suite: Suite, parts: list[PartNumber]) -> None:
    played_by = f"user: {suite.user.model}" if suite.user else "no simulated user"
    out.print(f"\n{suite.name}: {suite.agent_name} ({played_by}; limits: {suite.limits_of})", markup=False)
    table = Table("part", "judged", "success, % [95 %]", "process, %", "pass^k, %")
    for one in parts:
        table.add_row(
            one.environment,
            f"{one.judged} of {one.tasks * suite.run.attempts}",
            estimate(one.success, as_share=True),
            "" if one.process is None else f"{100 * one.process:.1f}",
            ", ".join(f"{k}: {100 * share:.1f}" for k, share in one.passing),
        )
    out.print(table)
    for one in parts:
        out.print(f"{one.environment}: {one.source}", markup=False, soft_wrap=True)
    for checker in _checkers(parts):
        number = whole(parts, checker)
        told = "nothing was judged" if number is None else f"{number:.1f} %, the mean over its parts"
        out.print(f"{suite.name}: {told}", markup=False)
        for line in REFERENCES:
            figure = f"{line.figures[checker]:.1f} %"
            out.print(f"  for reference: {line.who} {figure} ({line.source})", markup=False, soft_wrap=True)
