"""Answers over HTTP that are read up to a size, from a server that may be anybody.

A compressed answer of kilobytes may hold gigabytes, and one without an end holds whatever memory there is. So none is
asked for or unpacked, and no more is read than an answer may have.
"""

from collections.abc import Callable
from pathlib import Path

import httpx

from servers.files.spooled import SpooledBytes

PLAIN = {"Accept-Encoding": "identity"}
"""The header that asks for an answer as it is."""


class AnswerTooLarge(httpx.HTTPError):
    """A server answers with more than it may, or with what is compressed."""


class AnswerRoom:
    """The bytes that all unfinished answers of one server may have together."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.taken = 0


async def bounded_answer(
    http: httpx.AsyncClient, request: httpx.Request, *, largest: int, room: AnswerRoom | None = None
) -> httpx.Response:
    """The whole answer to a request.

    Raises:
        AnswerTooLarge: it is larger, there is no room for it, or it is compressed.
        httpx.HTTPError: there is none.
    """
    body = bytearray()
    response = await _read(http, request, body.extend, largest=largest, room=room)
    return _whole(response, bytes(body))


async def spooled_answer(
    http: httpx.AsyncClient, request: httpx.Request, *, largest: int, largest_error: int, folder: Path | None
) -> tuple[httpx.Response, SpooledBytes]:
    """The answer to a request in a file, and one without a body, unless it tells of an error.

    Raises:
        AnswerTooLarge, httpx.HTTPError: as above.
        OSError: there is no room on the disk.
    """
    body = SpooledBytes(folder)
    response = await _read(http, request, body.add, largest=largest)
    return _whole(response, b"" if response.is_success else body[:largest_error]), body


def _whole(response: httpx.Response, content: bytes) -> httpx.Response:
    return httpx.Response(response.status_code, headers=response.headers, content=content, request=response.request)


async def _read(
    http: httpx.AsyncClient,
    request: httpx.Request,
    take: Callable[[bytes], None],
    *,
    largest: int,
    room: AnswerRoom | None = None,
) -> httpx.Response:
    """Read the body of an answer in pieces."""
    room = room or AnswerRoom(largest)
    request.headers.update(PLAIN)
    response = await http.send(request, stream=True)
    size = 0
    try:
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise AnswerTooLarge("its answer is compressed")
        async for piece in response.aiter_raw():
            take(piece)
            size += len(piece)
            room.taken += len(piece)
            if size > largest or room.taken > room.most:
                raise AnswerTooLarge(f"its answer is larger than {min(largest, room.most) // 1024:,} KiB")
    finally:
        room.taken -= size
        await response.aclose()
    return response
