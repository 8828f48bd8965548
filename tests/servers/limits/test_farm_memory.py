"""What a farm's own process may hold: budgets that stay below one ceiling together, whatever strangers ask of it."""

import tracemalloc
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from registry.web import app, bundle_facts, scenario_lines
from registry.workers import remote_worker
from servers import bundle_library
from servers.bundle.environment import BYTES_PER_VALUE
from servers.bundle.files import LARGEST_POLICY, LARGEST_SCENARIOS, LARGEST_SCHEMA, LARGEST_SEED
from servers.bundle_library import Library
from servers.doors import http_limits, mcp, prepared_answers
from servers.errors import BrokenQuery, QueryError
from servers.gate.parser import LARGEST_SOURCE
from servers.guest.frames import LARGEST_HEAD
from servers.guest.sqlite.image import LARGEST_IN_MEMORY
from servers.guest.sqlite.instance_rows import MOST_GROWTH
from servers.guest.sqlite.start_image import LARGEST_IMAGE
from servers.limits.json_size import MOST_VALUES
from servers.limits.memory import BASE, CEILING, ORDINARY_START, ROOM_TO_COMPILE, SQLITE_HEAP
from servers.messages import Launch, Page
from servers.sandbox import compiled_files, guest_pool
from servers.scenario.scenario_file import BYTES_PER_LINE, MOST_LINES
from servers.state import changeset_verification, start_images
from servers.state.readonly_query import Reader
from servers.state.rows import LARGEST_ANSWER
from servers.worker import instance
from servers.worker.worker import COPIES, COPIES_OF_IMAGE, MOST_COPIED, Worker
from tests.bundles import write_bundle

MB = 1024 * 1024
LONGEST_ESCAPE = len(r"\u0001")
"""Bytes of JSON for one of text."""


LARGEST_COPY = COPIES_OF_IMAGE * LARGEST_IN_MEMORY + COPIES * instance.LARGEST_HISTORY
SMALL_SCRIPTS = start_images.MOST_BUILDS * start_images.COPIES_OF_SCRIPTS * start_images.SMALL_SCRIPT


def of_all() -> int:
    """What all budgets admit together, at any size of a start."""
    budgets = [
        ROOM_TO_COMPILE,
        max(MOST_COPIED, LARGEST_COPY),
        max(
            changeset_verification.MOST_HISTORIES,
            changeset_verification.COPIES_OF_HISTORY * instance.LARGEST_HISTORY,
        ),
        changeset_verification.MOST_HELD,
        start_images.MOST_HELD,
        start_images.MOST_WITHOUT_FILE,
        SMALL_SCRIPTS,
        bundle_library.MOST_READ,
        guest_pool.MOST_BUFFERED,
        compiled_files.MOST_HELD,
        http_limits.MOST_RECEIVED,
        http_limits.MOST_UNREAD,
        mcp.MOST_ANSWERED,
        prepared_answers.MOST_PREPARED,
        bundle_facts.MOST_KNOWN_BYTES,
        app.MOST_STARTS_BYTES,
        app.MOST_SECTIONS_BYTES,
        scenario_lines.MOST_LINES_BYTES,
        scenario_lines.MOST_IDS_BYTES,
    ]
    return BASE + sum(budgets)


def test_all_budgets_and_what_a_farm_needs_anyhow_stay_below_the_ceiling() -> None:
    assert of_all() <= CEILING < 600_000_000


def test_what_is_let_in_alone_fits_into_its_budget() -> None:
    assert LARGEST_IMAGE + MOST_GROWTH < guest_pool.LARGEST_REPLY
    assert LARGEST_SEED < start_images.MOST_SCRIPTS
    assert max(LARGEST_IN_MEMORY, guest_pool.LARGEST_CALL_REPLY) + LARGEST_HEAD < guest_pool.MOST_BUFFERED
    assert LONGEST_ESCAPE * LARGEST_ANSWER < http_limits.MOST_UNREAD
    assert LONGEST_ESCAPE * LARGEST_ANSWER < remote_worker.LARGEST_ANSWER < remote_worker.MOST_ANSWERED
    assert http_limits.LARGEST_REQUEST < http_limits.MOST_RECEIVED
    assert mcp.COPIES_OF_BODY * mcp.LARGEST_BODY < mcp.MOST_ANSWERED
    assert ORDINARY_START < start_images.MOST_HELD
    assert LARGEST_SCENARIOS + MOST_LINES * BYTES_PER_LINE < bundle_library.MOST_READ
    assert (
        MOST_VALUES * BYTES_PER_VALUE + 4 * (LARGEST_POLICY + LARGEST_SCHEMA + LARGEST_SOURCE)
        < bundle_library.MOST_READ
    )


def test_sqlite_has_room_for_what_the_budgets_admit() -> None:
    taken = [
        changeset_verification.MOST_HELD,
        changeset_verification.MOST_HISTORIES,
        max(MOST_COPIED, LARGEST_COPY),
        ROOM_TO_COMPILE,
    ]
    assert sum(taken) <= SQLITE_HEAP


def test_a_statement_that_takes_too_much_memory_fails_alone(worker: Worker) -> None:
    """Of a start from before such views were refused. Six of them are unfolded before anybody is asked."""
    nested = "".join(
        f"CREATE VIEW {name}{level} AS SELECT (SELECT max(x) FROM {name}{level - 1})"
        f" + (SELECT min(x) FROM {name}{level - 1}) AS x;"
        for name in "uvwxyz"
        for level in range(1, 16)
    )
    roots = "".join(f"CREATE VIEW {name}0 AS SELECT 1 AS x;" for name in "uvwxyz")
    with closing(apsw.Connection(":memory:")) as connection:
        connection.execute(roots + nested)
        image = connection.serialize("main")
    apsw.memory_high_water(True)
    with closing(Reader(image, image)) as reader:
        with pytest.raises(BrokenQuery, match="no memory to compile it"):
            reader.select("SELECT u15.x FROM u15, v15, w15, x15, y15, z15")
        assert apsw.memory_high_water() <= SQLITE_HEAP
        assert reader.select("SELECT x FROM u1").rows == [(2,)]


def test_a_reader_keeps_no_rows_beside_those_of_sqlite() -> None:
    with closing(apsw.Connection(":memory:")) as connection:
        connection.execute(
            "CREATE TABLE log (id INTEGER PRIMARY KEY, what); INSERT INTO log VALUES (1, zeroblob(900000))"
        )
        image = connection.serialize("main")
    tracemalloc.start()
    try:
        with closing(Reader(bytes(bytearray(image)), image)) as reader:
            assert reader.select("SELECT length(what) FROM log").rows == [(900_000,)]
            held, _ = tracemalloc.get_traced_memory()
            assert reader.images()[0] is image
    finally:
        tracemalloc.stop()
    assert held < len(image) // 2


LARGE_TOOLS = """
def fill(db: Database, *, rows: int) -> dict:
    \"\"\"Fill the log.

    Args:
        rows: How many.
    \"\"\"
    for number in range(rows):
        db.run("INSERT INTO log (what) VALUES (:what)", what=f"{number % 7}" * 900_000)
    return {"rows": rows}


def sort(db: Database) -> dict:
    \"\"\"Sort the log by what it says.\"\"\"
    rows = db.all("SELECT id FROM (SELECT id, what || id AS said FROM log ORDER BY said DESC LIMIT 100) LIMIT 1")
    return {"rows": len(rows)}
"""


async def test_rows_as_large_as_they_may_be_are_sorted_and_read(tmp_path: Path) -> None:
    seed = "INSERT INTO log (what) VALUES (CAST(zeroblob(999000) AS TEXT));\n" * 12
    folder = tmp_path / "library" / "shop"
    await write_bundle(folder, tools=LARGE_TOOLS, seed=seed, scenarios=())
    async with Worker(Library([tmp_path / "library"]), tmp_path / "state") as farm:
        [ticket] = await farm.launch(Launch(environment="shop"))
        used = await farm.opened(ticket.instance)
        outcome = await used.call("fill", {"rows": 5})
        assert (outcome.kind, outcome.text[:38]) == ("refused", "this would change too much at once: on")
        for _ in range(4):
            assert (await used.call("fill", {"rows": 4})).kind == "ok"
        assert (await used.call("sort", {})).text == '{"rows": 1}'
        with pytest.raises(QueryError, match="the rows that differ hold more than 4,000,000 bytes"):
            await farm.diff(ticket.instance)
        page = await farm.table(ticket.instance, "log", Page(limit=100))
        assert (len(page.rows), page.total) == (4, 28)
        image = await farm.snapshot(ticket.instance)
        assert len(image) > 24 * MB
        assert (await farm.query(ticket.instance, "SELECT count(*) FROM log")).rows == ((28,),)
