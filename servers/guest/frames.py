"""Messages between a worker and its guests: a JSON head and raw parts, each after its length.

A head is small, and its `"sizes"` are the lengths of the parts in bytes. A reader refuses a long message before it
reads it.
"""

import json
import socket
import struct
from itertools import islice
from typing import Any

from servers.guest.json_writer import JsonWriter

LARGEST_HEAD = 1024 * 1024
LARGEST_HEAD_OF_CALL = 16 * 1024
"""Bytes of the head in a call's answer."""
MOST_PARTS = 8
LARGEST_FRAME = 256 * 1024 * 1024
LARGEST_PIECE = 64 * 1024
LENGTHS = struct.Struct("!II")
WRITER = JsonWriter(separators=(",", ":"))
DECODER = json.JSONDecoder()


GuestReply = tuple[dict[str, Any], list[bytes]]
"""The answer of a guest: a head, and parts."""


class FrameError(Exception):
    """The peer violates the protocol."""


def packed(head: dict[str, Any], *parts: bytes) -> bytes:
    """One frame as bytes."""
    return framed(WRITER.text({**head, "sizes": [*map(len, parts)]}).encode(), *parts)


def framed(text: bytes, *parts: bytes) -> bytes:
    """A frame from an encoded head that includes the sizes of the parts."""
    return b"".join((LENGTHS.pack(len(text), sum(map(len, parts))), text, *parts))


def unpacked(text: bytes, body: bytes | memoryview) -> tuple[dict[str, Any], list[bytes]]:
    """The head and the parts of a frame. The parts are copies."""
    head, sizes = unpacked_head(text, len(body))
    parts: list[bytes] = []
    offset = 0
    for size in sizes:
        parts.append(bytes(body[offset : offset + size]))
        offset += size
    return head, parts


def unpacked_head(text: bytes, length: int) -> tuple[dict[str, Any], list[int]]:
    """The head of a frame, and the sizes of the parts of a body of some length."""
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
    for size in sizes:
        if type(size) is not int or size < 0:
            raise FrameError("the size of a part is no length")
    if sum(sizes) != length:
        raise FrameError("the sizes of the parts do not add up")
    return head, sizes


def receive(connection: socket.socket) -> tuple[dict[str, Any], list[bytes]] | None:
    """The next frame from a worker on a blocking socket, or None after its end.

    A worker sends a frame only after the answer to the previous one, so nothing follows it yet.
    """
    data = connection.recv(LARGEST_PIECE)
    if len(data) >= LENGTHS.size:
        head, body = LENGTHS.unpack_from(data)
        begin = LENGTHS.size + head
        if len(data) == begin + body:  # nearly all come whole
            return unpacked(data[LENGTHS.size : begin], data[begin:])
    return _received(bytearray(data), connection) if data else None


def _received(data: bytearray, connection: socket.socket) -> tuple[dict[str, Any], list[bytes]] | None:
    """The frame that begins with `data`, or None when the worker has closed its socket before the end."""
    end = LENGTHS.size
    while True:
        if end == LENGTHS.size <= len(data):
            head, body = LENGTHS.unpack_from(data)
            if max(head, body) > LARGEST_FRAME:
                raise FrameError("a frame that is too long")
            end += head + body
        if len(data) >= end > LENGTHS.size:
            break
        piece = connection.recv(LARGEST_PIECE)
        if not piece:
            return None
        data += piece
    if len(data) != end:
        raise FrameError("more than one frame")
    head, _ = LENGTHS.unpack_from(data)
    begin = LENGTHS.size + head
    return unpacked(bytes(data[LENGTHS.size : begin]), bytes(data[begin:]))
