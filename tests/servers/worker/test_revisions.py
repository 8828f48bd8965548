"""What a guest did and nobody kept is never found again, whoever holds it."""

import asyncio
from pathlib import Path
from typing import Any

from servers.bundle_library import Library
from servers.errors import StateError
from servers.messages import Launch
from servers.sandbox.guest_pool import LONG_REQUEST, Guest
from servers.worker.instance import CallOutcome, Instance
from servers.worker.settings import WorkerSettings
from servers.worker.worker import Worker
from tests.disks import filled
from tests.processes import until


def guest_of(instance: Instance) -> Guest:
    assert instance.guest is not None
    return instance.guest


async def called_elsewhere(instance: Instance, busy: Guest, tool: str, **arguments: Any) -> CallOutcome:
    """A call that another guest serves, since this one has been busy for long."""
    async with busy.turn():
        assert busy.turns.since is not None
        busy.turns.since -= 2 * LONG_REQUEST
        outcome = await instance.call(tool, arguments)
    assert instance.guest is not busy
    return outcome


async def test_rows_of_a_call_that_was_not_believed_are_not_those_of_a_later_one(
    odd_shelf: Path, tmp_path: Path
) -> None:
    async with Worker(Library([odd_shelf]), tmp_path / "state") as worker:
        [ticket] = await worker.launch(Launch(environment="odd"))
        instance = worker.find(ticket.instance)
        assert (await instance.call("sneak", {})).kind == "failed"
        misled = guest_of(instance)
        await worker.reset(instance.id)
        assert (await called_elsewhere(instance, misled, "price", id="t1", cents=5)).kind == "ok"
        everything = {"sql": "SELECT id, cents FROM things ORDER BY id"}
        seen = await called_elsewhere(instance, guest_of(instance), "ask", **everything)
        assert instance.guest is misled
        rows = await worker.query(instance.id, everything["sql"])
        assert seen.structured == {"rows": [{"id": name, "cents": cents} for name, cents in rows.rows]}


async def test_rows_of_a_call_that_the_disk_did_not_take_are_not_those_of_a_later_one(
    library: Library, small_disk: Path
) -> None:
    async with Worker(library, small_disk / "state", WorkerSettings(idle_seconds=0.03)) as worker:
        [ticket] = await worker.launch(Launch(environment="shop"))
        instance = worker.find(ticket.instance)
        assert (await instance.call("make", {"name": "drum"})).kind == "ok"
        ballast = filled(small_disk)
        try:
            await instance.call("make", {"name": "x" * 30_000})
        except StateError:
            ballast.unlink()
        misled = guest_of(instance)
        await until(lambda: not worker.in_use, "its file is closed")
        instance = worker.find(ticket.instance)
        assert (await called_elsewhere(instance, misled, "make", name="easel")).kind == "ok"
        seen = await called_elsewhere(instance, guest_of(instance), "find")
        assert instance.guest is misled
        assert seen.structured is not None
        names = [thing["name"] for thing in seen.structured["things"]]
        rows = await worker.query(instance.id, "SELECT name FROM things")
        assert sorted(names) == sorted(str(name) for (name,) in rows.rows)


async def test_a_guest_still_has_the_rows_of_an_instance_that_lay_idle(library: Library, tmp_path: Path) -> None:
    async with Worker(library, tmp_path / "state", WorkerSettings(idle_seconds=0.03)) as worker:
        [ticket] = await worker.launch(Launch(environment="shop"))
        instance = worker.find(ticket.instance)
        assert (await instance.call("make", {"name": "drum"})).kind == "ok"
        before = instance.state.revision
        await until(lambda: not worker.in_use, "its file is closed")
        assert worker.find(ticket.instance).state.revision == before


async def test_an_instance_stays_open_while_its_copy_waits_for_room(library: Library, tmp_path: Path) -> None:
    async with Worker(library, tmp_path / "state", WorkerSettings(idle_seconds=0.03)) as worker:
        [ticket] = await worker.launch(Launch(environment="shop"))
        async with worker.copies.taken("shop", worker.copies.most):
            waiting = asyncio.create_task(worker.diff(ticket.instance))
            [other] = await worker.launch(Launch(environment="shop"))
            worker.find(other.instance)
            await until(lambda: len(worker.in_use) == 1, "the other one's file is closed")
        assert await waiting == b"[]"
