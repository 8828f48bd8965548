"""The changes of one call, from SQLite's notices of each row that is about to change, as a changeset.

SQLite's session extension does the same, and compiles a statement for each table in each call, which takes longer than
most calls. It is used for schemas with generated columns, of which the notices tell less than a changeset needs.
"""

from collections.abc import Sequence
from typing import Any

import apsw

from servers.guest.sqlite import changeset
from servers.guest.sqlite.changeset import equal
from servers.guest.sqlite.tables import MOST_ROWS, RowValues, Table, rows_in

MOST_TOUCHED = 5 * MOST_ROWS
"""Rows that one call may touch. Those that are as before in the end are counted too, as each is in memory."""


class TooManyRows(Exception):
    """A call changes more rows than it may."""


class RecordedChanges:
    """The rows that a call touches, as they were before it."""

    def __init__(self, connection: apsw.Connection, tables: dict[str, Table]) -> None:
        self._connection = connection
        self._tables = tables
        self._before: dict[tuple[str, RowValues], RowValues | None] = {}
        self._fault: Exception | None = None
        connection.preupdate_hook(self._note)

    def begin(self) -> None:
        self._fault = None

    def end(self) -> None:
        """Forget the rows of the call."""
        self._before = {}

    def changeset(self) -> bytes:
        """The changes since the beginning.

        Raises:
            TooManyRows: there are too many.
            UnicodeDecodeError: a text is no Unicode.
        """
        if self._fault is not None:
            raise self._fault
        records: dict[str, list[bytes]] = {}
        count = 0
        for (name, key), before in self._before.items():
            table = self._tables[name]
            after = self._connection.execute(table.select, key).fetchone()
            record = _record(table, before, after)
            if record:
                count += 1
                records.setdefault(name, [table.header]).append(record)
        if count > MOST_ROWS:
            raise TooManyRows
        return b"".join(map(b"".join, records.values()))

    def _note(self, update: apsw.PreUpdate) -> None:
        """Called by SQLite before it changes a row. An error is raised later: here a tool could catch it and go on."""
        if self._fault is not None:
            return
        try:
            table = self._tables[update.table_name]
            for row, is_before in ((update.old, True), (update.new, False)):
                if row is not None:
                    touched = table.name, tuple(map(row.__getitem__, table.keys))
                    if touched not in self._before:
                        self._before[touched] = row if is_before else None
            if len(self._before) > MOST_TOUCHED:
                raise TooManyRows
        except Exception as error:
            self._fault = error


class SessionChanges:
    """The same, by the session extension."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._session: apsw.Session | None = None

    def begin(self) -> None:
        self.end()
        self._session = apsw.Session(self._connection, "main")
        self._session.attach()

    def end(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None

    def changeset(self) -> bytes:
        changes = b"" if self._session is None else self._session.changeset()
        if rows_in(changes) > MOST_ROWS:
            raise TooManyRows
        return changes


def recorder(connection: apsw.Connection, tables: dict[str, Table]) -> RecordedChanges | SessionChanges:
    """What records the changes of an instance's calls. Its rows must be there."""
    if any(table.has_generated for table in tables.values()):
        return SessionChanges(connection)
    return RecordedChanges(connection, tables)


def _record(table: Table, before: RowValues | None, after: Sequence[Any] | None) -> bytes:
    """The record of one row, empty if it is as before."""
    if before is None and after is None:
        return b""
    changed: list[int] = []
    if before is not None and after is not None:
        changed = [place for place, value in enumerate(after) if not equal(before[place], value)]
    return changeset.record(before, after, changed, table.keys)
