"""What each call of a trace did to the rows, as the farm's history tells it."""

from collections.abc import Iterator

from agent_client.trace import ToolCall, ToolResult, Trace
from registry.client import FarmClient, every_item
from servers.messages import CallRecord, OutcomeKind
from servers.records import Record
from servers.state.rows import RowChange

PART = 200


class Effect(Record):
    """One call that reached the instance; `call` counts the calls of the trace from 0.

    `fault` says what went wrong inside the tool: the line and the exception. It is for the author, never for an agent.
    """

    call: int
    outcome: OutcomeKind
    changes: tuple[RowChange, ...] = ()
    micros: int = 0
    fault: str | None = None


async def effects_of(farm: FarmClient, instance: str, trace: Trace) -> tuple[Effect, ...]:
    """Ask for the history of an instance that nobody else has used.

    Raises:
        FarmError: it cannot be read.
    """
    if not trace.calls:
        return ()
    history = await every_item(lambda offset: farm.history(instance, offset=offset, limit=PART))
    return tuple(matched(trace, history))


def matched(trace: Trace, history: list[CallRecord]) -> Iterator[Effect]:
    """Each call of the history with its place in the trace.

    Both are in the order in which the calls were made; what was refused on its way is in the trace alone.
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
    """All calls of a trace in order, each with its result; the last of an episode cut short have none."""
    for turn in trace.turns:
        for number, call in enumerate(turn.calls):
            yield call, turn.results[number] if number < len(turn.results) else None


def _told(record: CallRecord, result: ToolResult | None) -> bool:
    """Whether a result is what the history says was told. A call cut short was told to nobody."""
    return result is None or result.is_error == (record.outcome != "ok")
