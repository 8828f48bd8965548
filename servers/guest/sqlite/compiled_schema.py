"""The size of a schema's compiled statements: nested generated columns and views may double it at each level.

SQLite compiles a statement without asking for the time. So the guest that builds a start image, which may be killed,
compiles the statements that write and read each table and view. A schema with too large programs is refused.
"""

from collections.abc import Generator
from contextlib import contextmanager

import apsw

from servers.guest.sqlite.connection import LONGEST_NAME, MOST_COLUMNS
from servers.guest.sqlite.sql_text import quoted
from servers.guest.sqlite.tables import Statement, Table, read_tables, writing_statements

LARGEST_PROGRAM = 20_000
"""Instructions of the program that writes or reads one row of a table, or reads a view."""
SHOWN_OF_NAME = 40
MOST_NAMES = 2_000
"""Columns and SELECTs of a view after every view in it is expanded."""


class NameCounter:
    """An authorizer that bounds the columns and SELECTs of a statement. SQLite calls it during compilation."""

    def __init__(self, most: int) -> None:
        self._left = most

    @property
    def is_used_up(self) -> bool:
        return self._left < 0

    def __call__(self, *_: object) -> int:
        self._left -= 1
        return apsw.SQLITE_DENY if self.is_used_up else apsw.SQLITE_OK


def view_findings(connection: apsw.Connection) -> list[str]:
    """The first view that cannot be read, or is too large. Later ones may depend on it."""
    listed = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY rowid").fetchall()
    with _limited(connection):
        for (name,) in listed:
            why = _view_finding(connection, str(name))
            if why:
                return [f"schema.sql: {name}: {why}"]
    return []


def row_findings(connection: apsw.Connection) -> list[str]:
    """The tables with too many columns, and those with too large programs for their rows. Each has a key."""
    try:
        tables = read_tables(connection)
    except (LookupError, ValueError):
        return ["schema.sql: a FOREIGN KEY names a column that is not there, or a generated one"]
    with _limited(connection):
        return [
            f"schema.sql: {name}: {why}"
            for name, table in tables.items()
            if (why := _width_finding(connection, name) or _row_finding(connection, table)) is not None
        ]


@contextmanager
def _limited(connection: apsw.Connection) -> Generator[None]:
    """Limit the size of compiled programs. `seed.sql` and `setup` are exempt: their rows are in their programs."""
    before = connection.limit(apsw.SQLITE_LIMIT_VDBE_OP, LARGEST_PROGRAM)
    try:
        yield
    finally:
        connection.limit(apsw.SQLITE_LIMIT_VDBE_OP, before)


def _width_finding(connection: apsw.Connection, table: str) -> str | None:
    columns = int(str(connection.execute("SELECT count(*) FROM pragma_table_xinfo(?, 'main')", (table,)).get))
    if columns > MOST_COLUMNS:
        return f"has {columns:,} columns; a table has at most {MOST_COLUMNS}"
    find = "SELECT substr(name, 1, ?) FROM pragma_table_xinfo(?, 'main') WHERE length(name) > ? LIMIT 1"
    long = connection.execute(find, (SHOWN_OF_NAME, table, LONGEST_NAME)).get
    return None if long is None else f"{long}…: the name of a column has at most {LONGEST_NAME} characters"


def _row_finding(connection: apsw.Connection, table: Table) -> str | None:
    try:
        for statement in (*writing_statements(table), Statement(f"SELECT * FROM main.{quoted(table.name)}", 0)):
            _compile(connection, statement)
    except apsw.NoMemError:
        return (
            f"SQLite makes more than {LARGEST_PROGRAM:,} instructions of writing or reading one row; do generated "
            "columns refer to generated columns, each more than once?"
        )
    return None


def _view_finding(connection: apsw.Connection, name: str) -> str | None:
    counter = NameCounter(MOST_NAMES)
    connection.authorizer = counter
    try:
        _compile(connection, Statement(f"SELECT * FROM main.{quoted(name)}", 0))
    except apsw.Error as error:
        if counter.is_used_up or isinstance(error, apsw.NoMemError):
            return (
                f"the view comes to more than {MOST_NAMES:,} columns and SELECTs, or {LARGEST_PROGRAM:,} instructions "
                "of SQLite; do views refer to views, each more than once?"
            )
        return f"the view cannot be read: {error}"
    finally:
        connection.authorizer = None
    return None


def _compile(connection: apsw.Connection, statement: Statement) -> None:
    explain = f"EXPLAIN {statement.sql}"
    connection.execute(explain, (None,) * statement.values, can_cache=False).close(True)
