"""SQLite connections with little memory: a farm has hundreds of small databases open.

Of the 180 kB of an ordinary connection, 60 % is memory that SQLite reserves in advance.
"""

import apsw

from servers.guest.sqlite import clock
from servers.guest.sqlite.plain_text import PLAIN_TEXT, plain_text

PAGE_SIZE = 1024
"""Bytes of a page of a start image and everything made from it. A cache begins with room for 20 pages."""
PAGES_CACHED = 10
PAGES_WITHOUT_ROOM = 2
LARGEST_VALUE = 1_000_000
"""Bytes of one text or blob, and of one row, wherever they are built, changed, verified, read or judged."""
MOST_COLUMNS = 500
"""Columns of a table. A difference reads each twice, and compares them in one expression."""
LONGEST_NAME = 128
"""Characters of the name of a column, a view, an index or a trigger.

A column's stands beside each value in a history.
"""
MOST_INSTRUCTIONS = 50_000
"""Instructions of one SQLite program over an untrusted database. SQLite cannot be interrupted while it compiles."""

apsw.shutdown()  # nothing is open yet: this module makes all connections
apsw.config(apsw.SQLITE_CONFIG_LOOKASIDE, 0, 0)
apsw.initialize()


def connect(vfs: str = clock.VFS_NAME, name: str = ":memory:") -> apsw.Connection:
    """A connection to a database in memory, or to the one that a VFS has by this name.

    All have the same SQLite limits, and none sees the machine's time. So a start image can be used, and a guest's
    changes verified, on any day. Sorting uses memory and no file, since a guest can open none.
    """
    connection = apsw.Connection(name, vfs=vfs)
    connection.limit(apsw.SQLITE_LIMIT_LENGTH, LARGEST_VALUE)
    connection.limit(apsw.SQLITE_LIMIT_COLUMN, 2 * MOST_COLUMNS)
    connection.execute("PRAGMA temp_store = MEMORY", can_cache=False).fetchall()
    return connection


def in_memory_only(connection: apsw.Connection) -> None:
    """Have SQLite keep the journal of a file in memory, and never look whether another has written the file."""
    connection.execute(
        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF", can_cache=False
    ).fetchall()


def shrink(connection: apsw.Connection) -> None:
    """Shrink a connection's cache, which then takes memory page by page.

    SQLite gives an empty cache room for all its pages with the first one, unless it may hold fewer than three.
    """
    connection.execute(f"PRAGMA cache_size = {PAGES_WITHOUT_ROOM}", can_cache=False).fetchall()
    connection.release_memory()
    connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1", can_cache=False).fetchall()
    connection.execute(f"PRAGMA cache_size = {PAGES_CACHED}", can_cache=False).fetchall()


def teach(connection: apsw.Connection) -> None:
    """Register the functions that only checkpoints have."""

    def plain(*values: object) -> str | None:
        return plain_text(values[0])

    connection.create_scalar_function(PLAIN_TEXT, plain, 1, deterministic=True)


def distrust(connection: apsw.Connection) -> None:
    """Have SQLite run nothing from the database: no triggers, and only plain functions in its schema.

    A schema with too large programs ends with a NoMemError.
    """
    connection.limit(apsw.SQLITE_LIMIT_VDBE_OP, MOST_INSTRUCTIONS)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
