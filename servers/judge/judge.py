"""What the checkpoints say of a final state, and the reward.

A guard that fails makes the reward 0; otherwise it is the weighted share of goals that hold. Three things can keep a
checkpoint from saying yes or no. It fails on this state (it raises, or takes too many steps, processor time or memory):
then it does not hold, since an agent could bring that about. It fails on every state: that is its author's fault. The
farm cannot ask it to the end: it is asked once more. The last two are errors and never a verdict.

The checkpoints of one judgement share a budget of processor time. Those that it does not suffice for do not hold.
"""

import asyncio
import json
import operator
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

from servers.answer.fact import AnswerCheckpoint
from servers.errors import CheckpointError, QueryError
from servers.judge.answer_facts import asked_of
from servers.judge.footprint import uncovered
from servers.limits.processor_budget import CALLS_A_JUDGEMENT, ProcessorBudget
from servers.messages import Assessment, Verdict
from servers.sandbox.guest_pool import GuestDied, GuestLate, Guests, Reply
from servers.scenario.scenario import Checkpoint, Comparison, FootprintCheckpoint, PythonCheckpoint, SqlCheckpoint
from servers.state.readonly_query import BrokenQuery, Reader

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
SLICE_SECONDS = 0.05
"""How long checkpoints in SQL are asked one after another in one job of a thread; then others may have a turn."""
LONGEST_SEEN = 500
T = TypeVar("T")


class CheckpointResult(NamedTuple):
    """Whether a checkpoint holds, and what was seen. `error` says what this state does to a checkpoint that fails."""

    holds: bool
    seen: str = ""
    error: str | None = None


UNASKED = CheckpointResult(holds=False)
Findings: TypeAlias = list[CheckpointResult]


class RunInThread(Protocol):
    """Runs a job in a thread."""

    def __call__(self, job: Callable[[], T], /) -> Awaitable[T]: ...


async def judge(
    reader: Reader,
    checkpoints: Sequence[Checkpoint],
    *,
    answer: str,
    calls: list[dict[str, Any]],
    now: str,
    guests: Guests,
    run: RunInThread = asyncio.to_thread,
) -> Assessment:
    """Ask every checkpoint, and weigh the verdicts. `run` runs a job in a thread: those in SQL are several of them.

    Raises:
        CheckpointError: a checkpoint cannot be asked about any state.
        InfraError: the farm could not ask one to its end, twice.
    """
    reader.now, reader.budget = now, ProcessorBudget(CALLS_A_JUDGEMENT * guests.call_seconds)
    case = JudgedRun(reader, answer, calls, now, guests)
    findings: Findings = []
    while len(findings) < len(checkpoints):
        rest = checkpoints[len(findings) :]
        findings += await run(lambda rest=rest: _some_asked_here(rest, case))
    about_answer = {place: one for place, one in enumerate(checkpoints) if isinstance(one, AnswerCheckpoint)}
    if about_answer:
        told = await run(lambda: _of_answer(tuple(about_answer.values()), case))
        findings = [told.pop(0) if place in about_answer else one for place, one in enumerate(findings)]
    for place, one in enumerate(checkpoints):
        if isinstance(one, PythonCheckpoint):
            findings[place] = await _python(one, case, run)
    return weighed([_verdict(one, finding) for one, finding in zip(checkpoints, findings, strict=True)])


@dataclass(frozen=True)
class JudgedRun:
    """What is judged: a state beside its start, the agent's last words, and its calls."""

    reader: Reader
    answer: str
    calls: list[dict[str, Any]]
    now: str
    guests: Guests


def _some_asked_here(checkpoints: Sequence[Checkpoint], case: JudgedRun) -> Findings:
    """Of the first checkpoints, as many as a slice of time holds: the way to a thread costs as much as one."""
    until = time.monotonic() + SLICE_SECONDS
    findings: Findings = []
    for checkpoint in checkpoints:
        findings.append(_asked_here(checkpoint, case))
        if time.monotonic() > until:
            break
    return findings


def _asked_here(checkpoint: Checkpoint, case: JudgedRun) -> CheckpointResult:
    """What a checkpoint over the rows says; one in Python is asked by a guest, those over the answer together."""
    try:
        match checkpoint:
            case SqlCheckpoint():
                return _sql(checkpoint, case)
            case FootprintCheckpoint():
                return _footprint(checkpoint, case.reader)
            case PythonCheckpoint() | AnswerCheckpoint():
                return UNASKED
    except BrokenQuery as problem:
        raise _broken(checkpoint, problem) from None
    except QueryError as problem:
        return CheckpointResult(holds=False, error=str(problem))


def _of_answer(checkpoints: Sequence[AnswerCheckpoint], case: JudgedRun) -> Findings:
    return [CheckpointResult(*told) for told in asked_of(checkpoints, case.reader, case.answer, case.now)]


def _verdict(checkpoint: Checkpoint, finding: CheckpointResult) -> Verdict:
    return Verdict(
        checkpoint=checkpoint.id,
        role=checkpoint.role,
        question=checkpoint.question,
        weight=checkpoint.weight,
        holds=finding.holds,
        seen=finding.seen[:LONGEST_SEEN],
        error=finding.error,
    )


def _broken(checkpoint: Checkpoint, problem: object) -> CheckpointError:
    return CheckpointError(f"checkpoint {checkpoint.id!r} cannot be asked: {problem}")


def weighed(verdicts: Sequence[Verdict]) -> Assessment:
    """The reward and the success of verdicts: all guards hold ? weighted share of goals : 0."""
    goals = [verdict for verdict in verdicts if verdict.role == "goal"]
    guarded = all(verdict.holds for verdict in verdicts if verdict.role == "guard")
    whole = sum(goal.weight for goal in goals)
    earned = sum(goal.weight for goal in goals if goal.holds)
    reward = earned / whole if guarded and whole else 0.0
    return Assessment(
        verdicts=tuple(verdicts),
        reward=round(reward, 6),
        success=bool(goals) and all(verdict.holds for verdict in verdicts),
    )


def _sql(checkpoint: SqlCheckpoint, case: JudgedRun) -> CheckpointResult:
    found = case.reader.select(checkpoint.sql, answer=case.answer)
    rows = [[cell(value) for value in row] for row in found.rows]
    seen = json.dumps(rows[:20], ensure_ascii=False)
    if isinstance(checkpoint.expect, Comparison):
        if len(rows) != 1 or len(rows[0]) != 1:
            return CheckpointResult(holds=False, seen=seen)
        return CheckpointResult(holds=_compares(rows[0][0], checkpoint.expect), seen=seen)
    return CheckpointResult(holds=not found.more and rows == checkpoint.expect, seen=seen)


def _compares(value: Any, comparison: Comparison) -> bool:
    try:
        return bool(COMPARISONS[comparison.op](value, comparison.value))
    except TypeError:
        return False


async def _python(checkpoint: PythonCheckpoint, case: JudgedRun, run: RunInThread) -> CheckpointResult:
    """The finding of a guest of its own. Resources that ran out are believed when they run out again in another."""
    head = {"do": "judge", "now": case.now, "answer": case.answer, "calls": case.calls}
    images = await run(lambda: (case.reader.connection.serialize("start"), case.reader.connection.serialize("main")))
    budget = case.reader.budget
    seconds = min(case.guests.call_seconds, budget.left)
    if seconds <= 0:
        return CheckpointResult(holds=False, error=f"the checkpoints together took more than {budget.seconds:g} s")
    try:
        reply, _ = await case.guests.job(
            head, checkpoint.python.encode(), *images, seconds=seconds, doubtful=_ran_short, budget=budget
        )
    except (GuestDied, GuestLate) as error:
        return CheckpointResult(holds=False, error=f"the checkpoint broke: {error}")
    if "broken" in reply:
        raise _broken(checkpoint, str(reply["broken"])[:LONGEST_SEEN])
    if "error" in reply:
        return CheckpointResult(holds=False, error=str(reply["error"])[:LONGEST_SEEN])
    return CheckpointResult(holds=reply.get("holds") is True)


def _ran_short(reply: Reply) -> bool:
    return reply[0].get("short") is True


def _footprint(checkpoint: FootprintCheckpoint, reader: Reader) -> CheckpointResult:
    """Every changed row must have a place in an allowance that covers it, and no allowance may be exceeded."""
    change = uncovered(checkpoint.allow, reader)
    if change is None:
        return CheckpointResult(holds=True)
    key = json.dumps(change.key, ensure_ascii=False)
    return CheckpointResult(holds=False, seen=f"{change.operation} in {change.table}: {key}")


def cell(value: Any) -> Any:
    """A value of a row as JSON can hold it."""
    return f"<{len(value)} bytes>" if isinstance(value, bytes) else value


def parsed(text: str) -> Any:
    """JSON that we wrote, read again."""
    return json.loads(text)
