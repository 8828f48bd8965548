"""The numbers that a benchmark's own code prints, from a run, and the figures that others report."""

from collections.abc import Sequence
from typing import NamedTuple

from evals.benchmarks.harness import Checker, checker_of
from evals.report.statistics import Cluster, Estimate, mean, pass_hat
from evals.runs.records import Subject
from evals.runs.suite import ScenarioChoice
from evals.runs.summary import RolloutSummary, by_scenario
from servers.text.wording import counted


class PartNumber(NamedTuple):
    """The numbers of one part of a benchmark: a domain, a category, or a language and kind.

    `source` tells benchmark, version, split and checker. `process` is ACEBench's process accuracy. `passing` is pass^k,
    with more than one trial.
    """

    benchmark: str
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
    """Figures that others report, by benchmark, with their source."""

    who: str
    figures: dict[str, float]
    source: str


PARTS = {"tau_bench": 2, "bfcl_v3": 4, "bfcl_v4": 4, "acebench": 4}
"""The parts over which a benchmark's number is the mean."""
REFERENCES = (
    ReferenceLine(
        "Qwen3-8B",
        {"tau_bench": 38.2, "bfcl_v3": 28.9, "acebench": 60.0},
        "EnvScaler's paper, before training, with the limits `paper`",
    ),
    ReferenceLine(
        "Qwen3-8B + EnvScaler",
        {"tau_bench": 44.8, "bfcl_v3": 41.9, "acebench": 72.5},
        "EnvScaler's paper, after SFT and RL, with the limits `paper`",
    ),
)


def part_numbers(rollouts: Sequence[RolloutSummary], subjects: dict[str, Subject]) -> list[PartNumber]:
    """The numbers of each benchmark's part in a run. Empty if nothing in it is of a benchmark."""
    found: list[PartNumber] = []
    for name in sorted({one.detail.environment for one in subjects.values()}):
        members = [one for one in subjects.values() if one.detail.environment == name]
        checker = checker_of(members[0].detail.scenario)
        if checker is not None:
            own = [one for one in rollouts if one.environment == name]
            found.append(_part(own, name, members[0].source, checker, len(members)))
    return found


def benchmark_of(environment: str, checker: Checker) -> str:
    """The benchmark of a part. The versions of BFCL are benchmarks of their own, since half of the questions differ."""
    version = environment.removeprefix("bfcl_").partition("_")[0]
    return f"bfcl_{version}" if checker == "bfcl" else checker


def _part(rollouts: Sequence[RolloutSummary], name: str, source: str, checker: Checker, tasks: int) -> PartNumber:
    places = by_scenario(rollouts).values()
    most = min((len(ones) for ones in places), default=0)
    counts = [(len(ones), sum(one.success is True for one in ones)) for ones in places]
    return PartNumber(
        benchmark=benchmark_of(name, checker),
        environment=name,
        source=source,
        checker=checker,
        tasks=tasks,
        played=len(rollouts),
        judged=sum(map(len, places)),
        success=mean([Cluster(won, n) for n, won in counts]),
        process=_process(rollouts) if checker == "acebench" else None,
        passing=[(k, _all_of(k, counts)) for k in range(1, most + 1)] if most > 1 else [],
    )


def _all_of(k: int, counts: Sequence[tuple[int, int]]) -> float:
    return sum(pass_hat(k, n, won) for n, won in counts) / len(counts)


def _process(rollouts: Sequence[RolloutSummary]) -> float | None:
    """The mean of ACEBench's process accuracy, which stands beside the verdict."""
    seen = [one.process for one in rollouts if one.success is not None and one.process is not None]
    return sum(seen) / len(seen) if seen else None


def whole_numbers(parts: Sequence[PartNumber]) -> dict[str, float | None]:
    """Each benchmark's one number in percent: the mean over its parts. None if a part has nothing that was judged."""
    found: dict[str, float | None] = {}
    for name in sorted({one.benchmark for one in parts}):
        rates = [one.success.value if one.success else None for one in parts if one.benchmark == name]
        known = [one for one in rates if one is not None]
        found[name] = 100 * sum(known) / len(known) if len(known) == len(rates) else None
    return found


def extents(parts: Sequence[PartNumber], choice: ScenarioChoice) -> dict[str, str]:
    """What a run plays of each benchmark, where it is not the whole. Its number is then not the benchmark's own."""
    is_chosen = choice.model_copy(update={"environments": (), "seed": 0}) != ScenarioChoice()
    found: dict[str, str] = {}
    for name in sorted({one.benchmark for one in parts}):
        own = [one for one in parts if one.benchmark == name]
        few = f"{len(own)} of {PARTS[name]} parts" if len(own) < PARTS[name] else ""
        chosen = counted(sum(one.tasks for one in own), "chosen task") if is_chosen else ""
        if few or chosen:
            found[name] = ", ".join(filter(None, (few, chosen)))
    return found
