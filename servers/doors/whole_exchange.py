"""A complete request and its complete answer, passed on in one step each: a shortcut past ASGI for plain calls.

ASGI passes both in pieces, each with a message, a wait and checks of its own. That takes a tenth of a call's time. An
answer that goes through ASGI has its head sent with the first piece of its body, in one packet and one system call.
"""

import asyncio
from typing import Any, cast

from starlette.types import Scope, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

WHOLE = "farm.whole"
"""The key in a request's scope under which our own server puts its `WholeExchange`."""
HEAD = b"content-type: application/json\r\ncontent-length: %d\r\n"


class WholeExchange:
    """One request with its answer. An unusual one goes through ASGI."""

    def __init__(self, cycle: RequestResponseCycle) -> None:
        self._cycle = cycle
        self._connection = cycle.transport  # the cycle may be given another, which waits for pieces

    def body(self) -> bytes | None:
        """The request's body if it is complete. Call this before `receive`. It is returned once."""
        cycle = self._cycle
        if cycle.more_body or cycle.waiting_for_100_continue or cycle.disconnected:
            return None
        body, cycle.body = bytes(cycle.body), bytearray()
        cycle.message_event.clear()
        return body

    def answer(self, head: bytes, body: bytes) -> bool:
        """Answer with status 200, header lines that include the body's length, and a body.

        False if nothing was sent: the answer has begun, or the client does not read.
        """
        cycle = self._cycle
        if cycle.response_started or cycle.flow.write_paused:
            return False
        if cycle.disconnected:
            return True
        cycle.response_started = True
        pieces = [STATUS_LINE[200]]
        for name, value in cycle.default_headers:
            pieces += [name, b": ", value, b"\r\n"]
        pieces += [head, b"\r\n" if cycle.keep_alive else b"connection: close\r\n\r\n", body]
        self._connection.write(b"".join(pieces))
        cycle.response_complete = True
        cycle.message_event.set()
        if not cycle.keep_alive:
            self._connection.close()
        cycle.on_response()
        return True


class HeadWithBody(asyncio.Transport):
    """The transport of a request's answer, in place of its connection."""

    def __init__(self, cycle: RequestResponseCycle) -> None:
        self._cycle = cycle
        self._connection = cycle.transport
        self._head: bytes | None = None
        self._is_sent = False

    def write(self, data: bytes) -> None:  # type: ignore[override]
        if self._is_sent or not self._cycle.response_started:  # 100 Continue goes out before any head
            self._connection.write(data)
        elif self._head is None:
            self._head = data
        else:
            self._is_sent = True
            self._connection.write(self._head + data)

    def close(self) -> None:
        if self._head is not None and not self._is_sent:
            self.write(b"")
        self._connection.close()

    def is_closing(self) -> bool:
        return self._connection.is_closing()


def whole_of(scope: Scope) -> WholeExchange | None:
    """The exchange of a request, if our own server provides it."""
    return cast("WholeExchange | None", cast("dict[str, Any]", scope).get(WHOLE))


async def send_json(scope: Scope, send: Send, body: bytes) -> None:
    """Answer with status 200 and JSON, in one step if possible. The server leaves the body of an answer to HEAD out."""
    exchange = whole_of(scope) if scope["method"] != "HEAD" else None
    if exchange is not None and exchange.answer(HEAD % len(body), body):
        return
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
