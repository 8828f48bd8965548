"""The agent's door: MCP over streamable HTTP at `/i/{instance}/mcp`, and over stdio for one instance.

One server object serves all instances of a worker, in both generations of the protocol. The URL's path names the
instance, and its bearer token authorizes. No answer mentions checkpoints, other instances or this machine.
"""

import asyncio
import hmac
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import Any, BinaryIO, NamedTuple, TypeAlias
from weakref import WeakValueDictionary

import anyio
import mcp_types as mcp
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY
from pydantic import ValidationError
from starlette.types import Message, Receive, Scope, Send

from servers.bundle.description import Tool
from servers.doors.disconnect import EndsWithClient, ToolStream, with_session
from servers.doors.fast_path import CALL_FAILED, FastPath, result_pieces
from servers.doors.json_rpc import (
    REFUSED,
    MessageProblem,
    error_body,
    method_of,
    problem_of,
)
from servers.doors.known_heads import HEAD_WORDS, HeadWords
from servers.doors.prepared_answers import INITIALIZES, PREPARED, AnswerKey, PreparedAnswers, plain_question
from servers.doors.request import (
    MOST_KINDS,
    Headers,
    TooLarge,
    again,
    bearer,
    body_of,
    header,
    headers_of,
    is_encoded,
    is_json,
    misled,
)
from servers.doors.stdio import LineWire
from servers.doors.whole_exchange import whole_of
from servers.doors.wrong_params import SDK_WORDS, TOO_EARLY, wrong_params
from servers.errors import CapacityError, FarmError, Moving, NotFound, RequestError
from servers.limits.json_size import has_more_values
from servers.worker.instance import Instance
from servers.worker.settings import MOST_HELD
from servers.worker.tool_changes import ToolChanges, ToolListener
from servers.worker.worker import Worker

LARGEST_BODY = 1024 * 1024
MOST_VALUES = 4000
"""The most values in one message: each takes time of the event loop."""
SMALL_BODY = 4096
"""Bytes up to which a body in progress is not counted."""
COPIES_OF_BODY = 3
"""Copies of a body in memory while it is answered: raw, parsed, and as sent to the guest."""
MOST_ANSWERED = 36 * 1024 * 1024
"""Bytes of the copies of all bodies in progress."""
MOST_REMEMBERED = 1024
LEASE_OVER = "the lease of this instance is over; whoever launched it can prolong it, or launch a new one"
SERVER_INFO = {"name": "envfarm", "version": "0.1.0"}
NO_ANSWER_NOW = "the environment cannot answer now, and nothing was changed; try again"
PLAIN_FORM = [(b"content-type", b"application/json"), (b"accept", b"application/json, text/event-stream")]
PLAIN_NAMES = {name for name, _ in PLAIN_FORM}

Context: TypeAlias = ServerRequestContext[Any, Any]
Listen: TypeAlias = Callable[[Context, mcp.SubscriptionsListenRequestParams], Awaitable[mcp.SubscriptionsListenResult]]


class RequestRefusal(NamedTuple):
    """A refusal before the protocol: a status, a word for programs, a sentence."""

    status: int
    kind: str
    message: str


class _ReadHead(NamedTuple):
    """The head of a request that was let in. Its token was looked at, and may be missing among the headers."""

    instance: str
    headers: Headers


NOTHING_HERE = RequestRefusal(404, "not_found", "there is no instance here; it was closed, or never launched")

IS_MOVING = RequestRefusal(
    503, "moving", "this instance is being moved to another worker, and nothing was done; try again in a moment"
)
HAS_MOVED = RequestRefusal(
    410, "moved", "this instance was moved to another worker; ask whoever has its lease for the new URL and token"
)

INSTANCES_ELSEWHERE = (
    "there are no instances at this port: each worker of this farm has a port of its own; use the mcp_url of the lease"
)
NO_STREAM = RequestRefusal(405, "method_not_allowed", "MCP is posted here; there is no stream to listen to")
LISTENS = "subscriptions/listen"
SIZE = "farm.size"
"""The key in a request's scope under which the bytes of its body stand."""
_CROWDED = (
    f"the large messages that are answered now have more than {MOST_ANSWERED // 1024 // 1024} MiB together;"
    " nothing was done, try again"
)
NO_ROOM = RequestRefusal(503, "capacity", _CROWDED)
NO_TOKEN = RequestRefusal(
    401, "unauthorized", "the token of this instance goes into the header Authorization: Bearer TOKEN"
)


class AgentDoor:
    """The ASGI application for agents. Enter `running()` before the first request.

    `server` can replace the server of the instances, as in the conformance suite. `express` answers plain calls, and
    `prepared` plain questions about the environment. Tests bring some that count, and some that answer nothing.
    """

    def __init__(
        self,
        worker: Worker,
        *,
        loopback_only: bool = False,
        server: Server[Any] | None = None,
        express: FastPath | None = None,
        prepared: PreparedAnswers | None = None,
    ) -> None:
        self._worker = worker
        self._loopback_only = loopback_only
        self._answered = 0
        self._express = express or FastPath(SERVER_INFO)
        self._prepared = prepared or PreparedAnswers()
        self._making: WeakValueDictionary[AnswerKey | str, asyncio.Lock] = WeakValueDictionary()  # each made one by one
        self._let_in_before: dict[bytes, Headers] = {}
        self._token_of = lru_cache(MOST_HELD)(self._token)
        self._manager = StreamableHTTPSessionManager(
            server or _server(self._of_request, worker.tool_changes),
            json_response=True,
            stateless=True,
            max_request_body_size=LARGEST_BODY,
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
        read = self._read(scope)
        if isinstance(read, RequestRefusal):
            await self._refuse(send, read)
            return
        instance_id, headers = read
        if scope["method"] == "GET":
            await self._stream(scope, receive, send, instance_id)
            return
        try:
            body = await _body(scope, receive)
        except TooLarge:
            await self._refuse(send, RequestRefusal(413, "too_large", f"a request has at most {LARGEST_BODY} bytes"))
            return
        if body is None:
            return
        if has_more_values(body, MOST_VALUES):
            await self._refuse(send, RequestRefusal(413, "too_large", f"a message has at most {MOST_VALUES} values"))
            return
        room = COPIES_OF_BODY * len(body) if len(body) > SMALL_BODY else 0
        if self._answered + room > MOST_ANSWERED:
            await self._refuse(send, NO_ROOM)
            return
        self._answered += room
        try:
            await self._let_in(scope, headers, receive, send, instance_id, body)
        finally:
            self._answered -= room

    async def _let_in(
        self, scope: Scope, headers: Headers, receive: Receive, send: Send, instance_id: str, body: bytes
    ) -> None:
        """Answer a request with its whole body."""
        instance = await self._opened(instance_id)
        if isinstance(instance, RequestRefusal):
            await self._refuse(send, instance)
            return
        if await self._express.answer(scope, headers, body, send, instance):
            return
        question = plain_question(scope, headers, body, instance)
        if question is not None and await self._prepared.answer(question, scope, send):
            return
        scope = {**scope, "headers": _in_plain_form(scope["headers"]), "farm.instance": instance_id, SIZE: len(body)}
        problem = problem_of(body)
        if problem is not None:
            self._worker.watch.refused("agent", 400)
            await _send(send, 400, error_body(problem))
            return
        method = method_of(body)
        if method == INITIALIZES and instance.tools_change:
            send = with_session(send, instance_id)
        if question is None and method not in PREPARED:
            await self._manager.handle_request(scope, again(body, receive), self._noticing(send))
            return
        async with self._making.setdefault(question.key if question is not None else instance_id, asyncio.Lock()):
            if question is not None:
                if await self._prepared.answer(question, scope, send):
                    return  # it was made for another request meanwhile
                send = self._prepared.keeping(question, send)
            await self._manager.handle_request(scope, again(body, receive), self._noticing(send))

    async def _stream(self, scope: Scope, receive: Receive, send: Send, instance_id: str) -> None:
        """Tell a client of changed tools until it disconnects."""
        instance = await self._opened(instance_id)
        if isinstance(instance, RequestRefusal):
            await self._refuse(send, instance)
        elif not instance.tools_change:
            await self._refuse(send, NO_STREAM)
        else:
            try:
                with self._worker.tool_changes.listener(instance_id) as listener:
                    await EndsWithClient(ToolStream(listener), lambda _: True)(scope, receive, send)
            except CapacityError as error:
                await self._refuse(send, RequestRefusal(503, "capacity", str(error)))

    def _read(self, scope: Scope) -> _ReadHead | RequestRefusal:
        """What a request's head says, or why it is turned away.

        Of a head that differs from one that was let in by its instance and token alone, only these are looked at.
        """
        words: HeadWords | None = scope.get(HEAD_WORDS)
        known = None if words is None else self._let_in_before.get(words.words)
        if words is not None and known is not None and (instance_id := self._named_in(words)) is not None:
            return _ReadHead(instance_id, known)
        instance_id, headers = _instance_in(scope["path"]), headers_of(scope)
        refusal = self._refusal(scope["method"], headers, instance_id)
        if refusal is not None or instance_id is None:
            return refusal or NOTHING_HERE
        if words is not None and words.instance:
            if len(self._let_in_before) >= MOST_REMEMBERED:
                self._let_in_before.clear()
            self._let_in_before[words.words] = {**headers, b"authorization": b""}  # it is another's in the next head
        return _ReadHead(instance_id, headers)

    def _named_in(self, words: HeadWords) -> str | None:
        """The instance that a head opens with its token, if it takes calls."""
        instance_id = words.instance.decode()
        if not self._worker.has(instance_id) or self._worker.is_suspended(instance_id):
            return None
        return instance_id if hmac.compare_digest(words.token, self._token_of(instance_id)) else None

    def _refusal(self, method: str, headers: Headers, instance_id: str | None) -> RequestRefusal | None:
        """Refuse a request before its body is read. A stranger learns only the reason."""
        if self._loopback_only and (wrong := misled(headers)) is not None:
            return RequestRefusal(wrong[0], "misled", wrong[1])
        has_left = instance_id is not None and instance_id in self._worker.departures.left
        if instance_id is None or not (has_left or self._worker.has(instance_id)):
            return NOTHING_HERE
        if not hmac.compare_digest(bearer(headers), self._token_of(instance_id)):
            return NO_TOKEN
        if has_left:
            return HAS_MOVED
        if self._worker.is_suspended(instance_id):
            return RequestRefusal(410, "lease_over", LEASE_OVER)
        return _malformed(method, headers)

    async def _opened(self, instance_id: str) -> Instance | RequestRefusal:
        """An instance, or the refusal if it cannot be served."""
        try:
            return await self._worker.opened(instance_id)
        except RequestError as error:
            return RequestRefusal(404 if isinstance(error, NotFound) else 409, "request", str(error))
        except Moving:
            return IS_MOVING
        except FarmError as error:
            self._worker.watch.could_not("open an instance", error, instance=instance_id)
            return RequestRefusal(503, "infra", "this instance cannot be served now; try again, or launch a new one")

    async def _refuse(self, send: Send, refusal: RequestRefusal) -> None:
        self._worker.watch.refused("agent", refusal.status)
        problem = MessageProblem(None, REFUSED, refusal.message)
        await _send(send, refusal.status, error_body(problem, {"kind": refusal.kind}))

    def _noticing(self, send: Send) -> Send:
        """Wrap `send` to count requests that the SDK refuses."""

        async def noticing(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] >= 400:
                self._worker.watch.refused("agent", message["status"])
            await send(message)

        return noticing

    def _token(self, instance_id: str) -> bytes:
        return self._worker.token_of(instance_id).encode()

    async def _of_request(self, ctx: Context) -> Instance:
        if ctx.request is None:
            raise NotFound("no instance stands behind this request")
        return await self._worker.opened(ctx.request.scope["farm.instance"])


async def no_instances(_scope: Scope, _receive: Receive, send: Send) -> None:
    """The agents' door of a port without instances, as the farm's own is where workers have theirs."""
    problem = MessageProblem(None, REFUSED, INSTANCES_ELSEWHERE)
    await _send(send, 404, error_body(problem, {"kind": "not_found"}))


async def serve_stdio(worker: Worker, instance_id: str, incoming: BinaryIO, outgoing: BinaryIO) -> None:
    """Serve one instance over two streams, usually standard input and output, until the client disconnects."""
    server = _server(lambda _ctx: worker.opened(instance_id))
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


def _server(instance_of: Callable[[Context], Awaitable[Instance]], changes: ToolChanges | None = None) -> Server[Any]:
    """The one MCP server. `instance_of` finds the instance of a request. Without `changes` no client is told of any.

    It is called in the step that uses the instance, since a worker closes instances that are not in use.
    """

    async def found(ctx: Context) -> Instance:
        """The instance, or an error for its agent."""
        try:
            return await instance_of(ctx)
        except RequestError as error:
            raise MCPError(code=REFUSED, message=str(error)) from None
        except FarmError:  # who looked has told the log
            raise MCPError(code=mcp.INTERNAL_ERROR, message=NO_ANSWER_NOW) from None

    async def list_tools(ctx: Context, _params: mcp.PaginatedRequestParams | None) -> mcp.ListToolsResult:
        return mcp.ListToolsResult(tools=[as_mcp(tool) for tool in (await found(ctx)).listed_tools()])

    async def call_tool(ctx: Context, params: mcp.CallToolRequestParams) -> mcp.CallToolResult:
        instance = await found(ctx)
        if ctx.request is not None and CALL_FAILED in ctx.request.scope:
            raise MCPError(code=mcp.INTERNAL_ERROR, message=NO_ANSWER_NOW)
        try:
            outcome = await instance.call(params.name, params.arguments or {})
        except FarmError:  # the instance has counted it, and told the log
            raise MCPError(code=mcp.INTERNAL_ERROR, message=NO_ANSWER_NOW) from None
        return mcp.CallToolResult.model_validate_json(b"".join((*result_pieces(outcome), b"}")))

    async def with_instructions(ctx: Context, call_next: CallNext) -> HandlerResult:
        """Add to the server's self-description the environment's instructions, and whether its tools change."""
        result = await call_next(ctx)
        if ctx.method in ("initialize", "server/discover") and isinstance(result, dict):
            instance = await found(ctx)
            tools = {"listChanged": changes is not None and instance.tools_change}
            capabilities = {**result["capabilities"], "tools": tools}
            return {**result, "capabilities": capabilities, "instructions": instance.instructions}
        return result

    server: Server[Any] = Server(
        SERVER_INFO["name"],
        version=SERVER_INFO["version"],
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_subscriptions_listen=_listening(found, changes),
        get_tool_input_schema=lambda _name: None,
    )
    server.middleware += [with_instructions, _with_reasons]
    return server


def _listening(found: Callable[[Context], Awaitable[Instance]], changes: ToolChanges | None) -> Listen:
    """What answers `subscriptions/listen`."""

    async def listen(ctx: Context, params: mcp.SubscriptionsListenRequestParams) -> mcp.SubscriptionsListenResult:
        instance = await found(ctx)
        if changes is None or not instance.tools_change:
            raise MCPError(code=mcp.METHOD_NOT_FOUND, message=f"{LISTENS}: the tools of this instance do not change")
        if ctx.request is not None and ctx.request.scope[SIZE] > SMALL_BODY:
            raise MCPError(code=REFUSED, message=f"{LISTENS} has at most {SMALL_BODY} bytes: they stay in memory")
        try:
            with changes.listener(instance.id) as listener:
                return await _told_of_changes(ctx, params, listener)
        except CapacityError as error:
            raise MCPError(code=REFUSED, message=str(error)) from None

    return listen


async def _told_of_changes(
    ctx: Context, params: mcp.SubscriptionsListenRequestParams, listener: ToolListener
) -> mcp.SubscriptionsListenResult:
    """Tell a client of the modern revision of changed tools, until it disconnects or the listener ends."""
    number: Any = ctx.request_id
    meta: Any = {SUBSCRIPTION_ID_META_KEY: number}
    wanted = params.notifications.tools_list_changed or None
    honored = mcp.SubscriptionFilter(tools_list_changed=wanted)
    acknowledged = mcp.SubscriptionsAcknowledgedNotificationParams(notifications=honored, _meta=meta)
    told = mcp.SubscriptionsAcknowledgedNotification(params=acknowledged)
    await ctx.session.send_notification(told, related_request_id=number)
    while await listener.changed():
        if wanted:
            changed = mcp.ToolListChangedNotification(params=mcp.NotificationParams(_meta=meta))
            await ctx.session.send_notification(changed, related_request_id=number)
    return mcp.SubscriptionsListenResult(_meta=meta)


async def _with_reasons(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Say what is wrong with a request's parameters, where the SDK only says that they are."""
    try:
        return await call_next(ctx)
    except ValidationError as error:
        raise MCPError(code=mcp.INVALID_PARAMS, message=wrong_params(error, ctx.params)) from None
    except MCPError as error:
        if error.error.message != SDK_WORDS:
            raise
        raise MCPError(code=mcp.INVALID_PARAMS, message=TOO_EARLY) from None


def as_mcp(tool: Tool) -> mcp.Tool:
    """A tool for `tools/list`."""
    return mcp.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.arguments,
        output_schema=tool.result,
        annotations=mcp.ToolAnnotations(
            read_only_hint=not tool.writes, destructive_hint=tool.writes, open_world_hint=False
        ),
    )


async def _body(scope: Scope, receive: Receive) -> bytes | None:
    """The body of a request, or None if the client has disconnected. Raises TooLarge."""
    exchange = whole_of(scope)
    body = None if exchange is None else exchange.body()
    if body is None:
        return await body_of(scope, receive, LARGEST_BODY)
    if len(body) > LARGEST_BODY:
        raise TooLarge
    return body


def _instance_in(path: str) -> str | None:
    match path.split("/"):
        case ["", "i", instance_id, "mcp"] | ["", "i", instance_id, "mcp", ""]:
            return instance_id
        case _:
            return None


def _malformed(method: str, headers: Headers) -> RequestRefusal | None:
    """The fault in a request's method or headers, if any. A GET may ask for a stream."""
    if method == "GET" and "text/event-stream" in header(headers, b"accept"):
        return None
    if method != "POST":
        return NO_STREAM
    if not is_json(header(headers, b"content-type")):
        return RequestRefusal(415, "unsupported_media_type", "a message is sent with Content-Type: application/json")
    if b"content-encoding" in headers and is_encoded(headers):
        return RequestRefusal(415, "unsupported_media_type", "a message is sent without Content-Encoding")
    if b"accept" in headers and not _accepts_json(header(headers, b"accept")):  # without one, anything is accepted
        return RequestRefusal(
            406, "not_acceptable", "answers are JSON: send Accept: application/json, text/event-stream"
        )
    return None


@lru_cache(MOST_KINDS)
def _accepts_json(accept: str) -> bool:
    kinds = {one.partition(";")[0].strip().lower() for one in accept.split(",")}
    return not kinds.isdisjoint({"application/json", "application/*", "*/*"})


def _in_plain_form(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Headers with content types as the SDK compares them. The door has parsed them by HTTP's rules."""
    kept = [(name, value) for name, value in headers if name not in PLAIN_NAMES]
    return [*kept, *PLAIN_FORM]


async def _send(send: Send, status: int, body: bytes) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if status == 405:
        headers.append((b"allow", b"POST"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
