"""The rows of a state as the samplers read them: tables and views, their keys, and their foreign keys."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import apsw

from servers.errors import QueryError
from servers.guest.sqlite.sql_text import quoted
from servers.limits.processor_budget import MOST_STEPS
from servers.state.readonly_query import Reader

ViewRow = dict[str, Any]
MOST_ROWS = 200
"""Of one table or view; values are drawn from the first of them."""
VIEW_STEPS = 10_000_000


@dataclass(frozen=True)
class SqlColumn:
    """A column, named as SQL names it."""

    table: str
    name: str


@dataclass(frozen=True)
class SchemaShape:
    """What a schema says of its tables, apart from their rows."""

    columns: dict[str, tuple[str, ...]]
    keys: dict[str, SqlColumn]
    """Of each table whose key is one column."""
    points: dict[SqlColumn, SqlColumn]
    """Foreign keys of one column: from where to where."""
    views: tuple[str, ...]


@dataclass(frozen=True)
class View:
    """The rows of one moment. What is worked out from them is kept."""

    rows: dict[str, list[ViewRow]]
    _where: dict[SqlColumn, dict[Any, list[ViewRow]]] = field(
        default_factory=dict[SqlColumn, dict[Any, "list[ViewRow]"]]
    )
    _values: dict[SqlColumn, list[Any]] = field(default_factory=dict[SqlColumn, "list[Any]"])
    kinds: dict[tuple[SqlColumn, str, Any], dict[str, Any]] = field(
        default_factory=dict[tuple[SqlColumn, str, Any], dict[str, Any]]
    )
    """What kind of row a key names, by `experience.features_of`."""

    def values(self, column: SqlColumn) -> list[Any]:
        """What stands in a column, each value once."""
        found = self._values.get(column)
        if found is None:
            cells = [row.get(column.name) for row in self.rows.get(column.table, ())]
            found = self._values[column] = list(dict.fromkeys(cell for cell in cells if cell is not None))
        return found

    def where(self, column: SqlColumn, value: Any) -> list[ViewRow]:
        """The rows with a value in a column."""
        index = self._where.get(column)
        if index is None:
            index = self._where[column] = defaultdict(list)
            for row in self.rows.get(column.table, ()):
                index[row.get(column.name)].append(row)
        return index.get(value, [])


def shape_of(reader: Reader) -> SchemaShape:
    """The shape of the tables of a state."""
    columns: dict[str, tuple[str, ...]] = {}
    keys: dict[str, SqlColumn] = {}
    points: dict[SqlColumn, SqlColumn] = {}
    for table in reader.tables():
        names, key = reader.columns(table)
        columns[table] = tuple(names)
        if len(key) == 1:
            keys[table] = SqlColumn(table, key[0])
    for table in columns:
        found = reader.connection.execute(
            'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?, \'main\') ORDER BY id', (table,)
        ).fetchall()
        ids = [row[0] for row in found]
        for number, target, name, to in found:
            aim = SqlColumn(str(target), str(to)) if to is not None else keys.get(str(target))
            if ids.count(number) == 1 and aim is not None:
                points[SqlColumn(table, str(name))] = aim
    views = reader.connection.execute(
        "SELECT name FROM main.sqlite_schema WHERE type = 'view' ORDER BY name"
    ).fetchall()
    return SchemaShape(columns, keys, points, tuple(str(name) for (name,) in views))


def view_of(reader: Reader, shape: SchemaShape) -> View:
    """The rows of a state; of each table and view the first ones. A view that takes long or fails is left out."""
    rows: dict[str, list[ViewRow]] = {}
    for table in shape.columns:
        rows[table] = _some(reader, table, steps=MOST_STEPS)
    for name in shape.views:
        try:
            rows[name] = _some(reader, name, steps=VIEW_STEPS)
        except (QueryError, apsw.Error):
            continue
    return View(rows)


def _some(reader: Reader, name: str, *, steps: int) -> list[ViewRow]:
    found = reader.select(f"SELECT * FROM main.{quoted(name)} LIMIT {MOST_ROWS}", rows=MOST_ROWS, steps=steps)
    return [
        dict(zip(found.columns, row, strict=True))
        for row in found.rows
        if not any(isinstance(one, bytes) for one in row)
    ]
