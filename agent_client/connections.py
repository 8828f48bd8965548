"""HTTP connections that many agents share, and bounds for what the other side answers."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

import httpx2

LARGEST_ANSWER = 128 * 1024 * 1024
"""Bytes of an answer. The largest one of a farm is the snapshot of a large state."""


class BoundedBody(httpx2.AsyncByteStream):
    """The body of an answer, which may have no end. It fails once it is larger than it may be."""

    def __init__(self, body: httpx2.AsyncByteStream, largest: int) -> None:
        self._body = body
        self._largest = largest

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self._body:
            size += len(part)
            if size > self._largest:
                raise httpx2.RemoteProtocolError(f"its answer is larger than {self._largest // 1024:,} KiB")
            yield part

    async def aclose(self) -> None:
        await self._body.aclose()


async def ask_plainly(request: httpx2.Request) -> None:
    """Ask for an answer that is not compressed: kilobytes may hold gigabytes."""
    request.headers["Accept-Encoding"] = "identity"


def bounded(response: httpx2.Response, largest: int) -> httpx2.AsyncByteStream:
    """The body of an answer, up to a size. Raises RemoteProtocolError if it is compressed."""
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise httpx2.RemoteProtocolError("its answer is compressed, which was not asked for")
    return BoundedBody(cast("httpx2.AsyncByteStream", response.stream), largest)


class Connections(httpx2.AsyncBaseTransport):
    """A bounded pool of connections that reuses the one used last.

    The library's own pool looks at every connection for every request, which costs more than the request if there are
    hundreds. Answers are read whole.
    """

    def __init__(self, most: int, *, largest: int = LARGEST_ANSWER) -> None:
        self._largest = largest
        self._room = asyncio.Semaphore(most)  # protects the other side: so many requests at once
        self._free: list[httpx2.AsyncHTTPTransport] = []
        self._every: list[httpx2.AsyncHTTPTransport] = []
        self._secrets = httpx2.create_ssl_context()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        async with self._room:
            connection = self._free.pop() if self._free else self._another()
            try:
                await ask_plainly(request)
                response = await connection.handle_async_request(request)
                try:
                    body = b"".join([part async for part in bounded(response, self._largest)])
                finally:
                    await response.aclose()
            finally:
                self._free.append(connection)
        return httpx2.Response(
            response.status_code, headers=response.headers, stream=httpx2.ByteStream(body), extensions=_plain(response)
        )

    def _another(self) -> httpx2.AsyncHTTPTransport:
        # Shorter than a server keeps an idle connection (uvicorn: 5 s), or a call goes into one that is just closing.
        limits = httpx2.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=3.0)
        self._every.append(httpx2.AsyncHTTPTransport(verify=self._secrets, limits=limits))
        return self._every[-1]

    async def aclose(self) -> None:
        for connection in self._every:
            await connection.aclose()


def _plain(response: httpx2.Response) -> dict[str, Any]:
    """An answer's metadata without its closed stream."""
    return {name: value for name, value in response.extensions.items() if name != "network_stream"}
