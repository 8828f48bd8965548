"""Whether messages survive a chat template: they are rendered, and searched for in the text."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn, cast

from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from evals.export.training_example import TrainingExample
from servers.errors import RequestError
from servers.files.named_file import text_named
from servers.files.trouble import trouble


class ChatTemplate:
    """A chat template as Hugging Face's tokenizers have one: sandboxed Jinja over messages and tools."""

    def __init__(self, path: Path) -> None:
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, autoescape=False)
        environment.filters["tojson"] = _as_json
        cast("dict[str, Any]", environment.globals)["raise_exception"] = _refuse
        self.path = path
        try:
            self._template = environment.from_string(text_named(path))
        except (OSError, UnicodeDecodeError) as error:
            raise RequestError(f"{path}: cannot be read: {trouble(error)}") from None
        except TemplateError as error:
            raise RequestError(f"{path}: not a template: {error}") from None

    def rendered(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> str:
        """The text of a conversation. Raises RequestError if the template fails."""
        try:
            return self._template.render(messages=messages, tools=tools or None, add_generation_prompt=False)
        except (TemplateError, TypeError, ValueError) as error:
            raise RequestError(f"{self.path}: {error}") from None


def lost(template: ChatTemplate, example: TrainingExample) -> Counter[str]:
    """What a template drops of an example, counted by kind. Each part must appear in order, to the character."""
    text = template.rendered([dict(message) for message in example.messages], list(example.tools))
    missing: Counter[str] = Counter()
    at = 0
    for kind, piece in _pieces(example):
        found = text.find(piece, at)
        if found < 0:
            missing[kind] += 1
        else:
            at = found + len(piece)
    return missing


def _pieces(example: TrainingExample) -> Iterator[tuple[str, str]]:
    system = [message for message in example.messages if message["role"] == "system"]
    yield from (("rules", message["content"].strip()) for message in system)
    yield from (("tools", tool["function"]["name"]) for tool in example.tools)
    for message in example.messages:
        match message["role"]:
            case "system":
                continue
            case "tool":
                yield "results", message["content"].strip()
            case "user":
                yield "words of the user", message["content"].strip()
            case _:
                yield from _said(message)


def _said(message: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if message.get("reasoning_content"):
        yield "thinking", message["reasoning_content"].strip()
    if message["content"].strip():
        yield "words of the agent", message["content"].strip()
    for call in message.get("tool_calls", ()):
        yield "calls", call["function"]["name"]
        yield "arguments", call["function"]["arguments"]


def _as_json(value: Any, **options: Any) -> str:
    return json.dumps(value, ensure_ascii=False, **options)


def _refuse(message: str) -> NoReturn:
    raise TemplateError(message)
