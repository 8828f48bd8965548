"""A request to an OpenAI-compatible endpoint, its response, and the recording of both.

A recording is a file of lines `{"request": ..., "response": ...}`: bodies of the chat completions API. A name that ends
with `.gz` means compression.
"""

import gzip
import json
import zlib
from collections.abc import Iterator, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Any, TextIO, cast

from pydantic import ValidationError

from agent_client.models.completion import Completion, LenientModel, Usage
from servers.errors import NotFound, RequestError
from servers.files.named_file import LARGEST_NAMED, opened_by_name
from servers.files.trouble import naming, trouble
from servers.text.json_values import is_object
from synth.llm.json_text import NoJson, json_in
from synth.llm.writer import (
    BadAnswer,
    WriterAnswer,
    WriterMessage,
    prompt_digest,
)

RULE = "Answer with one JSON value and nothing else. It must keep to this JSON Schema:\n"
CUT_OFF = "the answer was cut off at the token limit; answer more briefly"


class WriterRequest(LenientModel):
    """The parts of a request that determine its answer."""

    model: str = ""
    messages: list[dict[str, Any]]


class Exchanged(LenientModel):
    """A request and its response."""

    request: WriterRequest
    response: Completion


def sent(messages: Sequence[WriterMessage], schema: dict[str, Any]) -> list[dict[str, str]]:
    """The messages to send. They contain the schema in words too, as not every endpoint enforces it."""
    told = [message.model_dump() for message in messages]
    rule = RULE + json.dumps(schema, ensure_ascii=False)
    if told and told[0]["role"] == "system":
        told[0] = {"role": "system", "content": f"{told[0]['content']}\n\n{rule}"}
        return told
    return [{"role": "system", "content": rule}, *told]


def answer_in(
    completion: Completion, messages: Sequence[WriterMessage], schema: dict[str, Any], *, cached: bool
) -> WriterAnswer:
    """The answer in a completion. Raises BadAnswer."""
    choice, usage = completion.choices[0], completion.usage or Usage()
    spent = WriterAnswer(
        value=None,
        model=completion.model,
        prompt=prompt_digest(messages, schema),
        prompt_tokens=usage.prompt_tokens or 0,
        completion_tokens=usage.completion_tokens or 0,
        cached=cached,
    )
    text = choice.message.content or ""
    if choice.message.refusal:
        raise BadAnswer(choice.message.refusal, f"the model refused: {choice.message.refusal}", spent=spent)
    if choice.finish_reason == "length":
        raise BadAnswer(text, CUT_OFF, spent=spent)
    try:
        return spent.model_copy(update={"value": json_in(text, schema)})
    except NoJson as error:
        raise BadAnswer(text, str(error), spent=spent) from None


def kept(completion: Completion) -> dict[str, Any]:
    """The stored parts of a completion."""
    return completion.model_dump(mode="json", exclude_none=True)


def recorded(path: Path) -> Iterator[Exchanged]:
    """The exchanges of a recording. Raises NotFound, or RequestError with the line number."""
    try:
        with opened_by_name(path) as file, _unpacked(path, file) as plain:
            content = plain.read(LARGEST_NAMED + 1)
        if len(content) > LARGEST_NAMED:
            raise RequestError(f"{path}: larger than {LARGEST_NAMED // 1024 // 1024} MiB; split it")
        lines = content.decode().split("\n")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise RequestError(f"{path}: ends with .gz, and is not whole gzip: {error}") from None
    except OSError as error:
        raise NotFound(f"{path}: cannot be read: {trouble(error)}") from None
    except UnicodeDecodeError as error:
        raise RequestError(f"{path}: {trouble(error)}") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield Exchanged.model_validate_json(line)
        except ValidationError:
            raise RequestError(f"{path}, line {number}: no exchange of chat completions") from None


class Recorder:
    """Writes a recording, each exchange once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._there: set[str] = set()
        if path.exists():
            self._there = {_key(exchange.request.messages) for exchange in recorded(path)}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        except OSError as error:
            raise RequestError(f"--record {path}: cannot be written: {trouble(error)}") from None

    def keep(self, request: dict[str, Any], response: dict[str, Any]) -> None:
        """Append an exchange if it is new."""
        key = _key(request["messages"])
        if key not in self._there:
            self._there.add(key)
            with naming(self._path), _appended(self._path) as file:
                file.write(json.dumps({"request": request, "response": response}, ensure_ascii=False) + "\n")


def _unpacked(path: Path, file: BufferedReader) -> BufferedReader | gzip.GzipFile:
    return gzip.GzipFile(fileobj=file) if path.suffix == ".gz" else file


def _appended(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return cast("TextIO", gzip.open(path, "at", encoding="utf-8", errors="surrogatepass"))
    return path.open("a", encoding="utf-8", errors="surrogatepass")


def _key(messages: list[dict[str, Any]]) -> str:
    return json.dumps(messages, sort_keys=True)


TAKEN_STRICTLY = {
    "$defs", "$ref", "additionalProperties", "anyOf", "const", "description", "enum", "items", "properties", "required",
    "title", "type",
}  # fmt: skip


def response_format(schema: dict[str, Any]) -> dict[str, Any]:
    """The `response_format` of a request."""
    return {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": schema, "strict": is_strict(schema)},
    }


def is_strict(schema: Any) -> bool:
    """True if a schema is valid in strict mode."""
    if not is_object(schema):
        return isinstance(schema, bool)
    if not schema.keys() <= TAKEN_STRICTLY:
        return False
    properties: dict[str, Any] = schema.get("properties", {})
    if schema.get("type") == "object" or properties:
        every_key = set(schema.get("required", ())) == properties.keys()
        if schema.get("additionalProperties") is not False or not every_key:
            return False
    below = [*properties.values(), *schema.get("$defs", {}).values(), *schema.get("anyOf", ())]
    return all(map(is_strict, [*below, *([schema["items"]] if "items" in schema else [])]))
