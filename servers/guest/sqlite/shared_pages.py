"""Rows as a start image that many connections share, and the pages that each of them has changed.

So opening the rows of an instance costs the same at any size of its start, and an instance takes the memory of its
changes. No file is opened: a name is known to SQLite for the moment in which its connection is made.
"""

from itertools import count
from typing import Any

import apsw

from servers.guest.sqlite import clock
from servers.guest.sqlite.connection import connect, in_memory_only

VFS_NAME = "shared"
SECTOR_BYTES = 512
SIZE_PLACE, LARGEST_PAGE = slice(16, 18), 65536
"""Where the size of a page stands in a SQLite file, which writes the largest one as 1."""
OWN_BYTES_PER_PAGE = 150
"""The approximate cost of a changed page beside its content, in bytes."""


class ChangedPages:
    """A database file for SQLite: the pages of a shared image, and instead of some of them its own.

    It is never locked: it has one connection.
    """

    def __init__(self, image: bytes) -> None:
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

    def whole(self) -> bytes:
        """The content of the file. It is copied once."""
        pieces: list[bytes | memoryview] = []
        at = 0
        shared = memoryview(self._image)[: min(self._shared, self._size)]
        for offset in sorted(self._own):
            pieces += [shared[at:offset], bytes(max(0, offset - max(at, len(shared)))), self._own[offset]]
            at = offset + len(self._own[offset])
        pieces += [shared[at:], bytes(max(0, self._size - max(at, len(shared))))]
        return b"".join(pieces)

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


class _SharedImages(clock.Clock):
    """The files that are about to be opened, by name. There are no others, and none is ever there before."""

    def __init__(self) -> None:
        super().__init__(VFS_NAME)
        self._coming: dict[str, ChangedPages] = {}
        self._numbers = count()

    def announced(self, pages: ChangedPages) -> str:
        """A name under which pages can be opened once."""
        name = f"rows{next(self._numbers)}"
        self._coming[name] = pages
        return name

    def withdraw(self, name: str) -> None:
        self._coming.pop(name, None)

    def xOpen(self, name: Any, flags: list[int]) -> Any:  # noqa: N802
        told = name if name is None or isinstance(name, str) else name.filename()
        pages = self._coming.pop(str(told), None)
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


def opened(image: bytes) -> tuple[apsw.Connection, ChangedPages]:
    """A connection to the rows of an image, which is not copied, and the pages that it will change.

    Raises:
        apsw.Error: the image is not a sound database.
    """
    pages = ChangedPages(image)
    name = _images.announced(pages)
    try:
        connection = connect(VFS_NAME, name)
    finally:
        _images.withdraw(name)
    try:
        in_memory_only(connection)
    except apsw.Error:
        connection.close(True)
        raise
    return connection, pages
