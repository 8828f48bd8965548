"""The interface of a model: anything that replies to a conversation."""

import asyncio
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from agent_client.trace import ToolCall, ToolResult, ToolSpec

EPISODE_CLOCK: ContextVar[asyncio.Timeout | None] = ContextVar("EPISODE_CLOCK", default=None)
"""The time limit of the episode under way. A model that waits for others asks it what time is left."""


@dataclass(frozen=True)
class Instructions:
    """The instance's instructions: description and policy."""

    text: str


@dataclass(frozen=True)
class User:
    """A message of the user. The first one is the task."""

    text: str


@dataclass(frozen=True)
class Reply:
    """The model's text and tool calls. `final` ends the episode even if the text is empty."""

    text: str = ""
    thinking: str = ""
    calls: tuple[ToolCall, ...] = ()
    tokens_in: int = 0
    tokens_out: int = 0
    final: bool = False


@dataclass(frozen=True)
class CallReply:
    """The result of one call of the previous reply."""

    call: ToolCall
    result: ToolResult


Message = Instructions | User | Reply | CallReply


class Model(Protocol):
    """Replies to a conversation. Raises AgentError or EndpointError, which end the episode."""

    @property
    def name(self) -> str: ...

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply: ...
