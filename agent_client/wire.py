"""The transport to one instance: JSON-RPC over HTTP POST, in the stateless revision of MCP.

Each request is independent: no handshake, no session, no open stream. An invalid answer raises FarmUnreachable. An
error answer raises RpcError.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import count
from typing import Any

import httpx2

from agent_client.connections import Connections
from agent_client.errors import FarmUnreachable
from agent_client.json_values import is_object

PROTOCOL = "2026-07-28"
INVALID_PARAMS = -32602  # JSON-RPC: the caller's own doing
METHOD_NOT_FOUND = -32601
META = {
    "io.modelcontextprotocol/protocolVersion": PROTOCOL,
    "io.modelcontextprotocol/clientInfo": {"name": "envfarm", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
TOO_LARGE = (
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.REQUEST_URI_TOO_LONG,
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
)


class RpcError(Exception):
    """The server understood the request and answered with an error. `code` is JSON-RPC's."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def shared_http(connections: int = 100) -> httpx2.AsyncClient:
    """An HTTP client for many connections. Building one costs far more than a call."""
    return httpx2.AsyncClient(transport=Connections(connections), trust_env=False)


@dataclass(frozen=True)
class Wire:
    """Posts an agent's requests over an HTTP client. The client may be shared and is never closed here."""

    http: httpx2.AsyncClient
    url: str
    token: str = field(repr=False)
    patience: float
    """Seconds without data after which a request is given up. An answer that trickles ends after twice as long."""
    _numbers: Iterator[int] = field(default_factory=lambda: count(1), repr=False)

    async def ask(self, method: str, params: Mapping[str, Any], name: str | None = None) -> dict[str, Any]:
        """The result of a request. `name` is the tool's. Raises RpcError and FarmUnreachable."""
        number = next(self._numbers)
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": META}}
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "MCP-Protocol-Version": PROTOCOL,
            "Mcp-Method": method,
        }
        if name is not None:
            headers["Mcp-Name"] = name
        body = json.dumps(request, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
        response = await self._posted(body, headers)
        if response.status_code != HTTPStatus.OK:
            self._complain(response)
        return _result(_answer(response, number, self.url))

    async def _posted(self, body: bytes, headers: dict[str, str]) -> httpx2.Response:
        if self.http.is_closed:
            raise FarmUnreachable(f"cannot reach {self.url}: the HTTP client was closed")
        request = self.http.build_request("POST", self.url, content=body, headers=headers, timeout=self.patience)
        try:
            async with asyncio.timeout(2 * self.patience):
                return await self.http.send(request, follow_redirects=False)
        except (TimeoutError, httpx2.TimeoutException):
            raise FarmUnreachable(f"no answer from {self.url}: the worker is overloaded or hangs") from None
        except (httpx2.RequestError, httpx2.InvalidURL) as error:
            what = str(error) or type(error).__name__
            raise FarmUnreachable(
                f"cannot reach {self.url} ({what}): is the farm up, and the URL right? `farm up` starts one and says it"
            ) from error

    def _complain(self, response: httpx2.Response) -> None:
        """Raise for an HTTP error status. A client error with a JSON-RPC body is an answer, and passes."""
        status = response.status_code
        if status == HTTPStatus.UNAUTHORIZED:
            raise FarmUnreachable(
                f"{self.url} refused the token (HTTP 401): use the one launched with it", status=status
            )
        if status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE) and _rpc_code(response) != METHOD_NOT_FOUND:
            raise FarmUnreachable(
                f"no instance at {self.url} (HTTP {status}): it was closed, or its lease is over; launch another",
                status=status,
            )
        if status in TOO_LARGE:
            raise RpcError(INVALID_PARAMS, f"the call is too large (HTTP {status}): send less")
        if HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR and _rpc_code(response) is not None:
            return
        said = " ".join(response.text.split())[:200] or "nothing"
        raise FarmUnreachable(
            f"the worker failed (HTTP {status}): retry, or see its log; it said: {said}", status=status
        )


def _rpc_code(response: httpx2.Response) -> int | None:
    """The code of a JSON-RPC error response, otherwise None."""
    try:
        body: object = response.json()
    except ValueError:
        return None
    match body:
        case {"jsonrpc": "2.0", "error": {"code": int() as code}}:
            return code
        case _:
            return None


def _answer(response: httpx2.Response, number: int, url: str) -> dict[str, Any]:
    """The JSON-RPC message that answers request `number`."""
    kind = response.headers.get("Content-Type", "").partition(";")[0].strip()
    if kind not in ("application/json", "text/event-stream"):
        raise FarmUnreachable(f"{url} does not speak MCP: it answered {kind or 'nothing that it names'}")
    try:
        messages = [response.json()] if kind == "application/json" else list(_events(response.text))
    except ValueError as error:
        raise FarmUnreachable(f"{url} does not speak MCP: its answer is no JSON ({error})") from error
    for message in messages:
        is_answer = is_object(message) and ("result" in message or "error" in message)
        if is_answer and message.get("id") in (number, None):
            return message
    raise FarmUnreachable(f"{url} does not speak MCP: it answered {response.text[:200]!r}")


def _events(text: str) -> Iterator[Any]:
    """The JSON payloads of a finished event stream."""
    for event in text.replace("\r\n", "\n").split("\n\n"):
        data = [line[5:].removeprefix(" ") for line in event.split("\n") if line.startswith("data:")]
        if any(data):
            yield json.loads("\n".join(data))


def _result(answer: dict[str, Any]) -> dict[str, Any]:
    match answer:
        case {"error": {"code": int() as code, "message": str() as message}}:
            raise RpcError(code, message)
        case {"result": object() as result} if is_object(result):
            return result
        case _:
            raise FarmUnreachable(f"the answer is not MCP: {str(answer)[:200]}")
