"""An endpoint on loopback that answers as one model once did, as writer and as solver, in the recorded order.

An answer belongs to what is asked and about which scenario, not to every byte of the prompt.
"""

import gzip
import json
import re
from collections import defaultdict
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse, Response

from tests.doubles import refused, said, serving_chat

RECORDING = Path(__file__).parent.parent / "recordings" / "library_loans_forward.jsonl.gz"
NAME = re.compile(r"^# The scenario: (.*)$", re.MULTILINE)
OPENING = 2
"""So many messages stand before a solver's first turn."""
Key = tuple[str, str]


def exchanges() -> list[dict[str, Any]]:
    """What was asked and answered."""
    return [json.loads(line) for line in gzip.decompress(RECORDING.read_bytes()).decode().splitlines()]


def key_of(body: Mapping[str, Any]) -> Key:
    """What is asked, and about which scenario: the kind of the answer and its title, or `solve` and the task."""
    messages = body["messages"]
    if "tools" in body:
        return "solve", messages[1]["content"]
    schema = json.loads(messages[0]["content"].rpartition("JSON Schema:\n")[2])
    name = NAME.search(messages[1]["content"])
    return schema["title"], name[1] if name and name[1] else ""


def answered(kind: str, about: str = "") -> dict[str, Any]:
    """The first recorded answer of a kind."""
    [first, *_] = [one for one in exchanges() if key_of(one["request"]) == (kind, about)]
    found: dict[str, Any] = json.loads(first["response"]["choices"][0]["message"]["content"])
    return found


@dataclass
class RecordedModel:
    """`instead` are answers that come before the recorded ones; a writer's last answer is given again and again.

    A solver plays the recorded runs of a task in turn, one attempt after another.
    """

    instead: Mapping[Key, Sequence[dict[str, Any]]] = field(default_factory=dict[Key, Sequence[dict[str, Any]]])
    asked: list[Key] = field(default_factory=list[Key])
    prompts: list[str] = field(default_factory=list[str])
    ends_after: int | None = None
    """After so many requests the endpoint takes no more."""

    @asynccontextmanager
    async def serve(self) -> AsyncGenerator[str]:
        """Gives the base URL."""
        self._left: dict[Key, list[dict[str, Any]]] = defaultdict(list)
        self._runs: dict[Key, list[list[dict[str, Any]]]] = defaultdict(list)
        for key, values in self.instead.items():
            self._left[key] += [said(json.dumps(value)) for value in values]
        for one in exchanges():
            key, begins = key_of(one["request"]), len(one["request"]["messages"]) == OPENING
            if key[0] == "solve":
                self._runs[key] += [[]] if begins else []
                self._runs[key][-1].append(one["response"])
            else:
                self._left[key].append(one["response"])
        async with serving_chat(self._complete) as url:
            yield url

    async def _complete(self, request: Request) -> Response:
        if self.ends_after is not None and len(self.asked) >= self.ends_after:
            return refused(401, "no more for today")
        body = await request.json()
        key = key_of(body)
        self.asked.append(key)
        self.prompts.append(body["messages"][-1]["content"])
        if key[0] == "solve" and len(body["messages"]) == OPENING:
            self._left[key] = list(self._runs[key][0])
            self._runs[key].append(self._runs[key].pop(0))
        left = self._left[key]
        assert left, f"nothing recorded for {key}"
        return JSONResponse(left.pop(0) if len(left) > 1 else left[0])

    def count(self, kind: str) -> int:
        """How often something was asked."""
        return sum(asked == kind for asked, _ in self.asked)
