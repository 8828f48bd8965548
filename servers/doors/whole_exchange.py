"""A request that is there whole, and an answer to it, passed on in one step each: for ordinary calls, past ASGI.

ASGI passes both in pieces, each with a message, a wait and checks of its own. They cost a call a tenth of its price.
"""

from typing import Any, cast

from starlette.types import Scope, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

WHOLE = "farm.whole"
"""In a request's scope, where our own server has put it there: its `WholeExchange`."""
HEAD = b"content-type: application/json\r\ncontent-length: %d\r\n"


class WholeExchange:
    """One request with its answer. Whatever is not of the ordinary form goes the way of ASGI."""

    def __init__(self, cycle: RequestResponseCycle) -> None:
        self._cycle = cycle
        self._connection = cycle.transport  # the cycle may be given another, which waits for pieces

    def body(self) -> bytes | None:
        """The request's body if all of it is there. To be asked before anything is received; it comes once."""
        cycle = self._cycle
        if cycle.more_body or cycle.waiting_for_100_continue or cycle.disconnected:
            return None
        body, cycle.body = bytes(cycle.body), bytearray()
        cycle.message_event.clear()
        return body

    def answer(self, head: bytes, body: bytes) -> bool:
        """Answer with the status 200, lines of a head with the body's length among them, and a body.

        False when nothing was sent: the answer has begun, or the client does not read.
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


def whole_of(scope: Scope) -> WholeExchange | None:
    """The exchange of a request, where our own server has it."""
    return cast("WholeExchange | None", cast("dict[str, Any]", scope).get(WHOLE))


async def send_json(scope: Scope, send: Send, body: bytes) -> None:
    """Answer with the status 200 and a text of JSON, in one step where that can be."""
    exchange = whole_of(scope)
    if exchange is not None and exchange.answer(HEAD % len(body), body):
        return
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
