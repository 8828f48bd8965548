"""The fast path for the most common request, a plain `tools/call`, without the SDK's objects.

A request with anything unusual in its body or outcome goes to the SDK unread, and so does one with a header that may
change its meaning. So the protocol's rules stay in the SDK.
"""

import json
from typing import Any, NamedTuple

from pydantic_core import from_json
from starlette.types import Scope, Send

from servers.doors.request import Headers
from servers.doors.whole_exchange import send_json
from servers.errors import FarmError
from servers.limits.json_size import key_twice_in
from servers.text.json_values import as_object, is_object
from servers.worker.instance import CallOutcome, Instance

MODERN = "2026-07-28"
HANDSHAKE = ("2025-11-25", "2025-06-18")
META = "io.modelcontextprotocol/"
VERSION, CAPABILITIES, CLIENT = f"{META}protocolVersion", f"{META}clientCapabilities", f"{META}clientInfo"
MODERN_META = {VERSION, CAPABILITIES, CLIENT}
CLIENT_KEYS = {"name", "version"}
ENVELOPE = {"jsonrpc", "id", "method", "params"}
PARAMS = {"name", "arguments", "_meta"}
PROGRESS, LOG_LEVEL = "progressToken", f"{META}logLevel"
TRACING = {"traceparent", "tracestate", "baggage"}
"""Notes by which the SDK puts a call into its client's trace."""
LOG_LEVELS = {"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
PLAIN_VALUES = (str, int, type(None))
VERSIONS = {version.encode(): version for version in (MODERN, *HANDSHAKE)}
CALL_FAILED = "farm.call_failed"
"""A key in a request's scope: the farm could not make the call, and has logged the reason."""
TEXT_ENCODER = json.JSONEncoder(ensure_ascii=False)
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
    b"mcp-session-id",
    b"user-agent",
}
"""Headers of nearly all clients."""
MCP_PREFIX = b"mcp-"
TELLING_HEADERS = {b"content-encoding", b"last-event-id", b"origin"}
"""Headers beside the protocol's own that may change what a request means."""


class PlainToolCall(NamedTuple):
    """An ordinary `tools/call`."""

    id: int | str
    tool: str
    arguments: dict[str, Any]
    version: str


class FastPath:
    """Answers plain calls. `server_info` is what the SDK puts into results of the modern revision."""

    def __init__(self, server_info: dict[str, str]) -> None:
        meta = json.dumps({f"{META}serverInfo": server_info}, separators=(",", ":"))
        self._modern_end = f',"resultType":"complete","_meta":{meta}}}}}'.encode()

    async def answer(self, scope: Scope, headers: Headers, body: bytes, send: Send, instance: Instance) -> bool:
        """Answer an admitted request. False leaves it to the SDK."""
        if len(headers) != len(scope["headers"]) or not (headers.keys() <= ORDINARY_HEADERS or are_plain(headers)):
            return False  # one is there twice, or asks for something special
        call = _ordinary_call(body, headers)
        if call is None:
            return False
        try:
            outcome = await instance.call(call.tool, call.arguments)
        except FarmError:
            scope[CALL_FAILED] = True  # the SDK words the failure, and makes no second call
            return False
        await send_json(scope, send, self._body(call, outcome))
        return True

    def _body(self, call: PlainToolCall, outcome: CallOutcome) -> bytes:
        """The same JSON as the SDK's."""
        number = str(call.id) if isinstance(call.id, int) else json.dumps(call.id)
        head = f'{{"jsonrpc":"2.0","id":{number},"result":'.encode()
        end = self._modern_end if call.version == MODERN else b"}}"
        return b"".join((head, *result_pieces(outcome), end))


def are_plain(headers: Headers) -> bool:
    """True if no header beside the ordinary ones changes what a request means."""
    others = headers.keys() - ORDINARY_HEADERS
    return others.isdisjoint(TELLING_HEADERS) and not any(name.startswith(MCP_PREFIX) for name in others)


def result_pieces(outcome: CallOutcome) -> list[bytes]:
    """An outcome as the JSON of a `CallToolResult`, without its last brace: the only mapping, for both paths.

    A result's JSON is inserted as the tool's guest sent it.
    """
    said = outcome.text if outcome.said is None else outcome.said
    pieces = [b'{"content":[{"type":"text","text":', TEXT_ENCODER.encode(said).encode(), b"}]"]
    if outcome.structured is not None:
        pieces += [b',"structuredContent":', outcome.text.encode()]
    pieces.append(b',"isError":true' if outcome.kind != "ok" else b',"isError":false')
    return pieces


def _ordinary_call(body: bytes, headers: dict[bytes, bytes]) -> PlainToolCall | None:
    """The call in a request. None if the request is not of the plain form."""
    try:
        said: Any = from_json(body, allow_inf_nan=False)  # what it takes, the readers of both eras take likewise
    except ValueError:
        return None
    request = as_object(said)
    if request.keys() != ENVELOPE:
        return None
    number, parameters = request["id"], request["params"]
    is_call = request["jsonrpc"] == "2.0" and request["method"] == "tools/call"
    if not is_call or not isinstance(number, (int, str)) or isinstance(number, bool) or not is_object(parameters):
        return None
    tool, arguments = parameters.get("name"), parameters.get("arguments", {})
    if not isinstance(tool, str) or not is_object(arguments):
        return None
    version = VERSIONS.get(headers.get(b"mcp-protocol-version", b""))
    if version is None or not (_is_modern if version == MODERN else _is_handshake)(parameters, headers):
        return None
    keys = len(request) + len(parameters) + len(arguments) + len(parameters.get("_meta", ()))
    keys += len(CLIENT_KEYS) if version == MODERN else 0
    has_key_twice = body.count(b":") != keys and key_twice_in(body) is not None  # few texts have a colon, as keys do
    return None if has_key_twice else PlainToolCall(number, tool, arguments, version)


def _is_modern(params: dict[str, Any], headers: dict[bytes, bytes]) -> bool:
    meta = params.get("_meta")
    name = headers.get(b"mcp-name", b"=?").decode("latin-1")
    return (
        headers.get(b"mcp-method") == b"tools/call"
        and not name.startswith("=?")  # it is in base64, which the SDK decodes
        and name == params.get("name")
        and params.keys() <= PARAMS
        and is_plain_meta(meta)
    )


def is_plain_meta(meta: object) -> bool:
    """True for the `_meta` of a client of the modern revision that can do nothing special."""
    if not is_object(meta) or not meta.keys() >= MODERN_META or meta[VERSION] != MODERN or meta[CAPABILITIES] != {}:
        return False
    if len(meta) > len(MODERN_META) and not _asks_nothing(meta, MODERN_META):
        return False
    info: Any = meta[CLIENT]
    return (
        is_object(info)
        and info.keys() == CLIENT_KEYS
        and isinstance(info["name"], str)
        and isinstance(info["version"], str)
    )


def _is_handshake(params: dict[str, Any], _headers: dict[bytes, bytes]) -> bool:
    if not params.keys() <= PARAMS:
        return False
    return "_meta" not in params or (is_object(params["_meta"]) and _asks_nothing(params["_meta"], set()))


def _asks_nothing(meta: dict[str, Any], known: set[str]) -> bool:
    """True if a `_meta` has, beside keys that are `known`, nothing that changes an answer.

    Calls report no progress and log nothing for clients. What a client notes for itself is a simple value.
    """
    for key in meta.keys() - known:
        value = meta[key]
        if key == LOG_LEVEL and known:
            is_plain = isinstance(value, str) and value in LOG_LEVELS
        elif key == PROGRESS:
            is_plain = type(value) in (str, int)
        else:
            is_plain = type(value) in PLAIN_VALUES and not key.startswith(META) and key not in TRACING
        if not is_plain:
            return False
    return True
