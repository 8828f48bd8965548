"""Read-only queries with untrusted SQL: one SELECT over `main` and `start`, with bounds on steps, rows and size.

The state is a private copy, so a query affects nothing else. A small one is in memory, a large one in a file.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import apsw
import apsw.ext

from servers.errors import BrokenQuery, InfraError, LongQuery, QueryError, StateError
from servers.guest.sqlite import clock
from servers.guest.sqlite.compiled_schema import NameCounter
from servers.guest.sqlite.connection import (
    LARGEST_VALUE,
    MOST_INSTRUCTIONS,
    connect,
    distrust,
    in_memory_only,
    teach,
)
from servers.guest.sqlite.image import LARGEST_IN_MEMORY, Image
from servers.guest.sqlite.plain_text import PLAIN_TEXT
from servers.limits.processor_budget import MOST_STEPS, ProcessorBudget
from servers.state import sort_files
from servers.state.query_functions import LONGEST_PATTERN, largest_value
from servers.state.row_diff import all_as_json, all_of, columns_of, differences
from servers.state.rows import LARGEST_ANSWER, NUMBER_BYTES, QueryResult, Row, RowChange

MOST_SECONDS = 5.0
"""Processor seconds, for queries whose single steps are long."""
MOST_ROWS = 1000
CACHE_KIB = LARGEST_IN_MEMORY // 1024
"""KiB of pages of a large image that are in memory while it is read."""
NO_NAMES = frozenset[str]()
STEPS_BETWEEN_CHECKS = 1000
STEPS_BETWEEN_CHECKS_OF_LONG_ONES = 20
"""The same, for steps that may take a tenth of a second."""
STOPPED = "the reading was stopped: nobody waits for it any more"
MOST_NAMES = 10_000
"""Columns, functions and SELECTs of a query after every view is expanded.

While SQLite compiles, it calls only the authorizer: once for each of these.
"""
TOO_MANY_NAMES = f"it comes to more than {MOST_NAMES:,} columns, functions and SELECTs, with the views that it reads"
NO_EXPLAIN = "EXPLAIN shows SQLite's program, which changes with its version; ask for rows"
TOO_LARGE = f"it comes to more than {MOST_INSTRUCTIONS:,} instructions of SQLite, or there is no memory to compile it"
FORBIDDEN_FUNCTIONS = {"load_extension", "fts3_tokenizer", "random", "randomblob"}
FAULTS_OF_OURS = (
    apsw.CantOpenError,
    apsw.CorruptError,
    apsw.FullError,
    apsw.IOError,
    apsw.InternalError,
    apsw.NoMemError,
    apsw.NotADBError,
    MemoryError,
)
"""Errors that no query can cause: damage, a full disk, no memory."""


class ReadingStopped(InfraError):
    """A read was stopped because its caller is gone. It says nothing about the state."""


class SelectOnly:
    """The authorizer of one query: only reads of the environment's rows, with a bounded number of names."""

    def __init__(self) -> None:
        self._count = NameCounter(MOST_NAMES)
        self.functions: set[str] = set()

    @property
    def has_too_many_names(self) -> bool:
        return self._count.is_used_up

    def __call__(
        self, action: int, first: str | None, second: str | None, _database: str | None, _by: str | None
    ) -> int:
        if self._count() != apsw.SQLITE_OK:
            return apsw.SQLITE_DENY
        if action == apsw.SQLITE_READ:  # dbstat tells of pages, which differ between equal states
            return apsw.SQLITE_DENY if (first or "").lower() == "dbstat" else apsw.SQLITE_OK
        if action == apsw.SQLITE_FUNCTION:
            self.functions.add((second or "").lower())
            return apsw.SQLITE_DENY if (second or "").lower() in FORBIDDEN_FUNCTIONS else apsw.SQLITE_OK
        return apsw.SQLITE_OK if action in (apsw.SQLITE_SELECT, apsw.SQLITE_RECURSIVE) else apsw.SQLITE_DENY


class Reader:
    """A state and its start, for bounded reads. Close it when done.

    The first reading thread opens it, since SQLite then parses both schemas. `now` is the time that queries see: the
    instance's, never the machine's. All queries share `budget`. Another thread may stop it: current and later reads
    then end with an error.
    """

    def __init__(self, final: Image, start: Image, *, now: str = clock.BEGINNING) -> None:
        self._final = final
        self.start = start
        self.now = now
        self.budget = ProcessorBudget()
        self.is_stopped = False

    @cached_property
    def connection(self) -> apsw.Connection:
        """The connection with the databases `main` and `start`. Raises StateError."""
        try:
            connection = self._opened()
            connection.execute("PRAGMA temp_store = FILE").fetchall()  # what sorting takes is not of our memory
            self._attach_start(connection)
            distrust(connection)
            teach(connection)
            connection.limit(apsw.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, LONGEST_PATTERN)
            connection.execute("SELECT count(*) FROM main.sqlite_schema, start.sqlite_schema").fetchall()
            self._watch_for_stop(connection)
        except apsw.Error as error:
            raise StateError(f"the state cannot be read: {error}") from None
        return connection

    def _opened(self) -> apsw.Connection:
        if len(self._final) > LARGEST_IN_MEMORY:
            with sort_files.announced(self._final) as name:
                connection = connect(sort_files.VFS_NAME, name)
            in_memory_only(connection)
            connection.execute(f"PRAGMA main.cache_size = -{CACHE_KIB}").fetchall()
            return connection
        connection = connect(sort_files.VFS_NAME)
        connection.deserialize("main", self._final[:])
        self._final = b""  # SQLite has a copy
        return connection

    def _attach_start(self, connection: apsw.Connection) -> None:
        if len(self.start) > LARGEST_IN_MEMORY:
            with sort_files.announced(self.start) as name:
                connection.execute("ATTACH ? AS start", (name,)).fetchall()
            connection.execute(f"PRAGMA start.cache_size = -{CACHE_KIB}").fetchall()
        else:
            connection.execute("ATTACH ':memory:' AS start").fetchall()
            connection.deserialize("start", self.start[:])

    def close(self) -> None:
        opened = vars(self).get("connection")
        if opened is not None:
            opened.close(True)

    def stop(self) -> None:
        """Make all reads end soon. Callable from any thread."""
        self.is_stopped = True

    def _watch_for_stop(self, connection: apsw.Connection) -> None:
        connection.set_progress_handler(lambda: self.is_stopped, STEPS_BETWEEN_CHECKS)

    def select(
        self, sql: str, *, answer: str | None = None, rows: int = MOST_ROWS, steps: int = MOST_STEPS
    ) -> QueryResult:
        """Run one SELECT.

        Raises:
            BrokenQuery: it is not one SELECT over rows, or does not fit the schema.
            QueryError: it fails on these rows, or takes too much.
            StateError: the state is damaged, or there is no memory to read it.
            ReadingStopped: the caller is gone.
        """
        if self.is_stopped:
            raise ReadingStopped(STOPPED)
        if self.budget.is_used_up:  # a short query would end before it is asked for the first time
            raise QueryError(f"the query was not run: {self.budget.seconds:g} s of processor time are used up")
        with self.budget.charging_this_thread():
            return self._selected(sql, answer, rows, steps)

    def _selected(self, sql: str, answer: str | None, rows: int, steps: int) -> QueryResult:
        statement = _OneStatement(self.connection, _Budget(steps, self.budget, lambda: self.is_stopped))
        cursor = self.connection.cursor()
        cursor.exec_trace = statement
        self.connection.authorizer = statement.authorizer
        clock.set_time(self.now)
        room = sort_files.begin()
        try:
            found = cursor.execute(sql, None if answer is None else {"answer": answer}, can_cache=False)
            return _fetched(found, statement, rows)
        except apsw.InterruptError:
            if self.is_stopped:
                raise ReadingStopped(STOPPED) from None
            raise LongQuery(f"the query took more than {statement.budget.told}; narrow it down") from None
        except apsw.AuthError as error:
            if statement.authorizer.has_too_many_names:
                raise BrokenQuery(f"the query does not run: {TOO_MANY_NAMES}") from None
            raise BrokenQuery(f"only a SELECT over the environment's tables is allowed here: {error}") from None
        except FAULTS_OF_OURS as error:
            raise _fault(error, statement, room) from None
        except apsw.TooBigError as error:  # of a value, also of an answer before the statement is run
            raise QueryError(f"the query does not run: {error}") from None
        except (apsw.Error, apsw.ExecTraceAbort, ValueError, LookupError, TypeError) as error:
            kind = QueryError if statement.seen else BrokenQuery
            why = TOO_MANY_NAMES if statement.authorizer.has_too_many_names else error  # or a function is not allowed
            raise kind(f"the query does not run: {why}") from None
        finally:
            cursor.close(True)
            self.connection.authorizer = None
            self._watch_for_stop(self.connection)
            self.connection.limit(apsw.SQLITE_LIMIT_LENGTH, LARGEST_VALUE)

    def tables(self, database: str = "main") -> list[str]:
        """The environment's tables."""
        found = self.connection.execute(f"SELECT name FROM {database}.sqlite_schema WHERE type = 'table' ORDER BY name")
        return [str(name) for (name,) in found if not str(name).startswith("sqlite_")]

    def columns(self, table: str) -> tuple[list[str], list[str]]:
        """All columns of a table, and those of its primary key."""
        return columns_of(self.connection, table)

    def differences(self, tables: Sequence[str] = ()) -> Iterator[RowChange]:
        """The rows that differ between `start` and `main`, of some tables or of all."""
        return differences(self.connection, tables or self.tables())

    def changes(self, tables: Sequence[str] = ()) -> list[RowChange]:
        """The same as a list. Raises QueryError if there are too many."""
        return all_of(self.differences(tables))

    def changes_as_json(self) -> str:
        """All of them as a JSON list."""
        return all_as_json(self.differences())

    def images(self) -> tuple[Image, Image]:
        """The start and the state, each as an image of a database."""
        connection = self.connection
        return self.start, self._final if len(self._final) else connection.serialize("main")

    def finding(self, sql: str, names: frozenset[str] = NO_NAMES) -> str | None:
        """Why a text is not a SELECT over the rows with these parameters, or None. It is compiled, not run."""
        self.connection.authorizer = authorizer = SelectOnly()
        try:
            compiled = apsw.ext.query_info(self.connection, sql)
            rest = apsw.ext.query_info(self.connection, compiled.query_remaining or "")
        except (apsw.Error, ValueError) as error:
            return _refusal(error, authorizer)
        finally:
            self.connection.authorizer = None
        if not compiled.description:
            return "does not run: there is no statement in it"
        if compiled.is_explain:
            return f"does not run: {NO_EXPLAIN}"
        if rest.description:
            return "does not run: one SELECT at a time"
        unknown = sorted({name or "?" for name in compiled.bindings_names} - names)
        if unknown:
            told = ", ".join(f":{name}" for name in unknown)
            return f"asks for {told}; " + ("only :answer is there" if names else "there are no parameters here")
        return None

    def width(self, sql: str) -> int:
        """The number of columns of a SELECT. It is compiled, not run."""
        self.connection.authorizer = SelectOnly()
        try:
            return len(apsw.ext.query_info(self.connection, sql).description)
        finally:
            self.connection.authorizer = None


def _fault(error: Exception, statement: "_OneStatement", room: sort_files.Room) -> QueryError | StateError:
    """Classify a lack of memory or damage: the query's fault or the farm's."""
    if room.is_used_up:
        return QueryError(f"the query sorts more than {sort_files.MOST_SORTED:,} bytes; narrow it down")
    if isinstance(error, apsw.NoMemError) and not statement.seen:
        return BrokenQuery(f"the query does not run: {TOO_LARGE}")
    return StateError(f"the state cannot be read: {type(error).__name__}: {error}")


def _refusal(error: Exception, authorizer: SelectOnly) -> str:
    """Why SQLite did not compile a text."""
    if authorizer.has_too_many_names:
        return f"does not run: {TOO_MANY_NAMES}"
    if isinstance(error, apsw.NoMemError):
        return f"does not run: {TOO_LARGE}"
    if isinstance(error, apsw.AuthError):
        return f"only a SELECT over the environment's tables is allowed: {error}"
    return f"does not run: {error}"


def _fetched(found: apsw.Cursor, statement: "_OneStatement", most: int) -> QueryResult:
    """At most `most` rows of a cursor."""
    size = 0
    rows: list[Row] = []
    for row in found:
        if len(rows) == most:
            return QueryResult(statement.columns, rows, more=True)
        size += sum(len(value) if isinstance(value, (str, bytes)) else NUMBER_BYTES for value in row)
        if size > LARGEST_ANSWER:
            raise QueryError(f"the rows are larger than {LARGEST_ANSWER // 1_000_000} MB together; ask for less")
        rows.append(row)
    if not statement.columns:
        raise BrokenQuery("the query does not run: there is no statement in it")
    return QueryResult(statement.columns, rows, more=False)


class _Budget:
    """Counts the steps of a query. Processor time limits queries with few long steps."""

    def __init__(self, steps: int, shared: ProcessorBudget, is_stopped: Callable[[], bool]) -> None:
        self._steps = steps
        self._is_stopped = is_stopped
        self._seconds = MOST_SECONDS
        self._all = f"{MOST_SECONDS:g} s of processor time"
        if shared.left < MOST_SECONDS:
            self._seconds = shared.left
            self._all = f"what was left of {shared.seconds:g} s of processor time"
        self._until = time.thread_time() + self._seconds
        self.between = STEPS_BETWEEN_CHECKS
        self.told = f"{steps // 1_000_000:,} million steps"

    def is_used_up(self) -> bool:
        self._steps -= self.between
        if self._steps <= 0 or self._is_stopped():
            return True
        if time.thread_time() > self._until:
            self.told = self._all
            return True
        return False


class _OneStatement:
    """Runs the first statement of a text, and refuses a second one. Knows the first one's columns."""

    def __init__(self, connection: apsw.Connection, budget: _Budget) -> None:
        self._connection = connection
        self.authorizer = SelectOnly()
        self.budget = budget
        self.seen = False
        self.columns: tuple[str, ...] = ()

    def __call__(self, cursor: apsw.Cursor, _sql: str, _bindings: object) -> bool:
        if self.seen:
            raise BrokenQuery("one SELECT at a time")
        if cursor.is_explain:
            raise BrokenQuery(NO_EXPLAIN)
        self.seen = True
        self.columns = tuple(column[0] for column in cursor.get_description())
        most = largest_value(self.authorizer.functions)
        self._connection.limit(apsw.SQLITE_LIMIT_LENGTH, most)
        if most < LARGEST_VALUE or PLAIN_TEXT in self.authorizer.functions:
            self.budget.between = STEPS_BETWEEN_CHECKS_OF_LONG_ONES
        self._connection.set_progress_handler(self.budget.is_used_up, self.budget.between)
        return True
