"""Row differences: between start and end of an instance, and of one call."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apsw

from servers.errors import QueryError
from servers.guest.sqlite.sql_text import quoted
from servers.guest.sqlite.tables import Table
from servers.state import sort_files
from servers.state.rows import LARGEST_ANSWER, NUMBER_BYTES, RowChange, cell

MOST_DIFFERENCES = 20_000
"""The most rows in one difference."""


def all_of(changes: Iterable[RowChange]) -> list[RowChange]:
    """The differing rows as a list.

    Raises:
        QueryError: there are too many.
    """
    return list(_not_too_many(changes))


def all_as_json(changes: Iterable[RowChange]) -> str:
    """The same as JSON. Rows are converted one at a time, as many at once would block the event loop."""
    return as_json(change.model_dump_json() for change in _not_too_many(changes))


def _not_too_many(changes: Iterable[RowChange]) -> Iterator[RowChange]:
    room = LARGEST_ANSWER
    for count, change in enumerate(changes, 1):
        room -= _size(change.before) + _size(change.after)
        if count > MOST_DIFFERENCES:
            raise QueryError(f"more than {MOST_DIFFERENCES:,} rows differ; ask for some of them with a query")
        if room < 0:
            raise QueryError(f"the rows that differ hold more than {LARGEST_ANSWER:,} bytes; ask for some of them")
        yield change


def differences(connection: apsw.Connection, tables: Iterable[str]) -> Iterator[RowChange]:
    """The rows that differ between `start` and `main`, by table and key, computed from both databases.

    Inserted and deleted rows have every column, updated ones the changed columns. Generated columns are left out.
    """
    for table in tables:
        sort_files.begin()
        yield from _of_table(connection, table)


def _of_table(connection: apsw.Connection, table: str) -> Iterator[RowChange]:
    columns, keys = columns_of(connection, table)
    name = quoted(table)
    same_key = " AND ".join(f"a.{quoted(key)} IS b.{quoted(key)}" for key in keys)
    order = ", ".join(f"a.{quoted(key)}" for key in keys)
    mine, theirs = (", ".join(f"{one}.{quoted(column)}" for column in columns) for one in "ab")
    differs = " OR ".join(_differs(quoted(column)) for column in columns)

    def only_in(here: str, there: str) -> str:
        missing = f"NOT EXISTS (SELECT 1 FROM {there}.{name} b WHERE {same_key})"
        return f"SELECT {mine} FROM {here}.{name} a WHERE {missing} ORDER BY {order}"

    for row in connection.execute(only_in("start", "main")):
        before = _cells(columns, row)
        yield RowChange(table=table, operation="delete", key=_only(before, keys), before=before, after={})
    for row in connection.execute(only_in("main", "start")):
        after = _cells(columns, row)
        yield RowChange(table=table, operation="insert", key=_only(after, keys), before={}, after=after)
    both = connection.execute(
        f"SELECT {mine}, {theirs} FROM start.{name} a JOIN main.{name} b ON {same_key} WHERE {differs} ORDER BY {order}"
    )
    for row in both:
        old, new = row[: len(columns)], row[len(columns) :]
        before, after = _cells(columns, old), _cells(columns, new)
        changed = [column for column, was, now in zip(columns, old, new, strict=True) if _are_two(was, now)]
        yield RowChange(
            table=table,
            operation="update",
            key=_only(before, keys),
            before=_only(before, changed),
            after=_only(after, changed),
        )


def columns_of(connection: apsw.Connection, table: str) -> tuple[list[str], list[str]]:
    """The columns of a table of `main` without generated ones, and those of its primary key in key order."""
    found = connection.execute("SELECT name, pk FROM pragma_table_info(?, 'main')", (table,)).fetchall()
    keys = sorted((int(str(place)), str(name)) for name, place in found if place)
    return [str(name) for name, _ in found], [name for _, name in keys]


def _differs(column: str) -> str:
    """The SQL condition for a changed column as in a changeset: by bytes, and by type.

    A column's own collation may treat different texts as equal, and 1 is 1.0 to SQLite.
    """
    return f"(a.{column} IS NOT b.{column} COLLATE BINARY OR typeof(a.{column}) IS NOT typeof(b.{column}))"


def _are_two(was: Any, now: Any) -> bool:
    return type(was) is not type(now) or was != now


def in_changeset(changes: bytes, tables: dict[str, Table]) -> list[RowChange]:
    """The changed rows in one call's verified changeset."""
    return sorted(_of_changeset(changes, tables), key=_place)


def changeset_as_json(changes: bytes, tables: dict[str, Table]) -> str:
    """The same as JSON, converted in the same way.

    Raises:
        QueryError: they are too many, or too large.
    """
    placed = sorted((_place(row), row.model_dump_json()) for row in _not_too_many(_of_changeset(changes, tables)))
    return as_json(text for _, text in placed)


def as_json(texts: Iterable[str]) -> str:
    """A JSON list of texts that are JSON already."""
    return f"[{','.join(texts)}]"


def _place(change: RowChange) -> tuple[str, str]:
    return change.table, str(change.key)


def _of_changeset(changes: bytes, tables: dict[str, Table]) -> Iterator[RowChange]:
    for change in apsw.Changeset.iter(changes):
        names, keys = tables[change.name].columns, tables[change.name].key_columns
        operation = {"INSERT": "insert", "UPDATE": "update", "DELETE": "delete"}[change.op]
        before = _cells(names, change.old) if change.old else {}
        after = _cells(names, change.new) if change.new else {}
        key = _only(before or after, keys)
        if operation == "update":
            after = {name: value for name, value in after.items() if name not in keys}
            before = {name: value for name, value in before.items() if name in after}
        yield RowChange(table=change.name, operation=operation, key=key, before=before, after=after)  # pyright: ignore[reportArgumentType]


def _cells(columns: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    return {column: cell(value) for column, value in zip(columns, row, strict=True) if value is not apsw.no_change}


def _only(cells: dict[str, Any], columns: list[str]) -> dict[str, Any]:
    return {column: cells[column] for column in columns if column in cells}


def _size(cells: dict[str, Any]) -> int:
    return sum(len(name) + (len(cell) if isinstance(cell, str) else NUMBER_BYTES) for name, cell in cells.items())
