"""Tool calls as text, for models without function calling: how tools are described, and how calls are parsed.

Two formats. `HERMES` is the one that Hermes and Qwen models were trained on: calls in `<tool_call>`, results in
`<tool_response>`. `JSON` is one object a reply, optionally in a code fence: `{"calls": [{"tool": …, "arguments": …}]}`
or `{"answer": …}`.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pydantic_core import from_json

from agent_client.json_values import is_list, is_object
from agent_client.models.chat_messages import chat_tools
from agent_client.trace import ToolCall, ToolResult, ToolSpec

UNREADABLE = "unreadable"
"""The tool name of a call whose name cannot be read."""
OPENED, CLOSED = "<tool_call>", "</tool_call>"
INVENTED = re.compile(r"<tool_response>.*", re.DOTALL)
FENCE = re.compile(r"^```(?:json)?\s*\n(.*?)\n?```$", re.DOTALL)


class ParsedReply(NamedTuple):
    """The text of a reply, and the calls in it."""

    text: str
    calls: tuple[ToolCall, ...]


@dataclass(frozen=True)
class CallText:
    """One format: a prompt with a hole for the tools, a writer of calls and results, a parser."""

    prompt: str
    tools: Callable[[Sequence[ToolSpec]], str]
    written: Callable[[str, Sequence[ToolCall]], str]
    results: Callable[[Sequence[tuple[ToolCall, ToolResult]]], str]
    read: Callable[[str, int], ParsedReply]

    def told(self, tools: Sequence[ToolSpec]) -> str:
        """The prompt that describes the tools and the format. It follows the instructions."""
        return self.prompt.replace("{tools}", self.tools(tools)).strip()


def _hermes_tools(tools: Sequence[ToolSpec]) -> str:
    return "\n".join(json.dumps(tool, ensure_ascii=False) for tool in chat_tools(tools))


def _hermes_written(text: str, calls: Sequence[ToolCall]) -> str:
    blocks = [
        f"{OPENED}\n{json.dumps({'name': call.tool, 'arguments': call.arguments}, ensure_ascii=False)}\n{CLOSED}"
        for call in calls
    ]
    return "\n".join([text, *blocks] if text else blocks)


def _hermes_results(answered: Sequence[tuple[ToolCall, ToolResult]]) -> str:
    return "\n".join(f"<tool_response>\n{result.text}\n</tool_response>" for _, result in answered)


def _hermes_read(text: str, turn: int) -> ParsedReply:
    """Parse calls and the text around them. A result that the model invented ends the parse."""
    first, *rest = INVENTED.sub("", text).split(OPENED)
    words, calls = [first], list[ToolCall]()
    for number, part in enumerate(rest, start=1):
        block, _, after = part.partition(CLOSED)
        calls.append(_named(f"call_{turn}_{number}", block, ("name", "arguments")))
        words.append(after)
    return ParsedReply("".join(words).strip(), tuple(calls))


def _json_tools(tools: Sequence[ToolSpec]) -> str:
    told = [{"tool": tool.name, "description": tool.description, "arguments": tool.arguments} for tool in tools]
    return "\n".join(json.dumps(tool, ensure_ascii=False) for tool in told)


def _json_written(text: str, calls: Sequence[ToolCall]) -> str:
    if not calls:
        return json.dumps({"answer": text}, ensure_ascii=False)
    asked = [{"tool": call.tool, "arguments": call.arguments} for call in calls]
    return json.dumps({"say": text, "calls": asked} if text else {"calls": asked}, ensure_ascii=False)


def _json_results(answered: Sequence[tuple[ToolCall, ToolResult]]) -> str:
    told = [{"tool": call.tool, "error" if result.is_error else "result": result.text} for call, result in answered]
    return json.dumps({"results": told}, ensure_ascii=False)


def _json_read(text: str, turn: int) -> ParsedReply:
    """Parse the object. Any other text is an answer: a model that forgot the format has still answered."""
    stripped = text.strip()
    fenced = FENCE.match(stripped)
    try:
        reply: object = from_json((fenced[1] if fenced else stripped).encode())
    except ValueError as error:
        if not stripped.startswith("{"):
            return ParsedReply(text.strip(), ())
        return ParsedReply("", (_unreadable(f"call_{turn}_1", str(error), stripped),))
    if not is_object(reply):
        return ParsedReply(text.strip(), ())
    asked: object = reply.get("calls", [reply] if "tool" in reply else [])
    blocks: list[object] = asked if is_list(asked) else [asked]
    calls = [_from_object(f"call_{turn}_{at}", block, ("tool", "arguments")) for at, block in enumerate(blocks, 1)]
    words: object = reply.get("say" if calls else "answer", "")
    if not calls and "answer" not in reply:
        return ParsedReply(text.strip(), ())
    return ParsedReply(words.strip() if isinstance(words, str) else json.dumps(words, ensure_ascii=False), tuple(calls))


def _named(call_id: str, block: str, keys: tuple[str, str]) -> ToolCall:
    try:
        return _from_object(call_id, from_json(block.strip().encode()), keys)
    except ValueError as error:
        return _unreadable(call_id, str(error), block.strip())


def _from_object(call_id: str, block: object, keys: tuple[str, str]) -> ToolCall:
    name, arguments = keys
    named: object = block.get(name) if is_object(block) else None
    if not is_object(block) or not isinstance(named, str) or not named:
        return _unreadable(call_id, f"a call is an object with {name!r} and {arguments!r}", json.dumps(block))
    return ToolCall.read(call_id, named, block.get(arguments))


def _unreadable(call_id: str, why: str, written: str) -> ToolCall:
    said = f"{why}; the call was: {written[:500]}"
    return ToolCall(id=call_id, tool=UNREADABLE, malformed=said.encode(errors="replace").decode())


def _prompt(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


HERMES = CallText(_prompt("call_text_hermes.md"), _hermes_tools, _hermes_written, _hermes_results, _hermes_read)
JSON = CallText(_prompt("call_text_json.md"), _json_tools, _json_written, _json_results, _json_read)
