"""The effect of each call of a trace on the rows, from the farm's history."""

from collections.abc import Iterator

from agent_client.trace import ToolCall, ToolResult, Trace
from registry.client import FarmClient, every_item
from servers.errors import Conflict, NotFound, RequestError
from servers.messages import CallRecord, OutcomeKind
from servers.records import Record
from servers.state.rows import RowChange

PART = 200


class Effect(Record):
    """One call that reached the instance. `call` is its index in the trace, from 0.

    `fault` has line and exception of a fault inside the tool. It is for the author, never for an agent.
    """

    call: int
    outcome: OutcomeKind
    changes: tuple[RowChange, ...] = ()
    micros: int = 0
    fault: str | None = None


async def effects_of(farm: FarmClient, instance: str, trace: Trace) -> tuple[Effect, ...] | None:
    """The effects of a trace, from the history of an instance that only this trace has used.

    None if a call changed more rows than a history lists. That is the agent's doing, and no fault of the farm.

    Raises:
        FarmError: the history cannot be read.
    """
    if not trace.calls:
        return ()
    history = await history_of(farm, instance)
    return None if history is None else tuple(matched(trace, history))


async def history_of(farm: FarmClient, instance: str) -> list[CallRecord] | None:
    """All calls of an instance, oldest first. None if a call changed more rows than a history lists.

    Raises:
        FarmError: the history cannot be read.
    """
    try:
        return await every_item(lambda offset: farm.history(instance, offset=offset, limit=PART))
    except RequestError as error:
        if isinstance(error, (NotFound, Conflict)):
            raise
        return None


def matched(trace: Trace, history: list[CallRecord]) -> Iterator[Effect]:
    """Match each call of the history with its index in the trace.

    Both are in the order of the calls. A call that was refused before it reached the instance is in the trace alone.
    """
    reached = iter(history)
    record = next(reached, None)
    for number, (call, result) in enumerate(made(trace)):
        if record is None:
            return
        if record.tool == call.tool and record.arguments == call.arguments and _told(record, result):
            yield Effect(
                call=number,
                outcome=record.outcome,
                changes=record.changes,
                micros=record.micros,
                fault=record.detail,
            )
            record = next(reached, None)


def made(trace: Trace) -> Iterator[tuple[ToolCall, ToolResult | None]]:
    """All calls of a trace in order, each with its result. The last ones of a cancelled episode have none."""
    for turn in trace.turns:
        for number, call in enumerate(turn.calls):
            yield call, turn.results[number] if number < len(turn.results) else None


def _told(record: CallRecord, result: ToolResult | None) -> bool:
    """True if a result is the one in the history. A cancelled call returned none."""
    return result is None or result.is_error == (record.outcome != "ok")
