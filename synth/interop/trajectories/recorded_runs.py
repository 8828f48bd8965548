"""Files of trajectories, read leniently: those of EnvScaler's runs, and its published set for fine-tuning."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_client.model import Reply
from agent_client.trace import ToolCall
from servers.text.json_values import is_object
from synth.interop.imports.converter import name_of
from synth.interop.imports.dataset import Unreadable, entries_in, fields_of, list_of, objects

CALL_IN_TEXT = "<tool_call>"


@dataclass(frozen=True)
class RecordedRun:
    """What one agent said and called, and what its user said, from the second message on."""

    place: str
    environment: str
    scenario: str
    task: str
    replies: tuple[Reply, ...]
    user: tuple[str, ...]


def runs_in(path: Path) -> Iterator[RecordedRun | str]:
    """The runs of a file, and instead of one that cannot be read the reason.

    Raises:
        NotFound, RequestError, BundleError: the file cannot be read.
    """
    for place, _, entry in entries_in(path):
        try:
            yield _run(place, fields_of(entry))
        except Unreadable as problem:
            yield f"{place}: {problem}"


def _run(place: str, fields: dict[str, Any]) -> RecordedRun:
    told = fields_of(fields.get("task_info") or {})
    environment = _word(told, "env_id")
    scenario = _word(told, "task_id").removeprefix(f"{environment}-")
    messages = objects(list_of(fields, "messages"))
    spoken = [one for one in messages if one.get("role") != "system"]
    if not spoken or spoken[0].get("role") != "user":
        raise Unreadable("messages: the user does not begin")
    replies = tuple(_reply(one) for one in spoken[1:] if one.get("role") == "assistant")
    if not any(reply.calls for reply in replies) and any(CALL_IN_TEXT in reply.text for reply in replies):
        raise Unreadable("messages: its calls stand in its texts; only those of function calling are read")
    said = [one for one in spoken if one.get("role") in ("user", "assistant")]
    while said and said[-1].get("role") == "user":
        said.pop()  # nobody answered
    lines = [_content(one) for one in said if one.get("role") == "user"]
    return RecordedRun(
        place=place,
        environment=name_of(environment, "env"),
        scenario=name_of(scenario, "task"),
        task=str(told.get("task") or ""),
        replies=tuple(reply for reply in replies if reply.calls or reply.text.strip()),
        user=tuple(lines) if len(lines) > 1 else (),
    )


def _word(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not value:
        raise Unreadable(f"task_info.{name}: is missing; only runs in EnvScaler's own environments are read")
    return value


def _reply(message: dict[str, Any]) -> Reply:
    calls: list[ToolCall] = []
    for call in objects(list_of(message, "tool_calls")):
        function = call.get("function")
        if not is_object(function) or not isinstance(function.get("name"), str):
            raise Unreadable("messages: a call has no function's name")
        calls.append(
            ToolCall.read(str(call.get("id") or f"call_{len(calls)}"), function["name"], function.get("arguments"))
        )
    thinking = message.get("reasoning_content")
    return Reply(text=_content(message), thinking=thinking if isinstance(thinking, str) else "", calls=tuple(calls))


def _content(message: dict[str, Any]) -> str:
    content = message.get("content")
    if content is not None and not isinstance(content, str):
        raise Unreadable("messages: a content is not a text")
    return content or ""
