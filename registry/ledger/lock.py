"""The lock of a ledger: one farm at a time uses it. A crash releases it.

Several registries of one farm share the lock, in PostgreSQL. One of them at a time looks after the leases.
"""

import time
from contextlib import ExitStack
from typing import Protocol

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError

from registry.ledger.database import LedgerError, file_of, named, shown
from servers.errors import RequestError
from servers.files.file_lock import locked

POSTGRES_LOCK = 0x656E7666 << 32
"""The first half of the advisory lock's number. The second is the schema's: a database may hold several ledgers."""
REAPER_LOCK = POSTGRES_LOCK + (1 << 32)
"""The same of the lock of the registry that looks after the leases."""
ALONE, TOGETHER = "pg_try_advisory_lock", "pg_try_advisory_lock_shared"
STARTING_SECONDS = 10.0
"""Seconds that a registry waits for another that prepares the ledger."""


class LedgerLock(Protocol):
    """A held lock. `confirm` raises LedgerError if it was lost and another farm has it."""

    def confirm(self) -> None: ...
    def leads(self) -> bool:
        """True if this registry is the one that looks after the leases."""
        ...

    @property
    def alone(self) -> bool:
        """True if nobody else uses the ledger."""
        ...

    def share(self) -> None:
        """Let other registries of the farm in, where the lock is a shared one."""

    def release(self) -> None: ...


class FileLock:
    """The lock of a SQLite ledger: a file beside it. A ledger in memory needs none."""

    def __init__(self, engine: Engine) -> None:
        self._stack = ExitStack()
        path = file_of(engine.url)
        if path is None:
            return
        if path.exists() and path.stat().st_nlink > 1:
            raise RequestError(
                f"the ledger {path} has a second name (a hard link), by which another farm may use it; delete one"
            )
        lock = path.with_name(f"{path.name}.lock")
        self._stack.enter_context(
            locked(
                lock,
                unusable=lambda why: LedgerError(f"the ledger {path} cannot be locked: {lock}: {why}"),
                taken=lambda holder: _taken(engine, f" (process {holder})"),
            )
        )

    def confirm(self) -> None:
        """Nothing to do: the kernel keeps a file lock while this process lives."""

    def leads(self) -> bool:
        return True

    alone = True

    def share(self) -> None:
        """Nothing to do: a file is never shared."""

    def release(self) -> None:
        self._stack.close()


class PostgresLock:
    """The lock of a PostgreSQL ledger: an advisory lock, which lasts as long as its connection.

    A shared one is held together with other registries of the farm. The first of them has it alone until `share`.
    """

    def __init__(self, engine: Engine, *, shared: bool = False) -> None:
        self._engine = engine
        self._shared = shared
        self._leads = False
        self._connection = self._connected()
        begin = time.monotonic()
        while not (alone := self._tries(ALONE)) and not (shared and self._tries(TOGETHER)):
            if not shared or time.monotonic() - begin > STARTING_SECONDS:
                self._connection.close()
                raise _taken(engine)
            time.sleep(0.1)  # another registry prepares the ledger
        self.alone = alone

    def share(self) -> None:
        if self._shared and self.alone:
            self._tries(TOGETHER)
            self._tries("pg_advisory_unlock")
            self.alone = False

    def confirm(self) -> None:
        try:
            self._connection.execute(text("SELECT 1"))
        except SQLAlchemyError:  # the connection was lost, now or in a round in which no other could be made
            self._connection.close()
            self._leads = False
            self._connection = self._connected()
            if not self._tries(TOGETHER if self._shared else ALONE):
                self._connection.close()
                raise LedgerError(str(_taken(self._engine))) from None

    def leads(self) -> bool:
        if self._shared and not self._leads:
            self._leads = self._tries(ALONE, REAPER_LOCK)
        return self._leads or not self._shared

    def release(self) -> None:
        self._connection.close()

    def _connected(self) -> Connection:
        with named(self._engine):
            connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            connection.detach()  # from the pool, which would hand it out again with its lock
            return connection

    def _tries(self, function: str, lock: int = POSTGRES_LOCK) -> bool:
        asked = text(f"SELECT {function}(:lock + current_schema()::regnamespace::oid::bigint)")
        with named(self._engine):
            return bool(self._connection.execute(asked, {"lock": lock}).scalar_one())


def lock_of(engine: Engine, *, shared: bool = False) -> LedgerLock:
    """Lock a ledger, alone or together with other registries of one farm.

    Raises:
        RequestError: another farm holds it, or it cannot be shared.
        LedgerError: it cannot be locked.
    """
    if engine.dialect.name == "postgresql":
        return PostgresLock(engine, shared=shared)
    if shared:
        raise RequestError("several registries share a ledger in PostgreSQL only; give --ledger postgresql://…")
    return FileLock(engine)


def _taken(engine: Engine, holder: str = "") -> RequestError:
    return RequestError(
        f"another farm uses the ledger {shown(engine.url)}{holder}; stop it, or give this farm another --ledger"
    )
