"""A writer that replays recorded exchanges."""

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agent_client.models.completion import Completion
from synth.llm.exchange import answer_in, recorded, sent
from synth.llm.writer import (
    UnknownPrompt,
    WriterAnswer,
    WriterMessage,
    digest_of,
)

MOST_COMPARED = 50
MOST_SHOWN = 12


class RecordingWriter:
    """Replays the first exchange with the same messages and schema."""

    def __init__(self, *paths: Path) -> None:
        self._paths = paths
        self._known: dict[str, tuple[list[dict[str, Any]], Completion]] = {}
        for path in paths:
            for exchange in recorded(path):
                messages = exchange.request.messages
                self._known.setdefault(digest_of(messages), (messages, exchange.response))

    async def ask(self, messages: Sequence[WriterMessage], schema: dict[str, Any], *, label: str) -> WriterAnswer:
        """Raises UnknownPrompt, or BadAnswer if that was recorded."""
        asked = sent(messages, schema)
        found = self._known.get(digest_of(asked))
        if found is None:
            where = ", ".join(map(str, self._paths))
            raise UnknownPrompt(f"{label}: {where}: no answer to this; {self._nearest(asked)}")
        return answer_in(found[1], messages, schema, cached=True)

    def _nearest(self, asked: list[dict[str, str]]) -> str:
        """The difference from the most similar recorded prompt."""
        text = _as_text(asked)
        texts = [_as_text(messages) for messages, _ in self._known.values()]
        if not texts:
            return "the recording is empty"
        likely = sorted(texts, key=lambda other: _common_beginning(text, other), reverse=True)[:MOST_COMPARED]
        matcher = difflib.SequenceMatcher(b=text.split("\n"), autojunk=False)
        nearest = max(likely, key=lambda other: _likeness(matcher, other))
        lines = difflib.unified_diff(nearest.split("\n"), text.split("\n"), "recorded", "asked", lineterm="", n=0)
        shown = list(lines)
        more = f"\n… {len(shown) - MOST_SHOWN} lines more" if len(shown) > MOST_SHOWN else ""
        return "the nearest recorded prompt differs:\n" + "\n".join(line[:200] for line in shown[:MOST_SHOWN]) + more


def _as_text(messages: Sequence[dict[str, Any]]) -> str:
    return "\n".join(f"[{message.get('role')}]\n{message.get('content')}" for message in messages)


def _common_beginning(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


def _likeness(matcher: "difflib.SequenceMatcher[str]", other: str) -> float:
    matcher.set_seq1(other.split("\n"))
    return matcher.ratio()
