"""Changesets prove themselves: whatever is accepted can be undone, read, built again and handed to a guest."""

import math
import struct
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from servers.guest.changeset_verifier import VerifiedRows
from servers.guest.sqlite.clock import BEGINNING
from servers.guest.sqlite.connection import LARGEST_VALUE, PAGE_SIZE, connect
from servers.guest.sqlite.instance_rows import RevisionRows
from servers.guest.sqlite.tables import ChangesError, tables_of
from servers.state.readonly_query import Reader
from servers.state.row_diff import in_changeset

SCHEMA = """
CREATE TABLE owners (id TEXT PRIMARY KEY, name TEXT COLLATE NOCASE NOT NULL UNIQUE) WITHOUT ROWID;
CREATE TABLE notes (
    id INTEGER PRIMARY KEY, owner TEXT REFERENCES owners (id) ON DELETE CASCADE,
    place INTEGER UNIQUE ON CONFLICT REPLACE, weight REAL CHECK (weight < 100), data BLOB,
    twice GENERATED ALWAYS AS (place * 2) STORED
);
CREATE TABLE pairs (
    a INTEGER, b TEXT, c, d INTEGER REFERENCES notes, PRIMARY KEY (b, a)
) WITHOUT ROWID;
CREATE UNIQUE INDEX one_open ON notes (owner) WHERE weight IS NULL;
CREATE VIEW everything AS SELECT * FROM notes;
CREATE TRIGGER loud AFTER UPDATE ON notes BEGIN SELECT RAISE(ABORT, 'never here'); END;
"""
ROWS = """
INSERT INTO owners VALUES ('ann', 'Ann'), ('bob', 'Bob'), ('eve', 'Eve');
INSERT INTO notes (id, owner, place, weight, data) VALUES
    (1, 'ann', 1, 1.5, x'01'), (2, 'bob', 2, NULL, NULL), (3, NULL, 3, 2, x'0203'), (4, 'ann', 4, 7, NULL);
INSERT INTO pairs VALUES (1, 'x', 'text', 1), (2, 'x', 4, NULL), (1, 'y', 2.5, 4);
"""
CALLS = (
    "UPDATE owners SET name = 'Anna' WHERE id = 'ann'; INSERT INTO notes (id, owner, place) VALUES (9, 'eve', 9)",
    "UPDATE notes SET place = -place; UPDATE notes SET place = 5 + place",  # 4, 3, 2, 1: each in another's way
    "DELETE FROM pairs WHERE d = 4; DELETE FROM notes WHERE id = 4; INSERT INTO pairs VALUES (5, 'é', x'ff', 1)",
    "UPDATE owners SET name = 'ANN', id = 'anna' WHERE id = 'ann'; UPDATE notes SET owner = 'anna' WHERE owner = 'ann'",
    "UPDATE pairs SET c = 4.0 WHERE a = 2; UPDATE notes SET data = x'0a0b0c', weight = 3.25 WHERE id = 3",
    "DELETE FROM notes WHERE id = 2; DELETE FROM owners WHERE id = 'bob'; INSERT INTO owners VALUES ('zoe', 'Bob')",
)


def image_of(*scripts: str) -> bytes:
    connection = connect()
    connection.execute(f"PRAGMA page_size = {PAGE_SIZE}").fetchall()
    for script in scripts:
        connection.execute(script).fetchall()
    return connection.serialize("main")


START = image_of(SCHEMA, ROWS)
TABLES = tables_of(START)


def recorded(image: bytes, script: str) -> bytes:
    """What a script changes in an image, as a guest would tell it."""
    connection = connect()
    connection.deserialize("main", image)
    connection.execute("DROP TRIGGER loud").fetchall()
    session = apsw.Session(connection, "main")
    session.attach()
    connection.execute(script).fetchall()
    changes = session.changeset()
    session.close()
    return changes


HONEST = [recorded(START, call) for call in CALLS]


def content(connection: apsw.Connection) -> dict[str, list[Any]]:
    """Every row with every column, generated ones too, and the types of its values."""
    found: dict[str, list[Any]] = {}
    for table in TABLES:
        rows = connection.execute(f"SELECT * FROM {table}").fetchall()
        found[table] = sorted(
            ((repr(row), row) for row in rows), key=itemgetter(0)
        )  # to Python 1 equals 1.0, as text it does not
    return found


def values_of(content: dict[str, list[Any]]) -> list[Any]:
    return [value for rows in content.values() for _, row in rows for value in row]


def content_of(image: bytes) -> dict[str, list[Any]]:
    connection = connect()
    connection.deserialize("main", image)
    return content(connection)


BEFORE = content_of(START)


def accepted(changes: bytes, start: bytes = START) -> tuple[bytes, bytes] | None:
    """The rows after changes and the changes as they are kept, or None when they are refused."""
    rows = VerifiedRows(start, TABLES)
    try:
        kept = rows.apply(changes, now=BEGINNING)
        rows.keep()
        return rows.image()[:], kept
    except ChangesError:
        rows.undo()
        assert content(rows.connection) == content_of(start)
        return None
    finally:
        rows.close()


def proved(final: bytes, changes: bytes) -> None:
    """Do with accepted changes all that is done with kept ones."""
    connection = connect()
    connection.deserialize("main", final)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    after = content(connection)
    assert not any(isinstance(value, float) and not math.isfinite(value) for value in values_of(after))
    builder = apsw.ChangesetBuilder()
    builder.add(changes)
    net = builder.output()
    restored = VerifiedRows(START, TABLES)
    restored.restore(net)
    restored.keep()
    assert content_of(restored.image()[:]) == after  # forked, or opened again
    restored.close()
    hydrated = RevisionRows(START, TABLES, net, "0.1")
    assert content(hydrated.connection) == after
    hydrated.connection.close()
    undone = accepted(apsw.Changeset.invert(changes), final)
    assert undone is not None
    assert content_of(undone[0]) == BEFORE
    told = in_changeset(changes, TABLES)
    reader = Reader(final, START)
    differ = {(change.table, str(change.key)) for change in reader.changes()}
    reader.close()
    assert differ <= {(change.table, str(change.key)) for change in told}


def test_a_number_of_another_type_is_a_difference_as_it_is_in_the_history() -> None:
    found = accepted(recorded(START, "UPDATE pairs SET c = 4.0 WHERE a = 2; UPDATE pairs SET c = 'text' WHERE a = 1"))
    assert found is not None
    with closing(Reader(found[0], START)) as reader:
        differ = reader.changes()
    told = [(change.table, repr(change.before["c"]), repr(change.after["c"])) for change in differ]
    assert told == [("pairs", "4", "4.0"), ("pairs", "2.5", "'text'")]
    assert [(change.table, change.key) for change in in_changeset(found[1], TABLES)] == [
        (change.table, change.key) for change in differ
    ]


@pytest.mark.parametrize("changes", HONEST, ids=CALLS)
def test_what_an_honest_call_changed_is_accepted(changes: bytes) -> None:
    found = accepted(changes)
    assert found is not None
    proved(*found)
    assert sorted(found[1]) == sorted(changes)  # the same records in another order


@dataclass(frozen=True)
class Mutation:
    """One way to spoil a changeset, with the numbers that choose where."""

    kind: str
    place: int
    other: int
    byte: int


NAMES = [b"owners", b"notes", b"pairs", b"everything", b"sqlite_schema", b"Notes", b"nOTES", b"x"]
HARMFUL = [b"\xff", b"\x00", b"\xc0\x80", b"\xed\xa0\x80", struct.pack(">d", math.nan), struct.pack(">d", math.inf)]
BYTES = st.one_of(st.integers(0, 255), st.integers(0, 6))
PLACES = st.integers(0, 1_000_000)
MUTATIONS = st.lists(
    st.builds(
        Mutation,
        st.sampled_from(["bit", "byte", "cut", "splice", "repeat", "rename", "harm", "swap", "remove", "insert"]),
        PLACES,
        PLACES,
        BYTES,
    ),
    min_size=1,
    max_size=3,
)


def mutated(whole: bytes, how: Mutation) -> bytes:
    place = how.place % max(1, len(whole))
    end = place + how.other % 24 + 1
    first, piece, rest = whole[:place], whole[place:end], whole[end:]
    other = HONEST[how.other % len(HONEST)]
    old = NAMES[how.other % 3]
    harm = HARMFUL[how.byte % len(HARMFUL)]
    made = {
        "bit": first + bytes(byte ^ 1 << how.byte % 8 for byte in piece[:1]) + piece[1:] + rest,
        "byte": first + bytes([how.byte]) + piece[1:] + rest,
        "cut": first,
        "splice": first + other[how.byte % len(other) :],
        "repeat": whole + (whole if how.byte % 2 else other),
        "rename": whole.replace(old, NAMES[how.byte % len(NAMES)] if how.place % 2 else old.upper(), 1),
        "harm": first + harm + whole[place + len(harm) :],
        "swap": first + rest[:8] + piece + rest[8:],
        "remove": first + rest,
        "insert": first + bytes([how.byte]) * (how.other % 9) + piece + rest,
    }
    return made[how.kind]


@settings(max_examples=2000, deadline=None)
@given(number=st.integers(0, len(HONEST) - 1), mutations=MUTATIONS)
def test_whatever_is_accepted_can_be_undone_read_forked_and_hydrated(number: int, mutations: list[Mutation]) -> None:
    changes = HONEST[number]
    for mutation in mutations:
        changes = mutated(changes, mutation)
    found = accepted(changes)
    if found is not None:
        proved(*found)


VALUES = st.one_of(
    st.none(), st.integers(-(2**63), 2**63 - 1), st.integers(0, 9), st.floats(allow_nan=False), st.text(max_size=3),
    st.binary(max_size=3),
)  # fmt: skip
WRITES = st.one_of(
    st.tuples(st.just("INSERT OR REPLACE INTO owners VALUES (?, ?)"), st.tuples(st.text("aAbB", max_size=2), VALUES)),
    st.tuples(
        st.just("INSERT OR REPLACE INTO notes (id, owner, place, weight, data) VALUES (?, NULL, ?, ?, ?)"),
        st.tuples(st.integers(0, 6), *[VALUES] * 3),
    ),
    st.tuples(st.just("UPDATE OR IGNORE notes SET place = ? WHERE id = ?"), st.tuples(VALUES, st.integers(0, 6))),
    st.tuples(st.just("UPDATE OR IGNORE notes SET id = ? WHERE id = ?"), st.tuples(*[st.integers(0, 6)] * 2)),
    st.tuples(st.just("DELETE FROM notes WHERE id = ?"), st.tuples(st.integers(0, 6))),
    st.tuples(st.just("UPDATE OR IGNORE pairs SET a = ?, c = ? WHERE b = 'x'"), st.tuples(st.integers(0, 3), VALUES)),
    st.tuples(st.just("DELETE FROM pairs WHERE b = ?"), st.tuples(st.sampled_from("xy"))),
)


@settings(max_examples=100, deadline=None)
@given(writes=st.lists(WRITES, min_size=1, max_size=6))
def test_what_sqlite_lets_a_call_do_is_accepted(writes: list[tuple[str, tuple[Any, ...]]]) -> None:
    connection = connect()
    connection.deserialize("main", START)
    connection.execute("DROP TRIGGER loud; PRAGMA foreign_keys = ON").fetchall()
    session = apsw.Session(connection, "main")
    session.attach()
    for sql, values in writes:
        try:
            connection.execute(sql, values).fetchall()
        except apsw.ConstraintError:
            continue
    changes = session.changeset()
    session.close()
    found = accepted(changes)
    expected = content(connection)
    if any(isinstance(value, float) and math.isinf(value) for value in values_of(expected)):
        return
    assert found is not None
    assert content_of(found[0]) == expected
    proved(*found)


def of(schema: str, script: str) -> bytes:
    """The changeset of a script in a database of another schema."""
    connection = connect()
    connection.limit(apsw.SQLITE_LIMIT_LENGTH, 2 * LARGEST_VALUE)  # a guest that lies keeps no limit
    connection.execute(schema).fetchall()
    session = apsw.Session(connection, "main")
    session.attach()
    connection.execute(script).fetchall()
    return session.changeset()


NOTES = "CREATE TABLE notes (id INTEGER PRIMARY KEY, owner, place, weight, data);"
OWNERS = "CREATE TABLE owners (id TEXT PRIMARY KEY, name) WITHOUT ROWID;"
LIES: dict[str, tuple[Callable[[], bytes], str]] = {
    "a name in another case": (lambda: HONEST[0].replace(b"owners", b"OWNERS"), "there is no such table here"),
    "a view": (lambda: HONEST[0].replace(b"notes", b"views"), "there is no such table here"),
    "another shape": (
        lambda: of("CREATE TABLE notes (id INTEGER PRIMARY KEY, owner)", "INSERT INTO notes VALUES (7, 'ann')"),
        "there is no such table here",
    ),
    "another key": (
        lambda: of("CREATE TABLE owners (id, name TEXT PRIMARY KEY)", "INSERT INTO owners VALUES ('x', 'X')"),
        "another primary key",
    ),
    "a row twice": (lambda: HONEST[0] + HONEST[0], "twice|not as the changeset says"),
    "a row that is there": (lambda: of(NOTES, "INSERT INTO notes VALUES (1, NULL, 8, 8, NULL)"), "not as the change"),
    "a row that is not": (lambda: apsw.Changeset.invert(HONEST[0]), "not as the changeset says|does not exist"),
    "a row that points nowhere": (
        lambda: of(NOTES, "INSERT INTO notes VALUES (7, 'nobody', 8, 8.5, NULL)"),
        "points to a row that does not exist",
    ),
    "a row that others point to": (
        lambda: recorded(START, "PRAGMA foreign_keys = OFF; DELETE FROM owners WHERE id = 'ann'"),
        "points to a row that was deleted",
    ),
    "no name": (lambda: of(OWNERS, "INSERT INTO owners VALUES ('x', NULL)"), "NOT NULL constraint failed"),
    "a weight that is too high": (
        lambda: of(NOTES, "INSERT INTO notes VALUES (7, NULL, 8, 100.5, NULL)"),
        "CHECK constraint failed",
    ),
    "a place that is taken": (
        lambda: of(NOTES, "INSERT INTO notes VALUES (7, NULL, 1, 8.5, NULL)"),
        "UNIQUE constraint failed",
    ),
    "a value of another type": (
        lambda: of(NOTES, "INSERT INTO notes VALUES (7, NULL, '8', 8.5, NULL)"),
        "cannot hold what the changeset says",
    ),
    "a number without an end": (
        lambda: of(OWNERS, "INSERT INTO owners VALUES ('x', -9e999)"),
        "a number that JSON cannot hold",
    ),
    "a value that is too long": (
        lambda: of(OWNERS, f"INSERT INTO owners VALUES ('x', printf('%.*c', {LARGEST_VALUE + 1}, 'x'))"),
        "larger than",
    ),
    "text that is not UTF-8": (lambda: HONEST[0].replace(b"Anna", b"An\xff\xfe"), "codec can't decode"),
    "half a changeset": (lambda: HONEST[1][:-3], "does not fit the rows"),
    "a patchset": (lambda: b"P" + HONEST[0][1:], "cannot be undone"),
}


@pytest.mark.parametrize("lie", LIES)
def test_what_does_not_prove_itself_changes_nothing(lie: str) -> None:
    make, reason = LIES[lie]
    rows = VerifiedRows(START, TABLES)
    with pytest.raises(ChangesError, match=reason):
        rows.apply(make(), now=BEGINNING)
    rows.undo()
    assert content(rows.connection) == BEFORE
    rows.close()


def test_an_update_says_what_was_there_and_leaves_the_key() -> None:
    honest = recorded(START, "UPDATE owners SET name = 'Anna' WHERE id = 'ann'")
    [change] = [(change.old, change.new) for change in apsw.Changeset.iter(honest)]
    assert change == (("ann", "Ann"), (apsw.no_change, "Anna"))
    without_old = honest.replace(b"\x03\x03Ann", b"\x00")
    another_key = honest.replace(b"\x00\x03\x04Anna", b"\x03\x03bob\x03\x04Anna")
    for lie in (without_old, another_key):
        with pytest.raises(ChangesError, match="an update of 'owners' cannot be undone"):
            VerifiedRows(START, TABLES).apply(lie, now=BEGINNING)


DUE = "CREATE TABLE tasks (id INTEGER PRIMARY KEY, due TEXT NOT NULL CHECK (due >= CURRENT_TIMESTAMP));"


def test_rows_are_built_again_after_the_time_that_a_rule_about_it_allowed() -> None:
    start = image_of(DUE)
    with closing(connect()) as connection, closing(apsw.Session(connection, "main")) as session:
        connection.execute(DUE).fetchall()
        session.attach()
        connection.execute("INSERT INTO tasks VALUES (1, '2026-01-02'), (2, '2030-01-01')").fetchall()
        net = session.changeset()
    with closing(VerifiedRows(start, tables_of(start))) as rows:
        kept = rows.apply(net, now="2026-01-01 00:00:00")
        rows.undo()
        with pytest.raises(ChangesError):
            rows.apply(net, now="2028-01-01 00:00:00")
        rows.undo()
        rows.restore(kept)
        assert rows.connection.execute("SELECT id FROM tasks").fetchall() == [(1,), (2,)]
        rows.undo()
        with pytest.raises(ChangesError):  # new changes are held to the rules as before
            rows.apply(net, now="2028-01-01 00:00:00")


def test_rows_of_instances_that_take_turns_are_built_without_compiling_a_statement() -> None:
    with closing(VerifiedRows(START, TABLES)) as rows:
        for net in HONEST:
            rows.restore(net)
            rows.undo()
        before = rows.connection.cache_stats()
        for net in HONEST:
            rows.restore(net)
            rows.undo()
        after = rows.connection.cache_stats()
    assert (after["misses"], after["no_cache"]) == (before["misses"], before["no_cache"])
