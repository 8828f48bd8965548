"""The database of a ledger: opens and migrates it, and names its errors."""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from sqlalchemy import Connection, Engine, create_engine, event, insert, inspect, select, update
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from registry.ledger.tables import REVISIONS, metadata, revision
from servers.errors import InfraError, RequestError
from servers.files.private_files import FILE_MODE
from servers.state.state_file import identity

DIALECTS = ("sqlite", "postgresql")
FORMS = "SQLite (sqlite:///FILE) or PostgreSQL (postgresql+psycopg://USER@HOST/NAME)"
BUSY_MILLISECONDS = 5000
MIGRATION_SECONDS = 600.0


class LedgerError(InfraError):
    """The ledger cannot be opened, read or written."""


@contextmanager
def named(engine: Engine) -> Generator[None]:
    """Turn a database error into a LedgerError that names the ledger."""
    try:
        yield
    except DBAPIError as error:
        raise LedgerError(f"the ledger {shown(engine.url)} cannot be used: {error.orig}") from None
    except SQLAlchemyError as error:
        raise LedgerError(f"the ledger {shown(engine.url)} cannot be used: {error}") from None


def engine_of(url: str) -> Engine:
    """The SQLAlchemy engine of a ledger. It does not connect yet.

    Raises:
        RequestError: the URL cannot name a ledger.
        LedgerError: its file cannot be opened.
    """
    try:
        parsed = make_url(url)
        if parsed.get_backend_name() not in DIALECTS:
            raise RequestError(f"a ledger is kept in {FORMS}, not in {parsed.get_backend_name()}")
        engine = create_engine(parsed, pool_pre_ping=parsed.get_backend_name() != "sqlite")
    except ArgumentError as error:
        raise RequestError(f"the ledger's URL is not one of SQLAlchemy: {error}; a ledger is kept in {FORMS}") from None
    except ValueError:
        raise RequestError("the ledger's URL is not one of SQLAlchemy: its port is no number") from None
    except ImportError as error:
        raise RequestError(
            f"no driver for the ledger ({error}); for PostgreSQL: pip install 'envfarm[postgres]'"
        ) from None
    if engine.dialect.name == "sqlite":
        _make_private(parsed)
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    return engine


def _make_private(url: URL) -> None:
    """Make a ledger's file private before anything is in it. SQLite's files beside it inherit its mode."""
    if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
        return
    try:
        os.close(os.open(url.database, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE))
        for suffix in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                Path(url.database + suffix).chmod(FILE_MODE)
    except OSError as error:
        raise LedgerError(f"the ledger {shown(url)} cannot be used: {error.strerror}") from None


def _prepare_sqlite(connection: Any, record: Any) -> None:
    """WAL: readers work beside a writer. `NORMAL`: no commit waits for the disk, and a crash loses nothing."""
    connection.isolation_level = None
    [(_, _, path), *_] = connection.execute("PRAGMA database_list")
    record.info["file"] = (path, identity(Path(path))) if path else None
    for pragma in ("journal_mode = WAL", "synchronous = NORMAL", f"busy_timeout = {BUSY_MILLISECONDS}"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    """Begin transactions explicitly: Python's driver leaves CREATE TABLE outside of them.

    Raises:
        LedgerError: the file was deleted or moved, so that this write would be lost.
    """
    file = connection.info.get("file")
    if file is not None and identity(file[0]) != file[1]:
        raise LedgerError(f"the ledger {file[0]} is gone: put it back, or start the farm again")
    connection.exec_driver_sql("BEGIN")


def bring_up_to_date(engine: Engine) -> None:
    """Create the tables of a new ledger, or migrate an old one. The caller holds its lock.

    Raises:
        LedgerError: it cannot be reached or written, or it is newer than this program.
    """
    with named(engine):
        _bring_up_to_date(engine)


def see_to_revision(engine: Engine) -> None:
    """Refuse a ledger that other registries use and that another version has prepared. Raises LedgerError."""
    with named(engine):
        found = _revision(engine)
    if found != REVISIONS[-1]:
        raise LedgerError(
            f"the ledger {shown(engine.url)} is at revision {found!r} and registries of another version use it;"
            " stop those first"
        )


def file_of(url: URL) -> Path | None:
    """The real path of a SQLite ledger, whatever name it was given. None for one in memory."""
    database = url.database or ""
    if database.startswith("file:"):
        database = unquote(urlsplit(database).path)
    return None if database in ("", ":memory:") or url.query.get("mode") == "memory" else Path(database).resolve()


def _bring_up_to_date(engine: Engine) -> None:
    present = set(inspect(engine).get_table_names())
    if not present & {revision.name, *metadata.tables}:
        with engine.begin() as connection:
            metadata.create_all(connection)
            revision.create(connection)
            connection.execute(insert(revision).values(version_num=REVISIONS[-1]))
        return
    if revision.name not in present:
        raise LedgerError(
            f"{shown(engine.url)} has tables like a ledger's, and is none; give the farm a database of its own"
        )
    found = _revision(engine)
    if found is not None and found not in REVISIONS:
        raise LedgerError(
            f"the ledger {shown(engine.url)} is at revision {found!r}, newer than this farm;"
            " update envfarm, or give it another ledger"
        )
    if found != REVISIONS[-1]:
        _migrate(engine.url)
    with engine.begin() as connection:  # shows at once, not at the first launch, that it can be written
        connection.execute(update(revision).values(version_num=REVISIONS[-1]))


def _revision(engine: Engine) -> str | None:
    with engine.connect() as connection:
        return connection.execute(select(revision.c.version_num)).scalar()


def _migrate(url: URL) -> None:
    """Run the migrations in a process of their own."""
    command = [sys.executable, "-m", "registry.migrations"]
    secret = url.render_as_string(hide_password=False)
    try:
        done = subprocess.run(
            command, input=secret, capture_output=True, text=True, timeout=MIGRATION_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise LedgerError(f"bringing the ledger {shown(url)} up to date took too long and was stopped") from None
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["without a word"]
        raise LedgerError(f"the ledger {shown(url)} cannot be brought up to date: {said[-1]}")


def shown(url: URL) -> str:
    """A ledger's URL without its password."""
    return url.render_as_string(hide_password=True)
