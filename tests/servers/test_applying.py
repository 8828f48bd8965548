"""What a call changed, applied by prepared statements, is what SQLite's own way makes of it."""

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from servers.applying import Applying
from servers.guest.lean import connect

SCHEMA = """
CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT UNIQUE, weight REAL, data BLOB);
CREATE TABLE "odd ""name" (a TEXT, b INTEGER, "c d" TEXT DEFAULT 'x', PRIMARY KEY (b, a)) WITHOUT ROWID;
"""
VALUES = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(alphabet="aä\0'\"", max_size=3),
    st.binary(max_size=3),
)
WRITES = st.one_of(
    st.tuples(st.just("INSERT OR REPLACE INTO notes VALUES (?, ?, ?, ?)"), st.tuples(st.integers(0, 4), *[VALUES] * 3)),
    st.tuples(
        st.just("UPDATE OR IGNORE notes SET text = ?, data = ? WHERE id = ?"),
        st.tuples(VALUES, VALUES, st.integers(0, 4)),
    ),
    st.tuples(
        st.just("UPDATE OR IGNORE notes SET id = ? WHERE id = ?"), st.tuples(st.integers(0, 4), st.integers(0, 4))
    ),
    st.tuples(st.just("DELETE FROM notes WHERE id = ?"), st.tuples(st.integers(0, 4))),
    st.tuples(
        st.just('INSERT OR REPLACE INTO "odd ""name" VALUES (?, ?, ?)'),
        st.tuples(st.sampled_from("pq"), st.integers(0, 2), VALUES),
    ),
    st.tuples(st.just('UPDATE "odd ""name" SET "c d" = ? WHERE b = ?'), st.tuples(VALUES, st.integers(0, 2))),
    st.tuples(st.just('DELETE FROM "odd ""name" WHERE a = ?'), st.tuples(st.sampled_from("pq"))),
)


def store() -> apsw.Connection:
    connection = connect()
    connection.execute(SCHEMA).fetchall()
    return connection


def recorded(connection: apsw.Connection, writes: list[tuple[str, tuple[object, ...]]]) -> bytes:
    """What some statements change."""
    session = apsw.Session(connection, "main")
    session.attach()
    for sql, values in writes:
        connection.execute(sql, values).fetchall()  # pyright: ignore[reportArgumentType, reportCallIssue]
    changes = session.changeset()
    session.close()
    return changes


def rows(connection: apsw.Connection) -> list[object]:
    notes = connection.execute("SELECT * FROM notes ORDER BY 1").fetchall()
    return [*notes, *connection.execute('SELECT * FROM "odd ""name" ORDER BY 1, 2').fetchall()]


def applied(changes: bytes, connection: apsw.Connection) -> bool:
    """Apply in a transaction; undo it when that does not work."""
    connection.execute("BEGIN").fetchall()
    try:
        done = Applying(connection).apply(changes)
    except apsw.ConstraintError:
        done = False
    connection.execute("COMMIT" if done else "ROLLBACK").fetchall()
    return done


@settings(max_examples=300, deadline=None)
@given(calls=st.lists(st.lists(WRITES, min_size=1, max_size=5), min_size=1, max_size=5))
def test_what_is_applied_is_what_sqlite_would_have_applied(
    calls: list[list[tuple[str, tuple[object, ...]]]],
) -> None:
    origin, quick, slow = store(), store(), store()
    for writes in calls:
        changes = recorded(origin, writes)
        apsw.Changeset.apply(changes, slow)
        if not applied(changes, quick):
            apsw.Changeset.apply(changes, quick)
        assert rows(quick) == rows(slow) == rows(origin)


def test_a_call_that_inserts_updates_and_deletes_is_ordinary() -> None:
    origin, other = store(), store()
    for connection in (origin, other):
        connection.execute("INSERT INTO notes VALUES (1, 'a', 0, NULL), (2, 'b', 0, NULL)").fetchall()
    writes = ["INSERT INTO notes VALUES (3, 'c', 1.5, x'00')", "UPDATE notes SET text = 'd' WHERE id = 1"]
    changes = recorded(origin, [(sql, ()) for sql in [*writes, "DELETE FROM notes WHERE id = 2"]])
    assert applied(changes, other)
    assert rows(other) == rows(origin) == [(1, "d", 0.0, None), (3, "c", 1.5, b"\0")]


@pytest.mark.parametrize(
    "before",
    [
        "INSERT INTO notes VALUES (1, 'other', 0, NULL)",
        "INSERT INTO notes VALUES (2, 'mine', 0, NULL)",
    ],
)
def test_rows_that_are_not_as_the_changes_say_are_left_alone(before: str) -> None:
    origin, other = store(), store()
    origin.execute("INSERT INTO notes VALUES (1, 'mine', 0, NULL)").fetchall()
    other.execute(before).fetchall()
    changes = recorded(origin, [("UPDATE notes SET text = ? WHERE id = 1", ("new",))])
    left = rows(other)
    assert not applied(changes, other)
    assert rows(other) == left


@pytest.mark.parametrize("table", ["_farm_calls", "sqlite_stat1"])
def test_changes_of_the_farms_own_tables_are_not_ordinary(table: str) -> None:
    origin, other = connect(), connect()
    for connection in (origin, other):
        if table.startswith("sqlite"):
            connection.execute("CREATE TABLE t (a PRIMARY KEY); ANALYZE").fetchall()
        else:
            connection.execute(f"CREATE TABLE {table} (a PRIMARY KEY, b, c)").fetchall()
    changes = recorded(origin, [(f"INSERT INTO {table} VALUES (1, 2, 3)", ())])
    assert changes == b"" or not applied(changes, other)


def test_a_table_of_another_shape_and_generated_columns_are_not_ordinary() -> None:
    origin, narrow, computed = store(), connect(), connect()
    changes = recorded(origin, [("INSERT INTO notes VALUES (1, 'a', 0, NULL)", ())])
    narrow.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text)").fetchall()
    computed.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, a, b, c, d AS (a || b))").fetchall()
    assert not applied(changes, narrow)
    assert not applied(changes, computed)
