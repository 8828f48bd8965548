"""The tables of an environment, and the one function that applies a changeset to them.

Each row is compared with the changeset before and after it is written. So every applied changeset can be inverted, and
its inverse restores every row. The worker and guests both use this class.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import apsw

from servers.guest.sqlite import changeset
from servers.guest.sqlite.changeset import equal
from servers.guest.sqlite.connection import LARGEST_VALUE, distrust
from servers.guest.sqlite.image import Image
from servers.guest.sqlite.shared_pages import opened
from servers.guest.sqlite.sql_text import quoted

LARGEST_CHANGES = 4 * 1024 * 1024
"""Bytes of the changeset of one call."""
MOST_ROWS = 20_000
"""Rows that one call may change."""
LEAST_RECORD = 10
"""The approximate bytes of the smallest record: a bound on the number of rows."""
MOST_STATEMENTS = 200
NO_CHANGE = apsw.no_change
RowValues = tuple[Any, ...]
ColumnPlaces = tuple[int, ...]


class ChangesError(Exception):
    """A changeset does not fit the rows, or leaves rows that break a rule of the schema."""


class ForeignKey(NamedTuple):
    """A foreign key: the positions of its columns, and the query for the referenced row."""

    places: ColumnPlaces
    sql: str


class ReferencedColumns(NamedTuple):
    """Columns that another table's foreign key references."""

    places: ColumnPlaces
    by: str


@dataclass(frozen=True)
class Table:
    """One table: its columns without generated ones, and its keys."""

    name: str
    columns: tuple[str, ...]
    keys: ColumnPlaces
    references: tuple[ForeignKey, ...]
    referenced: tuple[ReferencedColumns, ...]
    has_generated: bool = False
    """True if it has generated columns too."""
    _updates: dict[ColumnPlaces, str] = field(
        default_factory=dict[ColumnPlaces, str], init=False, repr=False, compare=False
    )

    @property
    def key_columns(self) -> list[str]:
        return [self.columns[place] for place in self.keys]

    @cached_property
    def key_set(self) -> set[int]:
        """The positions of the key columns, as SQLite reports them for each change."""
        return set(self.keys)

    @cached_property
    def header(self) -> bytes:
        """The header of this table's records in a changeset."""
        return changeset.header(self.name, len(self.columns), self.keys)

    @cached_property
    def select(self) -> str:
        """The statement that reads a row by key."""
        return f"SELECT {', '.join(map(quoted, self.columns))} FROM {self._named} WHERE {self._where}"

    @cached_property
    def insert(self) -> str:
        """The statement that writes a row."""
        values = ", ".join("?" for _ in self.columns)
        return f"INSERT OR ABORT INTO {self._named} ({', '.join(map(quoted, self.columns))}) VALUES ({values})"

    @cached_property
    def delete(self) -> str:
        """The statement that deletes a row by key."""
        return f"DELETE FROM {self._named} WHERE {self._where}"

    def update(self, changed: ColumnPlaces) -> str:
        """The statement that updates some columns of a row by key."""
        sql = self._updates.get(changed)
        if sql is None:
            if len(self._updates) >= MOST_STATEMENTS:
                self._updates.clear()
            to = ", ".join(f"{quoted(self.columns[place])} = ?" for place in changed)
            sql = self._updates[changed] = f"UPDATE OR ABORT {self._named} SET {to} WHERE {self._where}"
        return sql

    @property
    def _named(self) -> str:
        return f"main.{quoted(self.name)}"

    @property
    def _where(self) -> str:
        return " AND ".join(f"{quoted(column)} = ?" for column in self.key_columns)


class Edit(NamedTuple):
    """One row before and after a changeset. None if it does not exist."""

    table: Table
    key: RowValues
    before: RowValues | None
    after: RowValues | None
    changed: ColumnPlaces
    """The columns that an update changes."""


class _Edits(NamedTuple):
    """The changed rows in the changeset's order, and grouped by operation."""

    all: list[Edit]
    deletes: list[Edit]
    updates: list[Edit]
    inserts: list[Edit]


class UncheckedTables:
    """The tables of a connection with triggers and foreign key enforcement switched off."""

    def __init__(self, connection: apsw.Connection, tables: dict[str, Table]) -> None:
        self._connection = connection
        self._tables = tables

    def apply(self, changes: bytes) -> bytes:
        """Apply a changeset within a transaction, and return it in our own encoding.

        After an error the caller rolls back.

        Raises:
            ChangesError: it does not fit, or leaves invalid rows.
            apsw.InterruptError, apsw.NoMemError: the work was interrupted.
        """
        try:
            edits = self._edits(changes)
            self._write(edits)
            for edit in edits.all:
                if not self._is_written(edit):
                    raise ChangesError(f"a row of {edit.table.name!r} cannot hold what the changeset says")
            self._check_references(edits.all)
            return _written(edits.all)
        except (apsw.InterruptError, apsw.NoMemError):
            raise
        except (apsw.Error, ValueError, TypeError, OverflowError) as error:
            raise ChangesError(f"the changeset does not fit the rows: {error}") from None

    def _edits(self, changes: bytes) -> "_Edits":
        """The changed rows, after each record was compared with its row."""
        edits = _Edits([], [], [], [])
        seen: set[tuple[str, RowValues]] = set()
        for change in apsw.Changeset.iter(changes):
            table = self._tables.get(change.name)
            if table is None or change.column_count != len(table.columns):
                raise ChangesError(f"the changeset names {change.name!r}, and there is no such table here")
            if change.pk_columns != table.key_set:
                raise ChangesError(f"the changeset gives {table.name!r} another primary key")
            edit = self._edit(table, change.op, change.old, change.new)
            row = table.name, edit.key
            if row in seen:
                raise ChangesError(f"the changeset names a row of {table.name!r} twice")
            seen.add(row)
            edits.all.append(edit)
            (edits.deletes if edit.after is None else edits.updates if edit.before else edits.inserts).append(edit)
        return edits

    def _edit(self, table: Table, operation: str, old: Sequence[Any] | None, new: Sequence[Any] | None) -> Edit:
        """The edit of one record. Its old values, above all its key, are compared exactly."""
        known = old if old is not None else new or ()
        key = tuple(map(known.__getitem__, table.keys))
        if operation == "UPDATE" and old is not None and new is not None:
            row = self._connection.execute(table.select, key).fetchone()
            edit, fits = (None, False) if row is None else _update_of(table, key, row, old, new)
        elif operation == "DELETE" and old is not None:
            edit = Edit(table, key, tuple(old), None, ())
            fits = _is_same(self._row(table, key), edit.before)
        elif operation == "INSERT" and new is not None:
            edit = Edit(table, key, None, tuple(new), ())
            fits = self._row(table, key) is None
        else:
            edit, fits = None, False
        if edit is None:
            raise ChangesError(f"the changeset changes a row of {table.name!r} that does not exist")
        if not fits:
            raise ChangesError(f"a row of {table.name!r} is not as the changeset says")
        _check_values(edit)
        return edit

    def _write(self, edits: "_Edits") -> None:
        """Write deletes first and inserts last.

        An update that conflicts with another row becomes a delete and an insert.
        """
        for edit in edits.deletes:
            self._delete(edit)
        moved: list[Edit] = []
        for edit in edits.updates:
            if edit.after is not None and not self._update(edit, edit.after):
                self._delete(edit)
                moved.append(edit)
        for edit in [*moved, *edits.inserts]:
            self._connection.execute(edit.table.insert, edit.after).fetchall()

    def _update(self, edit: Edit, after: RowValues) -> bool:
        if not edit.changed:
            return True
        values = (*map(after.__getitem__, edit.changed), *edit.key)
        try:
            self._connection.execute(edit.table.update(edit.changed), values).fetchall()
        except apsw.ConstraintError:
            return False
        return True

    def _delete(self, edit: Edit) -> None:
        self._connection.execute(edit.table.delete, edit.key).fetchall()

    def _row(self, table: Table, key: RowValues) -> RowValues | None:
        """The row with exactly this key: a column's collation may find another."""
        row = self._connection.execute(table.select, key).fetchone()
        if row is None or not _is_same(tuple(map(row.__getitem__, table.keys)), key):
            return None
        return row

    def _is_written(self, edit: Edit) -> bool:
        """True if a row is as its edit leaves it."""
        if edit.after is None:
            return self._row(edit.table, edit.key) is None
        return _is_same(self._connection.execute(edit.table.select, edit.key).fetchone(), edit.after)

    def _check_references(self, edits: list[Edit]) -> None:
        """Search for foreign keys that point nowhere.

        Raises:
            ChangesError: there is one.
        """
        left: set[str] = set()
        for edit in edits:
            if not edit.table.references and not edit.table.referenced:
                continue
            for reference in edit.table.references:
                values = _at(edit.after, reference.places)
                if values is None or values == _at(edit.before, reference.places) or None in values:
                    continue
                if self._connection.execute(reference.sql, values).fetchone() is None:
                    raise ChangesError(f"a row of {edit.table.name!r} points to a row that does not exist")
            for referenced in edit.table.referenced:
                if edit.before and _at(edit.before, referenced.places) != _at(edit.after, referenced.places):
                    left.add(referenced.by)
        for table in sorted(left):
            if self._connection.execute(f"PRAGMA main.foreign_key_check({quoted(table)})").fetchone() is not None:
                raise ChangesError(f"a row of {table!r} points to a row that was deleted")


def rows_in(changes: bytes) -> int:
    """The number of rows in a changeset. Small ones are not counted."""
    if len(changes) <= LEAST_RECORD * MOST_ROWS:
        return 0
    return sum(1 for _ in apsw.Changeset.iter(changes))


def tables_of(image: Image) -> dict[str, Table]:
    """The tables of a start image.

    Raises:
        apsw.Error: it is not a sound database.
    """
    connection, _ = opened(image)
    try:
        distrust(connection)
        return read_tables(connection)
    finally:
        connection.close(True)


def read_tables(connection: apsw.Connection) -> dict[str, Table]:
    """The tables of `main`, by exact name."""
    listed = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    names = [str(name) for (name,) in listed if not str(name).lower().startswith("sqlite_")]
    columns: dict[str, tuple[str, ...]] = {}
    keys: dict[str, ColumnPlaces] = {}
    generating: set[str] = set()
    for name in names:
        every = connection.execute("SELECT name, pk, hidden FROM pragma_table_xinfo(?, 'main')", (name,)).fetchall()
        found = [(column, number) for column, number, hidden in every if not hidden]
        if len(found) < len(every):
            generating.add(name)
        columns[name] = tuple(str(column) for column, _ in found)
        places = sorted((int(str(number)), place) for place, (_, number) in enumerate(found) if number)
        keys[name] = tuple(place for _, place in places)
    references: dict[str, list[ForeignKey]] = {name: [] for name in names}
    referenced: dict[str, list[ReferencedColumns]] = {name: [] for name in names}
    by_lower = {name.lower(): name for name in names}
    for name in names:
        for parent_name, pairs in _foreign_keys(connection, name):
            parent = by_lower.get(parent_name.lower())
            if parent is None:
                continue  # no row can be written then: SQLite refuses each
            here = [column.lower() for column in columns[name]]
            there = [column.lower() for column in columns[parent]]
            targets = tuple(
                keys[parent][number] if to is None else there.index(to.lower()) for number, (_, to) in enumerate(pairs)
            )
            where = " AND ".join(f"{quoted(columns[parent][place])} = ?" for place in targets)
            sql = f"SELECT 1 FROM main.{quoted(parent)} WHERE {where}"
            references[name].append(ForeignKey(tuple(here.index(own.lower()) for own, _ in pairs), sql))
            referenced[parent].append(ReferencedColumns(targets, name))
    return {
        name: Table(
            name,
            columns[name],
            keys[name],
            tuple(references[name]),
            tuple(referenced[name]),
            has_generated=name in generating,
        )
        for name in names
    }


def _foreign_keys(connection: apsw.Connection, table: str) -> list[tuple[str, list[tuple[str, str | None]]]]:
    """The parent of each foreign key, with the columns of both sides."""
    found = connection.execute(
        'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?, \'main\') ORDER BY id, seq', (table,)
    ).fetchall()
    keys: dict[object, tuple[str, list[tuple[str, str | None]]]] = {}
    for number, parent, own, to in found:
        keys.setdefault(number, (str(parent), []))[1].append((str(own), None if to is None else str(to)))
    return list(keys.values())


def _update_of(
    table: Table, key: RowValues, row: RowValues, old: Sequence[Any], new: Sequence[Any]
) -> tuple[Edit, bool]:
    """The edit of an UPDATE, and whether its old values match the row.

    It must have the old value of each changed column, and keep the key.
    """
    after, changed, fits = list(row), list[int](), True
    for place, was in enumerate(old):
        value = new[place]
        if value is NO_CHANGE:
            if was is not NO_CHANGE and not equal(was, row[place]):
                fits = False
            continue
        if was is NO_CHANGE or place in table.keys:
            raise ChangesError(f"an update of {table.name!r} cannot be undone")
        is_now = row[place]
        fits = fits and equal(was, is_now)
        if not equal(value, is_now):
            after[place] = value
            changed.append(place)
    return Edit(table, key, row, tuple(after), tuple(changed)), fits


class Statement(NamedTuple):
    """A statement, and its number of parameters."""

    sql: str
    values: int


def writing_statements(table: Table) -> Iterator[Statement]:
    """The statements that insert a row, delete one, and update all columns but the key."""
    yield Statement(table.insert, len(table.columns))
    yield Statement(table.delete, len(table.keys))
    given = tuple(place for place in range(len(table.columns)) if place not in table.keys)
    if given:
        yield Statement(table.update(given), len(table.columns))


def _written(edits: list[Edit]) -> bytes:
    """The changeset of some edits, by table."""
    if len(edits) == 1:
        table, _, before, after, changed = edits[0]
        one = changeset.record(before, after, changed, table.keys)
        return table.header + one if one else b""
    records: dict[str, list[bytes]] = {}
    for edit in edits:
        record = changeset.record(edit.before, edit.after, edit.changed, edit.table.keys)
        if record:
            records.setdefault(edit.table.name, [edit.table.header]).append(record)
    return b"".join(chain.from_iterable(records.values()))


def _check_values(edit: Edit) -> None:
    """Check that new values of a row can be stored. Unchanged ones can."""
    after = edit.after or ()
    for value in map(after.__getitem__, edit.changed) if edit.before else after:
        if value is None or isinstance(value, int):
            continue
        if isinstance(value, float):
            if not math.isfinite(value):
                raise ChangesError(f"a value of {edit.table.name!r} is a number that JSON cannot hold")
        elif len(value) * 4 > LARGEST_VALUE and _size(value) > LARGEST_VALUE:
            raise ChangesError(f"a value of {edit.table.name!r} is larger than {LARGEST_VALUE} bytes")


def _size(value: str | bytes) -> int:
    return len(value.encode()) if isinstance(value, str) else len(value)


def _at(row: Sequence[Any] | None, places: Sequence[int]) -> RowValues | None:
    return None if row is None else tuple(map(row.__getitem__, places))


def _is_same(one: RowValues | None, other: RowValues | None) -> bool:
    """True if two rows are equal, type by type. To Python 1 equals 1.0."""
    return one == other and (one is None or other is None or list(map(type, one)) == list(map(type, other)))
