"""Answers over HTTP that are read up to a size, from a server that may be anybody.

A compressed answer of kilobytes may hold gigabytes, and one without an end holds whatever memory there is. So none is
asked for or unpacked, and no more is read than an answer may have. What costs time and adds nothing is refused too:
tiny chunks, and words before the answer.
"""

import asyncio
import re
import ssl
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, cast

import httpcore
import httpx

from servers.files.spooled import SpooledBytes

PLAIN = {"Accept-Encoding": "identity"}
"""The header that asks for an answer as it is."""
MOST_SMALL_PIECES = 64
"""Pieces of an answer's body, unless they have `SMALL_PIECE` bytes on average."""
SMALL_PIECE = 256
EARLY = re.compile(rb"HTTP/\d\.\d 1")
"""How an informational answer begins. Any number of them may precede the answer, and nobody here asks for one."""
EARLY_SIZE = 10


class AnswerTooLarge(httpx.HTTPError):
    """A server answers with more than it may, or with what is compressed."""


class OneAnswer(httpx.AsyncHTTPTransport):
    """Connections to a server whose first word is its answer. A server that says something before it is cut off."""

    def __init__(self, limits: httpx.Limits, *, authority: Path | None = None) -> None:
        super().__init__(trust_env=False)
        trusted = None if authority is None else ssl.create_default_context(cafile=str(authority))
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=trusted or httpx.create_ssl_context(trust_env=False),
            max_connections=limits.max_connections,
            max_keepalive_connections=limits.max_keepalive_connections,
            keepalive_expiry=limits.keepalive_expiry,
            network_backend=_Network(),
        )


class _Network(httpcore.AsyncNetworkBackend):
    def __init__(self) -> None:
        self._network = cast("httpcore.AsyncNetworkBackend", httpcore.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the library's
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        return _OneAnswerStream(await self._network.connect_tcp(host, port, timeout, local_address, socket_options))

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class _OneAnswerStream(httpcore.AsyncNetworkStream):
    """A connection that is closed when an informational answer begins."""

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream
        self._begin = b""

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        said = await self._stream.read(max_bytes, timeout)
        if len(self._begin) < EARLY_SIZE:
            self._begin += said[:EARLY_SIZE]
            if EARLY.match(self._begin):
                raise httpcore.RemoteProtocolError("it says something before its answer")
        return said

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        self._begin = b""
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> httpcore.AsyncNetworkStream:
        return _OneAnswerStream(await self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class AnswerRoom:
    """The bytes that all unfinished answers of one server may have together."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.taken = 0


async def bounded_answer(
    http: httpx.AsyncClient, request: httpx.Request, *, largest: int, room: AnswerRoom | None = None
) -> httpx.Response:
    """The whole answer to a request.

    Raises:
        AnswerTooLarge: it is larger, there is no room for it, or it is compressed.
        httpx.HTTPError: there is none.
    """
    body = bytearray()
    response = await _read(http, request, body.extend, largest=largest, room=room)
    return _whole(response, bytes(body))


async def spooled_answer(
    http: httpx.AsyncClient, request: httpx.Request, *, largest: int, largest_error: int, folder: Path | None
) -> tuple[httpx.Response, SpooledBytes]:
    """The answer to a request in a file, and one without a body, unless it tells of an error.

    Raises:
        AnswerTooLarge, httpx.HTTPError: as above.
        OSError: there is no room on the disk.
    """
    body = SpooledBytes(folder)
    response = await _read(http, request, body.add, largest=largest)
    return _whole(response, b"" if response.is_success else body[:largest_error]), body


def _whole(response: httpx.Response, content: bytes) -> httpx.Response:
    return httpx.Response(response.status_code, headers=response.headers, content=content, request=response.request)


async def _read(
    http: httpx.AsyncClient,
    request: httpx.Request,
    take: Callable[[bytes], None],
    *,
    largest: int,
    room: AnswerRoom | None = None,
) -> httpx.Response:
    """Read the body of an answer in pieces."""
    room = room or AnswerRoom(largest)
    request.headers.update(PLAIN)
    response = await http.send(request, stream=True)
    size = 0
    try:
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise AnswerTooLarge("its answer is compressed")
        pieces = 0
        async for piece in response.aiter_raw():
            take(piece)
            pieces += 1
            size += len(piece)
            room.taken += len(piece)
            if size > largest or room.taken > room.most:
                raise AnswerTooLarge(f"its answer is larger than {min(largest, room.most) // 1024:,} KiB")
            if pieces > MOST_SMALL_PIECES + size // SMALL_PIECE:
                raise AnswerTooLarge("its answer comes in too many small pieces")
    finally:
        room.taken -= size
        await response.aclose()
    return response
