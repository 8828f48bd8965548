"""The final states of one scenario's runs, each open for a judgement.

They are made in two open copies, by transactions that are rolled back: opening a copy costs more than a judgement. A
Python checkpoint needs whole images, so with one every state gets a copy of its own.
"""

from collections.abc import Generator
from contextlib import contextmanager

import apsw

from servers.state.readonly_query import Reader
from servers.state.rows import RowChange


class States:
    """The states of a scenario. Close it when done."""

    def __init__(self, start: bytes, final: bytes, *, whole: bool) -> None:
        self.start = start
        self._final = final
        self._whole = whole
        self._open: dict[bytes, Reader] = {}

    @contextmanager
    def at_start(self) -> Generator[Reader]:
        """The start state. Writes to it are undone."""
        with self._moment(self.start) as reader:
            yield reader

    @contextmanager
    def at_end(self) -> Generator[Reader]:
        """The reference's final state. Writes to it are undone."""
        with self._moment(self._final) as reader:
            yield reader

    @contextmanager
    def after(self, changes: bytes) -> Generator[Reader]:
        """The start state with a changeset applied."""
        with self._moment(self.start) as reader:
            if changes:
                apsw.Changeset.apply(changes, reader.connection)
            yield reader

    def close(self) -> None:
        """Close the copies."""
        while self._open:
            self._open.popitem()[1].close()

    @contextmanager
    def _moment(self, image: bytes) -> Generator[Reader]:
        if self._whole:
            reader = Reader(image, self.start)
            try:
                yield reader
            finally:
                reader.close()
            return
        reader = self._open.get(image) or self._open.setdefault(image, Reader(image, self.start))
        reader.connection.execute("BEGIN").fetchall()
        try:
            yield reader
        finally:
            reader.connection.execute("ROLLBACK").fetchall()


def rows_changed(reader: Reader, changes: bytes) -> list[RowChange]:
    """The rows that differ from the start after a changeset. Only its tables are compared."""
    tables = sorted({change.name for change in apsw.Changeset.iter(changes)}) if changes else []
    return reader.changes(tables) if tables else []
