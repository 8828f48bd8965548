"""The agent's door: MCP over streamable HTTP at `/i/{instance}/mcp`, and over stdio for one instance.

One server object serves all instances of a worker, in both eras of the protocol; the URL's path names the instance and
a bearer token opens it. Nothing that is said here tells of checkpoints, of other instances, or of this machine.
"""

import hmac
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import Any, BinaryIO, TypeAlias

import anyio
import mcp_types as mcp
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from starlette.types import Message, Receive, Scope, Send

from servers.doors.json_rpc import REFUSED
from servers.doors.stdio import LineWire
from servers.environment import Tool
from servers.errors import FarmError, NotFound, RequestError
from servers.express import Express
from servers.instance import Instance
from servers.worker import Worker

LARGEST_BODY = 1024 * 1024
MOST_REMEMBERED = 1024
LEASE_OVER = "the lease of this instance is over; whoever launched it can prolong it, or launch a new one"
SERVER_INFO = {"name": "envfarm", "version": "0.1.0"}
NO_ANSWER_NOW = "the environment cannot answer now, and nothing was changed; try again"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

Context: TypeAlias = ServerRequestContext[Any, Any]


class AgentDoor:
    """An ASGI application that answers agents. Its `running()` is entered before the first request.

    `server` is what answers behind the door in place of the instances; the conformance suite brings its own.
    `express` answers ordinary calls; tests bring one that counts, and one that answers nothing.
    """

    def __init__(
        self,
        worker: Worker,
        *,
        loopback_only: bool = False,
        server: Server[Any] | None = None,
        express: Express | None = None,
    ) -> None:
        self._worker = worker
        self._express = express or Express(SERVER_INFO, hosts=LOOPBACK if loopback_only else None)
        self._bearer_of = lru_cache(MOST_REMEMBERED)(self._bearer)
        self._manager = StreamableHTTPSessionManager(
            server or _server(self._of_request),
            json_response=True,
            stateless=True,
            max_request_body_size=LARGEST_BODY,
            security_settings=_loopback_settings() if loopback_only else None,
        )

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        trouble: Exception | None = None
        async with self._manager.run():
            try:
                yield
            except Exception as error:
                trouble = error  # carried past the manager's task group, which would wrap it in a group
        if trouble is not None:
            raise trouble

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # RFC 9110, 5.5: blanks around a header's value are none of it; uvicorn's faster parser leaves those behind it.
        scope = {**scope, "headers": [(name, value.strip(b" \t")) for name, value in scope["headers"]]}
        instance_id = _instance_in(scope["path"])
        if instance_id is None or not self._worker.has(instance_id):
            await self._refuse(send, 404, "not_found", "there is no instance here; it was closed, or never launched")
            return
        if not self._opens(scope, instance_id):
            await self._refuse(
                send, 401, "unauthorized", "the token of this instance goes into the header Authorization: Bearer"
            )
            return
        if self._worker.is_suspended(instance_id):
            await self._refuse(send, 410, "lease_over", LEASE_OVER)
            return
        if scope["method"] != "POST":
            await self._refuse(send, 405, "method_not_allowed", "MCP is posted here; there is no stream to listen to")
            return
        try:
            self._worker.find(instance_id)
        except RequestError as error:
            await self._refuse(send, 404 if isinstance(error, NotFound) else 409, "request", str(error))
            return
        except FarmError as error:
            self._worker.watch.could_not("open an instance", error, instance=instance_id)
            await self._refuse(send, 503, "infra", "this instance cannot be served now; try again, or launch a new one")
            return
        unanswered = await self._express.answer(scope, receive, send, lambda: self._worker.find(instance_id))
        if unanswered is not None:
            scope["farm.instance"] = instance_id
            await self._manager.handle_request(scope, unanswered, self._noticing(send))

    async def _refuse(self, send: Send, status: int, kind: str, message: str) -> None:
        self._worker.watch.refused("agent", status)
        await _refuse(send, status, kind, message)

    def _noticing(self, send: Send) -> Send:
        """The same `send`; what the SDK turns away is counted."""

        async def noticing(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] >= 400:
                self._worker.watch.refused("agent", message["status"])
            await send(message)

        return noticing

    def _opens(self, scope: Scope, instance_id: str) -> bool:
        given = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        return hmac.compare_digest(given, self._bearer_of(instance_id))

    def _bearer(self, instance_id: str) -> bytes:
        return f"Bearer {self._worker.token_of(instance_id)}".encode()

    def _of_request(self, ctx: Context) -> Instance:
        if ctx.request is None:
            raise NotFound("no instance stands behind this request")
        return self._worker.find(ctx.request.scope["farm.instance"])


async def serve_stdio(worker: Worker, instance_id: str, incoming: BinaryIO, outgoing: BinaryIO) -> None:
    """Serve one instance over two streams, as a rule standard input and output, until the client goes away."""
    server = _server(lambda _ctx: worker.find(instance_id))
    wire = LineWire(incoming, outgoing, longest=LARGEST_BODY)
    to_server, from_client = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_client, from_server = anyio.create_memory_object_stream[SessionMessage](0)

    async def listen() -> None:
        async with to_server:
            async for message in wire.messages():
                await to_server.send(SessionMessage(mcp.jsonrpc_message_adapter.validate_python(message)))

    async def answer() -> None:
        async with from_server:
            async for answered in from_server:
                await wire.send(answered.message.model_dump(by_alias=True, exclude_unset=True))

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen)
            tasks.start_soon(answer)
            await server.run(from_client, to_client, server.create_initialization_options())
    except* BrokenPipeError:
        pass  # the client went away in the middle of an answer


def _server(instance_of: Callable[[Context], Instance]) -> Server[Any]:
    """The one MCP server; `instance_of` tells which instance a request is for.

    It is asked in the step that uses its answer: a worker lets go of instances that are not in use.
    """

    def found(ctx: Context) -> Instance:
        """The instance, or the error that its agent reads."""
        try:
            return instance_of(ctx)
        except RequestError as error:
            raise MCPError(code=REFUSED, message=str(error)) from None
        except FarmError:  # who looked has told the log
            raise MCPError(code=mcp.INTERNAL_ERROR, message=NO_ANSWER_NOW) from None

    async def list_tools(ctx: Context, _params: mcp.PaginatedRequestParams | None) -> mcp.ListToolsResult:
        tools = found(ctx).environment.description.tools
        return mcp.ListToolsResult(tools=[as_mcp(tool) for tool in tools])

    async def call_tool(ctx: Context, params: mcp.CallToolRequestParams) -> mcp.CallToolResult:
        instance = found(ctx)
        try:
            outcome = await instance.call(params.name, params.arguments or {})
        except FarmError:  # the instance has counted it, and told the log
            raise MCPError(code=mcp.INTERNAL_ERROR, message=NO_ANSWER_NOW) from None
        return mcp.CallToolResult(
            content=[mcp.TextContent(text=outcome.text)],
            structured_content=outcome.structured,
            is_error=outcome.is_error,
        )

    async def with_instructions(ctx: Context, call_next: CallNext) -> HandlerResult:
        """Add the environment's instructions where a client asks what this server is."""
        result = await call_next(ctx)
        if ctx.method in ("initialize", "server/discover") and isinstance(result, dict):
            return {**result, "instructions": found(ctx).instructions}
        return result

    server: Server[Any] = Server(
        SERVER_INFO["name"],
        version=SERVER_INFO["version"],
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=lambda _name: None,
    )
    server.middleware.append(with_instructions)
    return server


def as_mcp(tool: Tool) -> mcp.Tool:
    """A tool as `tools/list` shows it."""
    return mcp.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.arguments,
        output_schema=tool.result,
        annotations=mcp.ToolAnnotations(
            read_only_hint=not tool.writes, destructive_hint=tool.writes, open_world_hint=False
        ),
    )


def _instance_in(path: str) -> str | None:
    match path.split("/"):
        case ["", "i", instance_id, "mcp"]:
            return instance_id
        case _:
            return None


def _loopback_settings() -> TransportSecuritySettings:
    """Browsers on this machine may be led here by names that are not ours: only loopback names are answered."""
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[f"{host}:*" for host in LOOPBACK] + list(LOOPBACK),
        allowed_origins=[f"http://{host}:*" for host in LOOPBACK],
    )


async def _refuse(send: Send, status: int, kind: str, message: str) -> None:
    body = json.dumps({"error": {"kind": kind, "message": message}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if status == 405:
        headers.append((b"allow", b"POST"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
