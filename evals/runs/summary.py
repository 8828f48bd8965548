"""A rollout in short: enough for tables and plots, and small enough for ten thousand in memory."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from evals.effects import made
from evals.rollout import Outcome, Rollout
from evals.runs.causes import Cause, cause_of, changes_anything
from evals.runs.folder import RolloutPosition, RunFolder
from evals.runs.records import Subject
from servers.text.json_values import as_object


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
    probes: tuple[tuple[str, bool], ...]
    """Each probe that was answered, and whether it holds."""
    failed_turn: int | None
    """The first turn of the user, from 1, that is not as the truth's, where the official checker tells it."""
    process: float | None
    """ACEBench's process accuracy, from 0 to 1."""
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


def by_scenario(rollouts: Iterable[RolloutSummary]) -> dict[str, list[RolloutSummary]]:
    """The rollouts that have a reward, by scenario."""
    found: dict[str, list[RolloutSummary]] = defaultdict(list)
    for one in rollouts:
        if one.success is not None:
            found[one.name].append(one)
    return found


def summary(at: RolloutPosition, subjects: dict[str, Subject]) -> RolloutSummary:
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
        probes=tuple((one.checkpoint, one.holds) for one in run.score.probes if not one.error) if run.score else (),
        failed_turn=_failed_turn(run),
        process=_process(run),
        tools=_tools(run),
        scenario_digest=run.scenario_digest,
        environment_digest=run.environment_digest,
        offset=at.offset,
        length=at.length,
    )


def _failed_turn(run: Rollout) -> int | None:
    """The turn at which BFCL's checker stopped. Of an episode with too few turns it is the first that is missing."""
    for told in _told_by_a_checker(run, '{"error": ') if not run.success else ():
        turn = told.get("turns" if told.get("error") == "turns" else "turn")
        if isinstance(turn, int):
            return turn + 1
    return None


def _process(run: Rollout) -> float | None:
    for told in _told_by_a_checker(run, '{"end": '):
        process = told.get("process")
        if isinstance(process, int | float):
            return float(process)
    return None


def _told_by_a_checker(run: Rollout, begin: str) -> Iterator[dict[str, Any]]:
    """What official checkers saw, if its text begins so."""
    for verdict in run.score.verdicts if run.score is not None else ():
        if verdict.seen.startswith(begin):
            try:
                yield as_object(json.loads(verdict.seen))
            except ValueError:
                continue


def _tools(run: Rollout) -> tuple[tuple[str, int, int], ...]:
    """The number of calls and of errors of each tool."""
    asked, errors = Counter[str](), Counter[str]()
    for call, result in made(run.trace) if run.trace is not None else ():
        asked[call.tool[:64]] += 1
        errors[call.tool[:64]] += result is not None and result.is_error
    return tuple((tool, count, errors[tool]) for tool, count in asked.items())
