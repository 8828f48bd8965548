"""The checks of a request that both doors make before they read it: its token, and its host and origin."""

from functools import lru_cache
from typing import TypeAlias

from starlette.types import Message, Receive, Scope

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
MOST_KINDS = 64
"""The most header values whose meaning is cached: a client repeats the same ones."""

Headers: TypeAlias = dict[bytes, bytes]


class TooLarge(Exception):
    """A body exceeds its bound."""


def headers_of(scope: Scope) -> Headers:
    """The headers of a request by name. The first of a name counts."""
    return dict(reversed(scope["headers"]))


def header(headers: Headers, name: bytes) -> str:
    """The value of a header, empty if it is missing."""
    return headers.get(name, b"").decode("latin-1")


def bearer(headers: Headers) -> bytes:
    """The token of `Authorization: Bearer TOKEN`, empty without one. A scheme has no case (RFC 9110, 11.1)."""
    scheme, _, token = header(headers, b"authorization").partition(" ")
    return token.strip().encode("latin-1") if scheme.lower() == "bearer" else b""


@lru_cache(MOST_KINDS)
def is_json(content_type: str) -> bool:
    return content_type.partition(";")[0].strip().lower() == "application/json"


def is_encoded(headers: Headers) -> bool:
    """True if a body is compressed, or written in another form than its type says. No door reads such a one."""
    return header(headers, b"content-encoding").strip().lower() not in ("", "identity")


def misled(headers: Headers) -> tuple[int, str] | None:
    """Refuse a request that is not meant for a server on loopback: a status and a sentence.

    A page of another site may send a browser of this machine here, under its own name or ours.
    """
    if not _is_loopback(header(headers, b"host")):
        return 421, f"only requests to {', '.join(LOOPBACK)} are answered here: see the header Host"
    origin = header(headers, b"origin")
    scheme, _, host = origin.partition("://")
    if origin and not (scheme.lower() in ("http", "https") and _is_loopback(host)):
        return 403, "pages of other places may not ask here: see the header Origin"
    return None


@lru_cache(MOST_KINDS)
def _is_loopback(host: str) -> bool:
    """True if an address, with or without a port, is on loopback."""
    name, colon, port = host.lower().rpartition(":")
    return host.lower() in LOOPBACK or (bool(colon) and port.isdecimal() and name in LOOPBACK)


async def body_of(scope: Scope, receive: Receive, largest: int) -> bytes | None:
    """The whole body of a request, or None if the client has disconnected.

    Raises:
        TooLarge: it has, or announces, more than `largest` bytes.
    """
    announced = header(headers_of(scope), b"content-length")
    if announced.isdecimal() and int(announced[:19]) > largest:
        raise TooLarge
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        if len(body) > largest:
            raise TooLarge
        if not message.get("more_body"):
            return bytes(body)


def again(body: bytes, receive: Receive) -> Receive:
    """A `receive` that first returns a body that was read already."""
    read: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def received() -> Message:
        return read.pop() if read else await receive()

    return received
