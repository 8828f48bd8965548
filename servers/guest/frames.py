"""Messages between a worker and its guests: a JSON head and raw parts, each with its length before it.

A head is small and carries `"sizes"`, the lengths of the parts in bytes. A reader refuses what is too long before it
reads it.
"""

import json
import socket
import struct
from itertools import islice
from typing import Any

LARGEST_HEAD = 1024 * 1024
LARGEST_HEAD_OF_CALL = 16 * 1024
"""Bytes of a head that says nothing but how a request ended."""
MOST_PARTS = 8
LARGEST_FRAME = 256 * 1024 * 1024
LARGEST_PIECE = 64 * 1024
LENGTHS = struct.Struct("!II")
ENCODER = json.JSONEncoder(separators=(",", ":"))
DECODER = json.JSONDecoder()


class FrameError(Exception):
    """The other side does not keep to the protocol."""


def packed(head: dict[str, Any], *parts: bytes) -> bytes:
    """One frame as bytes."""
    return framed(ENCODER.encode({**head, "sizes": list(map(len, parts))}).encode(), *parts)


def framed(text: bytes, *parts: bytes) -> bytes:
    """One frame with a head that is bytes already, the sizes of the parts among them."""
    return b"".join((LENGTHS.pack(len(text), sum(map(len, parts))), text, *parts))


def unpacked(text: bytes, body: bytes | memoryview) -> tuple[dict[str, Any], list[bytes]]:
    """The head and the parts of a frame whose two pieces have been read. The parts are copies."""
    try:
        said = text.decode()
        head, end = DECODER.raw_decode(said)
        sizes: list[Any] = list(islice(head.pop("sizes"), MOST_PARTS + 1))
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
        raise FrameError(f"a head that cannot be read: {error}") from None
    if end != len(said):
        raise FrameError("a head with something behind it")
    if len(sizes) > MOST_PARTS:
        raise FrameError(f"more than {MOST_PARTS} parts")
    parts: list[bytes] = []
    offset = 0
    for size in sizes:
        if type(size) is not int or size < 0:
            raise FrameError("the size of a part is no length")
        parts.append(bytes(body[offset : offset + size]))
        offset += size
    if offset != len(body):
        raise FrameError("the sizes of the parts do not add up")
    return head, parts


def receive(connection: socket.socket) -> tuple[dict[str, Any], list[bytes]] | None:
    """The next frame from a worker on a blocking socket, or None when it has closed it.

    A worker sends a frame when it has the answer to the one before, so nothing follows this one yet.
    """
    data = bytearray()
    end = LENGTHS.size
    while len(data) < end:
        piece = connection.recv(LARGEST_PIECE)
        if not piece:
            return None
        data += piece
        if end == LENGTHS.size <= len(data):
            head, body = LENGTHS.unpack_from(data)
            if max(head, body) > LARGEST_FRAME:
                raise FrameError("a frame that is too long")
            end += head + body
    if len(data) != end:
        raise FrameError("more than one frame")
    head, _ = LENGTHS.unpack_from(data)
    begin = LENGTHS.size + head
    return unpacked(bytes(data[LENGTHS.size : begin]), bytes(data[begin:]))
