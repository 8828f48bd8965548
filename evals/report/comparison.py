"""The comparison of two runs, scenario by scenario."""

from collections.abc import Sequence
from typing import NamedTuple

from evals.report.report import Report, rewards, successes
from evals.report.statistics import PairedDifference, paired
from evals.runs.summary import by_scenario


class ScenarioComparison(NamedTuple):
    """A scenario in both runs: the share of successes and the mean reward in each."""

    scenario: str
    success: tuple[float, float]
    reward: tuple[float, float]


class RunComparison(NamedTuple):
    """Another run compared with the first. Scenarios that `changed` between the runs are left out."""

    first: str
    other: str
    scenarios: list[ScenarioComparison]
    success: PairedDifference | None
    reward: PairedDifference | None
    only_first: int
    only_other: int
    changed: list[str]


def comparisons(reports: Sequence[Report]) -> list[RunComparison]:
    """Each run compared with the first one before it that has a scenario in common: runs may be of several suites.

    Of two runs without any the comparison says so. Of more they are left out.
    """
    found: list[RunComparison] = []
    for number, other in enumerate(reports):
        names = other.subjects.keys()
        partner = next((one for one in reports[:number] if one.subjects.keys() & names), None)
        if partner is not None:
            found.append(compared(partner, other))
    return found if found or len(reports) != 2 else [compared(*reports)]


def compared(first: Report, other: Report) -> RunComparison:
    """Compare two runs on the judged scenarios that are identical in both."""
    ones, others = by_scenario(first.rollouts), by_scenario(other.rollouts)
    shared = sorted(ones.keys() & others.keys())
    changed = [
        name
        for name in shared
        if {one.scenario_digest for one in ones[name]} != {one.scenario_digest for one in others[name]}
    ]
    beside = [
        ScenarioComparison(
            name,
            (successes(ones[name]) / len(ones[name]), successes(others[name]) / len(others[name])),
            (rewards(ones[name]) / len(ones[name]), rewards(others[name]) / len(others[name])),
        )
        for name in shared
        if name not in changed
    ]
    return RunComparison(
        first=first.path,
        other=other.path,
        scenarios=beside,
        success=paired([one.success[1] - one.success[0] for one in beside]),
        reward=paired([one.reward[1] - one.reward[0] for one in beside]),
        only_first=len(ones.keys() - others.keys()),
        only_other=len(others.keys() - ones.keys()),
        changed=changed,
    )
