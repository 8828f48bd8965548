"""The bytes of a SQLite database, wherever they are: in memory, in a file, or as pages of both."""

from collections.abc import Generator
from typing import Protocol

SECTOR_BYTES = 512
SIZE_PLACE, LARGEST_PAGE = slice(16, 18), 65536
"""Where the size of a page stands in a SQLite file, which writes the largest one as 1."""
OWN_BYTES_PER_PAGE = 150
"""The approximate cost of a changed page beside its content, in bytes."""
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


class ChangedPages:
    """A database file for SQLite: the pages of a shared image, and instead of some of them its own.

    It is never locked: it has one connection. When that is closed, this is an image itself.
    """

    def __init__(self, image: Image) -> None:
        self._image = image
        self._shared = len(image)
        """Bytes of the image that still count. What is cut off and grows again is not the image's."""
        told = int.from_bytes(image[SIZE_PLACE], "big")
        self.page_size = told if told > 1 else LARGEST_PAGE
        self._own: dict[int, bytes] = {}
        self._size = len(image)

    @property
    def own_bytes(self) -> int:
        """The approximate memory of the changed pages."""
        return len(self._own) * (self.page_size + OWN_BYTES_PER_PAGE)

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, place: slice, /) -> bytes:
        begin, end, _ = place.indices(self._size)
        first, last = begin // self.page_size, -(-end // self.page_size)
        own = [page for page in range(first, last) if page * self.page_size in self._own]
        return b"".join(self._between(begin, end, own))

    def _between(self, begin: int, end: int, own: list[int]) -> Generator[bytes]:
        """The bytes between two places, with the pages of its own."""
        at = begin
        for offset in (page * self.page_size for page in own):
            yield self._not_own(at, max(at, offset))
            page = self._own[offset]
            yield page[max(at - offset, 0) : max(end - offset, 0)]
            at = max(at, min(end, offset + len(page)))
        yield self._not_own(at, end)

    def _not_own(self, begin: int, end: int) -> bytes:
        """What the image has between two places, and zeros where it has nothing that still counts."""
        found = self._image[begin : min(end, self._shared)] if begin < self._shared else b""
        return found + bytes(max(end - begin, 0) - len(found))

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        page = self._own.get(offset)
        if page is not None and len(page) == amount:
            return page
        within = offset % self.page_size
        page = self._own.get(offset - within)
        if page is not None:
            return page[within : within + amount]
        return self._image[offset : min(offset + amount, self._shared)]

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self._own[offset] = bytes(data)
        self._size = max(self._size, offset + len(data))

    def xTruncate(self, size: int) -> None:  # noqa: N802
        self._size, self._shared = size, min(self._shared, size)
        for offset in [offset for offset in self._own if offset >= size]:
            del self._own[offset]

    def xFileSize(self) -> int:  # noqa: N802
        return self._size

    def xSync(self, _flags: int) -> None:  # noqa: N802
        pass

    def xLock(self, _level: int) -> None:  # noqa: N802
        pass

    def xUnlock(self, _level: int) -> None:  # noqa: N802
        pass

    def xCheckReservedLock(self) -> bool:  # noqa: N802
        return False

    def xFileControl(self, _operation: int, _pointer: int) -> bool:  # noqa: N802
        return False

    def xSectorSize(self) -> int:  # noqa: N802
        return SECTOR_BYTES

    def xDeviceCharacteristics(self) -> int:  # noqa: N802
        return 0

    def xClose(self) -> None:  # noqa: N802
        pass
