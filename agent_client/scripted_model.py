"""Models that play a fixed list of calls, one a turn, and then give an answer: by a script, or from a recording."""

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
    """Reads its position from the conversation, so it can continue any of its own. An empty script does nothing."""

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


class ReplayedModel:
    """Repeats recorded calls word for word: what looks like a reference in them is a text that a model wrote."""

    def __init__(self, calls: Sequence[ToolCall], answer: str, *, name: str = "recorded calls") -> None:
        self.name = name
        self._calls = tuple(calls)
        self._answer = answer

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        """The next call, or the answer."""
        made_so_far = sum(isinstance(message, CallReply) for message in messages)
        if made_so_far == len(self._calls):
            return Reply(text=self._answer, final=True)
        return Reply(calls=(self._calls[made_so_far],))
