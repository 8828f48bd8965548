"""Heads of requests that came before, word for word but for the length of their bodies: they are not parsed again.

A client sends the same head with every call. What a head means hangs on its bytes alone, so it is kept with what the
parser made of it. A head is only kept where the parser saw it end where this file does.
"""

import re
from typing import Any, NamedTuple, TypeAlias

LARGEST_KEPT = 1024
"""Bytes of a head that is kept."""
MOST_KEPT = 1024
HEAD_END = b"\r\n\r\n"
LENGTH = re.compile(rb"\r\n[Cc]ontent-[Ll]ength: (\d{1,6})(?=\r\n)")
LENGTH_NAME = b"content-length"
HEAD_WORDS = "farm.head"
"""In a request's scope, where its head was kept or is the same as one: the words of it but for the length."""
RawHeaders: TypeAlias = list[tuple[bytes, bytes]]


class HeadWords(NamedTuple):
    """A piece of bytes that is one request, if its head tells the length of the body rightly."""

    words: bytes
    """The head without the digits of the length."""
    length: bytes
    body: bytes


class _KnownHead(NamedTuple):
    """What the parser made of a head: the scope of its request, its headers, and where the length stands in them."""

    scope: dict[str, Any]
    headers: RawHeaders
    place: int


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
        headers[known.place] = (LENGTH_NAME, read.length)
        return {**known.scope, "headers": headers}

    def keep(self, read: HeadWords, scope: dict[str, Any], body: bytes) -> None:
        """Keep a head after the parser has read it, and nothing else, from the same bytes."""
        headers: RawHeaders = scope["headers"]
        names = [name for name, _ in headers]
        ordinary = scope["method"] == "POST" and scope["http_version"] == "1.1" and b"transfer-encoding" not in names
        if not ordinary or names.count(LENGTH_NAME) != 1 or (LENGTH_NAME, read.length) not in headers:
            return
        if body != read.body:
            return
        if len(self._kept) >= MOST_KEPT:
            self._kept.clear()
        kept = {key: scope[key] for key in KEPT_KEYS} | {HEAD_WORDS: read.words}
        self._kept[read.words] = _KnownHead(kept, list(headers), names.index(LENGTH_NAME))


KEPT_KEYS = ("type", "asgi", "http_version", "method", "path", "raw_path", "query_string", "root_path")


def head_words(data: bytes) -> HeadWords | None:
    """The words of a piece that holds one whole request with a body, as far as a look at it tells."""
    end = data.find(HEAD_END, 0, LARGEST_KEPT) + len(HEAD_END)
    told = LENGTH.search(data, 0, end) if end >= len(HEAD_END) else None
    if told is None or end + int(told[1]) != len(data) or end == len(data):
        return None
    begin, behind = told.span(1)
    return HeadWords(data[:begin] + data[behind:end], told[1], data[end:])
