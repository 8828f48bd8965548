"""The rows of instances in a guest: in memory, built from a start image and the changes since.

A guest has no file of any instance. It sends the changes of a call to its worker, which stores them.
"""

from collections import OrderedDict
from dataclasses import dataclass, field

import apsw

from servers.guest.sqlite.connection import PAGE_SIZE, connect, shrink
from servers.guest.sqlite.tables import Table, UncheckedTables, tables_of

MOST_BYTES = 15 * 1024 * 1024
"""Bytes of cached start images."""
MOST_GROWTH = 16 * 1024 * 1024
"""Bytes by which the rows of an instance may grow beyond its start image."""
OWN_BYTES = 40 * 1024
"""The approximate cost of a connection beside its pages, in bytes."""

FORBIDDEN_FUNCTIONS = {"load_extension", "random", "randomblob", "fts3_tokenizer", "changes", "total_changes"}
"""Forbidden SQL functions. The last two depend on the connection's history, which is not only the instance's."""
READ_ACTIONS = {apsw.SQLITE_SELECT, apsw.SQLITE_READ, apsw.SQLITE_RECURSIVE}
WRITE_ACTIONS = {apsw.SQLITE_INSERT, apsw.SQLITE_UPDATE, apsw.SQLITE_DELETE}
SESSION_PRAGMAS = {"table_xinfo", "table_info"}
SAVEPOINTS = {"changeset", "nested"}
"""The savepoint of SQLite's session extension, which reads columns while it records, and that of imported DB-API."""


class RowsOnly:
    """An authorizer: rows may be read and written, and the guest itself may BEGIN and COMMIT."""

    def __init__(self) -> None:
        self.own = False

    def __call__(self, action: int, first: str | None, second: str | None, _in: str | None, _by: str | None) -> int:
        if action in READ_ACTIONS:
            return apsw.SQLITE_OK
        if action in WRITE_ACTIONS:
            return apsw.SQLITE_DENY if (first or "").startswith("sqlite_") else apsw.SQLITE_OK
        if action == apsw.SQLITE_FUNCTION and (second or "").lower() not in FORBIDDEN_FUNCTIONS:
            return apsw.SQLITE_OK
        if (action == apsw.SQLITE_PRAGMA and first in SESSION_PRAGMAS) or (
            action == apsw.SQLITE_SAVEPOINT and second in SAVEPOINTS
        ):
            return apsw.SQLITE_OK
        return apsw.SQLITE_OK if self.own and action == apsw.SQLITE_TRANSACTION else apsw.SQLITE_DENY


class Hydrated:
    """The rows of one instance at one revision."""

    def __init__(self, image: bytes, tables: dict[str, Table], changes: bytes, revision: str) -> None:
        self.revision = revision
        self.size = len(image) + OWN_BYTES
        self.connection = opened(image)
        if changes:
            self._restore(changes, tables)
        most_pages = (len(image) + MOST_GROWTH) // PAGE_SIZE
        self.connection.execute(
            f"PRAGMA foreign_keys = ON; PRAGMA max_page_count = {most_pages}", can_cache=False
        ).fetchall()
        shrink(self.connection)
        self._authorizer = RowsOnly()
        self.connection.authorizer = self._authorizer

    def _restore(self, changes: bytes, tables: dict[str, Table]) -> None:
        """Apply changes whose rules were checked before."""
        self.connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
        self.connection.execute("PRAGMA ignore_check_constraints = ON; BEGIN", can_cache=False).fetchall()
        UncheckedTables(self.connection, tables).apply(changes)
        self.connection.execute("COMMIT; PRAGMA ignore_check_constraints = OFF", can_cache=False).fetchall()
        self.connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 1)

    def begin(self) -> None:
        self.connection.set_last_insert_rowid(0)  # else it tells of the call before, if that was made here
        self._own("BEGIN -- farm")

    def commit(self) -> None:
        self._own("COMMIT -- farm")

    def roll_back(self) -> bool:
        """Roll the call back. False if SQLite ended the transaction earlier, so that later writes remain."""
        if not self.connection.in_transaction:
            return False
        self._own("ROLLBACK -- farm")
        return True

    def _own(self, statement: str) -> None:
        self._authorizer.own = True
        try:
            self.connection.execute(statement).fetchall()
        finally:
            self._authorizer.own = False


@dataclass
class InstanceRows:
    """The start images and instances of this guest. The least recently used are evicted first."""

    images: OrderedDict[str, bytes] = field(default_factory=OrderedDict[str, bytes])
    tables: dict[str, dict[str, Table]] = field(default_factory=dict[str, dict[str, Table]])
    """The tables of each start image: reading them takes as long as a call."""
    instances: OrderedDict[str, Hydrated] = field(default_factory=OrderedDict[str, Hydrated])
    held: int = 0

    def keep_image(self, digest: str, image: bytes) -> None:
        self.images[digest] = image
        self.tables[digest] = tables_of(image)
        while len(self.images) > 1 and sum(map(len, self.images.values())) > MOST_BYTES:
            forgotten, _ = self.images.popitem(last=False)
            del self.tables[forgotten]

    def find(self, instance: str, revision: str) -> Hydrated | None:
        """The instance's rows, if they are loaded at this revision."""
        hydrated = self.instances.get(instance)
        if hydrated is None or hydrated.revision != revision:
            return None
        self.instances.move_to_end(instance)
        return hydrated

    def hydrate(self, instance: str, revision: str, digest: str, changes: bytes, *, room: int) -> None:
        """Build an instance's rows, and evict others until all take at most `room` bytes."""
        self.forget(instance)
        self.instances[instance] = Hydrated(self.images[digest], self.tables[digest], changes, revision)
        self.held += self.instances[instance].size
        while self.held > room and len(self.instances) > 1:
            self.forget(next(iter(self.instances)))

    def roll_back(self, instance: str) -> None:
        """Roll back a call's writes to an instance's rows."""
        if not self.instances[instance].roll_back():
            self.forget(instance)

    def forget(self, instance: str) -> None:
        hydrated = self.instances.pop(instance, None)
        if hydrated is not None:
            self.held -= hydrated.size
            hydrated.connection.close(True)


def opened(image: bytes) -> apsw.Connection:
    """A database in memory with the content of an image and the instance's clock."""
    connection = connect()
    connection.deserialize("main", image)
    return connection
