"""Rows are a shared image and the pages that were changed: what is read, and what it costs."""

import sqlite3
from contextlib import closing

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from servers.guest.sqlite.connection import PAGE_SIZE, connect, shrink
from servers.guest.sqlite.instance_rows import InstanceRows
from servers.guest.sqlite.shared_pages import opened

SCHEMA = """
CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, stock INTEGER NOT NULL CHECK (stock >= 0));
CREATE INDEX by_stock ON items (stock);
"""
READ = "SELECT * FROM items ORDER BY id"


def image_of(rows: int, page_size: int = PAGE_SIZE) -> bytes:
    with closing(apsw.Connection(":memory:")) as source:
        source.execute(f"PRAGMA page_size = {page_size}; {SCHEMA}").fetchall()
        source.executemany(
            "INSERT INTO items VALUES (?, ?, ?)", ((n, f"item {n} {'x' * (n % 90)}", n) for n in range(rows))
        )
        return source.serialize("main")


IMAGE = image_of(400)
NUMBERS = st.integers(0, 450)
STATEMENTS = st.one_of(
    st.tuples(st.just("UPDATE items SET stock = stock + 1 WHERE id % 7 = ?"), st.tuples(st.integers(0, 6))),
    st.tuples(st.just("UPDATE items SET name = name || ? WHERE id = ?"), st.tuples(st.text(max_size=900), NUMBERS)),
    st.tuples(st.just("DELETE FROM items WHERE id >= ?"), st.tuples(NUMBERS)),
    st.tuples(st.just("DELETE FROM items"), st.just(())),
    st.tuples(st.just("INSERT OR IGNORE INTO items SELECT id + 500, name || 'y', stock FROM items"), st.just(())),
    st.tuples(st.just("INSERT OR IGNORE INTO items VALUES (?, hex(zeroblob(?)), 1)"), st.tuples(NUMBERS, NUMBERS)),
    st.tuples(st.just("UPDATE items SET stock = -1 WHERE id = ?"), st.tuples(NUMBERS)),
    st.tuples(st.sampled_from(["VACUUM", "ROLLBACK", "COMMIT", "BEGIN", "SAVEPOINT a", "ROLLBACK TO a"]), st.just(())),
)


@given(statements=st.lists(STATEMENTS, max_size=12), page_size=st.sampled_from([512, PAGE_SIZE, 4096, 65536]))
@settings(deadline=None)
def test_rows_on_shared_pages_are_those_of_a_copy(
    statements: list[tuple[str, tuple[object, ...]]], page_size: int
) -> None:
    image = IMAGE if page_size == PAGE_SIZE else image_of(60, page_size)
    before = bytes(bytearray(image))
    shared, pages = opened(image)
    with closing(connect()) as copied, closing(shared):
        copied.deserialize("main", image)
        for connection in (copied, shared):
            shrink(connection)
        for sql, values in statements:
            told = [outcome(connection, sql, values) for connection in (copied, shared)]
            assert told[0] == told[1]
            assert outcome(copied, READ, ()) == outcome(shared, READ, ())
        assert shared.execute("PRAGMA integrity_check").get == "ok"
        if not shared.in_transaction:
            with closing(sqlite3.connect(":memory:")) as plain:  # an ordinary file, for any SQLite
                plain.deserialize(pages[:])
                assert plain.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
                assert plain.execute(READ).fetchall() == outcome(copied, READ, ())
    assert image == before


def outcome(connection: apsw.Connection, sql: str, values: tuple[object, ...]) -> object:
    """The rows, or the error."""
    try:
        return connection.execute(sql, values).fetchall()  # pyright: ignore[reportArgumentType]
    except apsw.Error as error:
        return type(error)


def test_instances_take_the_memory_of_their_changes_at_any_size_of_their_start() -> None:
    sizes: list[list[int]] = []
    for rows in (400, 40_000):
        held = InstanceRows()
        held.keep_image("start", image_of(rows))
        for number in range(64):
            held.hydrate(str(number), "0", "start", b"", room=1 << 30)
        one = held.instances["3"]
        one.begin()
        one.connection.execute("UPDATE items SET stock = stock + 1 WHERE id = 7").fetchall()
        one.commit()
        assert held.find("3", "0") is one
        sizes.append([held.held, one.size])
        assert held.held == sum(each.size for each in held.instances.values())
        assert held.instances["4"].size < one.size < held.instances["4"].size + 12 * PAGE_SIZE
    assert abs(sizes[0][0] - sizes[1][0]) < 4 * PAGE_SIZE


def test_a_guest_that_forgets_a_start_forgets_the_instances_that_share_it() -> None:
    held = InstanceRows(most_bytes=len(IMAGE) + 1)
    held.keep_image("one", IMAGE)
    held.hydrate("1", "0", "one", b"", room=1 << 30)
    held.keep_image("two", IMAGE)
    held.hydrate("2", "0", "two", b"", room=1 << 30)
    assert held.find("1", "0") is None
    assert held.find("2", "0") is not None
    assert list(held.images) == ["two"]


@pytest.mark.parametrize("damage", [b"", b"x" * 3000, IMAGE[:700], b"SQLite format 3\0" + b"\xff" * 2000])
def test_what_is_no_database_is_an_error_of_sqlite(damage: bytes) -> None:
    def read() -> None:
        connection, _ = opened(damage)
        with closing(connection):
            connection.execute("SELECT * FROM items").fetchall()

    with pytest.raises(apsw.Error):
        read()


def test_no_file_can_be_opened_by_its_name() -> None:
    with pytest.raises(apsw.CantOpenError):
        apsw.Connection("/etc/passwd", vfs="shared")
    with pytest.raises(apsw.CantOpenError):
        apsw.Connection("rows0", vfs="shared")
