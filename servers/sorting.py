"""The temporary files into which SQLite sorts for queries that are not ours: so many bytes for one query.

SQLite itself bounds them by nothing, and they lie on the disk that keeps the calls.
"""

import threading

import apsw

from servers.guest import clock

VFS_NAME = "farm-sorting"
MOST_SORTED = 64 * 1024 * 1024
"""Bytes of the temporary files of one query."""


class _Room(threading.local):
    """What is left for the query that a thread runs."""

    left = MOST_SORTED
    is_used_up = False


_room = _Room()


def begin() -> None:
    """Give the query that this thread runs next all of its room."""
    _room.left, _room.is_used_up = MOST_SORTED, False


def is_used_up() -> bool:
    """Whether that query wanted more than its room."""
    return _room.is_used_up


class _File(apsw.VFSFile):
    """A temporary file, which grows as long as there is room."""

    def __init__(self, flags: list[int]) -> None:
        super().__init__(clock.VFS_NAME, None, flags)
        self._size = 0

    def xWrite(  # noqa: N802 # pyright: ignore[reportIncompatibleMethodOverride] - bytes it is, of all buffers
        self, data: bytes, offset: int
    ) -> None:
        grown = offset + len(data) - self._size
        if grown > 0:
            if grown > _room.left:
                _room.is_used_up = True
                raise apsw.FullError("no room is left for sorting")
            _room.left -= grown
            self._size += grown
        super().xWrite(data, offset)


class _Sorting(apsw.VFS):
    """The default VFS, with the instance's time and bounded temporary files."""

    def __init__(self) -> None:
        super().__init__(VFS_NAME, clock.VFS_NAME)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        return _File(flags) if name is None else super().xOpen(name, flags)


_sorting = _Sorting()
