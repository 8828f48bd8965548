"""The content of a report: success rates, their uncertainty, and failures."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from evals.report.official_number import PartNumber, part_numbers
from evals.report.statistics import Cluster, Estimate, mean, means, pass_at, pass_hat
from evals.rollout import Outcome
from evals.runs.causes import Cause
from evals.runs.folder import RunFolder
from evals.runs.records import Header, Subject
from evals.runs.summary import RolloutSummary, by_scenario, summaries
from servers.scenario.difficulty import RATINGS
from servers.scenario.scenario import rating_of

MOST_K = 16
LENGTHS = ((0, 2), (3, 4), (5, 7), (8, 12), (13, 10**6))


class Group(NamedTuple):
    """The rollouts that share a property."""

    name: str
    scenarios: int
    rollouts: int
    judged: int
    success: Estimate | None
    reward: Estimate | None


class PassEstimate(NamedTuple):
    """pass@k and pass^k over the scenarios with at least k judged attempts."""

    k: int
    scenarios: int
    any_of: Estimate
    all_of: Estimate


class CheckpointFailures(NamedTuple):
    """A checkpoint, and how often it did not hold."""

    scenario: str
    checkpoint: str
    role: str
    question: str
    judged: int
    failed: int


class ProbeSummary(NamedTuple):
    """A probe of an environment, the scenarios and rollouts in which it was answered, and the share in which it holds.

    Probes of one id in several scenarios are one probe.
    """

    environment: str
    probe: str
    question: str
    scenarios: int
    rollouts: int
    holds: Estimate | None


class ToolUse(NamedTuple):
    """A tool of an environment, its number of calls, and of errors among them."""

    environment: str
    tool: str
    calls: int
    errors: int


class Report(NamedTuple):
    """The figures of a run. `bounds`: the success rate if all broken rollouts had failed, and if all had succeeded."""

    path: str
    header: Header
    subjects: dict[str, Subject]
    rollouts: list[RolloutSummary]
    torn: int
    all: Group
    bounds: tuple[float, float] | None
    outcomes: dict[Outcome, int]
    broken: list[tuple[str, int]]
    passing: list[PassEstimate]
    groups: dict[str, list[Group]]
    causes: list[tuple[Cause, list[str]]]
    checkpoints: list[CheckpointFailures]
    tools: list[ToolUse]
    benchmarks: list[PartNumber]
    """The numbers of public benchmarks. Empty if nothing in the run is of one."""
    probes: list[ProbeSummary]

    @property
    def missing(self) -> int:
        """The number of rollouts of the suite that are not played yet."""
        return self.header.rollouts - len(self.rollouts)


def read_report(folder: RunFolder) -> Report:
    """Read a run. Raises RequestError if it cannot be read."""
    header, subjects = folder.header(), folder.subjects()
    return report_of(folder, header, subjects, summaries(folder, subjects))


def report_of(
    folder: RunFolder, header: Header, subjects: dict[str, Subject], rollouts: list[RolloutSummary]
) -> Report:
    """The figures of what was read of a run."""
    judged = [one for one in rollouts if one.success is not None]
    outcomes: dict[Outcome, int] = {"scored": 0, "timeout": 0, "agent_error": 0, "infra_error": 0}
    for one in rollouts:
        outcomes[one.outcome] += 1
    return Report(
        path=str(folder.path),
        header=header,
        subjects=subjects,
        rollouts=rollouts,
        torn=folder.torn,
        all=_group("all", rollouts),
        bounds=_bounds(rollouts),
        outcomes=outcomes,
        broken=Counter(one.error for one in rollouts if one.outcome == "infra_error").most_common(),
        passing=_passing(judged),
        groups=_groups(rollouts, subjects),
        causes=_causes(judged),
        checkpoints=_checkpoints(judged, subjects),
        tools=_tools(rollouts),
        benchmarks=part_numbers(rollouts, subjects),
        probes=_probes(judged, subjects),
    )


def successes(rollouts: Iterable[RolloutSummary]) -> int:
    return sum(bool(one.success) for one in rollouts)


def rewards(rollouts: Iterable[RolloutSummary]) -> float:
    return sum(one.reward or 0.0 for one in rollouts)


def _group(name: str, rollouts: Sequence[RolloutSummary]) -> Group:
    scenarios = by_scenario(rollouts).values()
    success, reward = means(
        [Cluster(successes(ones), len(ones)) for ones in scenarios],
        [Cluster(rewards(ones), len(ones)) for ones in scenarios],
    )
    return Group(
        name=name,
        scenarios=len({one.name for one in rollouts}),
        rollouts=len(rollouts),
        judged=sum(map(len, scenarios)),
        success=success,
        reward=reward,
    )


def _bounds(rollouts: Sequence[RolloutSummary]) -> tuple[float, float] | None:
    if not rollouts:
        return None
    won = successes(rollouts)
    broken = sum(one.success is None for one in rollouts)
    return won / len(rollouts), (won + broken) / len(rollouts)


def _passing(judged: Sequence[RolloutSummary]) -> list[PassEstimate]:
    counts = [(len(ones), successes(ones)) for ones in by_scenario(judged).values()]
    found: list[PassEstimate] = []
    for k in range(1, min(MOST_K, max((n for n, _ in counts), default=0)) + 1):
        enough = [(n, won) for n, won in counts if n >= k]
        any_of, all_of = means(
            [Cluster(pass_at(k, n, won), 1) for n, won in enough],
            [Cluster(pass_hat(k, n, won), 1) for n, won in enough],
        )
        if any_of is not None and all_of is not None:
            found.append(PassEstimate(k, len(enough), any_of, all_of))
    return found


def _groups(rollouts: Sequence[RolloutSummary], subjects: dict[str, Subject]) -> dict[str, list[Group]]:
    """Groups by each property of a scenario. A rollout with several tags is in several groups."""

    def tags(one: RolloutSummary) -> tuple[str, ...]:
        return subjects[one.name].detail.scenario.tags if one.name in subjects else ()

    def length(one: RolloutSummary) -> tuple[str, ...]:
        solution = subjects[one.name].detail.scenario.solution if one.name in subjects else None
        if solution is None:
            return ("no reference",)
        calls = len(solution.calls)
        return tuple(_range(low, high) for low, high in LENGTHS if low <= calls <= high)

    def difficulty(one: RolloutSummary) -> tuple[str, ...]:
        rating = rating_of(subjects[one.name].detail.scenario) if one.name in subjects else None
        return () if rating is None else (rating,)

    dimensions: dict[str, Callable[[RolloutSummary], tuple[str, ...]]] = {
        "environment": lambda one: (one.environment,),
        "difficulty": difficulty,
        "reference calls": length,
        "failed at turn": lambda one: () if one.failed_turn is None else (str(one.failed_turn),),
        "tag": lambda one: tuple(tag for tag in tags(one) if tag not in RATINGS),
    }
    found: dict[str, list[Group]] = {}
    for dimension, names_of in dimensions.items():
        members: dict[str, list[RolloutSummary]] = defaultdict(list)
        for one in rollouts:
            for name in names_of(one):
                members[name].append(one)
        if members:
            found[dimension] = [_group(name, members[name]) for name in sorted(members, key=_order)]
    return found


def _range(low: int, high: int) -> str:
    return f"{low} or more" if high >= 10**6 else f"{low} to {high}"


def _order(name: str) -> tuple[int, str]:
    first = name.split(" ", maxsplit=1)[0]
    rating = RATINGS.index(name) if name in RATINGS else 0
    return (int(first) if first.isdecimal() else rating, name)


def _causes(judged: Sequence[RolloutSummary]) -> list[tuple[Cause, list[str]]]:
    found: dict[Cause, list[str]] = defaultdict(list)
    for one in judged:
        if one.cause is not None:
            found[one.cause].append(one.key)
    return sorted(found.items(), key=lambda item: -len(item[1]))


def _checkpoints(judged: Sequence[RolloutSummary], subjects: dict[str, Subject]) -> list[CheckpointFailures]:
    """The checkpoints that failed at least once, most failures first."""
    found: list[CheckpointFailures] = []
    for name, ones in by_scenario(judged).items():
        failed = Counter(checkpoint for one in ones for checkpoint in one.failed)
        known = {one.id: one for one in subjects[name].detail.scenario.judged_by} if name in subjects else {}
        for checkpoint, count in failed.items():
            told = known.get(checkpoint)
            role, question = (told.role, told.question) if told is not None else ("", "")
            found.append(CheckpointFailures(name, checkpoint, role, question, len(ones), count))
    return sorted(found, key=lambda one: (-one.failed / one.judged, -one.failed, one.scenario, one.checkpoint))


def _probes(judged: Sequence[RolloutSummary], subjects: dict[str, Subject]) -> list[ProbeSummary]:
    """The answers of each probe over all scenarios that have it."""
    answers: dict[tuple[str, str], dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for one in judged:
        for probe, holds in one.probes:
            answers[one.environment, probe][one.name].append(holds)
    questions = {
        (subject.detail.environment, one.id): one.question
        for subject in subjects.values()
        for one in subject.detail.scenario.probes
    }
    return [
        ProbeSummary(*place, questions.get(place, ""), len(told), sum(map(len, told.values())), mean(_clusters(told)))
        for place, told in sorted(answers.items())
    ]


def _clusters(answers: dict[str, list[bool]]) -> list[Cluster]:
    """A cluster for each scenario. Of a single scenario, each rollout is one."""
    if len(answers) > 1:
        return [Cluster(sum(ones), len(ones)) for ones in answers.values()]
    return [Cluster(holds, 1) for ones in answers.values() for holds in ones]


def _tools(rollouts: Sequence[RolloutSummary]) -> list[ToolUse]:
    calls, errors = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for one in rollouts:
        for tool, count, wrong in one.tools:
            calls[one.environment, tool] += count
            errors[one.environment, tool] += wrong
    found = [ToolUse(*where, count, errors[where]) for where, count in calls.items()]
    return sorted(found, key=lambda one: (-one.errors, -one.calls, one.environment, one.tool))
