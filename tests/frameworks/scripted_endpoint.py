"""A model that plays a solution, behind the APIs of OpenAI (chat, responses) and Anthropic (messages), also streamed.

It holds no state: how far an episode is shows in the results of tools in the request.
"""

import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from agent_client.references import resolve, resolve_text
from agent_client.trace import ToolResult
from servers.scenario.scenario import Solution
from tests.doubles import serving

USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


@dataclass(frozen=True)
class Said:
    """One reply: a call, or the answer."""

    text: str
    tool: str = ""
    arguments: str = ""
    number: int = 0


@dataclass
class ScriptedEndpoint:
    """Plays one solution, whatever the task. `requests` counts what was asked."""

    solution: Solution
    requests: list[str] = field(default_factory=list[str])

    @asynccontextmanager
    async def serve(self) -> AsyncGenerator[str]:
        """Gives the URL, without `/v1`."""
        app = FastAPI()
        app.add_api_route("/v1/models", self._models, response_model=None)
        app.add_api_route("/v1/chat/completions", self._chat, methods=["POST"], response_model=None)
        app.add_api_route("/v1/responses", self._responses, methods=["POST"], response_model=None)
        app.add_api_route("/v1/messages", self._messages, methods=["POST"], response_model=None)
        app.add_api_route("/v1/messages/count_tokens", lambda: {"input_tokens": 10}, methods=["POST"])
        async with serving(app) as origin:
            yield origin

    def said(self, results: list[ToolResult], tools: list[str]) -> Said:
        """The next reply, after some results. A tool may have a longer name here: `mcp__library__find_members`."""
        if len(results) >= len(self.solution.calls) or not tools:
            answer = self.solution.answer if tools else "A title"
            return Said(resolve_text(answer, results) if tools else answer)
        call = self.solution.calls[len(results)]
        [name] = [one for one in tools if one == call.tool or one.endswith((f"_{call.tool}", f"-{call.tool}"))][:1]
        return Said("", name, json.dumps(resolve(call.arguments, results)), len(results) + 1)

    def _models(self) -> dict[str, Any]:
        return {"object": "list", "data": [{"id": "scripted", "object": "model", "owned_by": "tests"}]}

    async def _chat(self, request: Request) -> Response:
        asked = await request.json()
        self.requests.append("chat")
        results = [_result(_text(one["content"])) for one in asked["messages"] if one["role"] == "tool"]
        said = self.said(results, [one["function"]["name"] for one in asked.get("tools") or ()])
        message: dict[str, Any] = {"role": "assistant", "content": said.text or None}
        if said.tool:
            function = {"name": said.tool, "arguments": said.arguments}
            message["tool_calls"] = [{"id": f"call_{said.number}", "type": "function", "function": function}]
        choice = {"index": 0, "finish_reason": "tool_calls" if said.tool else "stop"}
        head = {"id": "c", "created": 0, "model": "scripted"}
        if asked.get("stream"):
            delta = {**message, "tool_calls": [{"index": 0, **one} for one in message.get("tool_calls", ())]}
            part = {**head, "object": "chat.completion.chunk", "choices": [{**choice, "delta": delta}], "usage": USAGE}
            return _stream([("", part)], end="data: [DONE]\n\n")
        return JSONResponse(
            {**head, "object": "chat.completion", "choices": [{**choice, "message": message}], "usage": USAGE}
        )

    async def _responses(self, request: Request) -> Response:
        asked = await request.json()
        self.requests.append("responses")
        given: list[Any] = [] if isinstance(asked["input"], str) else asked["input"]
        results = [_result(_text(one["output"])) for one in given if one.get("type") == "function_call_output"]
        said = self.said(results, [one["name"] for one in asked.get("tools") or () if one["type"] == "function"])
        item: dict[str, Any] = {
            "type": "message", "id": "m", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": said.text, "annotations": []}],
        }  # fmt: skip
        if said.tool:
            item = {"type": "function_call", "id": f"f{said.number}", "call_id": f"call_{said.number}"}
            item |= {"name": said.tool, "arguments": said.arguments, "status": "completed"}
        usage = {
            "input_tokens": 10, "output_tokens": 5, "total_tokens": 15,
            "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
        }  # fmt: skip
        answer: dict[str, Any] = {"id": "r", "object": "response", "created_at": 0, "status": "completed"}
        answer |= {"model": "scripted", "output": [item], "parallel_tool_calls": False, "tool_choice": "auto"}
        return JSONResponse({**answer, "tools": [], "usage": usage})

    async def _messages(self, request: Request) -> Response:
        asked = await request.json()
        self.requests.append("messages")
        blocks = [one for message in asked["messages"] for one in _blocks(message["content"])]
        results = [_result(_text(one.get("content", ""))) for one in blocks if one["type"] == "tool_result"]
        said = self.said(results, [one["name"] for one in asked.get("tools") or ()])
        block: dict[str, Any] = {"type": "text", "text": said.text}
        if said.tool:
            block = {"type": "tool_use", "id": f"call_{said.number}", "name": said.tool}
        stop = "tool_use" if said.tool else "end_turn"
        head = {"id": "m", "type": "message", "role": "assistant", "model": asked["model"], "stop_sequence": None}
        usage = {"input_tokens": 10, "output_tokens": 5}
        if not asked.get("stream"):
            whole = {**block, "input": json.loads(said.arguments)} if said.tool else block
            return JSONResponse({**head, "content": [whole], "stop_reason": stop, "usage": usage})
        start: dict[str, Any] = {**block, "input": {}} if said.tool else {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": said.text}
        if said.tool:
            delta = {"type": "input_json_delta", "partial_json": said.arguments}
        events: list[dict[str, Any]] = [
            {"type": "message_start", "message": {**head, "content": [], "stop_reason": None, "usage": usage}},
            {"type": "content_block_start", "index": 0, "content_block": start},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage},
            {"type": "message_stop"},
        ]
        return _stream([(event["type"], event) for event in events])


def _stream(events: list[tuple[str, dict[str, Any]]], end: str = "") -> Response:
    def pieces() -> Iterator[str]:
        for name, event in events:
            yield f"event: {name}\n" if name else ""
            yield f"data: {json.dumps(event)}\n\n"
        yield end

    return StreamingResponse(pieces(), media_type="text/event-stream")


def _blocks(content: str | list[Any]) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _text(content: str | list[Any]) -> str:
    return "".join(block.get("text", "") for block in _blocks(content))


def _result(text: str) -> ToolResult:
    """A result as the endpoint sees it: JSON, or words. Some frameworks wrap it once more."""
    try:
        value: Any = json.loads(text)
    except ValueError:
        return ToolResult(text=text, structured=None)
    match value:
        case {"type": "text", "text": str(inner)}:
            return _result(inner)
        case {**members}:
            return ToolResult(text=text, structured=members)
        case _:
            return ToolResult(text=text, structured=None)
