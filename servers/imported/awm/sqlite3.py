"""The standard `sqlite3` (DB-API 2.0) on databases that a guest has in memory: what imported code is given.

SQLAlchemy runs on it, and so do verifiers. A name is a database of the call, whatever its folder. None is a file. It
commits and rolls back to a savepoint: the call has the transaction.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime
from typing import Any, cast
from urllib.parse import unquote

import apsw

__all__ = [
    "Connection", "Cursor", "DataError", "DatabaseError", "Error", "IntegrityError", "InterfaceError", "InternalError",
    "NotSupportedError", "OperationalError", "ProgrammingError", "Row", "Warning", "apilevel", "connect", "paramstyle",
    "sqlite_version", "sqlite_version_info", "threadsafety",
]  # fmt: skip

apilevel = "2.0"
paramstyle = "qmark"
threadsafety = 1
sqlite_version = apsw.sqlite_lib_version()
sqlite_version_info = tuple(int(part) for part in sqlite_version.split("."))
PARSE_DECLTYPES, PARSE_COLNAMES = 1, 2
SAVEPOINT = "nested"


class Warning(Exception):  # noqa: A001 - the names of DB-API 2.0
    """A warning of DB-API."""


class DbApiError(Exception):
    """The root of DB-API's errors."""


Error = DbApiError


class InterfaceError(DbApiError):
    """A fault of this module's use."""


class DatabaseError(DbApiError):
    """A fault of the database."""


class DataError(DatabaseError):
    """A value out of range."""


class OperationalError(DatabaseError):
    """A statement that cannot run."""


class IntegrityError(DatabaseError):
    """A broken constraint."""


class InternalError(DatabaseError):
    """A fault of SQLite."""


class ProgrammingError(DatabaseError):
    """A wrong statement or a closed handle."""


class NotSupportedError(DatabaseError):
    """What there is not here."""


class Databases:
    """The databases of the call that runs now, by name."""

    def __init__(self) -> None:
        self.open: dict[str, apsw.Connection] = {}


DATABASES = Databases()
MAIN = ":memory:"
"""The name under which SQLAlchemy opens the database of a call."""


class NamedRow(tuple[Any, ...]):
    """A row that also knows its columns' names."""

    names: tuple[str, ...]

    def keys(self) -> list[str]:
        return list(self.names)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            lower = [name.lower() for name in self.names]
            if key.lower() not in lower:
                raise IndexError(f"No item with that key: {key!r}")
            return super().__getitem__(lower.index(key.lower()))
        return super().__getitem__(key)


Row = NamedRow


class Cursor:
    """A cursor that has all its rows at once."""

    arraysize = 1

    def __init__(self, connection: "Connection") -> None:
        self.connection = connection
        self.description: tuple[tuple[Any, ...], ...] | None = None
        self.rowcount = -1
        self.lastrowid: int | None = None
        self.row_factory = connection.row_factory
        self._rows: Iterator[Any] = iter(())

    def execute(self, sql: str, parameters: Any = ()) -> "Cursor":
        database = self.connection.database()
        self.description, self._rows = None, iter(())
        self.connection.begin(sql)
        before = database.total_changes()
        try:
            cursor = database.cursor()
            cursor.exec_trace = self._describe
            rows = list(cursor.execute(sql, _bound(parameters)))
        except apsw.ConstraintError as error:
            raise IntegrityError(_words(error)) from None
        except (apsw.Error, OverflowError, TypeError) as error:
            raise OperationalError(_words(error)) from None
        self._rows = iter([self._made(row) for row in rows])
        written = database.total_changes() > before
        self.rowcount = database.changes() if written else (0 if self.description is None else -1)
        self.lastrowid = database.last_insert_rowid()
        return self

    def _describe(self, cursor: apsw.Cursor, _sql: str, _bindings: object) -> bool:
        described = cursor.get_description()
        self.description = tuple((one[0], None, None, None, None, None, None) for one in described) or None
        return True

    def _made(self, row: tuple[Any, ...]) -> Any:
        factory = self.row_factory
        if factory is None:
            return row
        if factory is Row:
            made = NamedRow(row)
            made.names = tuple(one[0] for one in self.description or ())
            return made
        return factory(self, row)

    def executemany(self, sql: str, rows: Iterable[Any]) -> "Cursor":
        total = 0
        for row in rows:
            total += max(self.execute(sql, row).rowcount, 0)
        self.rowcount = total
        return self

    def fetchone(self) -> Any:
        return next(self._rows, None)

    def fetchmany(self, size: int | None = None) -> list[Any]:
        return [row for _, row in zip(range(size or self.arraysize), self._rows, strict=False)]

    def fetchall(self) -> list[Any]:
        return list(self._rows)

    def __iter__(self) -> Iterator[Any]:
        return self._rows

    def close(self) -> None:
        self._rows = iter(())

    def setinputsizes(self, _sizes: object) -> None:
        """Nothing, as DB-API allows."""

    def setoutputsize(self, _size: object, _column: object = None) -> None:
        """Nothing, as DB-API allows."""


class Connection:
    """A connection to one of the call's databases. Closing it rolls back what was not committed."""

    isolation_level: str | None = ""
    text_factory: Any = str

    def __init__(self, name: str) -> None:
        self._name = name
        self._is_open = True
        self._nested: apsw.Connection | None = None
        self.row_factory: Any = None

    def database(self) -> apsw.Connection:
        """The database."""
        if not self._is_open:
            raise ProgrammingError("Cannot operate on a closed database.")
        if self._name not in DATABASES.open:
            raise OperationalError("unable to open database file")
        return DATABASES.open[self._name]

    def begin(self, sql: str) -> None:
        """Open a savepoint before the first statement that may write."""
        database = self.database()
        if self.in_transaction or sql.lstrip()[:6].upper() in ("SELECT", "PRAGMA"):
            return
        if DATABASES.open.get(MAIN) is database:
            database.execute(f"SAVEPOINT {SAVEPOINT}")
            self._nested = database

    @property
    def in_transaction(self) -> bool:
        return self._nested is not None and self._nested is DATABASES.open.get(self._name)

    def commit(self) -> None:
        self._end(f"RELEASE {SAVEPOINT}")

    def rollback(self) -> None:
        self._end(f"ROLLBACK TO {SAVEPOINT}", f"RELEASE {SAVEPOINT}")

    def _end(self, *statements: str) -> None:
        nested, self._nested = (self._nested if self.in_transaction else None), None
        if nested is not None:
            for statement in statements:
                nested.execute(statement)

    def cursor(self, factory: Callable[["Connection"], Cursor] = Cursor) -> Cursor:
        return factory(self)

    def execute(self, sql: str, parameters: Any = ()) -> Cursor:
        return self.cursor().execute(sql, parameters)

    def executemany(self, sql: str, rows: Iterable[Any]) -> Cursor:
        return self.cursor().executemany(sql, rows)

    def create_function(self, *_given: object, **_more: object) -> None:
        """Nothing: SQLAlchemy would add `regexp`."""

    def close(self) -> None:
        self.rollback()
        self._is_open = False

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.commit()
        else:
            self.rollback()


def connect(database: Any = MAIN, *_given: object, **_more: object) -> Connection:
    """A connection to a database of the call, by the last part of its name."""
    path = unquote(str(database)).split("?", maxsplit=1)[0].removeprefix("file:")
    return Connection(path.rsplit("/", maxsplit=1)[-1] or MAIN)


def _bound(parameters: Any) -> Any:
    if isinstance(parameters, dict):
        return {name: _value(value) for name, value in cast("dict[str, Any]", parameters).items()}
    return tuple(_value(value) for value in parameters)


def _value(value: Any) -> Any:
    """A value as SQLite holds it. `sqlite3` adapts dates by itself."""
    if isinstance(value, datetime):
        return value.isoformat(" ")
    return value.isoformat() if isinstance(value, date) else value


def _words(error: Exception) -> str:
    """SQLite's own words, without the name of the error in front."""
    return str(error).removeprefix(f"{type(error).__name__}: ")


Binary = bytes
Parameters = Sequence[Any]
