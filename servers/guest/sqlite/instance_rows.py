"""The rows of instances in a guest: in memory, built from a start image and the changes since.

A guest has no file of any instance. It sends the changes of a call to its worker, which stores them.
"""

from collections import OrderedDict
from dataclasses import dataclass, field

import apsw

from servers.guest.sqlite.connection import shrink
from servers.guest.sqlite.recorded_changes import recorder
from servers.guest.sqlite.shared_pages import opened
from servers.guest.sqlite.tables import Table, UncheckedTables, tables_of
from servers.imported.memory import Memory

MOST_BYTES = 128 * 1024 * 1024
"""Bytes of cached start images."""
MOST_GROWTH = 16 * 1024 * 1024
"""Bytes by which the rows of an instance may grow beyond its start image."""
MOST_REMEMBERED = 48 * 1024 * 1024
"""Bytes of all values that imported code keeps between calls. Those of the last call are not counted out."""
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
    """An authorizer: rows may be read and written, and the guest itself may BEGIN and COMMIT.

    Statements of a cache are not authorized again, and `INSERT OR ROLLBACK` ends a transaction. So SQLite is told, too,
    to commit nothing but what the guest itself commits.
    """

    def __init__(self) -> None:
        self.own = False
        self.has_ended = False
        """True once the transaction of the call was ended by the call."""

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

    def commits(self) -> bool:
        """Called by SQLite before a commit. True refuses it."""
        self.has_ended = self.has_ended or not self.own
        return not self.own

    def rolls_back(self) -> None:
        """Called by SQLite at a rollback of the whole transaction."""
        self.has_ended = True


class RevisionRows:
    """The rows of one instance at one revision."""

    def __init__(self, image: bytes, tables: dict[str, Table], changes: bytes, revision: str) -> None:
        self.image = image
        self.revision = revision
        self.counted = 0
        """Its size when that was last added to the size of all."""
        self.memory = Memory()
        self._written_before = 0
        self.connection, self._pages = opened(image)
        if changes:
            self._restore(changes, tables)
        most_pages = (len(image) + MOST_GROWTH) // self._pages.page_size
        self.connection.execute(
            f"PRAGMA foreign_keys = ON; PRAGMA max_page_count = {most_pages}", can_cache=False
        ).fetchall()
        shrink(self.connection)
        self.changes = recorder(self.connection, tables)
        self._authorizer = RowsOnly()
        self.connection.authorizer = self._authorizer
        self.connection.set_commit_hook(self._authorizer.commits)
        self.connection.set_rollback_hook(self._authorizer.rolls_back)

    @property
    def size(self) -> int:
        """The approximate bytes of these rows beside the start image, which all instances share."""
        return OWN_BYTES + self._pages.own_bytes

    def _restore(self, changes: bytes, tables: dict[str, Table]) -> None:
        """Apply changes whose rules were checked before."""
        self.connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
        self.connection.execute("PRAGMA ignore_check_constraints = ON; BEGIN", can_cache=False).fetchall()
        UncheckedTables(self.connection, tables).apply(changes)
        self.connection.execute("COMMIT; PRAGMA ignore_check_constraints = OFF", can_cache=False).fetchall()
        self.connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 1)

    def forget_unless_written(self, rows: int) -> None:
        """Empty the memory, unless just so many rows were written in this call."""
        if self.connection.total_changes() - self._written_before != rows:
            self.memory.clear()

    def begin(self) -> None:
        self._written_before = self.connection.total_changes()
        self.connection.set_last_insert_rowid(0)  # else it tells of the call before, if that was made here
        self._own("BEGIN -- farm")
        self._authorizer.has_ended = False

    def commit(self) -> None:
        """Commit the call. Raises RuntimeError if it ended the transaction itself."""
        if self._authorizer.has_ended:
            raise RuntimeError("a call must not end its transaction; `OR ROLLBACK` does, `OR ABORT` does not")
        self._own("COMMIT -- farm")

    def roll_back(self) -> bool:
        """Roll the call back. False if the transaction was ended earlier, so that nothing is known of the rows."""
        if self.memory.written:
            self.memory.clear()
        self.forget_unless_written(0)
        if self._authorizer.has_ended or not self.connection.in_transaction:
            return False
        self._own("ROLLBACK -- farm")
        return True

    def _own(self, statement: str) -> None:
        self._authorizer.own = True
        try:
            self.connection.execute(statement, can_cache=False).fetchall()
        finally:
            self._authorizer.own = False


@dataclass
class InstanceRows:
    """The start images and instances of this guest. The least recently used are evicted first."""

    images: OrderedDict[str, bytes] = field(default_factory=OrderedDict[str, bytes])
    tables: dict[str, dict[str, Table]] = field(default_factory=dict[str, dict[str, Table]])
    """The tables of each start image: reading them takes as long as a call."""
    instances: OrderedDict[str, RevisionRows] = field(default_factory=OrderedDict[str, RevisionRows])
    held: int = 0
    most_bytes: int = MOST_BYTES

    def keep_image(self, digest: str, image: bytes) -> None:
        """Store a start image, and forget others with their instances, which share their pages."""
        self.images[digest] = image
        self.tables[digest] = tables_of(image)
        while len(self.images) > 1 and sum(map(len, self.images.values())) > self.most_bytes:
            forgotten, old = self.images.popitem(last=False)
            del self.tables[forgotten]
            for instance in [name for name, one in self.instances.items() if one.image is old]:
                self.forget(instance)

    def find(self, instance: str, revision: str) -> RevisionRows | None:
        """The instance's rows, if they are loaded at this revision."""
        hydrated = self.instances.get(instance)
        if hydrated is None or hydrated.revision != revision:
            return None
        self.instances.move_to_end(instance)
        self._count(hydrated)
        return hydrated

    def hydrate(self, instance: str, revision: str, digest: str, changes: bytes, *, room: int) -> None:
        """Build an instance's rows, and evict others until all take at most `room` bytes."""
        self.forget(instance)
        hydrated = RevisionRows(self.images[digest], self.tables[digest], changes, revision)
        self.instances[instance] = hydrated
        self._count(hydrated)
        while self.held > room and len(self.instances) > 1:
            self.forget(next(iter(self.instances)))

    def bound_memories(self, last: RevisionRows) -> None:
        """Empty the memories of others, the least recently used first, until all take no more than they may."""
        if not last.memory.size:
            return
        held = sum(one.memory.size for one in self.instances.values())
        for one in self.instances.values():
            if held <= MOST_REMEMBERED:
                return
            if one is not last:
                held -= one.memory.size
                one.memory.clear()

    def roll_back(self, instance: str) -> None:
        """Roll back a call's writes to an instance's rows."""
        if not self.instances[instance].roll_back():
            self.forget(instance)

    def forget(self, instance: str) -> None:
        hydrated = self.instances.pop(instance, None)
        if hydrated is not None:
            self.held -= hydrated.counted
            hydrated.connection.close(True)

    def _count(self, hydrated: RevisionRows) -> None:
        """Add what an instance has grown by."""
        size = hydrated.size
        self.held += size - hydrated.counted
        hydrated.counted = size
