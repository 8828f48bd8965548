"""A call's transaction is the guest's: nothing that a tool says in SQL ends it, or leaves rows for the next call."""

import apsw
import pytest

from servers.guest.sqlite.connection import connect
from servers.guest.sqlite.instance_rows import InstanceRows

SCHEMA = "CREATE TABLE things (id INTEGER PRIMARY KEY) STRICT; INSERT INTO things VALUES (1)"
ENDS = "INSERT OR ROLLBACK INTO things VALUES (1)"
LEAKS = "INSERT INTO things VALUES (2)"
ATTACKS = {
    "a savepoint is the transaction": [ENDS, "SAVEPOINT nested", LEAKS, "RELEASE nested", "SAVEPOINT nested"],
    "a savepoint was prepared before": [
        "SAVEPOINT nested", ENDS, "SAVEPOINT nested", LEAKS, "RELEASE nested", "SAVEPOINT nested",
    ],
    "no transaction": [ENDS, LEAKS],
    "the farm's own words": ["COMMIT -- farm", LEAKS, "BEGIN -- farm"],
    "the farm's own words after an end": [ENDS, LEAKS, "BEGIN -- farm"],
    "a savepoint is left open": ["SAVEPOINT nested", LEAKS],
    "a file": ["ATTACH ':memory:' AS other", LEAKS],
    "a table of the connection": ["CREATE TEMP TABLE kept (id)", LEAKS],
    "the farm's pragmas": ["PRAGMA writable_schema = ON", "PRAGMA foreign_keys = OFF", LEAKS],
}  # fmt: skip


@pytest.fixture
def rows() -> InstanceRows:
    source = connect()
    source.execute(f"PRAGMA page_size = 1024; {SCHEMA}").fetchall()
    rows = InstanceRows()
    rows.keep_image("image", source.serialize("main"))
    hydrate(rows)
    found = rows.find("instance", "0")
    assert found is not None
    found.begin()
    found.commit()  # the guest's statements have been run once
    return rows


def hydrate(rows: InstanceRows) -> None:
    rows.hydrate("instance", "0", "image", b"", room=10**9)


def attacked(connection: apsw.Connection, statements: list[str]) -> None:
    for statement in statements:
        try:
            connection.execute(statement).fetchall()
        except apsw.Error:
            continue


def ids(rows: InstanceRows) -> list[int]:
    if rows.find("instance", "0") is None:
        hydrate(rows)
    found = rows.find("instance", "0")
    assert found is not None
    return [one for (one,) in found.connection.execute("SELECT id FROM things ORDER BY id")]


@pytest.mark.parametrize("name", ATTACKS)
def test_a_call_that_is_refused_leaves_nothing(rows: InstanceRows, name: str) -> None:
    found = rows.find("instance", "0")
    assert found is not None
    found.begin()
    attacked(found.connection, ATTACKS[name])
    rows.roll_back("instance")
    assert ids(rows) == [1]


@pytest.mark.parametrize("name", [name for name, statements in ATTACKS.items() if ENDS in statements])
def test_a_call_that_ended_its_transaction_is_not_kept(rows: InstanceRows, name: str) -> None:
    found = rows.find("instance", "0")
    assert found is not None
    found.begin()
    attacked(found.connection, ATTACKS[name])
    with pytest.raises(RuntimeError, match="must not end its transaction"):
        found.commit()
    rows.forget("instance")
    assert ids(rows) == [1]


def test_what_a_savepoint_rolled_back_is_gone_and_the_rest_is_kept(rows: InstanceRows) -> None:
    found = rows.find("instance", "0")
    assert found is not None
    found.begin()
    for statement in (
        LEAKS,
        "SAVEPOINT nested",
        "INSERT INTO things VALUES (3)",
        "ROLLBACK TO nested",
        "RELEASE nested",
    ):
        found.connection.execute(statement).fetchall()
    found.commit()
    assert ids(rows) == [1, 2]
