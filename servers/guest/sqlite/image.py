"""The bytes of a SQLite database, wherever they are: in memory, in a file, or as pages of both."""

from collections.abc import Generator
from typing import Protocol

PIECE = 256 * 1024
"""Bytes of an image that are in memory while it is read piece by piece."""
LARGEST_IN_MEMORY = 1024 * 1024
"""Bytes of an image that a worker keeps in memory while it is used. A longer one is in a file."""


class Image(Protocol):
    """An image of a database, of which slices are wanted. `bytes` is one."""

    def __len__(self) -> int: ...

    def __getitem__(self, place: slice, /) -> bytes: ...


def pieces_of(image: Image) -> Generator[bytes]:
    """An image piece by piece."""
    for begin in range(0, len(image), PIECE):
        yield image[begin : begin + PIECE]
