"""Long bytes in a file without a name, instead of in memory.

The file is gone once nobody uses it, or its process ends.
"""

import os
import tempfile
import weakref
from pathlib import Path

SUFFIX = ".part"
"""Where a file must have a name for a moment, it has that of an unfinished one, which the next worker deletes."""


class SpooledBytes:
    """Bytes in a file of its own, which only this object reads. They are sliced like `bytes`, and each slice is read.

    Writing and reading raise OSError.
    """

    def __init__(self, folder: Path | None = None) -> None:
        with tempfile.TemporaryFile(dir=folder, suffix=SUFFIX, buffering=0) as file:
            self._handle = os.dup(file.fileno())
        self._size = 0
        weakref.finalize(self, os.close, self._handle)

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, place: slice, /) -> bytes:
        begin, end, _ = place.indices(self._size)
        return os.pread(self._handle, max(end - begin, 0), begin)

    def add(self, piece: bytes | memoryview) -> None:
        """Append a piece."""
        with memoryview(piece) as rest:
            done = 0
            while done < len(rest):
                done += os.pwrite(self._handle, rest[done:], self._size + done)
        self._size += done
