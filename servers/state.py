"""The state file of one instance: its rows and its calls in one SQLite file, written by the worker alone.

A call's changes and its entry in the history are one transaction, so an answered call is there after `kill -9`, and an
unanswered one is there whole or not at all. Guests never see the file; they are told the changes since the start.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar, cast

import apsw

from servers.applying import Applying, is_environment_table
from servers.changes import in_changeset
from servers.errors import Conflict, StateError
from servers.guest.lean import connect, distrust, shrink
from servers.orders import RowChange
from servers.private_files import write_private
from servers.reading import HIDDEN_PREFIX, columns_of

FARM_SCHEMA = f"""
CREATE TABLE {HIDDEN_PREFIX}_instance (
    id TEXT PRIMARY KEY, environment TEXT NOT NULL, digest TEXT NOT NULL, start TEXT NOT NULL,
    scenario TEXT, clock TEXT NOT NULL, seed INTEGER NOT NULL, generation INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE {HIDDEN_PREFIX}_calls (
    seq INTEGER PRIMARY KEY, tool TEXT NOT NULL, arguments TEXT NOT NULL, outcome TEXT NOT NULL,
    text TEXT NOT NULL, detail TEXT, changes BLOB NOT NULL, micros INTEGER NOT NULL, at REAL NOT NULL
);
"""


SETTINGS = (
    "PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL; PRAGMA cell_size_check = ON"
)
"""The lock comes first: whoever is alone needs no shared memory. The third writes, which a disk would be waited for."""
STANDING = f"""
SELECT *,
    (SELECT coalesce(max(seq), 0) FROM {HIDDEN_PREFIX}_calls),
    (SELECT coalesce(max(seq), 0) FROM {HIDDEN_PREFIX}_calls WHERE length(changes) > 0),
    (SELECT (page_count - freelist_count) * page_size
        FROM pragma_page_count, pragma_freelist_count, pragma_page_size)
FROM {HIDDEN_PREFIX}_instance
"""

ROLLBACK_JOURNAL = b"\1\1"
WRITE_AHEAD_LOG = b"\2\2"
"""Bytes 18 and 19 of a SQLite file: whether it is in WAL mode, which a database in memory cannot be in."""


WRITTEN_ONCE = b"\0\0\0\1"
"""Bytes 24 to 27 and 92 to 95 of a SQLite file: how often it was written, which is none of its content."""


class Origin(NamedTuple):
    """Where an instance comes from. With the calls it determines everything that it will ever answer."""

    id: str
    environment: str
    digest: str
    start: str
    scenario: str | None
    clock: str
    seed: int
    generation: int = 0


class KeptCall(NamedTuple):
    """One call as the history keeps it."""

    seq: int
    tool: str
    arguments: str
    outcome: str
    text: str
    detail: str | None
    changes: bytes
    micros: int
    at: float


class ChangesError(StateError):
    """What a guest says that a call changed does not fit the rows. Nothing of it was kept."""


P = ParamSpec("P")
R = TypeVar("R")


def _named(method: "Callable[Concatenate[StateFile, P], R]") -> "Callable[Concatenate[StateFile, P], R]":
    """Let what SQLite says about a file become a StateError that names it."""

    @wraps(method)
    def named(self: "StateFile", *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(self, *args, **kwargs)
        except apsw.FullError:
            raise StateError(f"the disk of the state folder is full ({self.path.name})") from None
        except apsw.Error as error:
            raise StateError(f"state file {self.path.name}: {error}") from None

    return named


@dataclass
class StateFile:
    """An open state file. Close it to let go of its handles; nothing is lost by not closing it."""

    path: Path
    connection: apsw.Connection
    origin: Origin
    last: int
    changed: int
    size: int
    """Bytes of rows and history, about: exact when it was opened, with what was kept since."""
    applying: Applying
    file: tuple[int, int] | None

    @classmethod
    def create(cls, path: Path, template: bytes, origin: Origin) -> None:
        """Write a new state file, whole or not at all. The template may be another instance's image: a fork."""
        try:
            connection = connect()
            connection.deserialize("main", template)
            distrust(connection)
            connection.execute(f"DELETE FROM {HIDDEN_PREFIX}_instance").fetchall()
            connection.execute(
                f"INSERT INTO {HIDDEN_PREFIX}_instance VALUES (?, ?, ?, ?, ?, ?, ?, ?)", tuple(origin)
            ).fetchall()
            image = bytearray(connection.serialize("main"))
            connection.close()
            image[18:20] = WRITE_AHEAD_LOG
            write_private(path, bytes(image))
        except (OSError, apsw.Error) as error:
            raise StateError(f"the state folder takes no new instance: {_reason(error)}") from None

    @classmethod
    def open(cls, path: Path) -> "StateFile":
        """Open a state file, repairing what a killed process left.

        Raises:
            StateError: it is not there, or it is not a state file of ours.
        """
        try:
            connection = connect(str(path), create=False)
            distrust(connection)
            connection.execute(SETTINGS, can_cache=False).fetchall()
            [row] = cast("list[tuple[Any, ...]]", connection.execute(STANDING, can_cache=False).fetchall())
            *columns, last, changed, size = row
            origin = Origin(*columns)
            shrink(connection)
        except (apsw.Error, ValueError, TypeError) as error:
            raise StateError(f"state file {path.name} cannot be opened: {error}") from None
        return cls(path, connection, origin, last, changed, size, Applying(connection), identity(path))

    @property
    def revision(self) -> str:
        """Changes whenever the rows do; never the same for different rows of one instance."""
        return f"{self.origin.generation}.{self.changed}"

    @_named
    def keep(self, call: KeptCall) -> None:
        """Apply a call's changes and write it into the history, both or neither.

        Raises:
            ChangesError: the changes do not fit.
            StateError: the file cannot be written. What a guest holds now is forgotten, since no revision names it.
        """
        try:
            self._still_there()
            self.connection.execute("BEGIN IMMEDIATE").fetchall()
            if call.changes and not self._apply_ordinary(call.changes):
                self._apply(call.changes)
            self.connection.execute(
                f"INSERT INTO {HIDDEN_PREFIX}_calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", tuple(call)
            ).fetchall()
            self.connection.execute("COMMIT").fetchall()
        except BaseException:
            self.origin = self.origin._replace(generation=self.origin.generation + 1)
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK").fetchall()
            raise
        self.last = call.seq
        self.size += len(call.arguments) + len(call.text) + 2 * len(call.changes)
        if call.changes:
            self.changed = call.seq

    @_named
    def changes_since_start(self) -> bytes:
        """Everything that the calls changed, as one changeset."""
        builder = apsw.ChangesetBuilder()
        empty = True
        for (changes,) in self.connection.execute(
            f"SELECT changes FROM {HIDDEN_PREFIX}_calls WHERE length(changes) > 0 ORDER BY seq"
        ):
            builder.add(changes)
            empty = False
        return b"" if empty else builder.output()

    @_named
    def calls(self, *, after: int = 0, limit: int = 1000) -> list[KeptCall]:
        """The history, oldest first."""
        found = self.connection.execute(
            f"SELECT * FROM {HIDDEN_PREFIX}_calls WHERE seq > ? ORDER BY seq LIMIT ?", (after, limit)
        )
        return [KeptCall(*row) for row in found]

    @_named
    def changed_rows(self, changes: bytes) -> list[RowChange]:
        """A kept changeset, readable."""
        return in_changeset(changes, self._columns()) if changes else []

    @_named
    def image(self) -> bytes:
        """The rows now, as the bytes of a SQLite database that also holds the farm's own tables."""
        image = bytearray(self.connection.serialize("main"))
        image[18:20] = ROLLBACK_JOURNAL
        return bytes(image)

    @_named
    def rewind(self, seq: int) -> None:
        """Undo every call after call `seq`.

        Raises:
            Conflict: there is no such call.
        """
        if not 0 <= seq <= self.last:
            raise Conflict(f"there is no call {seq} to go back to; the history has {self.last}")
        self._still_there()
        try:
            self.connection.execute("BEGIN IMMEDIATE").fetchall()
            undone = self.connection.execute(
                f"SELECT changes FROM {HIDDEN_PREFIX}_calls WHERE seq > ? AND length(changes) > 0 ORDER BY seq DESC",
                (seq,),
            ).fetchall()
            for (changes,) in undone:
                undo = apsw.Changeset.invert(cast("bytes", changes))
                apsw.Changeset.apply(undo, self.connection, filter=is_environment_table)
            self.connection.execute(f"DELETE FROM {HIDDEN_PREFIX}_calls WHERE seq > ?", (seq,)).fetchall()
            self.connection.execute(f"UPDATE {HIDDEN_PREFIX}_instance SET generation = generation + 1").fetchall()
            self.connection.execute("COMMIT").fetchall()
        except BaseException:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK").fetchall()
            raise
        self.origin = self.origin._replace(generation=self.origin.generation + 1)
        self.last = seq
        self.changed = self.connection.execute(
            f"SELECT coalesce(max(seq), 0) FROM {HIDDEN_PREFIX}_calls WHERE length(changes) > 0"
        ).get
        self.size = _size(self.connection)

    @_named
    def check(self) -> None:
        """Look through the whole file for damage.

        Raises:
            StateError: what SQLite found.
        """
        found = self.connection.execute("PRAGMA quick_check(1)").get
        if found != "ok":
            raise StateError(f"state file {self.path.name} is damaged: {found}")

    def _still_there(self) -> None:
        """SQLite goes on writing to a file that was deleted, and nobody would ever read it again."""
        if identity(self.path) != self.file:
            raise StateError(f"state file {self.path.name} is gone: the state folder was deleted or moved")

    def _apply_ordinary(self, changes: bytes) -> bool:
        """Apply changes with prepared statements, or nothing of them: then they are not of the ordinary kind."""
        try:
            if self.applying.apply(changes):
                return True
        except (apsw.FullError, apsw.IOError, apsw.NoMemError, apsw.BusyError):
            raise
        except (apsw.Error, ValueError):
            pass
        self.connection.execute("ROLLBACK").fetchall()
        self.connection.execute("BEGIN IMMEDIATE").fetchall()
        return False

    def _apply(self, changes: bytes) -> None:
        try:
            widths = _widths(self.connection)
            for change in apsw.Changeset.iter(changes):
                if widths.get(change.name) != change.column_count:
                    raise ChangesError(f"it says that it changed {change.name!r}, which is no table like that here")
            apsw.Changeset.apply(changes, self.connection, filter=is_environment_table)
        except (apsw.FullError, apsw.IOError, apsw.NoMemError, apsw.BusyError):
            raise
        except apsw.Error as error:
            raise ChangesError(f"what it changed does not fit the rows: {error}") from None

    def close(self) -> None:
        try:
            self.connection.close()
        except apsw.Error as error:
            raise StateError(f"state file {self.path.name}: {error}") from None

    def _columns(self) -> dict[str, tuple[list[str], list[str]]]:
        tables = self.connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        return {str(table): columns_of(self.connection, str(table)) for (table,) in tables}


def identity(path: Path) -> tuple[int, int] | None:
    """Which file stands at a path: it stays the same while the file is moved, and is None when there is none."""
    try:
        status = os.stat(path)  # noqa: PTH116 - half as long as Path.stat, and each call waits for it
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _size(connection: apsw.Connection) -> int:
    """The bytes of a database that are in use."""
    pages, free, size = (int(connection.pragma(name)) for name in ("page_count", "freelist_count", "page_size"))
    return (pages - free) * size


def _widths(connection: apsw.Connection) -> dict[str, int]:
    """The environment's tables, with the number of their columns that hold values."""
    found = connection.execute(
        "SELECT name, (SELECT count(*) FROM pragma_table_info(tables.name)) FROM sqlite_schema AS tables"
        " WHERE type = 'table'"
    )
    return {str(name): int(str(count)) for name, count in found if is_environment_table(str(name))}


def template_of(image: bytes) -> bytes:
    """A start image with the farm's own tables added: what a state file begins as.

    Raises:
        StateError: the image is not a sound database.
    """
    try:
        connection = connect()
        connection.deserialize("main", image)
        distrust(connection)
        found = connection.execute("PRAGMA integrity_check(1)").get
        if found != "ok":
            raise StateError(f"a start image is damaged: {found}")
        connection.execute(FARM_SCHEMA).fetchall()
        return connection.serialize("main")
    except apsw.Error as error:
        raise StateError(f"a start image cannot be used: {error}") from None


def without_farm_tables(image: bytes) -> bytes:
    """A state as its environment knows it, for people and programs outside."""
    connection = connect()
    connection.deserialize("main", image)
    distrust(connection)
    connection.execute(f"DROP TABLE {HIDDEN_PREFIX}_calls; DROP TABLE {HIDDEN_PREFIX}_instance; VACUUM").fetchall()
    plain = bytearray(connection.serialize("main"))
    plain[24:28] = plain[92:96] = WRITTEN_ONCE
    return bytes(plain)


def _reason(error: Exception) -> str:
    return os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
