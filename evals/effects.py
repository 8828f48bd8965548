"""The effect of each call of a trace on the rows, from the farm's history."""

from collections.abc import Iterator, Mapping

from agent_client.toolbox import JoinedToolbox, Toolbox, ToolPlace
from agent_client.trace import ToolCall, ToolResult, Trace
from registry.client import FarmClient, LeasedInstance, every_item
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


async def effects_of(live: LeasedInstance, toolbox: Toolbox, trace: Trace) -> tuple[Effect, ...] | None:
    """The effects of a trace, from the history of an instance that only this trace has used, or of two.

    None if a call changed more rows than a history lists. That is the agent's doing, and no fault of the farm.

    Raises:
        FarmError: the history cannot be read.
    """
    if not trace.calls:
        return ()
    history = await history_of(live.farm, live.id)
    if history is None:
        return None
    if live.second is None or not isinstance(toolbox, JoinedToolbox):
        return tuple(matched(trace, history))
    other = await history_of(live.farm, live.second.instance)
    if other is None:
        return None
    names = toolbox.names
    both = [*matched(trace, history, _own_names(names, 0)), *matched(trace, other, _own_names(names, 1))]
    return tuple(sorted(both, key=lambda effect: effect.call))


def _own_names(names: Mapping[str, ToolPlace], at: int) -> dict[str, str]:
    """The tools of one of two environments by the names that an agent sees."""
    return {name: own for name, (place, own) in names.items() if place == at}


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


def matched(trace: Trace, history: list[CallRecord], names: Mapping[str, str] | None = None) -> Iterator[Effect]:
    """Match each call of the history with its index in the trace.

    With `names`, the history has the tools of one of two environments under other names. Both are in the order of the
    calls. A call that was refused before it reached the instance is in the trace alone.
    """
    reached = iter(history)
    record = next(reached, None)
    for number, (call, result) in enumerate(made(trace)):
        if record is None:
            return
        own = call.tool if names is None else names.get(call.tool)
        if record.tool == own and record.arguments == call.arguments and _told(record, result):
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
