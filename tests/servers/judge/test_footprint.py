"""Which rows a footprint lets change, however many there are."""

from collections.abc import AsyncGenerator, Generator
from contextlib import closing, contextmanager

import pytest_asyncio

from servers.guest.sqlite.connection import connect
from servers.judge import judge
from servers.limits.processor_budget import ProcessorBudget
from servers.sandbox.guest_pool import Guests
from servers.scenario.checkpoints.footprint import ROWS_AT_ONCE, Allowance, FootprintCheckpoint, uncovered
from servers.state.readonly_query import Reader

THINGS = "CREATE TABLE things (id INTEGER PRIMARY KEY, cents INTEGER NOT NULL)"
PAIRS = "CREATE TABLE pairs (one TEXT, two INTEGER, cents INTEGER, PRIMARY KEY (one, two)) WITHOUT ROWID"


@contextmanager
def changed(schema: str, *changes: str, seconds: float = 20) -> Generator[Reader]:
    """A state in which these statements made all rows, to be judged in so many seconds of processor time."""
    with closing(connect()) as connection:
        connection.execute(schema)
        start = connection.serialize("main")
        for change in changes:
            connection.execute(change)
        with closing(Reader(connection.serialize("main"), start)) as reader:
            reader.budget = ProcessorBudget(seconds)
            yield reader


def things(count: int) -> str:
    numbers = f"WITH RECURSIVE numbers (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM numbers WHERE x < {count})"
    return f"INSERT INTO things {numbers} SELECT x, x FROM numbers"


def inserts(table: str, where: str | None = None, rows: int | None = None) -> Allowance:
    return Allowance(table=table, operation="insert", where=where, rows=rows)


@pytest_asyncio.fixture
async def hurried() -> AsyncGenerator[Guests]:
    """Guests of whom four calls, a judgement's processor time, take no time at all."""
    guests = Guests(call_seconds=1e-9)
    yield guests
    await guests.close()


async def test_more_rows_than_the_processor_time_suffices_for_do_not_hold(hurried: Guests) -> None:
    """Whether an allowance has a condition or none: the rows alone can be too many."""
    for where in (None, "cents > 0"):
        allow = (inserts("things", where),)
        footprint = FootprintCheckpoint(id="f", kind="footprint", role="guard", question="?", allow=allow)
        with changed(THINGS, things(2)) as reader:
            judgement = await judge(reader, [footprint], answer="", calls=b"[]", now=reader.now, guests=hurried)
        [verdict] = judgement.verdicts
        assert not verdict.holds
        assert "processor time" in (verdict.error or "")


def test_many_allowances_beside_many_rows_are_asked_in_portions() -> None:
    """One query for each row and allowance would take about 16 s of processor time."""
    allow = [*(inserts("things", f"cents = -{number}", 1) for number in range(99)), inserts("things")]
    with changed(THINGS, things(8_000), seconds=6) as reader:
        assert uncovered(allow, reader) is None
        assert not reader.budget.is_used_up


def test_each_row_of_each_portion_is_looked_at() -> None:
    count = 2 * ROWS_AT_ONCE + 1
    for missing in (1, ROWS_AT_ONCE, ROWS_AT_ONCE + 1, count):
        with changed(THINGS, things(count)) as reader:
            change = uncovered([inserts("things", f"cents <> {missing}")], reader)
            assert change is not None
            assert change.key == {"id": missing}


def test_rows_move_to_other_allowances_to_make_room() -> None:
    """Each allowance covers two rows and has room for one; the last row needs all the others to move."""
    allow = [inserts("things", f"id IN ({number}, {number + 1})", 1) for number in range(1, 51)]
    with changed(THINGS, things(50), "DELETE FROM things WHERE id = 1", "INSERT INTO things VALUES (51, 1)") as reader:
        assert uncovered(allow, reader) is None
    with changed(THINGS, things(51)) as reader:
        change = uncovered(allow, reader)
        assert change is not None
        assert change.key == {"id": 51}


def test_a_key_may_have_several_columns_and_any_text() -> None:
    rows = "INSERT INTO pairs VALUES ('it''s', 1, 5), ('it''s', 2, 6), (') OR (1', 1, 5), ('', 2, 5)"
    with changed(PAIRS, rows) as reader:
        assert uncovered([inserts("pairs", "cents = 5", 3), inserts("pairs", "two = 2")], reader) is None
        change = uncovered([inserts("pairs", "cents = 5")], reader)
        assert change is not None
        assert change.key == {"one": "it's", "two": 2}
