"""The commonest request by far, one ordinary `tools/call`, answered without building the SDK's objects for it.

What is not exactly of the ordinary form, in its headers, its body or its outcome, is left to the SDK, which then sees
the request as if nobody had read it. So the protocol's rules stand in one place; this file knows its plainest sentence.
"""

import json
from collections.abc import Callable
from typing import Any, NamedTuple, cast

from pydantic_core import from_json
from starlette.types import Message, Receive, Scope, Send

from servers.errors import FarmError
from servers.instance import Instance, Outcome

MODERN = "2026-07-28"
HANDSHAKE = ("2025-11-25", "2025-06-18")
META = "io.modelcontextprotocol/"
MODERN_META = {f"{META}protocolVersion", f"{META}clientCapabilities", f"{META}clientInfo"}
ORDINARY_HEADERS = {
    b"accept",
    b"accept-encoding",
    b"authorization",
    b"connection",
    b"content-length",
    b"content-type",
    b"host",
    b"mcp-method",
    b"mcp-name",
    b"mcp-protocol-version",
    b"user-agent",
}


class Call(NamedTuple):
    """An ordinary `tools/call`."""

    id: int | str
    tool: str
    arguments: dict[str, Any]
    version: str


class Express:
    """Answers ordinary calls. `server_info` is what the SDK would stamp into the results of the modern era."""

    def __init__(self, server_info: dict[str, str], *, hosts: tuple[str, ...] | None) -> None:
        self._hosts = hosts
        meta = json.dumps({f"{META}serverInfo": server_info}, separators=(",", ":"))
        self._modern_end = f',"resultType":"complete","_meta":{meta}}}}}'.encode()

    async def answer(self, scope: Scope, receive: Receive, send: Send, find: Callable[[], Instance]) -> Receive | None:
        """Answer a request, or return a `receive` with which somebody else can."""
        headers = self._ordinary_headers(scope)
        if headers is None:
            return receive
        message = await receive()
        call = _ordinary_call(message, headers)
        if call is None:
            return _again(message, receive)
        try:
            outcome = await find().call(call.tool, call.arguments)
        except FarmError:
            return _again(message, receive)  # nothing was changed: the SDK tries once more, and words the failure
        await _send(send, self._body(call, outcome))
        return None

    def _ordinary_headers(self, scope: Scope) -> dict[bytes, bytes] | None:
        """The headers, if none is there twice, is missing, or asks for something special."""
        if scope["method"] != "POST":
            return None
        headers = dict(cast("list[tuple[bytes, bytes]]", scope["headers"]))
        if len(headers) != len(scope["headers"]) or not headers.keys() <= ORDINARY_HEADERS:
            return None
        if headers.get(b"content-type") != b"application/json" or not _accepts(headers, b"application/json"):
            return None
        host = headers.get(b"host", b"").decode("latin-1").rpartition(":")[0]
        return headers if self._hosts is None or host in self._hosts else None

    def _body(self, call: Call, outcome: Outcome) -> bytes:
        """The same JSON as the SDK's; a result's own text is put in as it came from the tool."""
        pieces = [
            f'{{"jsonrpc":"2.0","id":{json.dumps(call.id)},"result":'.encode(),
            b'{"content":[{"type":"text","text":',
            json.dumps(outcome.text, ensure_ascii=False).encode(),
            b"}]",
        ]
        if outcome.structured is not None:
            pieces += [b',"structuredContent":', outcome.text.encode()]
        pieces.append(b',"isError":true' if outcome.is_error else b',"isError":false')
        pieces.append(self._modern_end if call.version == MODERN else b"}}")
        return b"".join(pieces)


def _ordinary_call(message: Message, headers: dict[bytes, bytes]) -> Call | None:
    """The call that a request makes, if it is complete and has nothing beside the call in it."""
    if message["type"] != "http.request" or message.get("more_body"):
        return None
    version = headers.get(b"mcp-protocol-version", b"").decode("latin-1")
    read = json.loads if version == MODERN else from_json  # each era's own reader: what one takes, the other may not
    try:
        match read(message["body"]):
            case {
                "jsonrpc": "2.0",
                "id": int() | str() as number,
                "method": "tools/call",
                "params": object() as params,
                **more,
            }:
                parameters = cast("dict[str, Any]", params) if isinstance(params, dict) else {}
            case _:
                return None
    except (ValueError, RecursionError):
        return None
    tool, arguments = parameters.get("name"), parameters.get("arguments", {})
    ordinary = _is_modern(version, parameters, headers) or _is_handshake(version, parameters, headers)
    if more or isinstance(number, bool) or not isinstance(tool, str) or not isinstance(arguments, dict) or not ordinary:
        return None
    return Call(number, tool, cast("dict[str, Any]", arguments), version)


def _is_modern(version: str, params: dict[str, Any], headers: dict[bytes, bytes]) -> bool:
    meta = params.get("_meta")
    name = headers.get(b"mcp-name", b"=?").decode("latin-1")
    return (
        version == MODERN
        and headers.get(b"mcp-method") == b"tools/call"
        and not name.startswith("=?")  # it is in base64, which the SDK decodes
        and name == params.get("name")
        and params.keys() <= {"name", "arguments", "_meta"}
        and isinstance(meta, dict)
        and _is_plain_meta(cast("dict[str, Any]", meta))
    )


def _is_plain_meta(meta: dict[str, Any]) -> bool:
    info = meta.get(f"{META}clientInfo")
    return (
        meta.keys() == MODERN_META
        and meta[f"{META}protocolVersion"] == MODERN
        and meta[f"{META}clientCapabilities"] == {}
        and isinstance(info, dict)
        and cast("dict[str, Any]", info).keys() == {"name", "version"}
        and all(isinstance(value, str) for value in cast("dict[str, Any]", info).values())
    )


def _is_handshake(version: str, params: dict[str, Any], headers: dict[bytes, bytes]) -> bool:
    return (
        version in HANDSHAKE
        and _accepts(headers, b"text/event-stream")
        and b"mcp-method" not in headers
        and params.keys() <= {"name", "arguments"}
    )


def _accepts(headers: dict[bytes, bytes], kind: bytes) -> bool:
    return kind in (one.strip() for one in headers.get(b"accept", b"").split(b","))


def _again(message: Message, receive: Receive) -> Receive:
    """A `receive` that begins with a message that has been read already."""
    read = [message]

    async def again() -> Message:
        return read.pop() if read else await receive()

    return again


async def _send(send: Send, body: bytes) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
