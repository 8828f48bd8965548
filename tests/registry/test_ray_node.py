"""A worker on a node of a Ray cluster, without Ray: it joins, comes back when it dies, and says why it cannot join."""

import asyncio
import os
import signal
from pathlib import Path

from registry.workers.ray_node import NodePlace, RayNodeWorker, RayOrder
from servers.worker.settings import WorkerSettings
from tests.processes import free_ports, offspring, until
from tests.registry.farms import Farm
from tests.registry.members import JOIN_TOKEN, joinable
from tests.test_up import called

HERE = NodePlace(address="127.0.0.1", number=1, of=1)


def order(url: str, folder: Path, *, token: str = JOIN_TOKEN, port: int = 0) -> RayOrder:
    return RayOrder(
        address="",
        registry=url,
        join_token=token,
        port=port,
        cores_each=None,
        loopback_only=True,
        log_level="info",
        settings=WorkerSettings(walls_required=False, gated=True),
        state=folder / "states",
    )


def workers() -> list[int]:
    return [one.pid for one in offspring(os.getpid()) if "farm worker" in one.command]


async def test_it_joins_with_the_bundles_of_the_registry_and_comes_back_at_its_port(farm: Farm, tmp_path: Path) -> None:
    port = free_ports(2)
    async with joinable(farm) as door:
        actor = RayNodeWorker(order(door.url, tmp_path, port=port), HERE)
        serving = asyncio.create_task(actor.serve())
        seats = farm.registry.fleet.seats
        await until(lambda: "127.0.0.1-1" in seats and seats["127.0.0.1-1"].answers, "it has joined")
        await farm.client.drain("local")
        [lease] = await farm.client.launch("shop", "dearer")
        assert (lease.mcp_url or "").startswith(f"http://127.0.0.1:{port + 1}/")
        session = seats["127.0.0.1-1"].session
        os.kill(workers()[0], signal.SIGKILL)
        await until(lambda: seats["127.0.0.1-1"].session != session, "it has joined again")
        assert "anvil" in await called(lease, "find")
        await actor.end()
        assert await serving == ""
        assert workers() == []


async def test_a_worker_that_is_refused_says_why(farm: Farm, tmp_path: Path) -> None:
    async with joinable(farm) as door:
        reason = await RayNodeWorker(order(door.url, tmp_path, token="f" * 40), HERE).serve()
    assert "does not know the join token" in reason


def test_a_node_has_one_worker_or_one_for_so_many_cores(tmp_path: Path) -> None:
    one = order("http://127.0.0.1:1", tmp_path)
    some = one.model_copy(update={"cores_each": 8})
    assert [some.count_for(cores) for cores in (1, 8, 15, 32)] == [1, 1, 1, 4]
    assert one.count_for(32) == 1
    assert NodePlace(address="fd00::A", number=2, of=2).name == "fd00--a-2"
