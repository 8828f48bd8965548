"""Answers about an environment that are the same each time: the list of its tools, and how its server presents itself.

The SDK makes each the first time it is asked for in the plain form. Later ones are those bytes. An answer of hundreds
of tools takes tens of milliseconds to make.
"""

import json
from collections import OrderedDict
from typing import Any, NamedTuple

from pydantic_core import from_json
from starlette.types import Message, Scope, Send

from servers.doors.fast_path import (
    CAPABILITIES,
    CLIENT,
    ENVELOPE,
    MODERN,
    ORDINARY_HEADERS,
    VERSION,
    VERSIONS,
    are_plain,
    is_plain_meta,
)
from servers.doors.request import Headers
from servers.doors.whole_exchange import send_json
from servers.limits.json_size import key_twice_in
from servers.text.json_values import as_object, is_object
from servers.worker.instance import Instance

MOST_PREPARED = 6 * 1024 * 1024
"""Bytes of prepared answers. The ones that were used least recently are made again."""
LISTS = "tools/list"
INITIALIZES = "initialize"
PREPARED = frozenset({LISTS, INITIALIZES, "server/discover"})
"""The methods whose answers hang on the environment, the instance's clock and the protocol's version alone."""


class AnswerKey(NamedTuple):
    """What an answer hangs on."""

    environment: str
    clock: str
    method: str
    version: bytes
    wanted: str


class PlainQuestion(NamedTuple):
    """A question in the plain form: the answer that it wants, and how that begins."""

    key: AnswerKey
    head: bytes


class PreparedAnswers:
    """The answers of one door, by what they hang on."""

    def __init__(self, most: int = MOST_PREPARED) -> None:
        self._most = most
        self._kept: OrderedDict[AnswerKey, bytes] = OrderedDict()
        self.size = 0

    async def answer(self, question: PlainQuestion, scope: Scope, send: Send) -> bool:
        """Send an answer that was made before. False if there is none."""
        kept = self._kept.get(question.key)
        if kept is None:
            return False
        self._kept.move_to_end(question.key)
        await send_json(scope, send, question.head + kept)
        return True

    def keep(self, question: PlainQuestion, body: bytes) -> None:
        """Keep an answer that was just made."""
        if not body.startswith(question.head) or len(body) > self._most:
            return  # an error, or written in another way
        before = self._kept.pop(question.key, b"")
        kept = self._kept[question.key] = body[len(question.head) :]
        self.size += len(kept) - len(before)
        while self.size > self._most:
            _, oldest = self._kept.popitem(last=False)
            self.size -= len(oldest)

    def keeping(self, question: PlainQuestion, send: Send) -> Send:
        """Wrap `send` to keep the answer that goes through it."""
        parts: list[bytes] = []
        is_good = False

        async def kept(message: Message) -> None:
            nonlocal is_good
            if message["type"] == "http.response.start":
                is_good = message["status"] == 200
            elif is_good:
                parts.append(message.get("body", b""))
                if not message.get("more_body"):
                    self.keep(question, b"".join(parts))
            await send(message)

        return kept


def plain_question(scope: Scope, headers: Headers, body: bytes, instance: Instance) -> PlainQuestion | None:
    """The question in a request. None if it asks for something else, or in another form."""
    if len(headers) != len(scope["headers"]) or not (headers.keys() <= ORDINARY_HEADERS or are_plain(headers)):
        return None
    try:
        request: dict[str, Any] = as_object(from_json(body, allow_inf_nan=False))
    except ValueError:
        return None
    method, number = request.get("method"), request.get("id")
    is_plain = request.keys() <= ENVELOPE and request.get("jsonrpc") == "2.0" and type(number) in (int, str)
    if not is_plain or not isinstance(method, str) or method not in PREPARED or key_twice_in(body) is not None:
        return None
    version = headers.get(b"mcp-protocol-version", b"")
    wanted = _wanted(method, version, request.get("params", {}), headers)
    if instance.view is not None:
        return None  # a perturbed instance lists tools of its own
    if wanted is None or instance.tools_change or (method == LISTS and instance.state.origin.tools is not None):
        return None  # the list of a benchmark's task hangs on the task and its turn, and so does what is declared
    clock = "" if method == LISTS else instance.state.origin.clock
    key = AnswerKey(instance.environment.digest, clock, method, version, wanted)
    return PlainQuestion(key, f'{{"jsonrpc":"2.0","id":{json.dumps(number)},"result":'.encode())


def _wanted(method: str, version: bytes, params: object, headers: Headers) -> str | None:
    """The version that a client asks for, empty where it does not. None if the question is not in the plain form."""
    if not is_object(params):
        return None
    if version == MODERN.encode():
        is_named = headers.get(b"mcp-method") == method.encode() and b"mcp-name" not in headers
        is_plain = params.keys() == {"_meta"} and is_plain_meta(params["_meta"])
        return "" if is_named and is_plain and method != INITIALIZES else None
    if b"mcp-method" in headers:
        return None
    if method == LISTS and version in VERSIONS:
        return "" if not params else None
    if method != INITIALIZES or params.keys() != {"protocolVersion", "capabilities", "clientInfo"}:
        return None
    wanted = params["protocolVersion"]
    is_known = isinstance(wanted, str) and wanted.encode() in VERSIONS and version in {b"", *VERSIONS}
    meta = {VERSION: MODERN, CAPABILITIES: params["capabilities"], CLIENT: params["clientInfo"]}
    return wanted if is_known and is_plain_meta(meta) else None
