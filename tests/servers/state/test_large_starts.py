"""Large starts: what they cost, what an instance of one costs, and what is said where a limit is met."""

import asyncio
import signal
import sqlite3
import subprocess
import sys
import tracemalloc
from collections.abc import AsyncGenerator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
import pytest_asyncio

from bench import subject
from servers.bundle_library import Library
from servers.errors import BundleError
from servers.guest.sqlite.start_image import build
from servers.limits.memory import ORDINARY_START
from servers.messages import Judge, Launch
from servers.sandbox.guest_pool import Guests
from servers.state.start_images import MOST_HELD, SMALL_SCRIPT, built
from servers.worker.instance import Instance
from servers.worker.settings import WorkerSettings
from servers.worker.worker import Worker
from tests.disks import filled
from tests.processes import until

ROWS = 40_000
LARGE = (
    f"INSERT INTO items WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS}) "
    "SELECT 'item_' || i, printf('%0900d', i), i FROM n;"
)
CLOCK = "2026-01-05 08:00:00"
MB = 1_000_000


@pytest_asyncio.fixture
async def large(tmp_path: Path) -> AsyncGenerator[Worker]:
    subject.write_bundle(tmp_path / "library" / "store")
    (tmp_path / "library" / "store" / "seed.sql").write_text(LARGE)
    async with Worker(Library([tmp_path / "library"]), tmp_path / "state") as worker:
        yield worker


async def launched(worker: Worker, count: int, setup: str = "") -> list[Instance]:
    tickets = await worker.launch(Launch(environment="store", count=count, setup=setup))
    return [await worker.opened(ticket.instance) for ticket in tickets]


async def stock_up(instance: Instance, item: int) -> None:
    outcome = await instance.call(subject.TOOL, {"item_id": f"item_{item}", "count": 1})
    assert outcome.kind == "ok", outcome


async def test_an_instance_of_a_large_start_costs_its_changes(large: Worker) -> None:
    many = await launched(large, 16)
    size = len(many[0].start.image)
    assert size > 35 * MB
    assert all(one.start is many[0].start for one in many)
    for item in range(1, 11):
        for one in many:
            await stock_up(one, item)
    assert all(one.state.path.stat().st_size < 32_000 for one in many)
    large.guests.end_excess(1 << 40)
    assert large.guests.memory < 3 * size  # sixteen copies were sixteen times as much
    forks = await large.fork(many[0].id, 4)
    await stock_up(await large.opened(forks[0].instance), 1)
    await large.reset(many[1].id)
    told = [
        (await large.query(one, "SELECT stock FROM items WHERE id IN ('item_1', 'item_11') ORDER BY id")).rows
        for one in (many[0].id, forks[0].instance, forks[1].instance, many[1].id)
    ]
    assert told == [((2,), (11,)), ((3,), (11,)), ((2,), (11,)), ((1,), (11,))]


async def test_a_snapshot_of_a_large_state_is_one_sqlite_file(large: Worker, tmp_path: Path) -> None:
    [one] = await launched(large, 1)
    await stock_up(one, ROWS)
    (tmp_path / "state.db").write_bytes((await large.snapshot(one.id))[:])
    with closing(sqlite3.connect(tmp_path / "state.db")) as file:
        assert file.execute("SELECT count(*), max(stock) FROM items").fetchone() == (ROWS, ROWS + 1)
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)


async def test_what_a_worker_does_with_a_large_state_takes_little_of_its_memory(tmp_path: Path) -> None:
    subject.write_bundle(tmp_path / "library" / "store")
    (tmp_path / "library" / "store" / "seed.sql").write_text(LARGE.replace(f"{ROWS}", "16000"))
    goals = [{"id": what["kind"], "role": "goal", "question": "?", **what} for what in ASKED]
    async with Worker(Library([tmp_path / "library"]), tmp_path / "state") as worker:
        apsw.memory_high_water(True)
        tracemalloc.start()
        try:
            [one] = await launched(worker, 1)
            assert len(one.start.image) > ORDINARY_START
            await stock_up(one, 7)
            [fork] = await worker.fork(one.id, 1)
            assert len(await worker.snapshot(fork.instance)) > ORDINARY_START
            assert (await worker.judge(one.id, Judge.model_validate({"checkpoints": goals, "answer": ""}))).reward == 1
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert most < ORDINARY_START // 2
        assert apsw.memory_high_water() < ORDINARY_START // 2


ASKED: list[dict[str, Any]] = [
    {"kind": "sql", "sql": "SELECT stock FROM items WHERE id = 'item_7'", "expect": [[8]]},
    {"kind": "python", "python": "def check(start, final, answer, calls):\n    return True\n"},
]


async def test_a_long_seed_is_not_in_memory_while_a_start_is_built(tmp_path: Path) -> None:
    subject.write_bundle(tmp_path / "library" / "store")
    seed = tmp_path / "library" / "store" / "seed.sql"
    seed.write_text(subject.SEED + "-- nothing\n" * 1_000_000)
    library = Library([tmp_path / "library"])
    environment = library.environment("store")
    async with Guests(folder=tmp_path) as guests:
        await guests.walls()
        tracemalloc.start()
        try:
            image, finding = await built(environment, "", CLOCK, guests)
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert (len(image) > 10_000, finding) == (True, "")
        assert most < 4 * MB < environment.seed_script.size
        seed.write_text(subject.SEED + "-- another \n" * 1_000_000)
        with pytest.raises(BundleError, match=r"seed\.sql: has changed while it was used"):
            await built(environment, "", CLOCK, guests)


async def test_the_log_tells_when_the_build_of_a_large_start_begins_and_ends(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    subject.write_bundle(tmp_path / "library" / "store")
    seed = tmp_path / "library" / "store" / "seed.sql"
    seed.write_text(subject.SEED + "-- nothing\n" * (SMALL_SCRIPT // 10))
    with caplog.at_level("INFO", logger="farm.starts"):
        async with Worker(Library([tmp_path / "library"]), tmp_path / "state") as worker:
            for _ in range(2):
                await worker.launch(Launch(environment="store"))
    told = [(one.message, vars(one)["environment"]) for one in caplog.records if one.name == "farm.starts"]
    assert told == [("a large start is being built", "store"), ("a large start was built", "store")]


async def test_of_many_starts_only_some_are_in_memory_and_all_are_served(tmp_path: Path) -> None:
    subject.write_bundle(tmp_path / "library" / "store")
    (tmp_path / "library" / "store" / "seed.sql").write_text(LARGE.replace(f"{ROWS}", "3000"))
    async with Worker(Library([tmp_path / "library"]), tmp_path / "state") as worker:
        all_of_them = [
            one for number in range(12) for one in await launched(worker, 1, f"UPDATE items SET stock = {number};")
        ]
        assert sum(len(one.start.image) for one in all_of_them) > 2 * MOST_HELD
        assert sum(one.start.image.in_memory for one in all_of_them) <= MOST_HELD
        assert len({id(one.start.tables) for one in all_of_them}) == 1
        for one in all_of_them:
            await stock_up(one, 1)
        told = [(await worker.query(one.id, "SELECT stock FROM items LIMIT 1")).rows for one in all_of_them]
        assert told == [((number + 1,),) for number in range(12)]


async def test_on_a_full_disk_an_idle_instance_is_read_and_judged(small_disk: Path, tmp_path: Path) -> None:
    subject.write_bundle(tmp_path / "library" / "store")
    library, settings = Library([tmp_path / "library"]), WorkerSettings()
    async with Worker(library, small_disk / "state", settings) as worker:
        [one] = await launched(worker, 1)
        await stock_up(one, 7)
    ballast = filled(small_disk)
    async with Worker(library, small_disk / "state", settings) as worker:
        asked = "SELECT count(*) FROM items"
        assert (await worker.query(one.id, asked)).rows[0][0] > 1
        assert (await worker.opened(one.id)).start.image.without_file > 0
    ballast.unlink()


async def test_a_setup_may_delete_all_that_a_large_seed_wrote(large: Worker) -> None:
    [one] = await launched(large, 1, setup="DELETE FROM items;")
    outcome = await one.call(subject.TOOL, subject.ARGUMENTS)
    assert (outcome.kind, outcome.text) == ("refused", "no item 'item_7'")
    assert len(one.start.image) < 100_000


async def test_live_instances_go_on_when_their_start_is_damaged_or_deleted_on_the_disk(large: Worker) -> None:
    [one] = await launched(large, 1)
    [image] = (large.folder / "starts").iterdir()
    before = image.read_bytes()
    image.write_bytes(before[:-1] + b"x")
    await stock_up(one, 1)
    image.unlink()
    await stock_up(one, 1)
    assert (await large.query(one.id, "SELECT stock FROM items WHERE id = 'item_1'")).rows == ((3,),)


async def test_a_build_that_is_cancelled_leaves_nothing_and_the_next_one_builds(large: Worker) -> None:
    order = Launch(environment="store", setup="UPDATE items SET stock = 1;")
    await launched(large, 1)
    before = set((large.folder / "starts").iterdir())
    guests = large.guests.started

    building = asyncio.create_task(large.launch(order))
    await until(lambda: large.guests.started > guests, "a guest builds it")
    building.cancel()
    with pytest.raises(asyncio.CancelledError):
        await building
    assert set((large.folder / "starts").iterdir()) == before
    assert len(await large.launch(order)) == 1


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path

from servers.bundle_library import Library
from servers.messages import Launch
from servers.state import start_images
from servers.worker.worker import Worker

pieces_of = start_images.pieces_of

def killed_after_the_first(image):
    yield next(pieces_of(image))
    os.kill(os.getpid(), signal.SIGKILL)

async def launched(library, state):
    async with Worker(Library([library]), state) as worker:
        start_images.digest_of = lambda image: "0" * 32  # it reads the image too, before it is written
        start_images.pieces_of = killed_after_the_first
        await worker.launch(Launch(environment="store"))

asyncio.run(launched(*map(Path, sys.argv[1:])))
"""


async def test_a_kill_in_the_middle_of_writing_a_start_leaves_nothing_and_the_next_worker_builds_it(
    tmp_path: Path,
) -> None:
    library, state = tmp_path / "library", tmp_path / "state"
    subject.write_bundle(library / "store")
    (library / "store" / "seed.sql").write_text(LARGE)
    command = [sys.executable, "-c", KILLED, str(library), str(state)]
    ended = (await asyncio.to_thread(subprocess.run, command, check=False)).returncode
    [part] = (state / "starts").iterdir()
    assert (ended, part.suffix) == (-signal.SIGKILL, ".part")
    async with Worker(Library([library]), state) as worker:
        assert not part.exists()
        [one] = await launched(worker, 1)
        await stock_up(one, ROWS)
    assert [path.suffix for path in (state / "starts").iterdir()] == [".start"]


def test_a_million_rows_are_built_and_one_that_breaks_a_rule_is_told() -> None:
    rows = ", ".join(f"('{n}', '', {n})" for n in range(1_000_000))
    image, findings = build(subject.SCHEMA, f"INSERT INTO items VALUES {rows};", "", CLOCK)
    assert (findings, len(image) > 15 * MB) == ([], True)
    image, findings = build(subject.SCHEMA, f"INSERT INTO items VALUES {rows}, ('last', '', -1);", "", CLOCK)
    assert image == b""
    [finding] = findings
    assert finding.startswith("seed.sql: CHECK constraint failed: stock >= 0 (in: INSERT INTO items VALUES ('0', ")


async def test_a_build_that_takes_too_long_says_how_long_and_what_is_faster(
    large: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("servers.state.start_images.START_SECONDS", 0.5)
    endless = (
        "INSERT INTO items WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, '', 1 FROM n;"
    )
    with pytest.raises(BundleError, match=r"take more than 0\.5 s to run; an INSERT of hundreds of rows is faster"):
        await launched(large, 1, setup=endless)
