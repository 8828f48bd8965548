"""What a writer was asked and what it answered, word for word: found in a run's cache by the digest of the question."""

import json
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from pydantic import ValidationError

from servers.files.named_file import names_found, text_found
from servers.text.json_values import is_object
from synth.llm.exchange import RULE, Exchanged
from synth.llm.writer import WriterMessage, prompt_digest

CACHE = "cache"
MOST_FILES = 20_000
MOST_READ = 256 * 1024 * 1024
"""Characters of a cache that are searched for a question."""
LARGEST = 8 * 1024 * 1024
"""Bytes of an exchange."""
LONGEST = 60_000
"""Characters of a message or an answer that a page shows."""
MOST_PARTS = 50
MOST_KNOWN = 20
"""Runs whose caches are known."""


class SaidText(NamedTuple):
    """A text, and how many of its characters are left out."""

    who: str
    text: str
    left_out: int


class ExchangeText(NamedTuple):
    """A question with the schema that its answer had to keep to, and the answer. Its parts are named by their keys."""

    asked: list[SaidText]
    schema: str
    answer: list[SaidText]

    def as_data(self) -> dict[str, Any]:
        """The same as JSON data."""
        return {
            "asked": [said._asdict() for said in self.asked],
            "schema": self.schema,
            "answer": [said._asdict() for said in self.answer],
        }


class ExchangeTexts:
    """The exchanges in the caches of some runs. Each file is read once for its digest. Thread-safe."""

    def __init__(self, *, most: int = MOST_READ) -> None:
        self._most = most
        self._known: dict[Path, dict[str, tuple[str, str]]] = {}
        self._lock = Lock()  # protects what is known, and lets one thread read at a time

    def find(self, run: Path, prompt: str, model: str) -> ExchangeText | None:
        """The texts of the exchange with this digest of its question, of the run in a folder.

        None if the run's cache does not hold them.
        """
        with self._lock:
            known = self._known.pop(run, {})
            self._known[run] = known
            while len(self._known) > MOST_KNOWN:
                del self._known[next(iter(self._known))]
            with suppress(OSError):  # a folder that cannot be read, or is too large, holds none
                self._read_new(run, known)
            name = next((name for name, one in known.items() if one == (prompt, model)), None)
        found = _read(run, name) if name else None
        return None if found is None else _shown(found)

    def _read_new(self, run: Path, known: dict[str, tuple[str, str]]) -> None:
        read = 0
        for name in names_found(run, CACHE, (".json",), deep=True, most=MOST_FILES):
            if name in known:
                continue
            if read > self._most:
                return
            exchange = _read(run, name)
            if exchange is not None:
                read += sum(len(str(message.get("content"))) for message in exchange.request.messages)
                messages, schema = _question(exchange)
                known[name] = (prompt_digest(messages, schema), exchange.response.model)


def _read(run: Path, name: str) -> Exchanged | None:
    """An exchange, unless it is damaged, too large, or a link out of the run."""
    try:
        return Exchanged.model_validate_json(text_found(run, name, largest=LARGEST))
    except (OSError, ValueError, ValidationError):
        return None


def _question(exchange: Exchanged) -> tuple[list[WriterMessage], dict[str, Any]]:
    """The messages and the schema, as they were before `sent` put the schema into the first message."""
    messages = [
        WriterMessage(role=_role(one), content=str(one.get("content", ""))) for one in exchange.request.messages
    ]
    if not messages or messages[0].role != "system":
        return messages, {}
    said, rule, told = messages[0].content.rpartition(RULE)
    try:
        schema: Any = json.loads(told) if rule else None
    except (ValueError, RecursionError):
        schema = None
    if not is_object(schema):
        return messages, {}
    first = [WriterMessage(role="system", content=said.removesuffix("\n\n"))] if said else []
    return [*first, *messages[1:]], schema


def _role(message: dict[str, Any]) -> Any:
    role = message.get("role")
    return role if role in ("system", "assistant") else "user"


def _shown(exchange: Exchanged) -> ExchangeText:
    messages, schema = _question(exchange)
    said = exchange.response.choices[0].message
    return ExchangeText(
        asked=[_cut(one.role, one.content) for one in messages],
        schema=json.dumps(schema, ensure_ascii=False, indent=1)[:LONGEST] if schema else "",
        answer=_parts(said.content or said.refusal or ""),
    )


def _parts(text: str) -> list[SaidText]:
    """The parts of an answer. One that is no JSON object is a single part without a name."""
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not is_object(value):
        return [_cut("", text)] if text else []
    return [
        _cut(name, part if isinstance(part, str) else json.dumps(part, ensure_ascii=False, indent=1))
        for name, part in list(value.items())[:MOST_PARTS]
    ]


def _cut(who: str, text: str) -> SaidText:
    return SaidText(who, text[:LONGEST], max(0, len(text) - LONGEST))
