"""The farm's own trouble while it judges or calls: never a zero, and never the fault of the agent or of a tool."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from servers.bundle_library import Library
from servers.errors import GuestError
from servers.messages import Assessment, Judge, Launch
from servers.worker.instance import Instance
from servers.worker.settings import WorkerSettings
from servers.worker.worker import Worker
from tests.bundles import TOOLS, write_bundle
from tests.processes import until
from tests.servers.sandbox.test_guest_pool import parent_of
from tests.told import history_of

SECONDS = 0.4
BUSY = "sum(range(4_000_000))"
"""Takes a tenth of a second."""
SLOW = f"def check(start, final, answer, calls):\n    return {BUSY} > 0\n"
ENDLESS = "def check(start, final, answer, calls):\n    while True:\n        pass\n"
PONDER = f'''

def ponder(db: Database) -> dict:
    """Take a while."""
    return {{"sum": {BUSY}}}


def ponder_for_ever(db: Database) -> dict:
    """Come to no end, so that whoever ends it is in time."""
    while True:
        pass
'''


@pytest.fixture(scope="module")
def slow_shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("slow")
    asyncio.run(write_bundle(folder / "slow", tools=TOOLS + PONDER, scenarios=()))
    return folder


@pytest_asyncio.fixture
async def worker(slow_shelf: Path, tmp_path: Path) -> AsyncGenerator[Worker]:
    async with Worker(Library([slow_shelf]), tmp_path / "state", WorkerSettings(call_seconds=SECONDS)) as worker:
        yield worker


@pytest_asyncio.fixture
async def instance(worker: Worker) -> Instance:
    [ticket] = await worker.launch(Launch(environment="slow"))
    return worker.find(ticket.instance)


async def judged(worker: Worker, instance: Instance, python: str = SLOW) -> Assessment:
    one = {"id": "c", "question": "?", "role": "goal", "kind": "python", "python": python}
    return await worker.judge(instance.id, Judge.model_validate({"checkpoints": [one]}))


async def hit(
    worker: Worker, number: signal.Signals, *, times: int, target: Callable[[int], int] = lambda pid: pid
) -> None:
    """Send a signal to each of the next guests, or to its parent, as soon as it is there."""
    known = worker.guests.pids  # that of a start, whose end has not been told yet

    def is_new() -> bool:
        return bool(worker.guests.pids - known)

    for _ in range(times):
        await until(is_new, "a guest is there")
        new = worker.guests.pids - known
        known |= new
        for pid in new:
            os.kill(target(pid), number)


async def test_a_checkpoint_whose_guest_is_killed_is_asked_once_more(worker: Worker, instance: Instance) -> None:
    judgement, _ = await asyncio.gather(judged(worker, instance), hit(worker, signal.SIGKILL, times=1))
    assert judgement.reward == 1.0


async def test_a_checkpoint_whose_guests_are_killed_judges_nobody(worker: Worker, instance: Instance) -> None:
    hitting = asyncio.create_task(hit(worker, signal.SIGKILL, times=2))
    with pytest.raises(GuestError, match="a guest ended: closed its socket"):
        await judged(worker, instance, ENDLESS)
    await hitting
    assert (await judged(worker, instance)).reward == 1.0


async def crowded_out(worker: Worker, job: Coroutine[Any, Any, object]) -> None:
    """Do a job while every guest is ended for the memory that all of them hold together."""
    doing = asyncio.create_task(job)

    def is_done() -> bool:
        worker.guests.end_excess(most=0)
        return doing.done()

    await until(is_done, "it ended")
    await doing


async def test_a_checkpoint_whose_guests_are_ended_for_the_memory_of_all_judges_nobody(
    worker: Worker, instance: Instance
) -> None:
    with pytest.raises(GuestError, match=r"a guest ended: held \d+ bytes when all guests together held \d+"):
        await crowded_out(worker, judged(worker, instance))
    assert (await judged(worker, instance)).reward == 1.0


async def test_a_call_whose_guests_are_ended_for_the_memory_of_all_is_not_in_the_history(
    worker: Worker, instance: Instance
) -> None:
    with pytest.raises(GuestError, match="when all guests together held"):
        await crowded_out(worker, instance.call("ponder", {}))
    assert (await history_of(worker, instance.id)) == []
    assert (await instance.call("ponder", {})).kind == "ok"


async def test_a_checkpoint_whose_guests_parent_is_killed_is_asked_once_more(
    worker: Worker, instance: Instance
) -> None:
    hitting = hit(worker, signal.SIGKILL, times=1, target=parent_of)
    judgement, _ = await asyncio.gather(judged(worker, instance), hitting)
    assert judgement.reward == 1.0


@pytest.mark.slow
async def test_a_checkpoint_whose_guest_is_stopped_is_asked_once_more(worker: Worker, instance: Instance) -> None:
    judgement, _ = await asyncio.gather(judged(worker, instance), hit(worker, signal.SIGSTOP, times=1))
    assert judgement.reward == 1.0
    assert worker.guests.deaths["stalled"] == 1


@pytest.mark.slow
async def test_a_call_whose_guest_is_stopped_is_made_once_more(worker: Worker, instance: Instance) -> None:
    outcome, _ = await asyncio.gather(instance.call("ponder", {}), hit(worker, signal.SIGSTOP, times=1))
    assert outcome.kind == "ok"
    assert [call.outcome for call in await history_of(worker, instance.id)] == ["ok"]


async def test_a_call_whose_guests_are_killed_is_nobodys_fault_and_is_not_in_the_history(
    worker: Worker, instance: Instance
) -> None:
    calling = asyncio.create_task(instance.call("ponder_for_ever", {}))

    def is_done() -> bool:
        """Kill whatever guest is there. One without a job is replaced without a word: two kills may be too few."""
        for pid in worker.guests.pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return calling.done()

    await until(is_done, "the call ended")
    with pytest.raises(GuestError):
        await calling
    assert await history_of(worker, instance.id) == []
    assert (await instance.call("ponder", {})).kind == "ok"


async def test_a_worker_that_stands_still_costs_no_reward(worker: Worker, instance: Instance) -> None:
    """Its event loop is held up for longer than a checkpoint may take, and longer than it is waited for."""
    asyncio.get_running_loop().call_later(0.05, hold_up, 3 * SECONDS)
    assert (await judged(worker, instance)).reward == 1.0
    asyncio.get_running_loop().call_later(0.05, hold_up, 3 * SECONDS)
    assert (await instance.call("ponder", {})).kind == "ok"


def hold_up(seconds: float) -> None:
    """Stand still, as a process that is stopped."""
    signal.sigtimedwait([signal.SIGUSR2], seconds)


@pytest.mark.slow
async def test_busy_processes_beside_it_cost_no_reward(worker: Worker, instance: Instance) -> None:
    busy = [await asyncio.create_subprocess_exec("sh", "-c", "while :; do :; done") for _ in range(8)]
    try:
        for _ in range(3):
            assert (await judged(worker, instance)).reward == 1.0
            assert (await instance.call("ponder", {})).kind == "ok"
    finally:
        for one in busy:
            one.kill()
            await one.wait()
