"""Changes under rules that cost much: a guest without tools verifies them, and the worker evaluates none of them."""

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio

from servers.bundle_library import Library
from servers.errors import GuestError, QueryError, StateError
from servers.messages import Judge, Launch
from servers.scenario.checkpoints.sql import SqlCheckpoint
from servers.worker.instance import Instance
from servers.worker.settings import WorkerSettings
from servers.worker.worker import Worker
from tests.bundles import TOOLS, with_description, write_bundle
from tests.told import diff_of, history_of

ENDLESS = "replace(printf('%.*c', 900000, 'a'), printf('%.*c', 450000, 'a') || 'b', 'c')"
SCHEMA = f"""
CREATE TABLE things (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE CHECK (replace(name, 'x', 'y') <> 'yy'),
    cents INTEGER NOT NULL DEFAULT 0 CHECK (cents >= 0),
    made_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    twice INTEGER GENERATED ALWAYS AS (cents * 2) STORED,
    label TEXT AS (printf('%s: %d', name, cents)),
    CHECK (name NOT LIKE '%{"ab" * 1000}%'),
    CHECK (cents <> 13 OR {" OR ".join(f"length({ENDLESS}) = {number}" for number in range(50))})
) WITHOUT ROWID;
CREATE TABLE parts (id INTEGER PRIMARY KEY, thing_id TEXT NOT NULL REFERENCES things (id), note TEXT);
CREATE TABLE log (id INTEGER PRIMARY KEY, what TEXT NOT NULL);
CREATE INDEX by_label ON things (replace(name, 'a', 'b'));
"""
LIES = '''
class Result(TypedDict):
    done: bool


def lie(db: Database, *, sql: str) -> Result:
    """Write without asking the rules of the database.

    Args:
        sql: A statement.
    """
    db._connection.authorizer = None
    db._connection.execute("PRAGMA ignore_check_constraints = ON")
    db._connection.execute("PRAGMA defer_foreign_keys = ON")
    db.run(sql)
    return {"done": True}


def fill(db: Database, *, count: int) -> Result:
    """Write many rows.

    Args:
        count: How many.
    """
    db.run(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
        " INSERT INTO log (what) SELECT 'row ' || i FROM n",
        count=count,
    )
    return {"done": True}
'''


@pytest.fixture(scope="module")
def costly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shop whose schema has a rule without end, and tools that go around the rules."""
    folder = tmp_path_factory.mktemp("costly") / "shop"
    asyncio.run(write_bundle(folder, tools=TOOLS + LIES, schema=SCHEMA, scenarios=()))
    return folder


@pytest_asyncio.fixture(scope="module")
async def costly_worker(costly: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Worker]:
    async with Worker(
        Library([costly.parent]), tmp_path_factory.mktemp("worker"), WorkerSettings(call_seconds=2)
    ) as worker:
        yield worker


@pytest_asyncio.fixture
async def guarded(costly_worker: Worker) -> Instance:
    [ticket] = await costly_worker.launch(Launch(environment="shop"))
    return costly_worker.find(ticket.instance)


async def test_rules_that_may_cost_much_are_left_to_a_guest(guarded: Instance, costly_worker: Worker) -> None:
    worker = costly_worker
    assert not guarded.start.schema.is_cheap
    before = worker.guests.started
    assert (await guarded.call("make", {"name": "drum"})).kind == "ok"
    assert worker.guests.started == before + 2  # one with tools, one that verifies
    assert (await guarded.call("make", {"name": "xx"})).kind == "refused"
    [made] = await diff_of(worker, guarded.id)
    assert (made.operation, set(made.after)) == ("insert", {"id", "name", "cents", "made_at"})
    assert (await history_of(worker, guarded.id))[0].changes == (made,)
    labels = await worker.query(guarded.id, "SELECT twice, label FROM things WHERE name = 'drum'")
    [fork] = await worker.fork(guarded.id, 1)
    await worker.rewind(guarded.id, 0)
    assert await diff_of(worker, guarded.id) == []
    assert await diff_of(worker, fork.instance) == [made]
    assert (await worker.query(fork.instance, "SELECT twice, label FROM things WHERE name = 'drum'")) == labels
    question = SqlCheckpoint(
        id="made", kind="sql", role="goal", question="Is there a drum?", weight=1,
        sql="SELECT count(*) FROM things WHERE name = 'drum'", expect=[[1]],
    )  # fmt: skip
    assert (await worker.judge(fork.instance, Judge(checkpoints=(question,)))).reward == 1
    assert (await worker.snapshot(fork.instance))[:6] == b"SQLite"


async def kill_verifiers(worker: Worker, digest: str, number: signal.Signals, *, times: int) -> None:
    """Send a signal to each of the next guests that verify for an environment, in the middle of a request."""
    hit = set[int]()
    while len(hit) < times:
        guest = worker.guests._verifying.get(digest)  # pyright: ignore[reportPrivateUsage] - it has no other name
        if guest is not None and guest.ended is None and guest.pid not in hit and guest.turns.since is not None:
            hit.add(guest.pid)
            os.kill(guest.pid, number)
        await asyncio.sleep(0)


async def test_a_verifying_guest_that_is_killed_is_replaced_once(guarded: Instance, costly_worker: Worker) -> None:
    killing = asyncio.create_task(kill_verifiers(costly_worker, guarded.environment.digest, signal.SIGKILL, times=1))
    assert (await guarded.call("make", {"name": "drum"})).kind == "ok"
    await killing


async def test_a_call_whose_verifying_guests_are_killed_is_nobodys_fault(
    guarded: Instance, costly_worker: Worker
) -> None:
    killing = asyncio.create_task(kill_verifiers(costly_worker, guarded.environment.digest, signal.SIGKILL, times=2))
    with pytest.raises(GuestError, match="killed from outside"):
        await guarded.call("make", {"name": "drum"})
    await killing
    assert await history_of(costly_worker, guarded.id) == []
    assert (await guarded.call("make", {"name": "drum"})).kind == "ok"


async def test_a_verifying_guest_that_ends_by_its_own_doing_is_the_fault_of_the_call(
    guarded: Instance, costly_worker: Worker
) -> None:
    """A crash of its own, such as for want of memory, is what the changes and the rules did to it."""
    killing = asyncio.create_task(kill_verifiers(costly_worker, guarded.environment.digest, signal.SIGSEGV, times=2))
    assert (await guarded.call("make", {"name": "drum"})).kind == "failed"
    await killing
    assert [call.outcome for call in await history_of(costly_worker, guarded.id)] == ["failed"]


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("UPDATE things SET cents = 13 WHERE id = 't2'", "timeout"),
        ("UPDATE things SET cents = -1 WHERE id = 't2'", "failed"),
        ("UPDATE things SET name = 'xx' WHERE id = 't2'", "failed"),
    ],
)
async def test_what_breaks_a_rule_is_not_kept(guarded: Instance, costly_worker: Worker, sql: str, kind: str) -> None:
    await guarded.call("make", {"name": "drum"})
    before = await diff_of(costly_worker, guarded.id)
    outcome = await guarded.call("lie", {"sql": sql})
    assert (outcome.kind, outcome.changes) == (kind, b"")
    assert "nothing was changed" in outcome.text
    assert await diff_of(costly_worker, guarded.id) == before
    assert (await guarded.call("make", {"name": "easel"})).kind == "ok"
    assert len(await diff_of(costly_worker, guarded.id)) == 2


OF_ITS_TIME = """
CREATE TABLE notes (
    id INTEGER PRIMARY KEY,
    body TEXT NOT NULL,
    at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP CHECK (at <= CURRENT_TIMESTAMP),
    due TEXT NOT NULL CHECK (due >= CURRENT_TIMESTAMP){rule}
);
"""
NOTING = '''
class Result(TypedDict):
    done: bool


def note(db: Database, *, body: str) -> Result:
    """Write a note that is due in this minute.

    Args:
        body: What it says.
    """
    db.run("INSERT INTO notes (body, due) VALUES (:body, :now)", body=body, now=db.now())
    return {"done": True}
'''


@pytest.mark.parametrize("year", [1999, 2099])
@pytest.mark.parametrize("rule", ["", ", CHECK (replace(body, 'x', 'y') <> 'yy')"], ids=["here", "in a guest"])
async def test_rules_about_the_time_are_verified_by_the_instance_s_clock(tmp_path: Path, rule: str, year: int) -> None:
    """Of the machine's clock, one of the rules holds in no call, whatever the day is."""
    folder = tmp_path / "shelf" / "notes"
    await write_bundle(folder, tools=NOTING, schema=OF_ITS_TIME.format(rule=rule), seed="", scenarios=())
    with_description(folder, clock=f"{year}-01-01 00:00:00")
    async with Worker(Library([folder.parent]), tmp_path / "state") as worker:
        instances = [worker.find(one.instance) for one in await worker.launch(Launch(environment="notes", count=2))]
        assert instances[0].start.schema.is_cheap == (not rule)
        for instance in instances * 2:
            assert (await instance.call("note", {"body": "hello"})).kind == "ok"
        await worker.rewind(instances[0].id, 1)
        assert (await instances[0].call("note", {"body": "again"})).kind == "ok"
        found = await worker.query(instances[0].id, "SELECT at, due FROM notes")
        assert found.rows == tuple((f"{year}-01-01 00:0{minute}:00",) * 2 for minute in (0, 1))


async def test_instances_come_and_go_long_after_the_time_that_their_verification_had(
    library: Library, tmp_path: Path
) -> None:
    """Their rows are taken back to the start then, and are the next instance's."""
    async with Worker(library, tmp_path / "state") as worker:
        for number in range(12):
            [ticket] = await worker.launch(Launch(environment="shop"))
            instance = worker.find(ticket.instance)
            assert instance.start.schema.is_cheap
            assert (await instance.call("make", {"name": "drum"})).kind == "ok"
            await worker.launch(Launch(environment="shop", setup=f"UPDATE things SET cents = {number}"))  # takes long
            await worker.close(ticket.instance)


async def test_a_call_changes_so_many_rows_and_no_more(guarded: Instance, costly_worker: Worker) -> None:
    assert (await guarded.call("fill", {"count": 20_000})).kind == "ok"
    outcome = await guarded.call("fill", {"count": 20_001})
    assert (outcome.kind, outcome.text) == (
        "refused",
        "this would change too much at once: one call changes at most 20,000 rows; do it in parts",
    )
    assert len(await diff_of(costly_worker, guarded.id)) == 20_000
    assert (await guarded.call("make", {"name": "drum"})).kind == "ok"
    with pytest.raises(QueryError, match="more than 20,000 rows differ; ask for some of them with a query"):
        await diff_of(costly_worker, guarded.id)


async def test_instances_of_a_farm_before_are_told_and_can_be_closed(library: Library, tmp_path: Path) -> None:
    async with Worker(library, tmp_path / "state") as worker:
        [ticket] = await worker.launch(Launch(environment="shop"))
    folder = tmp_path / "state" / "instances"
    shutil.move(folder / f"{ticket.instance}.history", folder / f"{ticket.instance}.db")
    async with Worker(library, tmp_path / "state") as worker:
        assert worker.ids() == [ticket.instance]
        with pytest.raises(StateError, match="it was written by an earlier version of Envfarm; close it"):
            worker.find(ticket.instance)
        await worker.close(ticket.instance)
        assert list(folder.iterdir()) == []
