"""Rows as a start image that many connections share, and the pages that each of them has changed.

So opening the rows of an instance costs the same at any size of its start, and an instance takes the memory of its
changes. No file is opened: a name is known to SQLite for the moment in which its connection is made.
"""

from collections.abc import Generator
from contextlib import contextmanager
from itertools import count
from typing import Any

import apsw

from servers.guest.sqlite import clock
from servers.guest.sqlite.connection import connect, in_memory_only
from servers.guest.sqlite.image import Image

VFS_NAME = "shared"
SECTOR_BYTES = 512
SIZE_PLACE, LARGEST_PAGE = slice(16, 18), 65536
"""Where the size of a page stands in a SQLite file, which writes the largest one as 1."""
OWN_BYTES_PER_PAGE = 150
"""The approximate cost of a changed page beside its content, in bytes."""


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


class ComingFiles:
    """The files that SQLite is about to open, by name. Each can be opened once."""

    def __init__(self) -> None:
        self._coming: dict[str, ChangedPages] = {}
        self._numbers = count()

    @contextmanager
    def announced(self, pages: ChangedPages) -> Generator[str]:
        """The name of pages while they are opened."""
        name = f"/farm-rows-{next(self._numbers)}"
        self._coming[name] = pages
        try:
            yield name
        finally:
            self._coming.pop(name, None)

    def take(self, name: str | apsw.URIFilename | None) -> ChangedPages | None:
        """The pages of this name, if they are expected."""
        return None if name is None else self._coming.pop(name if isinstance(name, str) else name.filename(), None)


class _SharedImages(clock.Clock):
    """The files that are about to be opened. There are no others, and none is ever there before."""

    def __init__(self) -> None:
        super().__init__(VFS_NAME)
        self.coming = ComingFiles()

    def xOpen(self, name: Any, flags: list[int]) -> Any:  # noqa: N802
        pages = self.coming.take(name)
        if pages is None:
            raise apsw.CantOpenError("there are no files here")
        flags[1] = flags[0]
        return pages

    def xFullPathname(self, name: str) -> str:  # noqa: N802
        return name

    def xAccess(self, pathname: str, flags: int) -> bool:  # noqa: N802
        return False

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        pass


_images = _SharedImages()


def opened(image: Image) -> tuple[apsw.Connection, ChangedPages]:
    """A connection to the rows of an image, which is not copied, and the pages that it will change.

    Raises:
        apsw.Error: the image is not a sound database.
    """
    pages = ChangedPages(image)
    with _images.coming.announced(pages) as name:
        connection = connect(VFS_NAME, name)
    try:
        in_memory_only(connection)
    except apsw.Error:
        connection.close(True)
        raise
    return connection, pages
