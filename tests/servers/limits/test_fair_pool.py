"""What environments share, none of them can keep from the others."""

import asyncio
import threading
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from servers.errors import CapacityError
from servers.limits.fair_pool import MOST_PASSED_OVER, FairLimit, FairThreadPool


@pytest_asyncio.fixture
async def pool() -> AsyncIterator[FairThreadPool]:
    pool = FairThreadPool(most=4, most_each=2)
    yield pool
    await pool.close()


async def test_a_job_gives_what_it_returns_and_raises_what_it_raises(pool: FairThreadPool) -> None:
    assert await pool.run("a", lambda: 1 + 1) == 2
    with pytest.raises(ZeroDivisionError):
        await pool.run("a", lambda: 1 // 0)


async def test_jobs_of_one_environment_leave_room_for_those_of_another(pool: FairThreadPool) -> None:
    end = threading.Event()
    held = [asyncio.create_task(pool.run("a", end.wait)) for _ in range(100)]
    await asyncio.sleep(0)
    assert await pool.run("b", lambda: "done") == "done"
    assert pool.waiting == 98
    end.set()
    assert all(await asyncio.gather(*held))
    assert pool.waiting == 0


async def test_environments_take_turns() -> None:
    limit = FairLimit(most=1, most_each=1)
    order: list[str] = []

    async def take(environment: str) -> None:
        async with limit.taken(environment):
            order.append(environment)
            await asyncio.sleep(0)

    await asyncio.gather(*(take(one) for one in ["a"] * 6 + ["b"] * 2 + ["c"]))
    assert order == ["a", "a", "b", "c", "a", "b", "a", "a", "a"]


async def test_a_job_that_is_cancelled_in_its_queue_never_runs(pool: FairThreadPool) -> None:
    end = threading.Event()
    ran: list[int] = []
    held = [asyncio.create_task(pool.run("a", end.wait)) for _ in range(2)]
    late = asyncio.create_task(pool.run("a", lambda: ran.append(1)))
    await asyncio.sleep(0)
    late.cancel()
    await asyncio.wait([late])
    end.set()
    await asyncio.gather(*held)
    assert late.cancelled()
    assert await pool.run("a", lambda: list(ran)) == []


async def test_a_job_that_runs_is_waited_for_when_its_caller_is_cancelled(pool: FairThreadPool) -> None:
    begun, end = threading.Event(), threading.Event()

    def job() -> None:
        begun.set()
        end.wait()

    running = asyncio.create_task(pool.run("a", job))
    await asyncio.to_thread(begun.wait)
    running.cancel()
    await asyncio.wait([running], timeout=0.01)
    assert not running.done()
    end.set()
    await asyncio.wait([running])
    assert running.cancelled()


async def test_a_job_is_stopped_and_waited_for_however_often_its_caller_is_cancelled(pool: FairThreadPool) -> None:
    begun, stopped, end = threading.Event(), threading.Event(), threading.Event()

    def job() -> None:
        begun.set()
        end.wait()

    running = asyncio.create_task(pool.run("a", job, stop=stopped.set))
    await asyncio.to_thread(begun.wait)
    for _ in range(3):
        running.cancel()
        await asyncio.wait([running], timeout=0.01)
        assert stopped.is_set()
        assert not running.done()
    end.set()
    await asyncio.wait([running])
    assert running.cancelled()


async def test_a_pool_that_closes_stops_its_jobs_waits_for_them_and_takes_no_more() -> None:
    pool, end = FairThreadPool(most=4, most_each=2), threading.Event()
    running = [asyncio.create_task(pool.run("a", end.wait, stop=end.set)) for _ in range(2)]
    late = asyncio.create_task(pool.run("a", end.wait))
    await asyncio.sleep(0)
    await pool.close()
    assert end.is_set()
    assert await asyncio.gather(*running) == [True, True]
    with pytest.raises(CapacityError, match="the worker is stopping"):
        await late


async def test_what_is_too_large_for_its_share_gets_in_alone() -> None:
    limit = FairLimit(most=10, most_each=5)
    async with limit.taken("a", 20):
        small = asyncio.create_task(_taken(limit, "b"))
        await asyncio.sleep(0)
        assert not small.done()
    await small
    async with limit.taken("b", 1), limit.taken("a", 9):
        assert limit.waiting == 0


async def test_a_large_request_is_passed_over_for_a_while_and_then_no_more() -> None:
    limit = FairLimit(most=10, most_each=10)
    async with limit.taken("a", 5):
        large = asyncio.create_task(_taken(limit, "b", 10))
        await asyncio.sleep(0)
        for _ in range(MOST_PASSED_OVER):
            await _taken(limit, "c")
        late = asyncio.create_task(_taken(limit, "c"))
        await asyncio.wait([late], timeout=0.01)
        assert not late.done()
    await asyncio.gather(large, late)


@pytest.mark.parametrize("granted", [True, False], ids=["after", "before"])
async def test_a_request_that_is_granted_and_cancelled_at_once_holds_nothing(granted: bool) -> None:
    limit = FairLimit(most=1, most_each=1)
    async with limit.taken("a"):
        late = asyncio.create_task(_taken(limit, "b"))
        await asyncio.sleep(0)
        if not granted:
            late.cancel()
    late.cancel()  # it has not run since it was granted
    await asyncio.wait([late])
    async with asyncio.timeout(10), limit.taken("c"):
        assert limit.waiting == 0


async def _taken(limit: FairLimit, environment: str, amount: int = 1) -> None:
    async with limit.taken(environment, amount):
        pass
