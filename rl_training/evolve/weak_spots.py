"""Where an agent is weak: in which environments, with which tools, levels, demands and perturbations.

A spot is weak if its scenarios are passed less often than those that it is compared with, and chance does not explain
it. A permutation test draws anew which scenarios belong to the spot (Fisher, The Design of Experiments, 1935).
A perturbation is compared with the same scenarios without it, by the paired test of an evaluation. All spots of a round
are tested together, after Holm (Scandinavian Journal of Statistics 6, 1979), so that many spots find no more noise than
one would.
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Literal, NamedTuple, get_args

from evals.report.statistics import Cluster, Estimate, mean, paired
from rl_training.evolve.plan import WeaknessTest
from servers.records import Record

SpotKind = Literal["environment", "tool", "level", "demand", "perturbation"]
KINDS: tuple[SpotKind, ...] = get_args(SpotKind)
PERMUTATIONS = 4000


class AgentResult(NamedTuple):
    """A scenario that the agent played, and the share of its attempts that succeeded, under a perturbation or none."""

    environment: str
    scenario: str
    tools: frozenset[str]
    level: int | None
    demands: frozenset[str]
    perturb: str
    successes: int
    attempts: int

    @property
    def name(self) -> str:
        return f"{self.environment}/{self.scenario}"

    @property
    def rate(self) -> float:
        return self.successes / self.attempts


class WeakSpot(Record):
    """A spot that was tested: its success rate with bounds, that of what it is compared with, and the p-value.

    `environment` is empty where a spot is of all environments. `is_weak` is the result of the tests of all spots.
    """

    kind: SpotKind
    environment: str = ""
    name: str
    scenarios: int
    success: float
    low: float | None
    high: float | None
    others: float
    p: float
    is_weak: bool = False

    @property
    def label(self) -> str:
        return f"{self.kind} {self.name}" + (f" of {self.environment}" if self.kind == "tool" else "")


def weak_spots(played: Sequence[AgentResult], test: WeaknessTest, *, seed: int = 0) -> list[WeakSpot]:
    """All spots with enough scenarios, the surest first."""
    plain = [one for one in played if not one.perturb]
    found: list[WeakSpot] = []
    for name in sorted({one.environment for one in plain}):
        found += _compared("environment", "", name, plain, lambda one, name=name: one.environment == name, test, seed)
        own = [one for one in plain if one.environment == name]
        for tool in sorted({tool for one in own for tool in one.tools}):
            found += _compared("tool", name, tool, own, lambda one, tool=tool: tool in one.tools, test, seed)
    known = [one for one in plain if one.level is not None]
    for level in sorted({one.level for one in known if one.level is not None}):
        found += _compared("level", "", str(level), known, lambda one, level=level: one.level == level, test, seed)
    for demand in sorted({demand for one in plain for demand in one.demands}):
        found += _compared("demand", "", demand, plain, lambda one, demand=demand: demand in one.demands, test, seed)
    for perturb in sorted({one.perturb for one in played if one.perturb}):
        found += _perturbed(perturb, plain, [one for one in played if one.perturb == perturb], test, seed)
    return _after_holm(found, test.alpha)


def _compared(
    kind: SpotKind,
    environment: str,
    name: str,
    among: Sequence[AgentResult],
    belongs: Callable[[AgentResult], bool],
    test: WeaknessTest,
    seed: int,
) -> list[WeakSpot]:
    """A spot beside the rest. None if either has too few scenarios to say anything."""
    inside = [one for one in among if belongs(one)]
    outside = [one for one in among if not belongs(one)]
    if min(len(inside), len(outside)) < test.least:
        return []
    p = lower_by_chance([one.rate for one in inside], [one.rate for one in outside], seed=seed)
    return [_spot(kind, environment, name, inside, fmean(one.rate for one in outside), p)]


def _perturbed(
    perturb: str, plain: Sequence[AgentResult], moved: Sequence[AgentResult], test: WeaknessTest, seed: int
) -> list[WeakSpot]:
    """A perturbation beside the same scenarios without it."""
    before = {one.name: one.rate for one in plain}
    pairs = [(one, before[one.name]) for one in moved if one.name in before]
    if len(pairs) < test.least:
        return []
    told = paired([one.rate - rate for one, rate in pairs], seed=seed)
    p = 1.0 if told is None or told.difference.value >= 0 else told.p / 2
    return [_spot("perturbation", "", perturb, [one for one, _ in pairs], fmean(rate for _, rate in pairs), p)]


def _spot(
    kind: SpotKind, environment: str, name: str, inside: Sequence[AgentResult], others: float, p: float
) -> WeakSpot:
    told = success_of(inside)
    return WeakSpot(
        kind=kind,
        environment=environment,
        name=name,
        scenarios=len(inside),
        success=told.value,
        low=told.low,
        high=told.high,
        others=others,
        p=p,
    )


def success_of(played: Iterable[AgentResult]) -> Estimate:
    """The success rate over some scenarios, of which there must be one, with its bounds."""
    told = mean([Cluster(one.successes, one.attempts) for one in played])
    if told is None:
        raise ValueError("nothing was played")
    return told


def lower_by_chance(inside: Sequence[float], outside: Sequence[float], *, seed: int = 0) -> float:
    """The probability that the rates inside are at least so much lower than those outside, if chance dealt them."""
    rates = [*inside, *outside]
    if len(set(rates)) == 1:
        return 1.0
    seen, size = sum(inside) + 1e-9, len(inside)
    rng = random.Random(seed)  # noqa: S311 - a repeatable draw
    low = sum(sum(rng.sample(rates, size)) <= seen for _ in range(PERMUTATIONS))
    return (low + 1) / (PERMUTATIONS + 1)


def _after_holm(spots: Sequence[WeakSpot], alpha: float) -> list[WeakSpot]:
    """The spots by p-value. Those are weak whose p-value, and every smaller one, passes Holm's bound for its place."""
    ordered = sorted(spots, key=lambda one: (one.p, KINDS.index(one.kind), one.environment, one.name))
    judged: list[WeakSpot] = []
    passes = True
    for place, one in enumerate(ordered):
        passes = passes and one.p <= alpha / (len(ordered) - place)
        judged.append(one.model_copy(update={"is_weak": passes}))
    return judged


def shares(total: int, names: Sequence[str]) -> Mapping[str, int]:
    """A number in whole parts, as even as can be, the first ones larger."""
    return {name: total // len(names) + (at < total % len(names)) for at, name in enumerate(names)}
