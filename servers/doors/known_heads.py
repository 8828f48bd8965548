"""Heads of requests that came before, word for word but for a few values: they are not parsed again.

A client sends the same head with every call, and to another instance one that differs in the instance's id and token
alone. What a head means hangs on its bytes, so it is kept with what the parser made of it, and without the length of
the body, the id and the token. So one kept head serves all instances. A head is only kept where the parser saw these
values, and its end, where this file does.
"""

import re
from typing import Any, NamedTuple, TypeAlias

LARGEST_KEPT = 1024
"""Bytes of a head that is kept."""
MOST_KEPT = 1024
HEAD_END = b"\r\n\r\n"
LENGTH = re.compile(rb"\r\n[Cc]ontent-[Ll]ength: (\d{1,6})(?=\r\n)")
CALL = re.compile(rb"POST /i/([0-9a-f]{16})/mcp HTTP/1\.1\r\n")
"""The first line of a call: the id of an instance has one form."""
TOKEN = re.compile(rb"\r\n[Aa]uthorization: [Bb]earer ([A-Za-z0-9_-]{32})(?=\r\n)")
LENGTH_NAME, TOKEN_NAME = b"content-length", b"authorization"
SCHEME_BYTES = len("Bearer ")
HEAD_WORDS = "farm.head"
"""In a request's scope, where its head was kept or is the same as one: its `HeadWords`."""
RawHeaders: TypeAlias = list[tuple[bytes, bytes]]


class HeadWords(NamedTuple):
    """A piece of bytes that is one request, if its head tells the length of the body rightly."""

    words: bytes
    """The head without the values that differ, behind the number of them."""
    length: bytes
    body: bytes
    instance: bytes = b""
    """The id of the instance, if it is a call to one with a token of the usual form."""
    token: bytes = b""


class _KnownHead(NamedTuple):
    """What the parser made of a head: the scope of its request, its headers, and where values stand in them."""

    scope: dict[str, Any]
    headers: RawHeaders
    length_place: int
    token_place: int
    scheme: bytes


class KnownHeads:
    """The heads that one server keeps."""

    def __init__(self) -> None:
        self._kept: dict[bytes, _KnownHead] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def scope_of(self, read: HeadWords) -> dict[str, Any] | None:
        """What the parser would say of a request, beside what its connection says. None if it must be asked."""
        known = self._kept.get(read.words)
        if known is None:
            return None
        headers = known.headers.copy()
        headers[known.length_place] = (LENGTH_NAME, read.length)
        scope = {**known.scope, "headers": headers, HEAD_WORDS: read}
        if read.instance:
            headers[known.token_place] = (TOKEN_NAME, known.scheme + read.token)
            scope["raw_path"] = path = b"/i/%b/mcp" % read.instance
            scope["path"] = path.decode()
        return scope

    def keep(self, read: HeadWords, scope: dict[str, Any], body: bytes) -> None:
        """Keep a head after the parser has read it, and nothing else, from the same bytes."""
        headers: RawHeaders = scope["headers"]
        names = [name for name, _ in headers]
        ordinary = scope["method"] == "POST" and scope["http_version"] == "1.1" and b"transfer-encoding" not in names
        if not ordinary or names.count(LENGTH_NAME) != 1 or (LENGTH_NAME, read.length) not in headers:
            return
        if body != read.body or (read.instance and not _is_call(read, scope)):
            return
        if len(self._kept) >= MOST_KEPT:
            self._kept.clear()
        kept = {key: scope[key] for key in KEPT_KEYS}
        token_place = names.index(TOKEN_NAME) if read.instance else -1
        scheme = headers[token_place][1][:SCHEME_BYTES]
        self._kept[read.words] = _KnownHead(kept, list(headers), names.index(LENGTH_NAME), token_place, scheme)


def _is_call(read: HeadWords, scope: dict[str, Any]) -> bool:
    """True if the parser found the id and the token where they were cut out, and one token alone."""
    path = b"/i/%b/mcp" % read.instance
    tokens = [value for name, value in scope["headers"] if name == TOKEN_NAME]
    is_there = scope["raw_path"] == path and scope["path"] == path.decode() and not scope["query_string"]
    return is_there and [one[SCHEME_BYTES:] for one in tokens] == [read.token]


KEPT_KEYS = ("type", "asgi", "http_version", "method", "path", "raw_path", "query_string", "root_path")


def head_words(data: bytes) -> HeadWords | None:
    """The words of a piece that holds one whole request with a body, as far as a look at it tells."""
    end = data.find(HEAD_END, 0, LARGEST_KEPT) + len(HEAD_END)
    told = LENGTH.search(data, 0, end) if end >= len(HEAD_END) else None
    if told is None or end + int(told[1]) != len(data) or end == len(data):
        return None
    begin, behind = told.span(1)
    call = CALL.match(data, 0, end)
    token = TOKEN.search(data, 0, end) if call is not None else None
    if call is None or token is None:
        return HeadWords(b"1" + data[:begin] + data[behind:end], told[1], data[end:])
    of_id, of_token = call.span(1), token.span(1)
    cuts = (of_id, (begin, behind), of_token) if begin < of_token[0] else (of_id, of_token, (begin, behind))
    (_, first), (second, third), (fourth, fifth) = cuts
    words = b"3" + data[first:second] + data[third:fourth] + data[fifth:end]
    return HeadWords(words, told[1], data[end:], call[1], token[1])
