"""Envfarm's checkpoints over two states that are dicts: what an exported check function asks.

This text is written into exported checks, behind the Database handle.
"""

import json
import operator
import sqlite3
from collections.abc import Callable
from typing import Any

from servers.guest.sqlite.plain_text import PLAIN_TEXT, plain_text
from synth.interop.exports.exported.database import Database, Rows, connect, fill, time_at

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def asked(now: str) -> sqlite3.Connection:
    """An empty database for checkpoints, which may ask for plain texts."""
    connection = connect(now)
    connection.create_function(PLAIN_TEXT, 1, plain_text, deterministic=True)
    return connection


def both(schema: dict[str, Any], start: dict[str, Any], final: dict[str, Any]) -> sqlite3.Connection:
    """A database with the final state as `main` and the first one as `start`."""
    connection = asked(time_at(final["clock"], final["calls"]))
    connection.execute("ATTACH ':memory:' AS start")
    fill(connection, schema, start, "start")
    fill(connection, schema, final)
    for sql in schema["views"]:
        connection.execute(sql)
    return connection


def sql_holds(connection: sqlite3.Connection, checkpoint: dict[str, Any]) -> bool:
    rows = [list(row) for row in connection.execute(checkpoint["sql"])]
    expected = checkpoint["expect"]
    if isinstance(expected, list):
        return rows == expected
    if len(rows) != 1 or len(rows[0]) != 1:
        return False
    return COMPARISONS[expected["op"]](rows[0][0], expected["value"])


def python_holds(
    schema: dict[str, Any], check: Callable[..., Any], start: dict[str, Any], final: dict[str, Any]
) -> bool:
    now = time_at(final["clock"], final["calls"])
    handles: list[Database] = []
    for rows in (start, final):
        connection = asked(now)
        fill(connection, schema, rows)
        for sql in schema["views"]:
            connection.execute(sql)
        handles.append(Database(connection, now=now, id_seed=""))
    return check(*handles, "", []) is True


def footprint_holds(
    connection: sqlite3.Connection, schema: dict[str, Any], allow: list[dict[str, Any]], start: Rows, final: Rows
) -> bool:
    """Whether each row that differs has a place in an allowance."""
    free: list[float] = [float("inf") if one.get("rows") is None else one["rows"] for one in allow]
    changes = list(changed(schema, start, final))
    covering = [[n for n, one in enumerate(allow) if covers(connection, schema, one, *change)] for change in changes]
    return placed(sorted(covering, key=len), free)


def placed(covering: list[list[int]], free: list[float]) -> bool:
    """Whether all rows find a place; those with the fewest choices first."""
    if not covering:
        return True
    for number in covering[0]:
        if free[number] > 0:
            left = [room - (place == number) for place, room in enumerate(free)]
            if placed(covering[1:], left):
                return True
    return False


def changed(schema: dict[str, Any], start: Rows, final: Rows) -> list[tuple[str, str, set[str], dict[str, Any]]]:
    """Table, operation, columns and row of everything that differs."""
    found: list[tuple[str, str, set[str], dict[str, Any]]] = []
    for table in schema["tables"]:
        before, after = start[table], final[table]
        found += [(table, "delete", set[str](), row) for key, row in before.items() if key not in after]
        found += [(table, "insert", set[str](), row) for key, row in after.items() if key not in before]
        for key, row in after.items():
            differ = {name for name, value in row.items() if key in before and not _is(before[key].get(name), value)}
            if differ:
                found.append((table, "update", differ, row))
    return found


def _is(one: Any, other: Any) -> bool:
    return json.dumps(one) == json.dumps(other)


def covers(
    connection: sqlite3.Connection,
    schema: dict[str, Any],
    allowance: dict[str, Any],
    table: str,
    operation: str,
    columns: set[str],
    row: dict[str, Any],
) -> bool:
    if allowance["table"] != table or allowance["operation"] != operation:
        return False
    if operation == "update" and allowance.get("columns") is not None and not columns <= set(allowance["columns"]):
        return False
    if allowance.get("where") is None:
        return True
    key = schema["tables"][table]["key"]
    same = " AND ".join(f'"{name}" IS ?' for name in key)
    database = "start" if operation == "delete" else "main"
    sql = f'SELECT 1 FROM {database}."{table}" WHERE {same} AND ({allowance["where"]})'
    return connection.execute(sql, [row[name] for name in key]).fetchone() is not None
