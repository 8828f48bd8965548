"""Files of rows: comma-separated values, with the names of columns first, for one table each.

A value is inserted as its text, which SQLite makes what the column's type says. An empty value is NULL, but an empty
text where a column of text is NOT NULL.
"""

import csv
from collections.abc import Generator, Iterator
from io import BytesIO, TextIOWrapper
from typing import NamedTuple

import apsw

from servers.guest.sqlite.connection import LARGEST_VALUE
from servers.guest.sqlite.sql_text import quoted

TEXT_TYPES = ("CHAR", "CLOB", "TEXT")
NUMBER_TYPES = ("INT", "REAL", "FLOA", "DOUB")
"""Words in the type of a column that make its values texts, or numbers, as SQLite tells them."""
ORDINARY = 0
"""What SQLite calls a column that is not generated."""
LONGEST_SHOWN = 80


class RowFileFault(Exception):
    """A file of rows cannot be inserted. Its text says the file and the line."""


class RowFile(NamedTuple):
    """A file of rows, as the worker sends it."""

    name: str
    table: str
    content: bytes


class Column(NamedTuple):
    """A column of a table."""

    name: str
    kind: str
    is_required: bool

    @property
    def is_text(self) -> bool:
        return any(word in self.kind for word in TEXT_TYPES)

    @property
    def is_number(self) -> bool:
        return not self.is_text and any(word in self.kind for word in NUMBER_TYPES)


def insert(connection: apsw.Connection, file: RowFile) -> None:
    """Insert the rows of a file.

    Raises:
        RowFileFault: the file is damaged, does not fit its table, or breaks a rule of it.
    """
    columns = _columns(connection, file)
    with TextIOWrapper(BytesIO(file.content), encoding="utf-8", newline="") as text:
        rows = csv.reader(text, strict=True)
        try:
            head = _head(rows, columns, file)
            names, places = ", ".join(map(quoted, head)), ", ".join("?" * len(head))
            statement = f"INSERT INTO {quoted(file.table)} ({names}) VALUES ({places})"
            connection.cursor().executemany(statement, _values(rows, [columns[name] for name in head]))
        except (apsw.Error, csv.Error, RowFileFault) as error:
            raise RowFileFault(f"{file.name}: line {max(rows.line_num, 1)}: {error}") from None
    for name in head:
        if columns[name].is_number:
            _see_numbers(connection, file, name)


def _columns(connection: apsw.Connection, file: RowFile) -> dict[str, Column]:
    found = connection.execute(
        'SELECT name, upper(type), "notnull" OR pk, hidden FROM pragma_table_xinfo(?)', (file.table,)
    ).fetchall()
    is_table = connection.execute(
        "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ? COLLATE NOCASE", (file.table,)
    ).get
    if not is_table:
        raise RowFileFault(f"{file.name}: schema.sql creates no table {file.table}")
    return {
        str(name): Column(str(name), str(kind), bool(required))
        for name, kind, required, hidden in found
        if hidden == ORDINARY
    }


def _head(rows: Iterator[list[str]], columns: dict[str, Column], file: RowFile) -> list[str]:
    """The names of the columns that a file has."""
    head = next(rows, None)
    if not head:
        raise RowFileFault("the first line has no names of columns")
    for number, name in enumerate(head):
        if name not in columns:
            raise RowFileFault(f"{file.table} has no column {name[:LONGEST_SHOWN]!r} that can be written")
        if name in head[:number]:
            raise RowFileFault(f"the column {name} stands twice")
    return head


def _values(rows: Iterator[list[str]], columns: list[Column]) -> Generator[list[str | None]]:
    """Each row as what is bound."""
    empty = ["" if one.is_text and one.is_required else None for one in columns]
    width = len(columns)
    for row in rows:
        if len(row) == width:
            yield [value or nothing for value, nothing in zip(row, empty, strict=True)] if "" in row else list(row)
        elif row:
            raise RowFileFault(f"has {len(row)} values, and there are {width} columns")


def _see_numbers(connection: apsw.Connection, file: RowFile, name: str) -> None:
    """Refuse a text in a column of numbers, and a number that overflows: SQLite takes both."""
    odd = f"typeof({quoted(name)}) = 'text' OR {quoted(name)} IN (9e999, -9e999)"
    found = connection.execute(f"SELECT {quoted(name)} FROM {quoted(file.table)} WHERE {odd} LIMIT 1").get
    if isinstance(found, str):
        raise RowFileFault(f"{file.name}: {found[:LONGEST_SHOWN]!r} in the column {name} is no number")
    if found is not None:
        raise RowFileFault(f"{file.name}: a number in the column {name} is larger than SQLite keeps")


csv.field_size_limit(LARGEST_VALUE)
