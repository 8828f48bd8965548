"""An endpoint on loopback that stands in for a model: what it answers follows from what it is asked."""

import asyncio
import json
import re
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse, Response

from tests.doubles import refused, said, serving_chat

KEY = "Bearer key-1"


def answer_to(messages: list[dict[str, str]]) -> Any:
    """What a diligent model answers to the questions of the tiny stages; at first it names one table only."""
    asked = messages[1]["content"]
    if match := re.match(r"Which tables has (.*)\?$", asked):
        return {"names": ["one"] if len(messages) == 2 else [f"{match[1].lower()}_a", f"{match[1].lower()}_b"]}
    if match := re.match(r"Which tools has (.*) with the tables (.*)\?$", asked):
        return {"names": [f"list_{name}" for name in match[2].split(", ")]}
    if match := re.match(r"Write (.*) of (.*)\.$", asked):
        return {"text": f"def {match[1]}(db): ..."}
    if match := re.match(r"Name the best: (.*)$", asked):
        return {"names": sorted(match[1].split(", "))}
    raise AssertionError(f"asked for what nobody asks here: {asked}")


@dataclass
class Model:
    """`held` is the number of a request, from 1, that is never answered; `came` tells that it has come."""

    answer: Callable[[list[dict[str, str]]], Any] = answer_to
    held: int = 0
    came: asyncio.Event = field(default_factory=asyncio.Event)
    requests: list[dict[str, Any]] = field(default_factory=list[Any])

    def serve(self) -> AbstractAsyncContextManager[str]:
        """Gives the base URL."""
        return serving_chat(self._complete)

    async def _complete(self, request: Request) -> Response:
        body = await request.json()
        if request.headers["authorization"] != KEY:
            return refused(401, "no such key")
        self.requests.append(body)
        if len(self.requests) == self.held:
            self.came.set()
            while (await request.receive())["type"] != "http.disconnect":
                pass
            return Response(status_code=499)
        answer = self.answer(body["messages"])
        return answer if isinstance(answer, Response) else JSONResponse(said(json.dumps(answer)))
