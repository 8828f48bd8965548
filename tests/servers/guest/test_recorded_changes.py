"""The changes of a call, recorded row by row: the same as those of SQLite's own session extension."""

import random
from contextlib import closing, suppress
from typing import Any

import apsw
import pytest

from servers.guest.sqlite.connection import connect
from servers.guest.sqlite.recorded_changes import MOST_TOUCHED, RecordedChanges, SessionChanges, TooManyRows, recorder
from servers.guest.sqlite.tables import MOST_ROWS, read_tables

SCHEMA = """
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT UNIQUE, weight REAL, note);
CREATE TABLE loans (person INTEGER REFERENCES people ON UPDATE CASCADE ON DELETE CASCADE, book TEXT, days INTEGER,
    PRIMARY KEY (book, person)) WITHOUT ROWID;
CREATE TABLE log (id INTEGER PRIMARY KEY, said TEXT CHECK (said <> 'never'));
CREATE TRIGGER renamed AFTER UPDATE OF name ON people BEGIN INSERT INTO log (said) VALUES (new.name); END;
INSERT INTO people VALUES (1, 'Ada', 1, x'00ff'), (2, 'Bo', 2.5, NULL), (3, 'Cy', 3, 7), (4, 'Di', 4, 'ü' || char(0));
INSERT INTO loans VALUES (1, 'Dune', 3), (2, 'Emma', 14), (3, 'Dune', 7);
PRAGMA foreign_keys = ON;
"""
STATEMENTS = (
    "UPDATE people SET name = 'N' || ?1 WHERE id = ?1",
    "UPDATE people SET name = 'Ada' WHERE id = ?1",
    "UPDATE people SET weight = weight + 1",
    "UPDATE people SET weight = weight - 1, note = ?1",
    "UPDATE people SET note = CAST(note AS INTEGER)",
    "UPDATE people SET id = id + ?1 WHERE id = 3",
    "UPDATE loans SET book = 'Emma' WHERE person = ?1",
    "UPDATE loans SET days = days",
    "INSERT OR REPLACE INTO people VALUES (?1, 'Ada', ?1, 'again')",
    "INSERT OR REPLACE INTO loans VALUES (?1, 'Dune', 9)",
    "INSERT INTO people (name) VALUES ('N' || ?1)",
    "INSERT INTO log (said) VALUES ('so'), ('never')",
    "INSERT INTO loans VALUES (1, 'New' || ?1, ?1) ON CONFLICT DO UPDATE SET days = days + 1",
    "DELETE FROM people WHERE id = ?1",
    "DELETE FROM loans",
    "DELETE FROM log",
)


def filled(schema: str = SCHEMA) -> apsw.Connection:
    connection = connect()
    connection.execute(schema)
    return connection


def records(changes: bytes) -> set[Any]:
    """The rows of a changeset, with the type of each value: to Python 1 equals 1.0."""
    return {(one.name, one.op, *map(_typed, (one.old, one.new))) for one in apsw.Changeset.iter(changes)}


def _typed(values: Any) -> Any:
    return values and tuple((type(value).__name__, value) for value in values)


@pytest.mark.parametrize("seed", range(40))
def test_what_is_recorded_is_what_a_session_of_sqlite_records(seed: int) -> None:
    chances = random.Random(seed)  # noqa: S311 - it need not be secret
    with closing(filled()) as one, closing(filled()) as other:
        ours, theirs = RecordedChanges(one, read_tables(one)), SessionChanges(other)
        for _ in range(3):  # one call after another
            calls = [(chances.choice(STATEMENTS), chances.randint(1, 6)) for _ in range(chances.randint(1, 8))]
            for connection, changes in ((one, ours), (other, theirs)):
                connection.execute("BEGIN")
                changes.begin()
                for sql, number in calls:
                    with suppress(apsw.ConstraintError):
                        connection.execute(sql, (number,)[: sql.count("?1") and 1]).fetchall()
            written = ours.changeset()
            assert records(written) == records(theirs.changeset())
            for connection, changes in ((one, ours), (other, theirs)):
                changes.end()
                connection.execute("COMMIT")


def test_a_text_that_is_no_unicode_is_told_though_its_statement_was_caught() -> None:
    with closing(filled()) as connection:
        connection.execute("UPDATE people SET name = CAST(x'ff' AS TEXT) WHERE id = 1")
        changes = RecordedChanges(connection, read_tables(connection))
        changes.begin()
        connection.execute("UPDATE people SET weight = 0")
        with pytest.raises(UnicodeDecodeError):
            changes.changeset()
        changes.end()
        changes.begin()
        assert changes.changeset() == b""


def test_a_call_changes_and_touches_only_so_many_rows() -> None:
    many = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i <= {MOST_TOUCHED}) "
    with closing(filled("CREATE TABLE t (id INTEGER PRIMARY KEY, v)")) as connection:
        changes = RecordedChanges(connection, read_tables(connection))
        for count in (MOST_ROWS, MOST_TOUCHED):
            changes.begin()
            connection.execute(f"{many} INSERT INTO t SELECT i, 0 FROM n WHERE i <= {count + 1}")
            with pytest.raises(TooManyRows):
                changes.changeset()
            changes.end()
            connection.execute("DELETE FROM t")
            changes.end()


def test_generated_columns_are_left_to_sqlite() -> None:
    with closing(filled("CREATE TABLE t (id INTEGER PRIMARY KEY, a, b AS (a + 1) STORED, c)")) as connection:
        changes = recorder(connection, read_tables(connection))
        assert isinstance(changes, SessionChanges)
        changes.begin()
        connection.execute("INSERT INTO t (a, c) VALUES (1, 2)")
        assert records(changes.changeset()) == {("t", "INSERT", None, (("int", 1), ("int", 1), ("int", 2)))}
        changes.end()
    with closing(filled()) as connection:
        assert isinstance(recorder(connection, read_tables(connection)), RecordedChanges)
