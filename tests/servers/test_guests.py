"""The processes that run untrusted code: forked, killed, forked again."""

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path

from servers.guests import Guests
from servers.instance import Instance
from servers.worker import Worker


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def exists(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


async def test_a_guest_that_is_killed_is_replaced_within_the_call(instance: Instance, worker: Worker) -> None:
    for number in range(5):
        assert (await instance.call("make", {"name": f"thing {number}"})).kind == "ok"
        assert instance.guest is not None
        os.kill(instance.guest.pid, signal.SIGKILL)
    assert [call.outcome for call in await worker.history(instance.id)] == ["ok"] * 5
    assert len((await worker.query(instance.id, "SELECT * FROM things")).rows) == 8


async def test_when_the_parent_of_all_guests_is_killed_another_is_started(instance: Instance, worker: Worker) -> None:
    for number in range(3):
        assert (await instance.call("make", {"name": f"thing {number}"})).kind == "ok"
        assert instance.guest is not None
        os.kill(parent_of(instance.guest.pid), signal.SIGKILL)
    assert (await instance.call("find", {"text": "thing"})).kind == "ok"
    assert [call.outcome for call in await worker.history(instance.id)] == ["ok"] * 4


async def test_a_fork_that_nobody_waits_for_any_more_is_not_taken_for_another() -> None:
    async with Guests() as guests:
        os.kill((await guests.fork()).pid, signal.SIGKILL)  # it only warms the parent up
        for steps in range(20):
            forking = asyncio.create_task(guests.fork())
            for _ in range(steps):
                await asyncio.sleep(0)
            forking.cancel()
            with suppress(asyncio.CancelledError):
                os.kill((await forking).pid, signal.SIGKILL)
            guest = await guests.fork()
            async with guest.turn():
                head, _ = await guest.ask({"do": "describe"}, b"import os; raise ValueError(os.getpid())", seconds=5)
            assert head["findings"][0].endswith(f"ValueError: {guest.pid}")
            os.kill(guest.pid, signal.SIGKILL)


async def test_a_worker_that_closes_leaves_no_process(instance: Instance, worker: Worker) -> None:
    assert (await instance.call("find", {})).kind == "ok"
    assert instance.guest is not None
    zygote = parent_of(instance.guest.pid)
    await worker.guests.close()
    assert not exists(zygote)
    assert (await instance.call("find", {})).kind == "ok"  # and another is started when it is needed
