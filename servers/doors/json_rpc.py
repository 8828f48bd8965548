"""JSON-RPC around the SDK: which texts are messages, and the errors for the others."""

import json
import re
from typing import Any, NamedTuple, TypeAlias

from servers.limits.json_size import key_twice_in
from servers.text.json_values import is_deeper, is_list, is_object

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INTERNAL_ERROR = -32603
REFUSED = -32000
"""A code in the range that JSON-RPC leaves to servers: refused before the protocol begins."""

MessageId: TypeAlias = int | str | None

EDGE = 4096
"""Bytes at each end of an unread message in which its id is searched for: SDKs write it first or last."""
DEEPEST = 500
"""Levels of a message. Pythons differ in how many they read."""
TEXT = rb'"(?:[^"\\]|\\.)*"'
ID = rb'"id"\s*:\s*(-?\d{1,19}|%b)\s*' % TEXT
ID_FIRST = re.compile(rb'\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*%b\s*,\s*){0,2}%b[,}]' % (TEXT, ID))
ID_LAST = re.compile(rb"[{,]\s*%b\}\s*\Z" % ID)


class MessageProblem(NamedTuple):
    """Why a text is not a message. `id` is the request's, if it can be read."""

    id: MessageId
    code: int
    message: str


def problem_of(text: bytes) -> MessageProblem | None:
    """The fault of a message. None if it is valid JSON-RPC, whatever it requests."""
    try:
        message: Any = json.loads(text)
        if is_deeper(message, text.decode(errors="replace"), DEEPEST):
            raise RecursionError
    except json.JSONDecodeError as error:
        return MessageProblem(None, PARSE_ERROR, _unread(error))
    except (ValueError, RecursionError) as error:
        return MessageProblem(id_at_edge(text[:EDGE], text[-EDGE:]), PARSE_ERROR, _unread(error))
    if is_list(message):
        return MessageProblem(None, INVALID_REQUEST, "a batch is not answered; send one message at a time")
    if not is_object(message):
        return MessageProblem(None, INVALID_REQUEST, "a message is a JSON object")
    twice = key_twice_in(text)
    if twice is not None:
        return MessageProblem(None, INVALID_REQUEST, f"the key {twice!r} is twice in one object")
    return _envelope_problem(message)


def id_at_edge(begin: bytes, end: bytes) -> MessageId:
    """The id of a request that is not read whole, from its first and last bytes. None if it stands elsewhere."""
    found = ID_FIRST.match(begin) or ID_LAST.search(end)
    if found is None:
        return None
    try:
        number: Any = json.loads(found[1])
    except ValueError:
        return None
    return number if is_id(number) else None


def method_of(text: bytes) -> str | None:
    """The method of a valid message. None if it is an answer."""
    method: Any = json.loads(text).get("method")
    return method if isinstance(method, str) else None


def _unread(error: ValueError | RecursionError) -> str:
    """Why a text cannot be read as JSON."""
    match error:
        case RecursionError():
            return "this is nested too deeply"
        case json.JSONDecodeError():
            return f"this is not JSON: {error}"
        case UnicodeDecodeError():
            return "this is not UTF-8"
        case _:  # Python reads no integer of more than 4,300 digits
            return "an integer in it has too many digits"


def _envelope_problem(message: dict[str, Any]) -> MessageProblem | None:
    if "id" in message and "method" in message and not is_id(message["id"]):
        return MessageProblem(None, INVALID_REQUEST, "the id of a request is a string or an integer")
    number = message["id"] if is_id(message.get("id")) else None
    if message.get("jsonrpc") != "2.0":
        return MessageProblem(number, INVALID_REQUEST, 'a message says "jsonrpc": "2.0"')
    if "method" not in message and not message.keys() & {"result", "error"}:
        return MessageProblem(number, INVALID_REQUEST, "a message has a method, a result or an error")
    if not isinstance(message.get("method", ""), str) or not _is_text(message.get("method", "")):
        return MessageProblem(number, INVALID_REQUEST, "a method is a string")
    if not isinstance(message.get("params"), dict | None):
        return MessageProblem(number, INVALID_REQUEST, "params are an object")
    return None


def is_id(value: Any) -> bool:
    """True if a value can be the id of a request."""
    return (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, str) and _is_text(value))


def _is_text(value: str) -> bool:
    """True if a string can be sent back. A lone surrogate cannot."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def error_body(problem: MessageProblem, data: dict[str, Any] | None = None) -> bytes:
    """The error message for a text that is not a message."""
    error: dict[str, Any] = {"code": problem.code, "message": problem.message}
    if data is not None:
        error["data"] = data
    return json.dumps({"jsonrpc": "2.0", "id": problem.id, "error": error}).encode()
