"""The lock of a ledger: one farm at a time uses it. A crash releases it."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Protocol

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from registry.ledger.database import LedgerError, file_of, named, shown
from servers.errors import RequestError
from servers.files.file_lock import locked

POSTGRES_LOCK = 0x656E7666 << 32
"""The first half of the advisory lock's number. The second is the schema's: a database may hold several ledgers."""


class LedgerLock(Protocol):
    """A held lock. `confirm` raises LedgerError if it was lost and another farm has it."""

    def confirm(self) -> None: ...
    def release(self) -> None: ...


class FileLock:
    """The lock of a SQLite ledger: a file beside it. A ledger in memory needs none."""

    def __init__(self, engine: Engine) -> None:
        self._stack = ExitStack()
        path = file_of(engine.url)
        if path is None:
            return
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

    def release(self) -> None:
        self._stack.close()


class PostgresLock:
    """The lock of a PostgreSQL ledger: an advisory lock, which lasts as long as its connection."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._connection = self._acquired()

    def confirm(self) -> None:
        try:
            self._connection.execute(text("SELECT 1"))
        except DBAPIError:
            self._connection.close()
            try:
                self._connection = self._acquired()
            except RequestError as error:
                raise LedgerError(str(error)) from None

    def release(self) -> None:
        self._connection.close()

    def _acquired(self) -> Connection:
        with named(self._engine):
            connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            asked = text("SELECT pg_try_advisory_lock(:lock + current_schema()::regnamespace::oid::bigint)")
            if connection.execute(asked, {"lock": POSTGRES_LOCK}).scalar_one():
                connection.detach()  # from the pool, which would hand it out again with its lock
                return connection
            connection.close()
        raise _taken(self._engine)


LOCKS: dict[str, Callable[[Engine], LedgerLock]] = {"sqlite": FileLock, "postgresql": PostgresLock}


def lock_of(engine: Engine) -> LedgerLock:
    """Lock a ledger.

    Raises:
        RequestError: another farm holds it.
        LedgerError: it cannot be locked.
    """
    return LOCKS[engine.dialect.name](engine)


def _taken(engine: Engine, holder: str = "") -> RequestError:
    return RequestError(
        f"another farm uses the ledger {shown(engine.url)}{holder}; stop it, or give this farm another --ledger"
    )
