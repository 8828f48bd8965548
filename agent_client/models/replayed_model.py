"""A model that repeats recorded calls word for word, one a turn, and then gives the recorded answer."""

from collections.abc import Sequence

from agent_client.model import CallReply, Message, Reply
from agent_client.trace import ToolCall, ToolSpec


class ReplayedModel:
    """Unlike a script, a recording has no references: what looks like one is a text that a model wrote."""

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
