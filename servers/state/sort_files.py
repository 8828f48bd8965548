"""The files of untrusted queries: the rows that they read, and bounded temporary ones for SQLite's sorts.

SQLite itself has no bound on those, and they are on the disk that stores the calls.
"""

import threading
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import apsw

from servers.guest.sqlite import clock
from servers.guest.sqlite.image import ChangedPages, Image
from servers.guest.sqlite.shared_pages import ComingFiles

VFS_NAME = "farm-sorting"
MOST_SORTED = 64 * 1024 * 1024
"""Bytes of the temporary files of one query."""
MOST_SORTED_AT_ONCE = 512 * 1024 * 1024
"""Bytes of the temporary files of all running queries."""
CROWDED = f"the queries that run now sort more than {MOST_SORTED_AT_ONCE:,} bytes together; try again"


@dataclass
class Room:
    """The bytes left for one query, and whether it needed more."""

    left: int = MOST_SORTED
    is_used_up: bool = False


class _OfThread(threading.local):
    """The room of this thread's query."""

    def __init__(self) -> None:
        self.room = Room()


class _Sum:
    """The bytes of all temporary files."""

    def __init__(self, most: int) -> None:
        self._left = most
        self._changing = threading.Lock()  # protects _left: queries run in threads

    def take(self, size: int) -> bool:
        with self._changing:
            if size > self._left:
                return False
            self._left -= size
            return True

    def give_back(self, size: int) -> None:
        with self._changing:
            self._left += size


_of_thread = _OfThread()
_sum = _Sum(MOST_SORTED_AT_ONCE)


def begin() -> Room:
    """Give this thread's next query a room of its own."""
    _of_thread.room = Room()
    return _of_thread.room


class _File(apsw.VFSFile):
    """A temporary file of a query. It grows while there is room."""

    def __init__(self, flags: list[int]) -> None:
        super().__init__(clock.VFS_NAME, None, flags)
        self._room = _of_thread.room
        self._size = 0

    def xWrite(  # noqa: N802 # pyright: ignore[reportIncompatibleMethodOverride] - bytes it is, of all buffers
        self, data: bytes, offset: int
    ) -> None:
        grown = offset + len(data) - self._size
        if grown > 0:
            self._grow(grown)
        super().xWrite(data, offset)

    def _grow(self, size: int) -> None:
        if size > self._room.left:
            self._room.is_used_up = True
            raise apsw.FullError("no room is left for sorting")
        if not _sum.take(size):
            raise apsw.FullError(CROWDED)
        self._room.left -= size
        self._size += size

    def xClose(self) -> None:  # noqa: N802
        super().xClose()
        _sum.give_back(self._size)
        self._size = 0


class _Sorting(apsw.VFS):
    """The default VFS with the instance's time and bounded temporary files. It opens images, and no other file."""

    def __init__(self) -> None:
        super().__init__(VFS_NAME, clock.VFS_NAME)
        self.coming = ComingFiles()

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> Any:  # noqa: N802
        if name is None:
            return _File(flags)
        pages = self.coming.take(name)
        if pages is None:
            raise apsw.CantOpenError("there are no files here")
        flags[1] = flags[0]
        return pages

    def xAccess(self, pathname: str, flags: int) -> bool:  # noqa: N802
        return False


_sorting = _Sorting()


def announced(image: Image) -> AbstractContextManager[str]:
    """The name under which SQLite can open an image while the context is open, by this VFS. The image is not copied."""
    return _sorting.coming.announced(ChangedPages(image))
