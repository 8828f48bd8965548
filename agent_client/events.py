"""The events of an episode, for a callback that shows it live."""

from dataclasses import dataclass

from agent_client.trace import ToolCall, ToolResult, Trace, Turn


@dataclass(frozen=True)
class EpisodeStart:
    """The episode begins."""

    task: str
    model: str
    tools: int


@dataclass(frozen=True)
class ModelReply:
    """The model replied. Its calls are not made yet. `number` counts turns from 1."""

    number: int
    turn: Turn


@dataclass(frozen=True)
class CallAnswered:
    """A call was made or refused, with this result."""

    call: ToolCall
    result: ToolResult


@dataclass(frozen=True)
class UserReply:
    """The user of a conversation answered."""

    text: str


@dataclass(frozen=True)
class EpisodeEnd:
    """The episode is over."""

    trace: Trace


Event = EpisodeStart | ModelReply | CallAnswered | UserReply | EpisodeEnd
