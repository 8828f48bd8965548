"""A model that plays a fixed list of calls, one a turn, and then gives its answer. An empty script does nothing."""

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from agent_client.model import CallReply, Message, Reply
from agent_client.references import resolve, resolve_text
from agent_client.trace import ToolCall, ToolSpec, TraceRecord


class ScriptedCall(TraceRecord):
    """One call of a script; its arguments may hold references."""

    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class ScriptedModel:
    """Reads its position from the conversation, so it can continue any of its own."""

    def __init__(
        self, calls: Sequence[ScriptedCall], answer: str = "", *, name: str = "scripted", again_after: str = ""
    ) -> None:
        """`again_after` is the text of a result after which the same call is made again."""
        self.name = name
        self._again_after = again_after
        self._calls = tuple(calls)
        self._answer = answer

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        """The next call, or the answer. Raises AgentError if a reference leads nowhere."""
        made = [message.result for message in messages if isinstance(message, CallReply)]
        results = [result for result in made if not self._again_after or result.text != self._again_after]
        if len(results) == len(self._calls):
            return Reply(text=resolve_text(self._answer, results), final=True)
        call = self._calls[len(results)]
        return Reply(
            calls=(ToolCall(id=f"call_{len(made) + 1}", tool=call.tool, arguments=resolve(call.arguments, results)),)
        )
