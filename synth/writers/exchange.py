"""What goes to an OpenAI-compatible endpoint for a question, and how the exchange is recorded.

A recording is a file of lines `{"request": ..., "response": ...}`: bodies of the chat completions API.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agent_client.completion import Completion, Part
from servers.errors import NotFound, RequestError
from synth.writers.writer import Message


def sent(messages: Sequence[Message], schema: dict[str, Any]) -> list[dict[str, str]]:
    """The messages as they are sent: the schema is told in words too, for not every endpoint holds an answer to it."""
    told = [message.model_dump() for message in messages]
    rule = (
        "Answer with one JSON value and nothing else. It must keep to this JSON Schema:\n"
        f"{json.dumps(schema, ensure_ascii=False)}"
    )
    if told and told[0]["role"] == "system":
        told[0] = {"role": "system", "content": f"{told[0]['content']}\n\n{rule}"}
        return told
    return [{"role": "system", "content": rule}, *told]


class Request(Part):
    """What was asked, as much of it as decides the answer."""

    messages: list[dict[str, Any]]


class Exchanged(Part):
    """A question over the wire and what came back."""

    request: Request
    response: Completion


def recorded(path: Path) -> Iterator[Exchanged]:
    """The exchanges of a recording. Raises NotFound, or RequestError naming the line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise NotFound(f"{path}: cannot be read: {error.strerror}") from None
    for number, line in enumerate(lines, 1):
        try:
            yield Exchanged.model_validate_json(line)
        except ValidationError:
            raise RequestError(f"{path}, line {number}: no exchange of chat completions") from None
