"""Figures against their definitions, and intervals against what they promise."""

import itertools
import random
from operator import mul
from statistics import fmean

import pytest

from evals.report.statistics import Cluster, Estimate, mean, means, paired, pass_at, pass_hat


def test_pass_at_k_is_the_share_of_choices_of_k_attempts_with_a_success() -> None:
    for successes in range(7):
        attempts = [True] * successes + [False] * (6 - successes)
        for k in range(1, 7):
            chosen = list(itertools.combinations(attempts, k))
            assert pass_at(k, 6, successes) == pytest.approx(fmean(map(any, chosen)))
            assert pass_hat(k, 6, successes) == pytest.approx(fmean(map(all, chosen)))


def test_a_mean_counts_every_rollout_and_draws_scenarios() -> None:
    clusters = [Cluster(3, 3), Cluster(0, 1)]
    figure = mean(clusters)
    assert figure is not None
    assert figure.value == 0.75
    assert (figure.low, figure.high) == (0.0, 1.0)
    assert mean(clusters) == figure  # the same each time


def test_rollouts_of_one_scenario_do_not_make_an_interval() -> None:
    assert mean([Cluster(5, 10)]) == Estimate(0.5, None, None)
    assert mean([]) is None
    assert mean([Cluster(0, 0)]) is None


def test_ten_attempts_at_each_of_few_scenarios_are_no_surer_than_the_scenarios() -> None:
    once = mean([Cluster(i % 2, 1) for i in range(20)])
    often = mean([Cluster(10 * (i % 2), 10) for i in range(20)])
    assert once == often


@pytest.mark.parametrize(("total", "value", "low", "high"), [(0, 0.0, 0.0, 0.308), (1, 1.0, 0.692, 1.0)])
def test_where_all_say_the_same_the_bounds_are_exact(total: int, value: float, low: float, high: float) -> None:
    figure = mean([Cluster(total, 1)] * 10)
    assert figure is not None
    assert (figure.value, figure.low, figure.high) == (
        value,
        pytest.approx(low, abs=1e-3),
        pytest.approx(high, abs=1e-3),
    )


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    rng = random.Random(1)  # noqa: S311
    held = 0
    for number in range(100):
        clusters = [
            Cluster(sum(rng.random() < chance for _ in range(4)), 4) for chance in rng.choices([0.1, 0.5, 0.9], k=60)
        ]
        figure = mean(clusters, seed=number)
        assert figure is not None
        assert figure.low is not None
        assert figure.high is not None
        held += figure.low <= 0.5 <= figure.high
    assert 88 <= held <= 100


def test_a_difference_is_tested_exactly_where_scenarios_are_few() -> None:
    found = paired([1.0, 1.0, 1.0, 1.0, 1.0])
    assert found is not None
    assert found.p == 2 / 32
    assert found.difference == Estimate(1.0, None, None)
    mixed = paired([1.0, -1.0, 0.0, 0.5])
    assert mixed is not None
    assert (mixed.difference.value, mixed.p) == (0.125, 1.0)


def test_a_difference_of_nothing_is_no_difference() -> None:
    assert paired([]) is None
    nothing = paired([0.0, 0.0])
    assert nothing is not None
    assert (nothing.difference.value, nothing.p) == (0.0, 1.0)


def test_many_scenarios_are_flipped_at_random_and_the_chance_is_about_right() -> None:
    clear = paired([0.5, 0.25] * 10)
    assert clear is not None
    assert clear.p < 0.001
    sizes = [0.9, 0.1, 0.4, -0.3, 0.7, 0.2, -0.6, 0.5, 0.8, -0.1, 0.3, 0.6, -0.2, 0.4]
    flipped = [sum(map(mul, signs, sizes)) for signs in itertools.product((1, -1), repeat=len(sizes))]
    exact = fmean(abs(one) >= sum(sizes) - 1e-9 for one in flipped)
    found = paired(sizes)
    assert found is not None
    assert found.p == pytest.approx(exact, abs=0.01)


def test_figures_of_the_same_rollouts_are_those_of_each_alone() -> None:
    first = [Cluster(i % 3, 2) for i in range(15)]
    second = [Cluster(0.1 * i, 2) for i in range(15)]
    never = [Cluster(0, 2)] * 15
    assert means(first, never, second) == [mean(first), mean(never), mean(second)]
