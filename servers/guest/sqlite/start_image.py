"""Start images: schema, seed and a scenario's setup as the bytes of one SQLite database."""

import math
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

import apsw

from servers.guest.sqlite import clock
from servers.guest.sqlite.compiled_schema import row_findings, view_findings
from servers.guest.sqlite.connection import LONGEST_NAME, PAGE_SIZE, connect
from servers.guest.sqlite.instance_rows import FORBIDDEN_FUNCTIONS, READ_ACTIONS, WRITE_ACTIONS, RowsOnly
from servers.guest.sqlite.row_files import RowFile, RowFileFault, insert
from servers.guest.sqlite.sql_text import quoted

SCHEMA_ACTIONS = {
    *READ_ACTIONS,
    *WRITE_ACTIONS,
    apsw.SQLITE_CREATE_INDEX,
    apsw.SQLITE_CREATE_TABLE,
    apsw.SQLITE_CREATE_TRIGGER,
    apsw.SQLITE_CREATE_VIEW,
    apsw.SQLITE_REINDEX,
}
Authorizer = Callable[[int, str | None, str | None, str | None, str | None], int]
NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
SCRIPTS = "schema.sql, seed.sql and setup"
ROWS = "the first rows"
"""The rows of `seed.sql` and of files."""
LARGEST_IMAGE = 64 * 1024 * 1024
"""Bytes of a start image: its rows and their indexes."""
MOST_TABLES = 500
MOST_OTHERS = 500
"""The most views, indexes and triggers: opening a state parses all of them."""
LARGEST_NUMBER = sys.float_info.max
LONGEST_SHOWN = 80
"""Characters of a value in a finding."""
LARGEST_SHOWN = 64 * 1024
"""Characters of a statement that are looked through for what is shown of it."""


def build(schema: str, seed: str, setup: str, now: str, files: Sequence[RowFile] = ()) -> tuple[bytes, list[str]]:
    """The start image, and the faults of the scripts. The image is empty if there is a fault.

    The rows of files come before those of the seed. With a setup it is made of the one without, so that both ways to it
    come to the same bytes.
    """
    clock.set_time(now)
    clock.set_chances(now)
    connection = connect()
    connection.execute(f"PRAGMA page_size = {PAGE_SIZE}").fetchall()
    connection.execute("PRAGMA foreign_keys = ON").fetchall()
    finding = _run(connection, "schema.sql", schema, schema_only)
    if finding:
        return b"", [finding]
    findings = (
        _size_findings(connection)
        or view_findings(connection)  # first: SQLite itself unfolds views to list tables
        or table_findings(connection)
        or row_findings(connection)
    )
    if findings:
        return b"", findings
    finding = _filled(connection, "seed.sql", seed, files)
    image, findings = (b"", [finding]) if finding else _sealed(connection)
    return (image, findings) if findings or not setup else build_on(image, setup, now)


def build_on(image: bytes, setup: str, now: str) -> tuple[bytes, list[str]]:
    """The start image that a setup makes of one without, and the faults of the setup."""
    clock.set_time(now)
    clock.set_chances(now)
    connection = connect()
    connection.deserialize("main", image)
    connection.execute("PRAGMA foreign_keys = ON").fetchall()
    finding = _filled(connection, "setup", setup)
    return (b"", [finding]) if finding else _sealed(connection)


def _filled(connection: apsw.Connection, name: str, script: str, files: Sequence[RowFile] = ()) -> str | None:
    """Run a script of rows, after files of rows. The fault of them or of their rows, if there is one."""
    if not script and not files:
        return None
    finding = _run(connection, name, script, RowsOnly(), files)
    if finding:
        return finding
    wrong = value_finding(connection)
    return f"{ROWS if files else name}: {wrong}" if wrong else None


def _sealed(connection: apsw.Connection) -> tuple[bytes, list[str]]:
    """The image of a whole database, or its faults."""
    connection.execute("VACUUM").fetchall()
    found = connection.execute("PRAGMA integrity_check(1)").get
    if found != "ok":
        return b"", [f"{SCRIPTS}: {found}"]
    image = connection.serialize("main") or b""
    if len(image) > LARGEST_IMAGE:
        told = f"the rows take {len(image):,} bytes with their indexes; a start has at most {LARGEST_IMAGE:,}"
        return b"", [f"{SCRIPTS}: {told}. No option raises it: leave rows out, or an index"]
    return image, []


def _size_findings(connection: apsw.Connection) -> list[str]:
    tables = connection.execute("SELECT count(*) FROM sqlite_schema WHERE type = 'table'").get
    if int(str(tables)) > MOST_TABLES:
        return [f"schema.sql: creates {tables} tables; an environment has at most {MOST_TABLES}"]
    others = connection.execute("SELECT count(*) FROM sqlite_schema WHERE type <> 'table' AND sql IS NOT NULL").get
    if int(str(others)) > MOST_OTHERS:
        said = f"creates {others} views, indexes and triggers"
        return [f"schema.sql: {said}; an environment has at most {MOST_OTHERS}"]
    long = connection.execute("SELECT name FROM sqlite_schema WHERE length(name) > ? LIMIT 1", (LONGEST_NAME,)).get
    if long is not None:
        return [f"schema.sql: {str(long)[:LONGEST_SHOWN]}…: a name has at most {LONGEST_NAME} characters"]
    return []


def schema_only(action: int, _first: str | None, second: str | None, _database: str | None, _by: str | None) -> int:
    """The authorizer of `schema.sql`: tables, indexes, views, triggers."""
    if action == apsw.SQLITE_FUNCTION:
        return apsw.SQLITE_DENY if (second or "").lower() in FORBIDDEN_FUNCTIONS else apsw.SQLITE_OK
    return apsw.SQLITE_OK if action in SCHEMA_ACTIONS else apsw.SQLITE_DENY


def _run(
    connection: apsw.Connection, name: str, script: str, authorizer: Authorizer, files: Sequence[RowFile] = ()
) -> str | None:
    """Run a script in one transaction, after inserting files of rows. On an error, return it and roll back."""
    last = ""

    def remember(_cursor: apsw.Cursor, sql: str, _bindings: object) -> bool:
        nonlocal last
        last = sql
        return True

    connection.execute("BEGIN").fetchall()
    connection.execute("PRAGMA defer_foreign_keys = ON").fetchall()
    cursor = connection.cursor()
    cursor.exec_trace = remember
    connection.authorizer = authorizer
    finding: str | None = None
    orphans: list[Any] = []
    try:
        for file in files:
            insert(connection, file)
        cursor.execute(script).fetchall()
        connection.authorizer = None
        orphans = connection.execute("PRAGMA foreign_key_check").fetchall()
    except RowFileFault as error:
        finding = str(error)
    except (apsw.SQLError, apsw.AuthError) as error:
        finding = f"{name}: {error} ({f'after: {_shown(last)}' if last else 'in the first statement'})"
    except apsw.Error as error:
        finding = f"{name}: {error} (in: {_shown(last)})"
    finally:
        connection.authorizer = None
    if orphans:
        finding = f"{ROWS if files else name}: {_orphans_text(connection, orphans)}"
    if connection.in_transaction:  # `OR ROLLBACK` and `RAISE(ROLLBACK)` have ended it
        connection.execute("ROLLBACK" if finding else "COMMIT").fetchall()
    return finding


def _shown(statement: str) -> str:
    """The beginning of a statement without its comments."""
    lines = map(str.strip, statement[:LARGEST_SHOWN].splitlines())
    told = " ".join(line for line in lines if line and not line.startswith("--"))
    return told if len(told) <= LONGEST_SHOWN else f"{told[: LONGEST_SHOWN - 1]}…"


def _orphans_text(connection: apsw.Connection, orphans: list[Any]) -> str:
    """The first row whose foreign key points nowhere, with its key."""
    table, _, parent, key = orphans[0]
    pairs = connection.execute(
        'SELECT "from", "to" FROM pragma_foreign_key_list(?) WHERE id = ? ORDER BY seq', (table, key)
    ).fetchall()
    parent_keys = _key_columns(connection, parent)
    columns = [(str(own), str(other or parent_keys[place])) for place, (own, other) in enumerate(pairs)]
    shown = [*_key_columns(connection, table), *(own for own, _ in columns)]
    matches = " AND ".join(f"up.{quoted(other)} = down.{quoted(own)}" for own, other in columns)
    given = " AND ".join(f"down.{quoted(own)} IS NOT NULL" for own, _ in columns)
    found = connection.execute(
        f"SELECT {', '.join(f'down.{quoted(name)}' for name in shown)} FROM {quoted(table)} AS down "
        f"WHERE {given} AND NOT EXISTS (SELECT 1 FROM {quoted(parent)} AS up WHERE {matches}) LIMIT 1"
    ).fetchone()
    values = [f"{name} = {repr(value)[:LONGEST_SHOWN]}" for name, value in zip(shown, found or (), strict=False)]
    row, points = ", ".join(values[: -len(columns)]), ", ".join(values[-len(columns) :])
    others = len(orphans) - 1
    more = f"; {others} more {'does' if others == 1 else 'do'}" if others else ""
    return f"the row {row} of {table} points to a row of {parent} that is not there: {points}{more}"


def _key_columns(connection: apsw.Connection, table: str) -> list[str]:
    found = connection.execute("SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", (table,)).fetchall()
    return [str(name) for (name,) in found]


def table_findings(connection: apsw.Connection) -> list[str]:
    """Faults of a schema that make the order of rows, or their changes, differ between replays."""
    findings: list[str] = []
    tables = connection.execute(
        "SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main' AND name <> 'sqlite_schema' ORDER BY name"
    ).fetchall()
    for name, kind, without_rowid in tables:
        if name == "sqlite_sequence":
            findings.append("schema.sql: AUTOINCREMENT: take ids from db.new_id(), or plain INTEGER PRIMARY KEY")
        elif kind == "table":
            if not NAME.fullmatch(str(name)):
                findings.append(f"schema.sql: {name}: a table's name is lower case letters, digits and _")
            findings += _keys_compared_otherwise(connection, str(name))
            findings += _keys_to_nowhere(connection, str(name))
            if not without_rowid and not _has_rowid_as_key(connection, str(name)):
                findings.append(
                    f"schema.sql: {name}: needs an INTEGER PRIMARY KEY without DESC, or a PRIMARY KEY and WITHOUT "
                    "ROWID, so that each row has a key, and rows come in the same order in every replay"
                )
    return findings


def _keys_to_nowhere(connection: apsw.Connection, table: str) -> list[str]:
    """The foreign keys that point to no table."""
    found = connection.execute(
        'SELECT DISTINCT "table" FROM pragma_foreign_key_list(?) AS key WHERE NOT EXISTS '
        "(SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = key.\"table\" COLLATE NOCASE)",
        (table,),
    ).fetchall()
    return [f"schema.sql: {table}: REFERENCES {parent}: there is no such table" for (parent,) in found]


def _has_rowid_as_key(connection: apsw.Connection, table: str) -> bool:
    """True if a table's key is its rowid. Any other key has an index of its own, and may be NULL."""
    keys = connection.execute("SELECT count(*) FROM pragma_table_info(?) WHERE pk > 0", (table,)).get
    own = connection.execute("SELECT count(*) FROM pragma_index_list(?) WHERE origin = 'pk'", (table,)).get
    return keys == 1 and own == 0


def value_finding(connection: apsw.Connection) -> str | None:
    """The first row with a value that changesets and answers cannot hold."""
    tables = connection.execute("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
    for (table,) in tables.fetchall():
        number = 0
        rows = f"SELECT * FROM main.{quoted(str(table))}"
        try:
            for _ in connection.execute(rows):  # each value is decoded, and SQLite looks at numbers much faster
                number += 1
        except UnicodeDecodeError:
            return f"row {number + 1} of {table} holds a text that is not UTF-8"
        if _has_infinite(connection, str(table)):
            for number, row in enumerate(connection.execute(rows), 1):
                if any(isinstance(value, float) and not math.isfinite(value) for value in row):
                    return f"row {number} of {table} holds a number that is not finite"
    return None


def _has_infinite(connection: apsw.Connection, table: str) -> bool:
    listed = connection.execute("SELECT name FROM pragma_table_xinfo(?, 'main')", (table,)).fetchall()
    columns = [quoted(str(name)) for (name,) in listed]
    return any(
        connection.execute(
            f"SELECT 1 FROM main.{quoted(table)} "
            f"WHERE typeof({column}) = 'real' AND ({column} > ? OR {column} < ?) LIMIT 1",
            (LARGEST_NUMBER, -LARGEST_NUMBER),
            can_cache=False,
        ).get
        for column in columns
    )


def _keys_compared_otherwise(connection: apsw.Connection, table: str) -> list[str]:
    """The key columns that are not compared by their bytes: SQLite cannot record a change in them."""
    found = connection.execute("SELECT name FROM pragma_table_info(?) WHERE pk > 0", (table,)).fetchall()
    return [
        f"schema.sql: {table}.{name}: a primary key has no COLLATE; put it on a UNIQUE column beside the key"
        for (name,) in found
        if connection.column_metadata("main", table, str(name))[1].upper() != "BINARY"
    ]
