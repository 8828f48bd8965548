"""An endpoint on loopback that writes conversations, plays the user and solves, all as it is given in advance."""

import json
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse, Response

from agent_client.references import resolve, resolve_text
from agent_client.trace import ToolResult
from servers.scenario.scenario import Solution
from tests.doubles import refused, said, serving_chat


@dataclass
class TalkingModel:
    """`talks` are the writer's answers, the last again and again; the user says `lines` in turn, and then ends it.

    The solver first asks a question; once it has been answered it plays the solution, the `wrong` first times only
    saying that it is done.
    """

    talks: Sequence[dict[str, Any]]
    solution: Solution
    lines: Sequence[str]
    wrong: int = 0
    ends_after: int | None = None
    asked: list[str] = field(default_factory=list[str])
    prompts: list[list[dict[str, Any]]] = field(default_factory=list[Any])

    def serve(self) -> AbstractAsyncContextManager[str]:
        """Gives the base URL."""
        return serving_chat(self._complete)

    async def _complete(self, request: Request) -> Response:
        if self.ends_after is not None and len(self.asked) >= self.ends_after:
            return refused(401, "no more for today")
        body = await request.json()
        messages: list[dict[str, Any]] = body["messages"]
        user = messages[0]["content"].startswith("You play a person")
        who = "solver" if "tools" in body else "user" if user else "writer"
        self.asked.append(who)
        self.prompts.append(messages)
        answers = {"writer": self._written, "user": self._spoken, "solver": self._solved}
        return JSONResponse(answers[who](messages))

    def count(self, who: str) -> int:
        """How often somebody was asked."""
        return self.asked.count(who)

    def told(self, who: str) -> list[list[dict[str, Any]]]:
        """What somebody was asked, each time."""
        return [messages for asked, messages in zip(self.asked, self.prompts, strict=True) if asked == who]

    def _written(self, _: Sequence[dict[str, Any]]) -> dict[str, Any]:
        return said(json.dumps(self.talks[min(self.count("writer"), len(self.talks)) - 1]))

    def _spoken(self, messages: Sequence[dict[str, Any]]) -> dict[str, Any]:
        at = sum(message["role"] == "assistant" for message in messages)
        return said(self.lines[at] if at < len(self.lines) else "[END]")

    def _solved(self, messages: Sequence[dict[str, Any]]) -> dict[str, Any]:
        if sum(message["role"] == "user" for message in messages) == 1:
            self.wrong -= 1
            return said("Gladly! Who are you, and which book is it?")
        if self.wrong >= 0:
            return said("It is done.")
        results = [
            ToolResult(text=message["content"], structured=json.loads(message["content"]))
            for message in messages
            if message["role"] == "tool"
        ]
        if len(results) == len(self.solution.calls):
            return said(resolve_text(self.solution.answer, results))
        call = self.solution.calls[len(results)]
        arguments = json.dumps(resolve(call.arguments, results))
        return said(calls=[{"id": f"call_{len(results)}", "name": call.tool, "arguments": arguments}])
