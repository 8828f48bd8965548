"""Answers over HTTP that are read up to a size, from a server that may be anybody.

A compressed answer of kilobytes may hold gigabytes, and one without an end holds whatever memory there is. So none is
asked for or unpacked, and no more is read than an answer may have.
"""

import httpx

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
    room = room or AnswerRoom(largest)
    request.headers.update(PLAIN)
    response = await http.send(request, stream=True)
    body = bytearray()
    try:
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise AnswerTooLarge("its answer is compressed")
        async for piece in response.aiter_raw():
            body += piece
            room.taken += len(piece)
            if len(body) > largest or room.taken > room.most:
                raise AnswerTooLarge(f"its answer is larger than {min(largest, room.most) // 1024:,} KiB")
    finally:
        room.taken -= len(body)
        await response.aclose()
    return httpx.Response(response.status_code, headers=response.headers, content=bytes(body), request=request)
