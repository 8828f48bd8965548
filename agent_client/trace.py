"""The trace of one episode: a record that can be stored, read back unchanged, and judged again."""

import json
from collections.abc import Sequence
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from agent_client.arguments import MalformedArguments, read_arguments

End = Literal["finished", "turn_limit", "token_limit", "time_limit", "agent_error", "infra_error"]


class TraceRecord(BaseModel):
    """A record that is stored or sent: frozen, without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Limits(TraceRecord):
    """The limits of an episode. Tokens are prompt and completion tokens of all turns."""

    turns: int = Field(default=40, ge=1)
    tokens: int | None = Field(default=None, ge=1)
    seconds: float = Field(default=600.0, gt=0)


class ToolSpec(TraceRecord):
    """A tool as the agent sees it; `arguments` is a JSON Schema."""

    name: str
    description: str = ""
    arguments: dict[str, Any] = Field(default_factory=dict)


class ToolCall(TraceRecord):
    """A call that the agent asked for.

    `malformed` holds unreadable arguments and the reason. Such a call is never sent.
    """

    id: str
    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    malformed: str = ""

    @classmethod
    def read(cls, call_id: str, tool: str, written: object) -> Self:
        """Read a call as a model wrote it: arguments as text, as an object, or absent."""
        try:
            return cls(id=call_id, tool=tool, arguments=read_arguments(written))
        except MalformedArguments as error:
            text = written if isinstance(written, str) else json.dumps(written, default=str)
            why = f"{error}; they were: {text[:500]}"
            return cls(id=call_id, tool=tool, malformed=why.encode(errors="replace").decode())


class ToolResult(TraceRecord):
    """The result of a call: the text that the agent reads, and the same as an object if the tool returns one."""

    text: str
    structured: dict[str, Any] | None = None
    is_error: bool = False


class Turn(TraceRecord):
    """One reply of the model, and the results of its calls.

    `results` are in the order of `calls`, and fewer if the episode ended in between. `user` is the user's answer, if
    any.
    """

    text: str = ""
    thinking: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    user: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out


class Trace(TraceRecord):
    """An episode from the task to its end. `error` explains an end other than `finished`.

    In a conversation `task` is the user's first message, and `user` names who played the user.
    """

    task: str
    instructions: str
    model: str
    tools: tuple[ToolSpec, ...]
    turns: tuple[Turn, ...]
    answer: str
    end: End
    error: str = ""
    user: str = ""
    user_tokens: int = 0

    @property
    def calls(self) -> int:
        return sum(len(turn.calls) for turn in self.turns)

    @property
    def tokens(self) -> int:
        return tokens_of(self.turns)

    @property
    def seconds(self) -> float:
        return sum(turn.seconds for turn in self.turns)


def tokens_of(turns: Sequence[Turn]) -> int:
    """Prompt and completion tokens of all turns, as counted by the endpoint."""
    return sum(turn.tokens for turn in turns)
