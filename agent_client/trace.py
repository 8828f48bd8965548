"""What an agent did in one episode: a record that can be stored, read back unchanged, and judged again."""

import json
from collections.abc import Sequence
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from agent_client.arguments import MalformedArguments, read_arguments

End = Literal["finished", "turn_limit", "token_limit", "time_limit", "agent_error", "infra_error"]


class TraceRecord(BaseModel):
    """A value that crosses a disk or a wire."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ToolSpec(TraceRecord):
    """A tool as the agent sees it; `arguments` is a JSON Schema."""

    name: str
    description: str = ""
    arguments: dict[str, Any] = Field(default_factory=dict)


class ToolCall(TraceRecord):
    """A call the agent asked for.

    `malformed` says why the arguments could not be read and what they were; such a call is never sent.
    """

    id: str
    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    malformed: str = ""

    @classmethod
    def read(cls, call_id: str, tool: str, written: object) -> Self:
        """Take a call as a model wrote it: arguments as text, as an object, or none."""
        try:
            return cls(id=call_id, tool=tool, arguments=read_arguments(written))
        except MalformedArguments as error:
            text = written if isinstance(written, str) else json.dumps(written, default=str)
            why = f"{error}; they were: {text[:500]}"
            return cls(id=call_id, tool=tool, malformed=why.encode(errors="replace").decode())


class ToolResult(TraceRecord):
    """What a call gave back: the text that the agent reads, and the same as an object where the tool gives one."""

    text: str
    structured: dict[str, Any] | None = None
    is_error: bool = False


class Turn(TraceRecord):
    """One reply of the model and what followed from it.

    `results` answer `calls` in their order; there are fewer where the episode ended in between.
    `user` is what the user said afterwards, if anything.
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
    """An episode from the task to its end; `error` says more about an end that is not `finished`.

    In a conversation `task` is what the user said first, and `user` is who played the user.
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
    """Prompt and completion tokens of all turns, as the endpoint counted them."""
    return sum(turn.tokens for turn in turns)
