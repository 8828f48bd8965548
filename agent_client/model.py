"""The seam to whatever plays: a model is anything that replies to a conversation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from agent_client.trace import ToolCall, ToolResult, ToolSpec


@dataclass(frozen=True)
class Instructions:
    """The business rules, as the instance gives them."""

    text: str


@dataclass(frozen=True)
class User:
    """What the person says: the task first."""

    text: str


@dataclass(frozen=True)
class Reply:
    """What the model says and asks for. `final` ends the episode even where nothing is said."""

    text: str = ""
    thinking: str = ""
    calls: tuple[ToolCall, ...] = ()
    tokens_in: int = 0
    tokens_out: int = 0
    final: bool = False


@dataclass(frozen=True)
class CallReply:
    """The result of one call of the reply before."""

    call: ToolCall
    result: ToolResult


Message = Instructions | User | Reply | CallReply


class Model(Protocol):
    """Replies to a conversation. Raises AgentError or EndpointError, which end the episode."""

    @property
    def name(self) -> str: ...

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply: ...
