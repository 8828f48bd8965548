"""Connections to SQLite that take little memory: a farm holds hundreds of small databases open.

Of the 180 kB that a connection in use took, 60 % was what SQLite sets aside for it beforehand.
"""

import apsw

from servers.guest.sqlite import clock
from servers.guest.sqlite.plain_text import PLAIN_TEXT, plain_text

PAGE_SIZE = 1024
"""Bytes of a page of a start image, and of all that is made from it. A cache begins with room for 20 of them."""
PAGES_CACHED = 10
LARGEST_VALUE = 1_000_000
"""Bytes of one text or blob, and of one row: for whoever builds, calls, verifies, reads or judges."""
MOST_COLUMNS = 500
"""Columns of a table. A difference reads each twice, and compares them in one expression."""
MOST_INSTRUCTIONS = 50_000
"""Instructions of one program of SQLite, over a database that is not ours. SQLite asks nobody while it compiles."""

apsw.shutdown()  # nothing is open yet: this module makes all connections
apsw.config(apsw.SQLITE_CONFIG_LOOKASIDE, 0, 0)
apsw.initialize()


def connect(vfs: str = clock.VFS_NAME) -> apsw.Connection:
    """A connection to a database in memory. All have the same limits of SQLite, and none sees the machine's time.

    So a start that was built can be called, and what a guest wrote can be verified, on any day. Sorting takes memory
    and no file: a guest can open none.
    """
    connection = apsw.Connection(":memory:", vfs=vfs)
    connection.limit(apsw.SQLITE_LIMIT_LENGTH, LARGEST_VALUE)
    connection.limit(apsw.SQLITE_LIMIT_COLUMN, 2 * MOST_COLUMNS)
    connection.execute("PRAGMA temp_store = MEMORY", can_cache=False).fetchall()
    return connection


def shrink(connection: apsw.Connection) -> None:
    """Let a connection's cache be a small one: what it was given at first is only given back when it is empty."""
    connection.execute(f"PRAGMA cache_size = {PAGES_CACHED}", can_cache=False).fetchall()
    connection.release_memory()


def teach(connection: apsw.Connection) -> None:
    """Have a connection know the functions that only checkpoints have."""

    def plain(*values: object) -> str | None:
        return plain_text(values[0])

    connection.create_scalar_function(PLAIN_TEXT, plain, 1, deterministic=True)


def distrust(connection: apsw.Connection) -> None:
    """Have SQLite run nothing that a database brings along: no triggers, and only plain functions in its schema.

    What its schema makes too large a program is not compiled: that ends with a NoMemError.
    """
    connection.limit(apsw.SQLITE_LIMIT_VDBE_OP, MOST_INSTRUCTIONS)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
