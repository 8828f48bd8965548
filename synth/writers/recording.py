"""A writer that replays recorded exchanges, and knows nothing else."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agent_client.completion import Completion, Usage
from synth.writers.exchange import recorded, sent
from synth.writers.writer import Answer, BadAnswer, Message, UnknownPrompt, digest_of, prompt_digest


class RecordingWriter:
    """Answers with what was answered to the same messages and schema; the first such exchange counts."""

    def __init__(self, *paths: Path) -> None:
        self._paths = paths
        self._known: dict[str, Completion] = {}
        for path in paths:
            for exchange in recorded(path):
                self._known.setdefault(digest_of(exchange.request.messages), exchange.response)

    async def ask(self, messages: Sequence[Message], schema: dict[str, Any], *, label: str) -> Answer:
        """Raises UnknownPrompt, or BadAnswer where such was recorded."""
        response = self._known.get(digest_of(sent(messages, schema)))
        if response is None:
            raise UnknownPrompt(f"{label}: no such prompt in {', '.join(map(str, self._paths))}")
        text = response.choices[0].message.content or ""
        try:
            value = json.loads(text)
        except ValueError as error:
            raise BadAnswer(text, f"it is no JSON: {error}") from None
        usage = response.usage or Usage()
        return Answer(
            value=value,
            model=response.model,
            prompt=prompt_digest(messages, schema),
            prompt_tokens=usage.prompt_tokens or 0,
            completion_tokens=usage.completion_tokens or 0,
            cached=True,
        )
