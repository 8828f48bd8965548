"""The parse of one turn's tokens: text, thinking, and tool calls, by verl's parser for the model's format."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from agent_client.trace import ToolCall

OPENERS = {"hermes": "<tool_call>"}
"""The beginning of a call, in formats whose parser drops unreadable calls."""


class ParsedTurn(NamedTuple):
    """One turn. `content` goes into the conversation, `text` is the answer for a reader."""

    content: str
    text: str
    thinking: str
    calls: tuple[ToolCall, ...]


class WrittenCall(Protocol):
    """The part of verl's FunctionCall that is used here."""

    name: str
    arguments: str


class Parser(Protocol):
    """The part of verl's ToolParser that is used here."""

    @property
    def stop_token_ids(self) -> list[int]: ...

    async def extract_tool_calls(self, responses_ids: list[int]) -> tuple[str, Sequence[WrittenCall]]: ...


class Tokenizer(Protocol):
    """The part of a tokenizer that is used here."""

    eos_token_id: int | None

    def decode(self, token_ids: list[int], *, skip_special_tokens: bool = False) -> str: ...


class Speech:
    """Parses the turns of one episode."""

    def __init__(self, parser: Parser, tokenizer: Tokenizer, tool_format: str) -> None:
        self._parser = parser
        self._tokenizer = tokenizer
        self._opener = OPENERS.get(tool_format)

    def with_stops(self, sampling: Mapping[str, Any]) -> dict[str, Any]:
        """Sampling parameters with the parser's stop tokens."""
        stops = self._parser.stop_token_ids
        if not stops:
            return dict(sampling)
        return {**sampling, "stop_token_ids": sorted({*(sampling.get("stop_token_ids") or ()), *stops})}

    def ends(self, token_id: int) -> bool:
        """True if the model ended its turn with this token."""
        return token_id == self._tokenizer.eos_token_id or token_id in self._parser.stop_token_ids

    async def read(self, token_ids: list[int], *, turn: int) -> ParsedTurn:
        """Parse a turn. An unreadable call gets an error result, as in any evaluation."""
        content, written = await self._parser.extract_tool_calls(token_ids)
        text = self._tokenizer.decode(token_ids, skip_special_tokens=True)
        thinking, said = _apart(text)
        calls = tuple(
            ToolCall.read(f"call_{turn}_{number}", call.name, call.arguments)
            for number, call in enumerate(written, start=1)
        )
        if not calls and self._opener is not None and self._opener in said:
            why = f"it is not one JSON object with a name and arguments; it was: {said[:500]}"
            calls = (ToolCall(id=f"call_{turn}_1", tool="?", malformed=why),)
        return ParsedTurn(content, said, thinking, calls)


def _apart(text: str) -> tuple[str, str]:
    """Split a text into thinking and answer."""
    head, closed, rest = text.partition("</think>")
    if not closed:
        return "", text.strip()
    return head.replace("<think>", "", 1).strip(), rest.strip()
