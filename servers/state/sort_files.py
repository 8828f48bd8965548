"""Bounded temporary files for SQLite's sorts in untrusted queries, for one query and for all.

SQLite itself has no bound, and they are on the disk that stores the calls.
"""

import threading
from dataclasses import dataclass

import apsw

from servers.guest.sqlite import clock

VFS_NAME = "farm-sorting"
MOST_SORTED = 64 * 1024 * 1024
"""Bytes of the temporary files of one query."""
MOST_SORTED_AT_ONCE = 512 * 1024 * 1024
"""Bytes of the temporary files of all running queries."""
CROWDED = "the queries that run now sort too much together; try again"


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
    """The default VFS with the instance's time and bounded temporary files."""

    def __init__(self) -> None:
        super().__init__(VFS_NAME, clock.VFS_NAME)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        return _File(flags) if name is None else super().xOpen(name, flags)


_sorting = _Sorting()
