"""Rows of instances for the verification of changesets. No tool ever runs beside them.

The worker verifies schemas whose rules are cheap. A guest without tools verifies the others, so that an expensive rule
delays only its own environment.
"""

from collections import OrderedDict

import apsw

from servers.guest.sqlite import clock
from servers.guest.sqlite.connection import LARGEST_VALUE, connect, distrust, shrink
from servers.guest.sqlite.image import Image
from servers.guest.sqlite.instance_rows import MOST_GROWTH, OWN_BYTES
from servers.guest.sqlite.shared_pages import opened
from servers.guest.sqlite.tables import (
    MOST_ROWS,
    ChangesError,
    Table,
    UncheckedTables,
    rows_in,
    tables_of,
)

MOST_HELD = 64 * 1024 * 1024
"""Bytes of rows that a guest keeps to verify changes."""
WRITTEN_ONCE = b"\0\0\0\1"
"""Bytes 24 to 27 and 92 to 95 of a SQLite file: its number of writes, which is no content."""


class VerifiedRows:
    """The rows of one instance: its start image, and changesets in a transaction that only `keep` commits."""

    def __init__(self, image: Image, tables: dict[str, Table], *, largest_value: int = LARGEST_VALUE) -> None:
        self.connection, self._pages = opened(image)
        distrust(self.connection)
        self.connection.limit(apsw.SQLITE_LIMIT_LENGTH, largest_value)
        most_pages = (len(image) + MOST_GROWTH) // self._pages.page_size
        self.connection.execute(f"PRAGMA max_page_count = {most_pages}", can_cache=False).fetchall()
        shrink(self.connection)
        self._tables = UncheckedTables(self.connection, tables)

    @property
    def size(self) -> int:
        """The approximate bytes of these rows beside the start image, which all instances share."""
        return OWN_BYTES + self._pages.own_bytes

    def apply(self, changes: bytes, *, now: str) -> bytes:
        """Apply new changes under the schema's constraints, without its triggers. After an error call `undo`.

        `now` is the instance's time at the call that made them, which a rule may compare with.

        Returns the changes in the form that is stored.

        Raises:
            ChangesError: they do not fit, or break a rule.
            apsw.InterruptError, apsw.NoMemError: the work was interrupted.
        """
        clock.set_time(now)
        self._begin()
        return self._tables.apply(changes)

    def restore(self, changes: bytes) -> None:
        """Apply changes to the start that were verified before. Rules that they break by now are not checked again.

        Rules may look at the time. Nearly all hold still: to switch them off has SQLite compile each statement anew.
        """
        self._begin()
        try:
            self._tables.apply(changes)
            return
        except ChangesError:
            self.undo()
        self._begin()
        self.connection.execute("PRAGMA ignore_check_constraints = ON", can_cache=False).fetchall()
        try:
            self._tables.apply(changes)
        finally:
            self.connection.execute("PRAGMA ignore_check_constraints = OFF", can_cache=False).fetchall()

    def keep(self) -> None:
        """Commit the applied changes."""
        if self.connection.in_transaction:
            self.connection.execute("COMMIT").fetchall()

    def undo(self) -> None:
        """Roll the applied changes back."""
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK").fetchall()

    def image(self) -> Image:
        """The committed rows, as the bytes of a SQLite database. They are copied when they are sliced."""
        return self._pages

    def close(self) -> None:
        self.connection.close(True)

    def _begin(self) -> None:
        if not self.connection.in_transaction:
            self.connection.execute("BEGIN").fetchall()


def canonical(image: bytes) -> bytes:
    """The rows as bytes that do not depend on the order of writes."""
    connection = connect()
    connection.deserialize("main", image)
    distrust(connection)
    connection.execute("VACUUM").fetchall()
    plain = bytearray(connection.serialize("main"))
    connection.close(True)
    plain[24:28] = plain[92:96] = WRITTEN_ONCE
    return bytes(plain)


class Verifier:
    """The instances that a guest verifies. The least recently used are evicted first.

    It keeps as many as fit into `most_held` bytes, and one at least.
    """

    def __init__(self, most_held: int = MOST_HELD) -> None:
        self._most = most_held
        self._held: OrderedDict[str, tuple[str, VerifiedRows]] = OrderedDict()
        self.sizes: dict[str, int] = {}
        self.size = 0

    def stand(self, instance: str, revision: str, image: bytes, changes: bytes) -> None:
        """Load an instance's rows at a revision."""
        self._forget(instance)
        rows = VerifiedRows(image, tables_of(image))
        rows.restore(changes)
        rows.keep()
        self._hold(instance, revision, rows)

    def find(self, instance: str, revision: str) -> VerifiedRows | None:
        """The rows of an instance, if they are loaded at this revision."""
        held_at, rows = self._held.get(instance, ("", None))
        return rows if held_at == revision else None

    def verify(
        self, instance: str, rows: VerifiedRows, changes: bytes, next_revision: str, *, now: str
    ) -> tuple[str | None, bytes]:
        """Apply changes to rows, and return their stored form. Or return the fault, and leave the rows unchanged."""
        try:
            if rows_in(changes) > MOST_ROWS:
                raise ChangesError(f"it changed more than {MOST_ROWS} rows")
            kept = rows.apply(changes, now=now)
        except (ChangesError, apsw.CorruptError, ValueError) as error:
            rows.undo()
            return str(error), b""
        rows.keep()
        self._hold(instance, next_revision, rows)
        return None, kept

    def _hold(self, instance: str, revision: str, rows: VerifiedRows) -> None:
        """Store rows as the most recently used ones, and evict others to fit."""
        self._held[instance] = (revision, rows)
        self._held.move_to_end(instance)
        before, self.sizes[instance] = self.sizes.get(instance, 0), rows.size
        self.size += self.sizes[instance] - before
        while self.size > self._most and len(self._held) > 1:
            self._forget(next(iter(self._held)))

    def _forget(self, instance: str) -> None:
        self.size -= self.sizes.pop(instance, 0)
        _, rows = self._held.pop(instance, ("", None))
        if rows is not None:
            rows.close()
