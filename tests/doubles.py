"""Real servers on loopback that stand in for a farm and for a model's endpoint."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from mcp import MCPError
from mcp.server.lowlevel import Server as McpServer
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.types import ASGIApp, Receive, Scope, Send

TOKEN = "token-of-one"
RULES = "A member may borrow two books."


@asynccontextmanager
async def serving(app: ASGIApp) -> AsyncGenerator[str]:
    """Serve an app in this loop on a free port; gives its URL."""
    # Named TCP, or uvicorn leaves Nagle on: 40 ms a call.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="critical", ws="none")
    server = Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        await server.up.wait()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.leave.set()
        await task


class Server(uvicorn.Server):
    """Uvicorn that says when it is up and leaves at once when it is told, whatever is under way."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = asyncio.Event()
        self.leave = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.up.set()

    async def main_loop(self) -> None:
        await self.leave.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        for task in list(self.server_state.tasks):
            task.cancel()
        await asyncio.gather(*self.server_state.tasks, return_exceptions=True)
        await self.lifespan.shutdown()


def _tool(name: str, description: str, argument: str) -> Tool:
    schema = {"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]}
    return Tool(name=name, description=description, input_schema=schema)


TOOLS = [_tool("borrow", "Borrow a book.", "book"), _tool("ponder", "Takes its time.", "matter")]


@dataclass
class Farm:
    """A worker with one instance, `ada`, behind TOKEN.

    `broken` makes it answer HTTP 503, `streams` as an event stream; `pondering` tells that its tool `ponder` was
    called, and `pondered` lets it answer at last.
    """

    closed: bool = False
    broken: bool = False
    streams: bool = False
    pondering: asyncio.Event = field(default_factory=asyncio.Event)
    pondered: asyncio.Event = field(default_factory=asyncio.Event)
    calls: list[tuple[str, Mapping[str, Any] | None]] = field(default_factory=list[Any])
    tokens_seen: list[str] = field(default_factory=list[str])
    versions_seen: set[str] = field(default_factory=set[str])

    @asynccontextmanager
    async def serve(self) -> AsyncGenerator[str]:
        """Gives the URL of the instance."""
        server = McpServer("farm", instructions=RULES, on_list_tools=self._list, on_call_tool=self._call)
        manager = StreamableHTTPSessionManager(server, json_response=not self.streams, stateless=True)

        async def door(scope: Scope, receive: Receive, send: Send) -> None:
            await (self._refusal(Request(scope)) or manager.handle_request)(scope, receive, send)

        # The manager lives in the server's lifespan: one task enters and leaves it, whatever a fixture does.
        app = Starlette(routes=[Mount("/", app=door)], lifespan=lambda _: manager.run())
        async with serving(app) as origin:
            yield f"{origin}/i/ada/mcp"

    def _refusal(self, request: Request) -> ASGIApp | None:
        self.tokens_seen.append(request.headers.get("authorization", ""))
        self.versions_seen.add(request.headers.get("mcp-protocol-version", ""))
        if self.broken:
            return Response("worker is shutting down", status_code=503)
        if self.tokens_seen[-1] != f"Bearer {TOKEN}":
            return JSONResponse({"error": "wrong token"}, status_code=401)
        if self.closed or request.url.path != "/i/ada/mcp":
            return JSONResponse({"error": "no such instance"}, status_code=404)
        return None

    async def _list(self, _context: object, params: PaginatedRequestParams | None) -> ListToolsResult:
        """One tool a page."""
        if params is None or params.cursor is None:
            return ListToolsResult(tools=TOOLS[:1], next_cursor="more")
        return ListToolsResult(tools=TOOLS[1:])

    async def _call(self, _context: object, params: CallToolRequestParams) -> CallToolResult:
        self.calls.append((params.name, params.arguments))
        if params.name == "ponder":
            self.pondering.set()
            await self.pondered.wait()
        if params.name != "borrow":
            raise MCPError(INVALID_PARAMS, f"no tool named {params.name}; there are: borrow, ponder")
        book = (params.arguments or {}).get("book")
        if not isinstance(book, str):
            return CallToolResult(content=[TextContent(text="borrow needs a book")], is_error=True)
        loan = f"loan_{len(self.calls)}"
        result = {"loans": [{"loan_id": loan, "book": book, "days": 14}]}
        return CallToolResult(content=[TextContent(text=f"{loan}: {book}")], structured_content=result)


def said(text: str | None = None, *, calls: Sequence[Mapping[str, Any]] = (), **message: Any) -> dict[str, Any]:
    """A chat completion. A call is `{"id", "name", "arguments"}` with the arguments as text."""
    tool_calls = [
        {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": call["arguments"]}}
        for call in calls
    ]
    content = {"role": "assistant", "content": text, "tool_calls": tool_calls or None, **message}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "stub",
        "choices": [{"index": 0, "finish_reason": "stop", "message": content}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }


def refused(status: int, message: str, *, code: str | None = None, **headers: str) -> Response:
    """An endpoint's error, the way OpenAI writes one; `retry_after="7"` becomes a header."""
    error = {"message": message, "type": "error", "code": code}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return JSONResponse({"error": error}, status_code=status, headers=named)


@asynccontextmanager
async def serving_chat(
    complete: Callable[[Request], Awaitable[Response]],
    models: Callable[[], Response] = lambda: Response(status_code=404),
) -> AsyncGenerator[str]:
    """Serve a function as a chat completions endpoint on loopback. Gives the base URL."""
    app = FastAPI()
    app.add_api_route("/v1/models", models, response_model=None)
    app.add_api_route("/v1/chat/completions", complete, methods=["POST"], response_model=None)
    async with serving(app) as origin:
        yield f"{origin}/v1"


@dataclass
class StubEndpoint:
    """A chat completions endpoint that gives prepared answers in order; `None` never comes."""

    answers: list[dict[str, Any] | Response | None]
    requests: list[dict[str, Any]] = field(default_factory=list[Any])
    keys_seen: list[str] = field(default_factory=list[str])
    models: Response | None = None
    """What is answered to whoever asks for the list of models; by default there is none."""

    @asynccontextmanager
    async def serve(self) -> AsyncGenerator[str]:
        """Gives the base URL."""
        async with serving_chat(self._complete, lambda: self.models or Response(status_code=404)) as url:
            yield url

    async def _complete(self, request: Request) -> Response:
        self.requests.append(await request.json())
        self.keys_seen.append(request.headers.get("authorization", ""))
        answer = self.answers[len(self.requests) - 1]
        if answer is None:
            await _until_gone(request)
            return Response(status_code=499)
        return answer if isinstance(answer, Response) else JSONResponse(answer)


async def _until_gone(request: Request) -> None:
    with suppress(asyncio.CancelledError):
        while (await request.receive())["type"] != "http.disconnect":
            pass
