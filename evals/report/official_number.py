"""The numbers that a benchmark's own code prints, from a run."""

import json
from collections.abc import Sequence
from typing import NamedTuple

from evals.benchmarks.harness import Checker, checker_of
from evals.report.report import Report, by_scenario, read_report
from evals.report.statistics import Cluster, Estimate, mean, pass_hat
from evals.runs.folder import RunFolder


class PartNumber(NamedTuple):
    """The numbers of one part of a benchmark: a domain, a category, or a language and kind.

    `process` is ACEBench's process accuracy. `passing` is pass^k, with more than one trial.
    """

    environment: str
    source: str
    checker: Checker
    tasks: int
    played: int
    judged: int
    success: Estimate | None
    process: float | None
    passing: list[tuple[int, float]]


class ReferenceLine(NamedTuple):
    """Figures that others report, with their source."""

    who: str
    figures: dict[Checker, float]
    source: str


REFERENCES = (
    ReferenceLine(
        "Qwen3-8B", {"bfcl": 28.9, "tau_bench": 38.2, "acebench": 60.0}, "EnvScaler's paper, before training; BFCL v3"
    ),
    ReferenceLine(
        "Qwen3-8B + EnvScaler",
        {"bfcl": 41.9, "tau_bench": 44.8, "acebench": 72.5},
        "EnvScaler's paper, after SFT and RL",
    ),
)
"""With the limits of the paper, which a suite has by `limits_of`."""


def part_numbers(folder: RunFolder) -> list[PartNumber]:
    """The numbers of each benchmark's part in a run. Raises RequestError if it cannot be read."""
    report = read_report(folder)
    found: list[PartNumber] = []
    for name in sorted({one.detail.environment for one in report.subjects.values()}):
        subjects = [one for one in report.subjects.values() if one.detail.environment == name]
        checker = checker_of(subjects[0].detail.scenario)
        if checker is not None:
            found.append(_part(report, folder, name, subjects[0].source, checker, len(subjects)))
    return found


def _part(report: Report, folder: RunFolder, name: str, source: str, checker: Checker, tasks: int) -> PartNumber:
    rollouts = [one for one in report.rollouts if one.environment == name]
    places = by_scenario(rollouts).values()
    most = min((len(ones) for ones in places), default=0)
    counts = [(len(ones), sum(one.success is True for one in ones)) for ones in places]
    return PartNumber(
        environment=name,
        source=source,
        checker=checker,
        tasks=tasks,
        played=len(rollouts),
        judged=sum(map(len, places)),
        success=mean([Cluster(won, n) for n, won in counts]),
        process=_process(folder, name) if checker == "acebench" else None,
        passing=[(k, _all_of(k, counts)) for k in range(1, most + 1)] if most > 1 else [],
    )


def _all_of(k: int, counts: Sequence[tuple[int, int]]) -> float:
    return sum(pass_hat(k, n, won) for n, won in counts) / len(counts)


def _process(folder: RunFolder, environment: str) -> float | None:
    """The mean of ACEBench's process accuracy, which stands beside the verdict."""
    last = {at.played.key: at.played.rollout for at in folder.rollouts()}
    seen = [
        float(json.loads(run.score.verdicts[0].seen)["process"])
        for run in last.values()
        if run.environment == environment and run.success is not None and run.score is not None
    ]
    return sum(seen) / len(seen) if seen else None


def whole(parts: Sequence[PartNumber], checker: Checker) -> float | None:
    """A benchmark's one number in percent: the mean over its parts. tau-bench's domains and ACEBench's kinds too."""
    rates = [one.success.value for one in parts if one.checker == checker and one.success is not None]
    return 100 * sum(rates) / len(rates) if rates else None
