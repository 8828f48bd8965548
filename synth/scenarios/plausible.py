"""Another value that somebody could have meant: of an argument, or of a column."""

import re
from collections.abc import Iterable
from typing import Any, cast

from servers.guest.tables import quoted
from servers.reading import Reader
from synth.proving.days import day_in, later

DATE = re.compile(r"\d{4}-\d\d-\d\d")
DATETIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?")
MOST_ROWS = 400


class Rows:
    """The rows of a state, for drawing from. Tables with more than 400 rows are known by their first ones."""

    def __init__(self, reader: Reader) -> None:
        self.columns: dict[str, list[str]] = {}
        self.keys: dict[str, list[str]] = {}
        self.rows: dict[str, list[dict[str, Any]]] = {}
        self.parents: dict[str, dict[str, str]] = {}
        for table in reader.tables():
            columns, keys = reader.columns(table)
            self.columns[table], self.keys[table] = columns, keys
            order = ", ".join(map(quoted, keys))
            sql = f"SELECT * FROM main.{quoted(table)} ORDER BY {order} LIMIT {MOST_ROWS}"
            found = reader.connection.execute(sql).fetchall()
            self.rows[table] = [dict(zip(columns, row, strict=True)) for row in found]
            foreign = reader.connection.execute(
                'SELECT "from", "table" FROM pragma_foreign_key_list(?)', (table,)
            ).fetchall()
            self.parents[table] = {str(column): str(parent) for column, parent in foreign}
        self._by_key = {
            (table, row[keys[0]]): row
            for table, keys in self.keys.items()
            if len(keys) == 1
            for row in self.rows[table]
        }
        self.tables_of: dict[Any, list[str]] = {}
        for table, value in self._by_key:
            self.tables_of.setdefault(value, []).append(table)

    def row(self, table: str, key: Any) -> dict[str, Any] | None:
        """The row with a key."""
        return self._by_key.get((table, key))

    def alike(self, table: str, key: Any, most: int) -> list[Any]:
        """The keys of other rows, those that have most in common with one first."""
        [name] = self.keys[table]
        model = self.row(table, key) or {}
        others = [row for row in self.rows[table] if row[name] != key]
        others.sort(key=lambda row: -sum(row[column] == value for column, value in model.items()))
        return [row[name] for row in others[:most]]

    def others(self, table: str, column: str, value: Any) -> list[Any]:
        """Other values of a column, the commonest first."""
        parent = self.parents[table].get(column)
        if parent in self.keys and len(self.keys[parent]) == 1 and self.row(parent, value) is not None:
            return self.alike(parent, value, 3)
        counts: dict[Any, int] = {}
        for row in self.rows[table]:
            if row[column] is not None and row[column] != value and type(row[column]) is type(value):
                counts[row[column]] = counts.get(row[column], 0) + 1
        return sorted(counts, key=lambda other: (-counts[other], str(other)))[:3]


def other_arguments(schema: dict[str, Any], value: Any, rows: Rows) -> list[Any]:
    """Up to two other values of an argument; none for prose."""
    choices = enum_of(schema)
    found: list[Any] = []
    if isinstance(value, bool):
        found = [not value]
    elif choices:
        found = [choice for choice in choices if choice != value and choice is not None]
    elif isinstance(value, int | float):
        found = [value + 1]
    elif isinstance(value, list) and len(cast("list[Any]", value)) > 1:
        found = [value[:-1]]
    elif isinstance(value, str):
        tables = rows.tables_of.get(value, [])
        found = rows.alike(tables[0], value, 2) if tables else list(moved(value))
    return found[:2]


def moved(value: str) -> Iterable[str]:
    """A date or a time, one day later."""
    if DATE.fullmatch(value) or DATETIME.fullmatch(value):
        day = day_in(value)
        if day is not None:
            yield later(day, 1).isoformat() + value[10:]


def enum_of(schema: dict[str, Any]) -> list[Any]:
    """The values that a schema lets an argument have, if it lists them."""
    parts: list[dict[str, Any]] = [schema, *schema.get("anyOf", [])]
    return [value for part in parts for value in part.get("enum", [])]
