"""Figures with their uncertainty. Rollouts of one scenario are alike, so scenarios are drawn anew, not rollouts.

- Intervals: percentile bootstrap over clusters (Efron and Tibshirani, An Introduction to the Bootstrap, 1993; clustered
  standard errors for evaluations: Miller, Adding Error Bars to Evals, arXiv 2411.00640). Where every cluster says 0, or
  every one 1, a bootstrap sees no spread; then the bounds are those of Clopper and Pearson (Biometrika 26, 1934).
- pass@k, at least one of k succeeds: Chen et al., arXiv 2107.03374. pass^k, all of k: Yao et al., arXiv 2406.12045.
- Comparison: paired sign-flip test over scenarios (Fisher, The Design of Experiments, 1935), exact where it is small.
"""

import itertools
import math
import operator
import random
from collections.abc import Sequence
from typing import NamedTuple

DRAWS = 1000
FLIPS = 10_000
EXACT = 12
"""The most scenarios for which all sign flips are counted exactly."""
CONFIDENCE = 0.95


class Cluster(NamedTuple):
    """The sums over the rollouts of one scenario."""

    total: float
    rollouts: int


class Estimate(NamedTuple):
    """A mean, and the bounds of its 95 % interval. A single scenario gives no bounds."""

    value: float
    low: float | None
    high: float | None


class PairedDifference(NamedTuple):
    """A mean difference over scenarios, and its p-value: the probability of one so large if there were none."""

    difference: Estimate
    p: float


def mean(clusters: Sequence[Cluster], *, seed: int = 0) -> Estimate | None:
    """The mean over all rollouts. None if there are none."""
    return means(clusters, seed=seed)[0]


def means(*figures: Sequence[Cluster], seed: int = 0) -> list[Estimate | None]:
    """The means of some figures of the same rollouts, as `mean` has each. Their scenarios are drawn once for all."""
    kept = [[cluster for cluster in clusters if cluster.rollouts] for clusters in figures]
    if not kept[0]:
        return [None] * len(kept)
    sure = [_sure(clusters) for clusters in kept]
    drawn = iter(_drawn([clusters for clusters, one in zip(kept, sure, strict=True) if one is None], seed))
    return [one or Estimate(_mean(clusters), *next(drawn)) for clusters, one in zip(kept, sure, strict=True)]


def _sure(clusters: Sequence[Cluster]) -> Estimate | None:
    """The estimate where nothing has to be drawn for it."""
    value = _mean(clusters)
    if len(clusters) == 1:
        return Estimate(value, None, None)
    if {cluster.total / cluster.rollouts for cluster in clusters} in ({0.0}, {1.0}):
        rest = ((1 - CONFIDENCE) / 2) ** (1 / len(clusters))
        return Estimate(value, rest, 1.0) if value else Estimate(value, 0.0, 1 - rest)
    return None


def _mean(clusters: Sequence[Cluster]) -> float:
    totals, counts = zip(*clusters, strict=True)
    return sum(totals) / sum(counts)


def _drawn(figures: Sequence[Sequence[Cluster]], seed: int) -> list[tuple[float, float]]:
    """The bounds of the means of figures, by bootstrap over their common clusters."""
    if not figures:
        return []
    rng = random.Random(seed)  # noqa: S311
    counts = [cluster.rollouts for cluster in figures[0]]
    totals = [[cluster.total for cluster in clusters] for clusters in figures]
    places = range(len(counts))
    found: list[list[float]] = [[] for _ in figures]
    for _ in range(DRAWS):
        chosen = rng.choices(places, k=len(places))
        rollouts = sum(map(counts.__getitem__, chosen))
        for drawn, total in zip(found, totals, strict=True):
            drawn.append(sum(map(total.__getitem__, chosen)) / rollouts)
    tail = (1 - CONFIDENCE) / 2
    low, high = math.floor(tail * (DRAWS - 1)), math.ceil((1 - tail) * (DRAWS - 1))
    return [(drawn[low], drawn[high]) for drawn in map(sorted, found)]


def pass_at(k: int, attempts: int, successes: int) -> float:
    """The unbiased estimate that at least one of k attempts succeeds. `attempts` is at least k."""
    return 1 - math.comb(attempts - successes, k) / math.comb(attempts, k)


def pass_hat(k: int, attempts: int, successes: int) -> float:
    """The unbiased estimate that all of k attempts succeed. `attempts` is at least k."""
    return math.comb(successes, k) / math.comb(attempts, k)


def paired(differences: Sequence[float], *, seed: int = 0) -> PairedDifference | None:
    """Test that the differences, one a scenario, are 0 on average. None if there are none."""
    if not differences:
        return None
    value = math.fsum(differences) / len(differences)
    if len(differences) == 1 or not any(differences):
        return PairedDifference(Estimate(value, None, None), 1.0)
    chance = _chance(differences, seed)
    if len(set(differences)) == 1:  # nothing is known of their spread
        return PairedDifference(Estimate(value, None, None), chance)
    return PairedDifference(
        Estimate(value, *_drawn([[Cluster(difference, 1) for difference in differences]], seed)[0]), chance
    )


def _chance(differences: Sequence[float], seed: int) -> float:
    """The share of sign flips whose sum is at least as far from 0."""
    sizes = [abs(difference) for difference in differences if difference]
    seen = abs(math.fsum(differences)) - 1e-9
    if len(sizes) <= EXACT:
        flips = list(itertools.product((1, -1), repeat=len(sizes)))
        far = sum(abs(sum(map(operator.mul, flip, sizes))) >= seen for flip in flips)
        return far / len(flips)
    rng = random.Random(seed)  # noqa: S311
    signs = (rng.choices((1, -1), k=len(sizes)) for _ in range(FLIPS))
    far = sum(abs(sum(map(operator.mul, flip, sizes))) >= seen for flip in signs)
    return (far + 1) / (FLIPS + 1)
