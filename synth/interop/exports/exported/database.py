"""Envfarm's Database handle over sqlite3, with the rows of a state that is a dict per table.

This text is written into exported environments and checks. It imports the standard library alone.
"""

import hashlib
import sqlite3
from datetime import datetime, timedelta
from functools import partial
from typing import Any

Rows = dict[str, dict[str, dict[str, Any]]]
"""Table → key → row; the parts of a key of several columns are joined by `|`."""
TIME_FUNCTIONS = ("date", "time", "datetime", "julianday", "unixepoch", "strftime")
SECONDS_PER_CALL = 60


class ToolError(Exception):
    """A refusal."""


class Database:
    """The rows of one state, as one call sees them."""

    def __init__(self, connection: sqlite3.Connection, *, now: str, id_seed: str) -> None:
        self._connection = connection
        self._now = now
        self._id_seed = id_seed
        self._ids = 0

    def all(self, sql: str, **params: Any) -> list[dict[str, Any]]:
        before = self._connection.total_changes
        cursor = self._connection.execute(sql, params)
        names = [column[0] for column in cursor.description or ()]
        rows = [dict(zip(names, row, strict=True)) for row in cursor]
        if self._connection.total_changes != before:
            raise RuntimeError("all() and one() only read; use run() to write")
        return rows

    def one(self, sql: str, **params: Any) -> dict[str, Any] | None:
        rows = self.all(sql, **params)
        return rows[0] if rows else None

    def run(self, sql: str, **params: Any) -> int:
        return max(self._connection.execute(sql, params).rowcount, 0)

    def now(self) -> str:
        return self._now

    def new_id(self, prefix: str) -> str:
        self._ids += 1
        digest = hashlib.blake2b(f"{self._id_seed}/{self._ids}".encode(), digest_size=4).hexdigest()
        return f"{prefix}_{digest}"


def time_at(clock: str, calls: int) -> str:
    """The time at a call: each takes a minute."""
    return (datetime.fromisoformat(clock) + timedelta(seconds=calls * SECONDS_PER_CALL)).isoformat(sep=" ")


def connect(now: str) -> sqlite3.Connection:
    """An empty database whose clock tells a time that is given."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    plain = sqlite3.connect(":memory:")
    for name in TIME_FUNCTIONS:
        connection.create_function(name, -1, partial(_told, plain, now, name))
    connection.create_function("current_timestamp", 0, lambda: now)
    connection.create_function("current_date", 0, lambda: now[:10])
    connection.create_function("current_time", 0, lambda: now[11:])
    return connection


def _told(plain: sqlite3.Connection, now: str, name: str, *arguments: Any) -> Any:
    """What a function of SQLite's says of a time, where `now` is the one that is given."""
    given = [*arguments, "now"] if len(arguments) == (name == "strftime") else list(arguments)
    holes = ", ".join("?" for _ in given)
    return plain.execute(f"SELECT {name}({holes})", [now if one == "now" else one for one in given]).fetchone()[0]


def fill(connection: sqlite3.Connection, schema: dict[str, Any], rows: Rows, name: str = "main") -> None:
    """Create the tables of a schema in a database, and their rows in them."""
    for table, told in schema["tables"].items():
        connection.execute(told["sql"].replace("CREATE TABLE ", f"CREATE TABLE {name}.", 1))
        columns = ", ".join(f'"{column}"' for column in told["columns"])
        holes = ", ".join("?" for _ in told["columns"])
        lines = [[row.get(column) for column in told["columns"]] for row in rows.get(table, {}).values()]
        connection.executemany(f'INSERT INTO {name}."{table}" ({columns}) VALUES ({holes})', lines)


def opened(schema: dict[str, Any], rows: Rows, now: str) -> sqlite3.Connection:
    """A database with the rows of a state, its indexes, views and triggers."""
    connection = connect(now)
    fill(connection, schema, rows)
    for sql in schema["others"]:
        connection.execute(sql)
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def rows_in(connection: sqlite3.Connection, schema: dict[str, Any]) -> Rows:
    """All rows of a database as a state."""
    found: Rows = {}
    for table, told in schema["tables"].items():
        order = ", ".join(f'"{key}"' for key in told["key"])
        cursor = connection.execute(f'SELECT * FROM "{table}" ORDER BY {order}')
        names = [column[0] for column in cursor.description]
        rows = [dict(zip(names, row, strict=True)) for row in cursor]
        found[table] = {"|".join(str(row[key]) for key in told["key"]): row for row in rows}
    return found
