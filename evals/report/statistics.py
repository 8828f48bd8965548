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


class Paired(NamedTuple):
    """A mean difference over scenarios, and its p-value: the probability of one so large if there were none."""

    difference: Estimate
    p: float


def mean(clusters: Sequence[Cluster], *, seed: int = 0) -> Estimate | None:
    """The mean over all rollouts. None if there are none."""
    kept = [cluster for cluster in clusters if cluster.rollouts]
    if not kept:
        return None
    value = _mean(kept)
    if len(kept) == 1:
        return Estimate(value, None, None)
    means = {cluster.total / cluster.rollouts for cluster in kept}
    if means in ({0.0}, {1.0}):
        rest = ((1 - CONFIDENCE) / 2) ** (1 / len(kept))
        return Estimate(value, rest, 1.0) if value else Estimate(value, 0.0, 1 - rest)
    return Estimate(value, *_drawn(kept, seed))


def _mean(clusters: Sequence[Cluster]) -> float:
    totals, counts = zip(*clusters, strict=True)
    return sum(totals) / sum(counts)


def _drawn(clusters: Sequence[Cluster], seed: int) -> tuple[float, float]:
    """The bounds of the mean, by bootstrap over clusters."""
    rng = random.Random(seed)  # noqa: S311
    ordered = sorted(_mean(rng.choices(clusters, k=len(clusters))) for _ in range(DRAWS))
    tail = (1 - CONFIDENCE) / 2
    last = len(ordered) - 1
    return ordered[math.floor(tail * last)], ordered[math.ceil((1 - tail) * last)]


def pass_at(k: int, attempts: int, successes: int) -> float:
    """The unbiased estimate that at least one of k attempts succeeds. `attempts` is at least k."""
    return 1 - math.comb(attempts - successes, k) / math.comb(attempts, k)


def pass_hat(k: int, attempts: int, successes: int) -> float:
    """The unbiased estimate that all of k attempts succeed. `attempts` is at least k."""
    return math.comb(successes, k) / math.comb(attempts, k)


def paired(differences: Sequence[float], *, seed: int = 0) -> Paired | None:
    """Test that the differences, one a scenario, are 0 on average. None if there are none."""
    if not differences:
        return None
    value = math.fsum(differences) / len(differences)
    if len(differences) == 1 or not any(differences):
        return Paired(Estimate(value, None, None), 1.0)
    chance = _chance(differences, seed)
    if len(set(differences)) == 1:  # nothing is known of their spread
        return Paired(Estimate(value, None, None), chance)
    return Paired(Estimate(value, *_drawn([Cluster(difference, 1) for difference in differences], seed)), chance)


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
