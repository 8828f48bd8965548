"""What the checkpoints say of a final state, and the reward.

A guard that fails makes the reward 0; otherwise it is the weighted share of goals that hold. A checkpoint that breaks
does not hold: what an agent can bring about is never an excuse.
"""

import asyncio
import json
import operator
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

from servers.answer.fact import AnswerCheckpoint
from servers.answer_facts import asked_of
from servers.changes import between
from servers.errors import RequestError
from servers.guests import GuestDied, GuestLate, Guests
from servers.orders import Judgement, RowChange, Verdict
from servers.reading import Reader, quoted
from servers.scenario import (
    Allowance,
    Cell,
    Checkpoint,
    Comparison,
    FootprintCheckpoint,
    PythonCheckpoint,
    SqlCheckpoint,
)

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
Finding = tuple[bool, str]
"""Whether a checkpoint holds, and what was seen."""
UNASKED: Finding = (False, "")
SLICE_SECONDS = 0.05
"""How long checkpoints in SQL are asked one after another in one job of a thread; then others may have a turn."""
Verdicts: TypeAlias = list[Verdict]
RunInThread: TypeAlias = Callable[[Callable[[], Verdicts]], Awaitable[Verdicts]]


async def judge(
    reader: Reader,
    checkpoints: Sequence[Checkpoint],
    *,
    answer: str,
    calls: list[dict[str, Any]],
    now: str,
    guests: Guests,
    run: RunInThread = asyncio.to_thread,
) -> Judgement:
    """Ask every checkpoint, and weigh the verdicts. `run` runs a job in a thread: those in SQL are several of them."""
    verdicts: Verdicts = []
    while len(verdicts) < len(checkpoints):
        rest = checkpoints[len(verdicts) :]
        verdicts += await run(lambda rest=rest: _some_in_sql(rest, reader, answer))
    about_answer = {place: one for place, one in enumerate(checkpoints) if isinstance(one, AnswerCheckpoint)}
    if about_answer:
        asked = tuple(about_answer.values())
        told = await run(lambda: _of_answer(asked, reader, answer, now))
        verdicts = [told.pop(0) if place in about_answer else one for place, one in enumerate(verdicts)]
    for place, checkpoint in enumerate(checkpoints):
        if isinstance(checkpoint, PythonCheckpoint):
            try:
                finding = await _python(checkpoint, reader, answer=answer, calls=calls, now=now, guests=guests)
                verdicts[place] = _verdict(checkpoint, finding)
            except CheckpointError as problem:
                verdicts[place] = _verdict(checkpoint, UNASKED, str(problem))
    return weighed(verdicts)


def _some_in_sql(checkpoints: Sequence[Checkpoint], reader: Reader, answer: str) -> Verdicts:
    """What the first checkpoints say, as many as a slice of time holds: the way to a thread costs as much as one."""
    until = time.monotonic() + SLICE_SECONDS
    verdicts: Verdicts = []
    for checkpoint in checkpoints:
        verdicts.append(_in_sql(checkpoint, reader, answer))
        if time.monotonic() > until:
            break
    return verdicts


def _in_sql(checkpoint: Checkpoint, reader: Reader, answer: str) -> Verdict:
    """What a checkpoint over the rows says; one in Python is asked by a guest, those over the answer together."""
    try:
        match checkpoint:
            case SqlCheckpoint():
                return _verdict(checkpoint, _sql(checkpoint, reader, answer))
            case FootprintCheckpoint():
                return _verdict(checkpoint, _footprint(checkpoint, reader))
            case PythonCheckpoint() | AnswerCheckpoint():
                return _verdict(checkpoint, UNASKED)
    except RequestError as problem:
        return _verdict(checkpoint, UNASKED, str(problem))


def _of_answer(checkpoints: Sequence[AnswerCheckpoint], reader: Reader, answer: str, now: str) -> Verdicts:
    found = asked_of(checkpoints, reader, answer, now)
    return [_verdict(one, (told.holds, told.seen), told.error) for one, told in zip(checkpoints, found, strict=True)]


def _verdict(checkpoint: Checkpoint, finding: Finding, error: str | None = None) -> Verdict:
    holds, seen = finding
    return Verdict(
        checkpoint=checkpoint.id,
        role=checkpoint.role,
        question=checkpoint.question,
        weight=checkpoint.weight,
        holds=holds,
        seen=seen[:500],
        error=error,
    )


class CheckpointError(Exception):
    """A Python checkpoint that raised, hung, or did not return True or False."""


def weighed(verdicts: Sequence[Verdict]) -> Judgement:
    """The reward and the success of verdicts: all guards hold ? weighted share of goals : 0."""
    goals = [verdict for verdict in verdicts if verdict.role == "goal"]
    guarded = all(verdict.holds for verdict in verdicts if verdict.role == "guard")
    whole = sum(goal.weight for goal in goals)
    earned = sum(goal.weight for goal in goals if goal.holds)
    reward = earned / whole if guarded and whole else 0.0
    return Judgement(
        verdicts=tuple(verdicts),
        reward=round(reward, 6),
        success=bool(goals) and all(verdict.holds for verdict in verdicts),
    )


def _sql(checkpoint: SqlCheckpoint, reader: Reader, answer: str) -> Finding:
    found = reader.select(checkpoint.sql, answer=answer)
    rows = [[cell(value) for value in row] for row in found.rows]
    seen = json.dumps(rows[:20], ensure_ascii=False)
    if isinstance(checkpoint.expect, Comparison):
        if len(rows) != 1 or len(rows[0]) != 1:
            return False, seen
        return _compares(rows[0][0], checkpoint.expect), seen
    return not found.more and rows == checkpoint.expect, seen


def _compares(value: Any, comparison: Comparison) -> bool:
    try:
        return bool(COMPARISONS[comparison.op](value, comparison.value))
    except TypeError:
        return False


async def _python(
    checkpoint: PythonCheckpoint, reader: Reader, *, answer: str, calls: list[dict[str, Any]], now: str, guests: Guests
) -> Finding:
    head = {"do": "judge", "now": now, "answer": answer, "calls": calls}
    images = (reader.connection.serialize("start"), reader.connection.serialize("main"))
    async with guests.fresh() as guest:
        try:
            reply, _ = await guest.ask(head, checkpoint.python.encode(), *images, seconds=guests.call_seconds)
        except (GuestDied, GuestLate) as error:
            raise CheckpointError(f"the checkpoint broke: {error}") from None
    if "error" in reply:
        raise CheckpointError(str(reply["error"])[:500])
    return reply.get("holds") is True, ""


def _footprint(checkpoint: FootprintCheckpoint, reader: Reader) -> Finding:
    """Every changed row must have a place in an allowance that covers it, and no allowance may be exceeded."""
    placing = _Placing(checkpoint.allow)
    for change in between(reader):
        covering = [number for number, allowed in enumerate(checkpoint.allow) if _covers(allowed, change, reader)]
        if not placing.place(covering, set()):
            return False, f"{change.operation} in {change.table}: {json.dumps(change.key, ensure_ascii=False)}"
    return True, ""


class _Placing:
    """Places rows in allowances, moving earlier ones to others that cover them too (a bipartite matching)."""

    def __init__(self, allow: Sequence[Allowance]) -> None:
        self._room = [allowance.rows for allowance in allow]
        self._placed: list[list[list[int]]] = [[] for _ in allow]

    def place(self, covering: list[int], tried: set[int]) -> bool:
        """Place a row in one of the allowances that cover it, none of which has been `tried` for this."""
        for number in covering:
            if number in tried:
                continue
            tried.add(number)
            room, placed = self._room[number], self._placed[number]
            if room is None or len(placed) < room:
                placed.append(covering)
                return True
            for index, other in enumerate(placed):
                if self.place(other, tried):
                    placed[index] = covering
                    return True
        return False


def _covers(allowance: Allowance, change: RowChange, reader: Reader) -> bool:
    if allowance.table != change.table or allowance.operation != change.operation:
        return False
    if (
        change.operation == "update"
        and allowance.columns is not None
        and not change.columns() <= set(allowance.columns)
    ):
        return False
    if allowance.where is None:
        return True
    database = "start" if change.operation == "delete" else "main"
    _, keys = reader.columns(change.table)
    key = " AND ".join(f"{quoted(name)} IS {_literal(change.key[name])}" for name in keys)
    found = reader.select(f"SELECT 1 FROM {database}.{quoted(change.table)} WHERE {key} AND ({allowance.where})")
    return bool(found.rows)


def _literal(value: Cell) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value)


def cell(value: Any) -> Any:
    """A value of a row as JSON can hold it."""
    return f"<{len(value)} bytes>" if isinstance(value, bytes) else value


def parsed(text: str) -> Any:
    """JSON that we wrote, read again."""
    return json.loads(text)
