"""Which worker gets an instance, and what happens when one is away or full."""

import socket
from collections import Counter
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio

from registry.workers.fleet import EmbeddedWorker, FleetMember
from registry.workers.remote_worker import RemoteWorker
from servers.bundle_library import Library
from servers.doors.operations import WALLS, EmptyOrder
from servers.errors import CapacityError, NotFound
from servers.worker.settings import WorkerSettings
from servers.worker.worker import Worker
from tests.registry.farms import Farm


@pytest_asyncio.fixture
async def second(farm: Farm, library: Library, tmp_path: Path) -> AsyncGenerator[Worker]:
    """A second worker in the fleet."""
    async with Worker(library, tmp_path / "second") as worker:
        await farm.registry.join(FleetMember("second", "http://second", EmbeddedWorker(worker)))
        yield worker


async def shares(farm: Farm) -> Counter[str]:
    leases = await farm.client.leases(status="live", limit=1000)
    return Counter(lease.worker for lease in leases.items)


async def test_new_instances_go_where_the_fewest_are(farm: Farm, second: Worker) -> None:
    await farm.client.launch("shop", count=10)
    assert await shares(farm) == {"local": 5, "second": 5}
    for lease in (await farm.client.leases()).items[:2]:
        await farm.client.close(lease.instance)
    await farm.client.launch("shop", count=4)
    assert await shares(farm) == {"local": 6, "second": 6}
    assert second.live == 6


async def test_each_instance_is_reached_at_its_own_worker(farm: Farm, second: Worker) -> None:
    for lease in await farm.client.launch("shop", "dearer", count=2):
        assert lease.mcp_url is not None
        assert lease.mcp_url.startswith("http://second" if lease.worker == "second" else farm.url)
        assert second.has(lease.instance) == (lease.worker == "second")
        assert (await farm.client.score(lease.instance)).reward == 0
        [fork] = await farm.client.fork(lease.instance)
        assert fork.worker == lease.worker


async def test_a_full_worker_is_passed_over(farm: Farm, second: Worker) -> None:
    second.settings = WorkerSettings(most_instances=1)
    await farm.client.launch("shop", count=10)
    assert await shares(farm) == {"local": 10}
    assert (farm.worker.live, second.live) == (10, 0)


async def test_when_all_are_full_nothing_is_launched(farm: Farm, second: Worker) -> None:
    second.settings = farm.worker.settings = WorkerSettings(most_instances=2)
    with pytest.raises(CapacityError, match="no room"):
        await farm.client.launch("shop", count=6)
    assert (second.live, farm.worker.live) == (0, 0)


async def test_a_worker_that_does_not_answer_gets_nothing(farm: Farm) -> None:
    silent = RemoteWorker("http://127.0.0.1:9", "token")
    await farm.registry.join(FleetMember("far", silent.url, silent))
    await farm.client.launch("shop", count=4)
    assert await shares(farm) == {"local": 4}
    await silent.aclose()


async def test_what_no_worker_can_launch_is_not_tried_again(farm: Farm, second: Worker) -> None:
    with pytest.raises(NotFound):
        await farm.client.launch("zoo", count=2)
    assert second.live == 0


async def test_an_instance_whose_worker_is_away_waits_for_it(farm: Farm, second: Worker) -> None:
    leases = await farm.client.launch("shop", "dearer", count=2)
    away = next(lease.instance for lease in leases if lease.worker == "second")
    del farm.registry.fleet.seats["second"]
    with pytest.raises(CapacityError, match="the worker 'second', which has this instance, has not joined"):
        await farm.client.state(away)
    await farm.registry.join(FleetMember("second", "http://second", EmbeddedWorker(second)))
    assert (await farm.client.history(away)).total == 0


async def test_a_farm_without_workers_says_so(farm: Farm) -> None:
    farm.registry.fleet.seats.clear()
    with pytest.raises(CapacityError, match="no worker is there"):
        await farm.client.launch("shop")
    assert (await farm.client.health()).status == "degraded"


async def test_an_instance_closed_while_its_worker_was_away_is_closed_when_it_is_back(
    farm: Farm, second: Worker
) -> None:
    leases = await farm.client.launch("shop", count=2)
    away = next(lease.instance for lease in leases if lease.worker == "second")
    seat = farm.registry.fleet.seats.pop("second")
    await farm.client.close(away)
    assert second.has(away)
    await farm.registry.join(seat)
    await farm.reaper.reconcile()
    farm.clock.now += 60
    await farm.reaper.reconcile()
    assert not second.has(away)


async def test_a_worker_that_answers_too_late_is_not_said_to_be_restarted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("registry.workers.remote_worker.SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        worker = RemoteWorker(f"http://127.0.0.1:{silent.getsockname()[1]}", "token")
        with pytest.raises(CapacityError, match=r"did not answer walls within 0\.05 s; the machine may be busy"):
            await worker.ask(WALLS, EmptyOrder())
        await worker.aclose()
