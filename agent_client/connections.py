"""HTTP connections that many agents share."""

import asyncio
from typing import Any, cast

import httpx2


class Connections(httpx2.AsyncBaseTransport):
    """A bounded pool of connections that reuses the one used last.

    The library's own pool looks at every connection for every request, which costs more than the request if there are
    hundreds. Answers are read whole.
    """

    def __init__(self, most: int) -> None:
        self._room = asyncio.Semaphore(most)  # protects the other side: so many requests at once
        self._free: list[httpx2.AsyncHTTPTransport] = []
        self._every: list[httpx2.AsyncHTTPTransport] = []
        self._secrets = httpx2.create_ssl_context()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        async with self._room:
            connection = self._free.pop() if self._free else self._another()
            try:
                response = await connection.handle_async_request(request)
                try:
                    stream = cast("httpx2.AsyncByteStream", response.stream)
                    body = b"".join([part async for part in stream])
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
