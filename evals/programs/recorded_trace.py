"""The trace of an agent that the farm does not drive: its calls as the farm's history has them, one a turn."""

from collections.abc import Sequence
from typing import Any

from pydantic_core import from_json

from agent_client.json_values import is_object
from agent_client.play import EpisodeEnding
from agent_client.trace import ToolCall, ToolResult, Trace, Turn
from evals.programs.agent_task import AgentTask
from servers.messages import CallRecord


def recorded_trace(task: AgentTask, agent: str, history: Sequence[CallRecord], ending: EpisodeEnding) -> Trace:
    """The trace of an episode. A call that the farm refused before it reached the instance is in no history."""
    finished = ending.end == "finished"
    answer = ending.text if finished else ""
    return Trace(
        task=task.task,
        instructions=task.instructions,
        model=agent,
        tools=task.tools,
        turns=(*map(_turn, history), *((Turn(text=answer),) if answer else ())),
        answer=answer,
        end=ending.end,
        error="" if finished else ending.text,
    )


def _turn(record: CallRecord) -> Turn:
    is_error = record.outcome != "ok"
    arguments: dict[str, Any] = record.arguments if is_object(record.arguments) else {}
    result = ToolResult(text=record.text, structured=None if is_error else _object(record.text), is_error=is_error)
    call = ToolCall(id=f"call_{record.seq}", tool=record.tool, arguments=arguments)
    return Turn(calls=(call,), results=(result,), seconds=record.micros / 1_000_000)


def _object(text: str) -> dict[str, Any] | None:
    """What a tool returned, if it is an object."""
    try:
        value: object = from_json(text)
    except ValueError:
        return None
    return value if is_object(value) else None
