"""Answers that end with their client: those to requests that only read, and the stream that tells of changed tools.

The stream is the answer to a GET, for clients of the protocol's older revisions. Those of the modern revision post
`subscriptions/listen` instead.
"""

import asyncio
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from servers.worker.tool_changes import ToolListener

SESSION = b"mcp-session-id"
"""A header of the answer to `initialize`. Many clients ask for the stream only after one. It is not read again."""
PING_SECONDS = 15.0
"""Seconds of silence on the stream. What stands between would close one that is silent for longer."""
PING = b": ping\n\n"
CHANGED = b'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n'
HEAD: Message = {
    "type": "http.response.start",
    "status": 200,
    "headers": [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")],
}


class EndsWithClient:
    """ASGI middleware. `reads` says which requests are read-only. Any other runs to its end."""

    def __init__(self, app: ASGIApp, reads: Callable[[Scope], bool]) -> None:
        self._app = app
        self._reads = reads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not self._reads(scope):
            await self._app(scope, receive, send)
            return
        arrived: asyncio.Queue[Message | Exception] = asyncio.Queue(1)
        answering = asyncio.ensure_future(_run(self._app, scope, arrived, send))
        leaving = asyncio.ensure_future(_until_gone(receive, arrived))
        try:
            await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
            if answering.done():
                answering.result()
        finally:
            answering.cancel()
            leaving.cancel()
            await asyncio.gather(answering, leaving, return_exceptions=True)


async def _run(app: ASGIApp, scope: Scope, arrived: asyncio.Queue[Message | Exception], send: Send) -> None:
    async def receive() -> Message:
        message = await arrived.get()
        if isinstance(message, Exception):
            raise message
        return message

    await app(scope, receive, send)


async def _until_gone(receive: Receive, arrived: asyncio.Queue[Message | Exception]) -> None:
    """Pass on a client's messages and errors until it disconnects."""
    while True:
        try:
            message = await receive()
        except Exception as error:
            await arrived.put(error)
            await asyncio.Future()
        else:
            if message["type"] == "http.disconnect":
                return
            await arrived.put(message)


class ToolStream:
    """An ASGI application: a stream that ends with its listener. Wrap it to end it with its client."""

    def __init__(self, listener: ToolListener, *, ping_seconds: float = PING_SECONDS) -> None:
        self._listener = listener
        self._ping_seconds = ping_seconds

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        await send(HEAD)
        event = PING
        while event:
            await send({"type": "http.response.body", "body": event, "more_body": True})
            event = await self._next()
        await send({"type": "http.response.body", "body": b""})

    async def _next(self) -> bytes:
        """The next event, empty at the end."""
        try:
            async with asyncio.timeout(self._ping_seconds):
                return CHANGED if await self._listener.changed() else b""
        except TimeoutError:
            return PING


def with_session(send: Send, instance_id: str) -> Send:
    """Wrap `send` to name a session in the answer."""

    async def named(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == 200:
            message = {**message, "headers": [*message["headers"], (SESSION, instance_id.encode())]}
        await send(message)

    return named
