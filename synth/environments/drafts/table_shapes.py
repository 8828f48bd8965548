"""The content of a start image: tables, columns, links, rules, and rows. It is read, never run."""

import re
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import apsw

from servers.guest.sqlite.connection import connect, distrust
from servers.guest.sqlite.sql_text import quoted

CHOICES = re.compile(r"(?i)\b(\w+)\s+(?:TEXT\b[^,]*?)?\bIN\s*\(\s*('(?:[^']|'')*'(?:\s*,\s*'(?:[^']|'')*')*)\s*\)")
TEXTS = re.compile(r"'((?:[^']|'')*)'")
LONGEST_CELL = 80
MOST_ROWS_SHOWN = 25
"""The most rows of a table in a prompt."""
MORE = "[…]"
CUT = f"(Shortened, here only: where {MORE} stands at the end of a text or of a table, the database has more.)"


@dataclass(frozen=True)
class ColumnShape:
    """A column. `choices` are the texts that a CHECK (column IN (…)) allows."""

    name: str
    type: str
    required: bool
    in_key: bool
    choices: tuple[str, ...]


@dataclass(frozen=True)
class ColumnLink:
    """A foreign key column."""

    columns: tuple[str, ...]
    parent: str
    parent_columns: tuple[str, ...]


@dataclass(frozen=True)
class TableShape:
    """A table: its CREATE statement, columns, links, and unique column sets."""

    name: str
    sql: str
    columns: tuple[ColumnShape, ...]
    links: tuple[ColumnLink, ...]
    unique: tuple[tuple[str, ...], ...]

    @property
    def key(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns if column.in_key)


@dataclass(frozen=True)
class ImageShape:
    """The tables of an image, its triggers and unique indexes by name, and the rows of each table."""

    tables: dict[str, TableShape]
    triggers: dict[str, str]
    indexes: dict[str, str]
    rows: dict[str, list[dict[str, Any]]]

    def parents_first(self) -> list[TableShape]:
        """The tables, each after those that it references, if possible."""
        placed: dict[str, TableShape] = {}

        def place(table: TableShape, above: frozenset[str]) -> None:
            for link in table.links:
                if link.parent in self.tables and link.parent not in above and link.parent not in placed:
                    place(self.tables[link.parent], above | {table.name})
            placed.setdefault(table.name, table)

        for table in self.tables.values():
            place(table, frozenset({table.name}))
        return list(placed.values())


def shape_of(image: bytes) -> ImageShape:
    """Read an image that a guest built."""
    with closing(connect()) as connection:
        connection.deserialize("main", image)
        distrust(connection)
        made = [
            (str(kind), str(name), str(sql))
            for kind, name, sql in connection.execute(
                "SELECT type, name, sql FROM sqlite_schema"
                " WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
            )
        ]
        tables = {name: _table(connection, name, sql) for kind, name, sql in made if kind == "table"}
        rows = {name: _rows(connection, table) for name, table in tables.items()}
    return ImageShape(
        tables=tables,
        triggers={name: sql for kind, name, sql in made if kind == "trigger"},
        indexes={name: sql for kind, name, sql in made if kind == "index" and "unique" in sql.lower()},
        rows=rows,
    )


def rows_text(shape: ImageShape, *, most: int, tables: Sequence[str] = ()) -> str:
    """The rows for a reader: a heading and one line a row, at most `most` of each table."""
    text = "\n\n".join(_table_text(shape, name, most) for name in shape.tables if not tables or name in tables)
    return f"{CUT}\n\n{text}" if MORE in text else text


def _table_text(shape: ImageShape, name: str, most: int) -> str:
    rows = shape.rows[name]
    lines = [f"{name} ({len(rows)} rows): " + " | ".join(column.name for column in shape.tables[name].columns)]
    lines += [" | ".join(_cell(value) for value in row.values()) for row in rows[:most]]
    if len(rows) > most:
        lines.append(f"{MORE} and {len(rows) - most} more rows of {name}")
    return "\n".join(lines)


def _cell(value: Any) -> str:
    text = "NULL" if value is None else str(value)
    return text if len(text) <= LONGEST_CELL else f"{text[:LONGEST_CELL]}{MORE}"


def _table(connection: apsw.Connection, name: str, sql: str) -> TableShape:
    choices = {column: tuple(TEXTS.findall(listed)) for column, listed in CHOICES.findall(sql)}
    columns = tuple(
        ColumnShape(
            name=str(column),
            type=str(kind).upper(),
            required=bool(required) or bool(key),
            in_key=bool(key),
            choices=choices.get(str(column), ()),
        )
        for column, kind, required, key in connection.execute(
            'SELECT name, type, "notnull", pk FROM pragma_table_info(?)', (name,)
        )
    )
    links: dict[int, list[tuple[str, str, str]]] = {}
    found = connection.execute(
        'SELECT id, "from", "table", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq', (name,)
    )
    for number, column, parent, target in found:
        links.setdefault(int(str(number)), []).append((str(column), str(parent), str(target or column)))
    unique = [
        tuple(str(column) for (column,) in connection.execute("SELECT name FROM pragma_index_info(?)", (index,)))
        for (index,) in connection.execute('SELECT name FROM pragma_index_list(?) WHERE "unique"', (name,)).fetchall()
    ]
    return TableShape(
        name=name,
        sql=sql,
        columns=columns,
        links=tuple(
            ColumnLink(tuple(one[0] for one in parts), parts[0][1], tuple(one[2] for one in parts))
            for parts in links.values()
        ),
        unique=tuple(unique),
    )


def _rows(connection: apsw.Connection, table: TableShape) -> list[dict[str, Any]]:
    names = [column.name for column in table.columns]
    listed, order = ", ".join(map(quoted, names)), ", ".join(map(quoted, table.key))
    found = connection.execute(f"SELECT {listed} FROM {quoted(table.name)} ORDER BY {order}")
    return [dict(zip(names, row, strict=True)) for row in found]
