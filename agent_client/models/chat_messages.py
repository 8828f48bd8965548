"""Conversions between a conversation and the chat completions format."""

import json
import re
from collections.abc import Sequence
from typing import Any

from agent_client.model import (
    CallReply,
    Instructions,
    Message,
    Reply,
    User,
)
from agent_client.models.completion import ChatToolCall, Completion, Usage
from agent_client.trace import ToolCall, ToolSpec

FORBIDDEN = re.compile(r"[^A-Za-z0-9_-]")  # in a function's name; what a model made up is sent back to it all the same


def chat_messages(messages: Sequence[Message], *, with_thinking: bool = False) -> list[dict[str, Any]]:
    """The messages for an endpoint. Every call in them has its result, in order.

    With thinking, a reply carries its own as `reasoning_content`, for endpoints whose chat template uses it.
    """
    return [
        _chat_message(message) | _thinking(message) if with_thinking else _chat_message(message) for message in messages
    ]


def _thinking(message: Message) -> dict[str, Any]:
    return {"reasoning_content": message.thinking} if isinstance(message, Reply) and message.thinking else {}


def _chat_message(message: Message) -> dict[str, Any]:
    match message:
        case Instructions(text):
            return {"role": "system", "content": text}
        case User(text):
            return {"role": "user", "content": text}
        case CallReply(call, result):
            return {"role": "tool", "tool_call_id": call.id, "content": result.text}
        case Reply(text, calls=()):
            return {"role": "assistant", "content": text}
        case Reply(text, calls=calls):
            return {"role": "assistant", "content": text or None, "tool_calls": [_chat_call(call) for call in calls]}


def _chat_call(call: ToolCall) -> dict[str, Any]:
    """Malformed arguments become `{}`, since chat templates parse them. The result quotes them."""
    name = FORBIDDEN.sub("_", call.tool)[:64] or "_"
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return {"id": call.id, "type": "function", "function": {"name": name, "arguments": arguments}}


def chat_tools(tools: Sequence[ToolSpec]) -> list[dict[str, Any]]:
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.arguments},
        }
        for tool in tools
    ]


def read_reply(completion: Completion, turn: int) -> Reply:
    """Convert a completion into a reply. `turn` makes call ids unique if the endpoint does not."""
    message = completion.choices[0].message
    text, thinking = without_thinking(message.content or message.refusal or "")
    usage = completion.usage or Usage()
    return Reply(
        text=text,
        thinking=message.reasoning or thinking,
        calls=_calls(message.tool_calls or (), turn),
        tokens_in=usage.prompt_tokens or 0,
        tokens_out=usage.completion_tokens or 0,
    )


def without_thinking(text: str) -> tuple[str, str]:
    """Split a text into answer and leading <think> part. Endpoints without a reasoning parser leave it there."""
    opened = text.lstrip().removeprefix("<think>")
    thinking, closed, rest = opened.partition("</think>")
    return (rest.strip(), thinking.strip()) if closed and opened != text.lstrip() else (text, "")


def _calls(calls: Sequence[ChatToolCall], turn: int) -> tuple[ToolCall, ...]:
    ids = [call.id for call in calls]
    own = len(set(ids)) == len(ids) and all(ids)
    return tuple(
        ToolCall.read(call.id if own and call.id else f"call_{turn}_{number}", *_asked(call))
        for number, call in enumerate(calls, start=1)
    )


def _asked(call: ChatToolCall) -> tuple[str, object]:
    return call.function.name or "", call.function.arguments
