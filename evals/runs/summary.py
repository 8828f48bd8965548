"""A rollout in short: enough for tables and plots, and small enough for ten thousand in memory."""

from collections import Counter
from dataclasses import dataclass

from evals.effects import made
from evals.rollout import Outcome, Rollout
from evals.runs.causes import Cause, cause_of, changes_anything
from evals.runs.folder import At, RunFolder
from evals.runs.records import Subject


@dataclass(frozen=True, slots=True)
class RolloutSummary:
    """One rollout. `offset` and `length` locate its line."""

    key: str
    environment: str
    scenario: str
    attempt: int
    outcome: Outcome
    reward: float | None
    success: bool | None
    error: str
    cause: Cause | None
    retried: int
    turns: int
    calls: int
    errors: int
    tokens_in: int
    tokens_out: int
    seconds: float
    failed: tuple[str, ...]
    tools: tuple[tuple[str, int, int], ...]
    scenario_digest: str
    environment_digest: str
    offset: int
    length: int

    @property
    def name(self) -> str:
        return f"{self.environment}/{self.scenario}"


class Summaries:
    """The rollouts of a run in short. A run that grows is read on from where the last look ended."""

    def __init__(self, folder: RunFolder, subjects: dict[str, Subject]) -> None:
        self._folder = folder
        self._subjects = subjects
        self._last: dict[str, RolloutSummary] = {}
        self.end = 0
        """Bytes of the file that were read."""

    def read(self) -> list[RolloutSummary]:
        """Each rollout once, by name. Raises RequestError if a line cannot be read."""
        for at in self._folder.rollouts(self.end):
            one = summary(at, self._subjects)
            self._last[one.key] = one  # the last line of a name counts
            self.end = at.offset + at.length
        return sorted(self._last.values(), key=lambda one: (one.name, one.attempt))


def summaries(folder: RunFolder, subjects: dict[str, Subject]) -> list[RolloutSummary]:
    """The rollouts of a run, each once, by name. Raises RequestError if a line cannot be read."""
    return Summaries(folder, subjects).read()


def summary(at: At, subjects: dict[str, Subject]) -> RolloutSummary:
    """One line in short."""
    run, trace = at.played.rollout, at.played.rollout.trace
    subject = subjects.get(f"{run.environment}/{run.scenario}")
    reference = subject.reference if subject else None
    results = list(made(trace)) if trace is not None else []
    return RolloutSummary(
        key=at.played.key,
        environment=run.environment,
        scenario=run.scenario,
        attempt=at.played.attempt,
        outcome=run.outcome,
        reward=run.reward,
        success=run.success,
        error=run.error,
        cause=cause_of(run, reference_changes=reference is not None and changes_anything(reference)),
        retried=len(at.played.broken),
        turns=len(trace.turns) if trace is not None else 0,
        calls=len(results),
        errors=sum(result is not None and result.is_error for _, result in results),
        tokens_in=sum(turn.tokens_in for turn in trace.turns) if trace is not None else 0,
        tokens_out=sum(turn.tokens_out for turn in trace.turns) if trace is not None else 0,
        seconds=trace.seconds if trace is not None else 0.0,
        failed=tuple(one.checkpoint for one in run.score.verdicts if not one.holds) if run.score else (),
        tools=_tools(run),
        scenario_digest=run.scenario_digest,
        environment_digest=run.environment_digest,
        offset=at.offset,
        length=at.length,
    )


def _tools(run: Rollout) -> tuple[tuple[str, int, int], ...]:
    """The number of calls and of errors of each tool."""
    asked, errors = Counter[str](), Counter[str]()
    for call, result in made(run.trace) if run.trace is not None else ():
        asked[call.tool[:64]] += 1
        errors[call.tool[:64]] += result is not None and result.is_error
    return tuple((tool, count, errors[tool]) for tool, count in asked.items())
