"""The wire to one instance: it adds the token, and turns every trouble into an answer that the MCP client hands on.

The MCP client drops the HTTP status of a refusal, and tears down the connection together with whoever uses it when a
request fails on the network. So no request fails here: trouble becomes a JSON-RPC error with a message for the reader.
"""

import asyncio
from http import HTTPStatus
from typing import Any, cast

import httpx2

INVALID_PARAMS = -32602  # JSON-RPC: the caller's own doing
INTERNAL_ERROR = -32603  # JSON-RPC: not the caller's doing
TOO_LARGE = (
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.REQUEST_URI_TOO_LONG,
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
)


def shared_http(connections: int = 100) -> httpx2.AsyncClient:
    """An HTTP client for many connections: building one costs far more than a call."""
    return httpx2.AsyncClient(transport=Connections(connections), trust_env=False)


class Connections(httpx2.AsyncBaseTransport):
    """So many connections, the one that was used last first.

    The library's own pool looks at every connection for every request, which costs more than the request where there
    are hundreds. Answers are read whole before they are given.
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
    """What is known of an answer beside its body, without the stream that is closed."""
    return {name: value for name, value in response.extensions.items() if name != "network_stream"}


class Wire(httpx2.AsyncBaseTransport):
    """Carries the requests of one agent over an HTTP client that may be shared; never closes it."""

    def __init__(self, http: httpx2.AsyncClient, token: str) -> None:
        self._http = http
        self._authorization = f"Bearer {token}"

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.headers["Authorization"] = self._authorization
        try:
            # With the whole body, of an event stream too: what breaks later would break inside the MCP client.
            response = await self._http.send(request, follow_redirects=False)
        except httpx2.TimeoutException:
            return _trouble(f"no answer from {request.url}: the worker is overloaded or hangs")
        except httpx2.RequestError as error:
            what = str(error) or type(error).__name__
            return _trouble(f"cannot reach {request.url} ({what}): is the farm up, and the URL right?")
        return _explained(request, response)


def _explained(request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
    """Pass on an answer, or say what its status means. A client error in JSON-RPC is an answer."""
    status = response.status_code
    if status < HTTPStatus.BAD_REQUEST:
        return response
    if status == HTTPStatus.UNAUTHORIZED:
        return _trouble(f"{request.url} refused the token (HTTP 401): use the one launched with it", status)
    if status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
        return _trouble(f"no instance at {request.url} (HTTP {status}): it was closed, launch another", status)
    if status in TOO_LARGE:
        return _error(INVALID_PARAMS, f"the call is too large (HTTP {status}): send less", status)
    if status < HTTPStatus.INTERNAL_SERVER_ERROR and _is_rpc(response):
        return response
    said = " ".join(response.text.split())[:200] or "nothing"
    return _trouble(f"the worker failed (HTTP {status}): retry, or see its log; it said: {said}", status)


def _is_rpc(response: httpx2.Response) -> bool:
    try:
        body: object = response.json()
    except ValueError:
        return False
    return isinstance(body, dict) and "jsonrpc" in body


def _trouble(message: str, status: int | None = None) -> httpx2.Response:
    return _error(INTERNAL_ERROR, message, status)


def _error(code: int, message: str, status: int | None) -> httpx2.Response:
    error = {"code": code, "message": message, "data": {"status": status}}
    return httpx2.Response(HTTPStatus.BAD_REQUEST, json={"jsonrpc": "2.0", "id": None, "error": error})
