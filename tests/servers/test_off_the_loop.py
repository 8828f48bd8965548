"""What a bundle makes long, and what is large, is read by threads. The event loop finds it read, and registers it."""

import asyncio
import os
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest
import pytest_asyncio

from servers.bundle_library import Library
from servers.errors import NotFound, StateError
from servers.messages import Judge, Launch, Page
from servers.scenario.checkpoints.python import PythonCheckpoint
from servers.scenario.checkpoints.sql import SqlCheckpoint
from servers.state.changeset_verification import LARGEST_ON_LOOP
from servers.state.schema_cost import LARGEST_SCHEMA
from servers.state.start_images import MOST_KEPT, Starts
from servers.worker.instance import Instance
from servers.worker.worker import Worker
from tests.bundles import SCHEMA, write_bundle
from tests.told import diff_of

CHECKPOINTS = (
    SqlCheckpoint(
        id="sql", role="goal", question="?", kind="sql", sql="SELECT cents FROM things WHERE id = 't1'", expect=[[7]]
    ),
    PythonCheckpoint(
        id="python",
        role="goal",
        question="?",
        kind="python",
        python="def check(start, final, answer, calls):\n    return len(calls) == 1\n",
    ),
)


@pytest_asyncio.fixture
async def worker(own_worker: Worker) -> Worker:
    """A worker of one test, which is counted on or hurt."""
    return own_worker


@contextmanager
def connecting_threads() -> Generator[set[int]]:
    """The threads that open a connection to SQLite, as its own hook tells."""
    threads: set[int] = set()

    def note(_: apsw.Connection) -> None:
        threads.add(threading.get_ident())

    apsw.connection_hooks.append(note)
    yield threads
    apsw.connection_hooks.remove(note)


async def test_a_long_schema_is_never_parsed_on_the_event_loop(tmp_path: Path) -> None:
    long = f"CREATE VIEW one AS SELECT 1 AS x /* {'x' * LARGEST_SCHEMA} */;\n"
    await write_bundle(tmp_path / "library" / "shop", schema=SCHEMA + long, scenarios=())
    async with Worker(Library([tmp_path / "library"]), tmp_path / "state") as worker:
        with connecting_threads() as threads:
            [ticket] = await worker.launch(Launch(environment="shop"))
            instance = await worker.opened(ticket.instance)
            assert (await instance.call("price", {"id": "t1", "cents": 7})).kind == "ok"
            assert len(await worker.tables(instance.id)) == 3
            assert (await worker.table(instance.id, "things", Page())).total == 3
            assert (await worker.query(instance.id, "SELECT count(*) FROM things")).rows == ((3,),)
            assert {change.table for change in await diff_of(worker, instance.id)} == {"things", "log"}
            assert (await worker.judge(instance.id, Judge(checkpoints=CHECKPOINTS))).success
            assert await worker.snapshot(instance.id)
    async with Worker(Library([tmp_path / "library"]), tmp_path / "state") as worker:
        with connecting_threads() as later:
            assert (await worker.standing(instance.id)).calls == 1
    assert threads
    assert later
    assert threading.get_ident() not in threads | later


async def long_history(library: Library, state: Path) -> str:
    """The id of an instance whose history is read in a thread. Nobody holds it."""
    async with Worker(library, state) as worker:
        [ticket] = await worker.launch(Launch(environment="shop"))
        instance = await worker.opened(ticket.instance)
        await instance.call("find", {"text": 3, "more": "x" * LARGEST_ON_LOOP})
        await instance.call("make", {"name": "drum"})
    return ticket.instance


def open_files() -> set[str]:
    """The names of the regular files that this process has open."""
    names = {os.path.realpath(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")}  # noqa: PTH208
    return {name for name in names if os.path.isfile(name)}  # noqa: PTH113


@contextmanager
def all_threads_taken(worker: Worker) -> Generator[Callable[[], None]]:
    """Let no thread of `shop` be free until that is ended."""
    free = threading.Event()
    jobs = [asyncio.ensure_future(worker.threads.run("shop", free.wait)) for _ in range(2)]
    try:
        yield free.set
    finally:
        free.set()
    assert len(jobs) == 2


async def test_a_long_history_is_opened_once_while_others_are_served(library: Library, tmp_path: Path) -> None:
    long = await long_history(library, tmp_path / "state")
    async with Worker(library, tmp_path / "state") as worker:
        [other] = await worker.launch(Launch(environment="shop"))
        with all_threads_taken(worker) as free:
            opening = [asyncio.ensure_future(worker.opened(long)) for _ in range(3)]
            assert (await (await worker.opened(other.instance)).call("find", {})).kind == "ok"
            assert not any(one.done() for one in opening)
            free()
            one, *others = await asyncio.gather(*opening)
        assert others == [one, one]
        assert one.state.last == 2
        assert (await one.call("find", {"text": "drum"})).kind == "ok"


async def test_an_instance_that_is_closed_while_it_is_opened_is_gone(library: Library, tmp_path: Path) -> None:
    long = await long_history(library, tmp_path / "state")
    async with Worker(library, tmp_path / "state") as worker:
        files = open_files()
        with all_threads_taken(worker) as free:
            opening = asyncio.ensure_future(worker.opened(long))
            given_up = asyncio.ensure_future(worker.opened(long))
            await asyncio.sleep(0)
            await worker.close(long)
            given_up.cancel()
            [ticket] = await worker.launch(Launch(environment="shop"))  # which takes its place in the index
            free()
            with pytest.raises(NotFound):
                await opening
        assert open_files() == files
        assert worker.ids() == [ticket.instance]
        assert (await (await worker.opened(ticket.instance)).call("find", {})).kind == "ok"
    async with Worker(library, tmp_path / "state") as worker:
        assert (await worker.standing(ticket.instance)).calls == 1


async def test_who_gives_up_opening_leaves_nothing_open(library: Library, tmp_path: Path) -> None:
    long = await long_history(library, tmp_path / "state")
    async with Worker(library, tmp_path / "state") as worker:
        opening = asyncio.ensure_future(worker.opened(long))
        while not worker.threads.running:  # noqa: ASYNC110 - seen in each turn of the loop, or it may be missed
            await asyncio.sleep(0)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        assert not any(name.endswith(f"{long}.history") for name in open_files())
        assert (await worker.opened(long)).state.last == 2


ODD: dict[str, tuple[Callable[[Path], object], str]] = {
    "a pipe": (lambda path: (path.unlink(), os.mkfifo(path)), "cannot be read: it is no regular file"),
    "a link": (lambda path: (path.unlink(), path.symlink_to("/dev/zero")), "cannot be read: "),
    "too large": (lambda path: os.truncate(path, 2**34), "is damaged"),
}


@pytest.mark.parametrize("odd", ODD)
async def test_what_is_no_start_image_is_named_and_not_waited_for(instance: Instance, worker: Worker, odd: str) -> None:
    put_there, told = ODD[odd]
    [path] = (worker.folder / "starts").iterdir()
    put_there(path)
    with pytest.raises(StateError, match=told):
        await Starts(path.parent, worker.guests).load(instance.start.digest, instance.start.content)


async def test_start_images_that_no_instance_needs_are_deleted_when_they_are_too_many(
    library: Library, tmp_path: Path
) -> None:
    folder = tmp_path / "state" / "starts"
    async with Worker(library, tmp_path / "state") as worker:
        [ticket] = await worker.launch(Launch(environment="shop"))
    [needed] = folder.iterdir()
    oldest, older, newest = folder / "0.start", folder / "1.start", folder / "2.start"
    for age, path in ((9, oldest), (8, older), (0, newest)):
        path.touch()
        os.truncate(path, MOST_KEPT // 2)
        os.utime(path, (1e9 - age, 1e9 - age))
    os.utime(needed, (1, 1))
    async with Worker(library, tmp_path / "state") as worker:
        assert sorted(folder.iterdir()) == sorted([needed, newest])
        os.truncate(newest, MOST_KEPT)
        (worker.folder / "instances" / f"{'0' * 16}.history").write_bytes(b"what is this")
    async with Worker(library, tmp_path / "state") as worker:  # which cannot tell what that instance needs
        assert sorted(folder.iterdir()) == sorted([needed, newest])
        assert (await worker.standing(ticket.instance)).calls == 0
