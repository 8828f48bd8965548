"""Instances that travel: forked onto another worker, and moved to one."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import pytest
import pytest_asyncio
from starlette.types import Receive, Scope, Send

from registry import leases
from registry.workers.fleet import EmbeddedWorker, FleetMember
from servers.bundle_library import Library
from servers.doors.operations import SUSPEND, InstanceOrder
from servers.errors import CapacityError, Conflict, InfraError, NotFound, StateError
from servers.state.state_file import KeptCall, Origin, StateFile
from servers.worker import travel
from servers.worker.settings import WorkerSettings
from servers.worker.worker import Worker
from tests.bundles import write_bundle
from tests.registry.farms import Farm
from tests.registry.members import joinable, worker_at

UNLOADED = WorkerSettings(most_instances=1)


@pytest_asyncio.fixture
async def second(farm: Farm, library: Library, tmp_path: Path) -> AsyncGenerator[Worker]:
    """A second worker in the fleet, which gets nothing by itself."""
    async with Worker(library, tmp_path / "second") as worker:
        await farm.registry.join(FleetMember("second", "http://second", EmbeddedWorker(worker), capacity=1))
        yield worker


async def begun(farm: Farm) -> str:
    """An instance on the first worker, with two calls, one of which was refused."""
    instance = await farm.launched("dearer")
    await farm.call(instance, "price", id="t2", cents=250)
    await farm.worker.find(instance).call("price", {"id": "nobody", "cents": 1})
    return instance


async def test_a_fork_on_another_worker_stands_where_its_parent_stands(farm: Farm, second: Worker) -> None:
    parent = await begun(farm)
    forks = await farm.client.fork(parent, 3, worker="second")
    assert {fork.worker for fork in forks} == {"second"}
    assert second.live == 3
    for fork in forks:
        assert (await farm.client.diff(fork.instance)).items == (await farm.client.diff(parent)).items
        assert (await farm.client.history(fork.instance)).items == (await farm.client.history(parent)).items
        assert (await farm.client.score(fork.instance)).reward == 1
    await second.find(forks[0].instance).call("price", {"id": "t2", "cents": 7})
    assert [(await farm.client.history(one)).total for one in (parent, *(fork.instance for fork in forks))] == [
        2,
        3,
        2,
        2,
    ]


async def test_a_fork_goes_to_another_worker_where_its_own_has_no_room(farm: Farm, second: Worker) -> None:
    parent = await begun(farm)
    farm.worker.settings = UNLOADED
    [fork] = await farm.client.fork(parent)
    assert fork.worker == "second"
    second.settings = UNLOADED
    with pytest.raises(CapacityError, match="no room"):
        await farm.client.fork(parent)
    assert (farm.worker.live, second.live) == (1, 1)


async def test_a_moved_instance_keeps_its_lease_and_is_at_its_new_worker_alone(farm: Farm, second: Worker) -> None:
    instance = await begun(farm)
    before = await farm.client.lease(instance)
    after = await farm.client.move(instance)
    assert (after.instance, after.expires_at, after.scenario) == (instance, before.expires_at, "dearer")
    assert (after.worker, after.token != before.token) == ("second", True)
    assert str(after.mcp_url).startswith("http://second")
    assert await farm.client.lease(instance) == after
    assert (farm.worker.has(instance), second.has(instance)) == (False, True)
    assert [farm.registry.fleet.seats[name].live for name in ("local", "second")] == [0, 1]
    assert (await farm.client.history(instance)).total == 2
    assert (await farm.client.score(instance)).reward == 1
    assert not (await second.find(instance).call("price", {"id": "t2", "cents": 7})).is_error
    await farm.client.move(instance, worker="local")
    assert (await farm.client.history(instance)).total == 3
    await farm.client.close(instance)
    assert (farm.worker.live, second.live) == (0, 0)


async def test_what_cannot_move_stays_and_is_answered(
    farm: Farm, second: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = await begun(farm)
    with pytest.raises(Conflict, match="is on local already"):
        await farm.client.move(instance, worker="local")
    with pytest.raises(NotFound, match=r"no worker 'secnod'; did you mean 'second'"):
        await farm.client.move(instance, worker="secnod")
    await farm.client.drain("second")
    with pytest.raises(CapacityError, match="is drained"):
        await farm.client.move(instance, worker="second")
    await farm.client.drain("second", drains=False)
    second.settings = WorkerSettings(most_instances=0)
    with pytest.raises(CapacityError, match="no room"):
        await farm.client.move(instance)
    second.settings = WorkerSettings()
    monkeypatch.setattr(travel, "LARGEST_TRAVELLER", 100)
    with pytest.raises(Conflict, match="at most 100 go to another worker"):
        await farm.client.move(instance)
    assert second.live == 0
    assert not farm.worker.is_suspended(instance)
    await farm.call(instance, "price", id="t2", cents=7)


async def test_a_move_that_takes_too_long_is_undone(
    farm: Farm, library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def silent(_scope: Scope, _receive: Receive, _send: Send) -> None:
        await asyncio.Event().wait()

    instance = await begun(farm)
    async with joinable(farm) as door, worker_at(door.url, library, tmp_path / "far", odd={"unpack": silent}) as far:
        await far.member.join()
        monkeypatch.setattr(leases, "SECONDS_TO_MOVE", 0.1)
        with pytest.raises(CapacityError, match=r"could not be moved within 0\.1 s"):
            await farm.client.move(instance, worker="far")
    assert not farm.worker.is_suspended(instance)
    await farm.call(instance, "price", id="t2", cents=7)


async def test_an_instance_does_not_move_to_another_version_of_its_bundle(farm: Farm, tmp_path: Path) -> None:
    await write_bundle(tmp_path / "other" / "shop", policy="Be kind, and never lie.")
    instance = await begun(farm)
    async with Worker(Library([tmp_path / "other"]), tmp_path / "far") as far:
        await farm.registry.join(FleetMember("far", "http://far", EmbeddedWorker(far)))
        with pytest.raises(Conflict, match="the bundle shop has changed"):
            await farm.client.move(instance)
        assert far.live == 0
    assert not farm.worker.is_suspended(instance)


async def test_no_change_of_a_history_from_elsewhere_is_believed(farm: Farm, second: Worker) -> None:
    instance = await begun(farm)
    whole = await farm.worker.pack(instance)
    origin, calls = StateFile.parsed(whole)
    for at in range(len(whole)):
        damaged = whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]
        with pytest.raises(StateError, match="state file"):
            StateFile.parsed(damaged)
    assert origin.environment == "shop"
    assert len(calls) == 2
    forged = {
        "its changes twice": [calls[0], calls[0]._replace(seq=2)],
        "a call is left out": [calls[1]],
        "changes of a refused call": [calls[0]._replace(outcome="refused")],
        "no changeset": [calls[0]._replace(changes=b"T\x01\x02 nonsense")],
        "arguments that are none": [calls[0]._replace(arguments="7")],
        "an unknown outcome": [calls[0]._replace(outcome="won")],
    }
    for what, history in forged.items():
        with pytest.raises(InfraError, match="does not hold at call"):
            await second.unpack(written(farm.worker, origin, history), "", 1)
        assert second.live == 0, what
    await second.unpack(written(farm.worker, origin, calls), "", 1)
    assert second.live == 1


async def test_a_move_that_was_cut_short_is_mended_by_the_reaper(farm: Farm, second: Worker) -> None:
    instance = await begun(farm)
    await farm.registry.fleet.seats["local"].door.ask(SUSPEND, InstanceOrder(instance=instance))
    await second.unpack(await farm.worker.pack(instance), "", 1, keeps=instance)  # and here its registry was killed
    await farm.reaper.reconcile()
    assert (farm.worker.is_suspended(instance), second.has(instance)) == (True, True)
    with pytest.raises(Conflict, match="a former copy"):
        await farm.client.move(instance)
    farm.clock.now += 61
    await farm.client.heartbeat(instance)
    await farm.reaper.reconcile()
    assert (farm.worker.is_suspended(instance), second.has(instance)) == (False, False)
    assert (await farm.client.move(instance)).worker == "second"


async def test_a_state_travels_between_processes(farm: Farm, library: Library, tmp_path: Path) -> None:
    instance = await begun(farm)
    async with joinable(farm) as door, worker_at(door.url, library, tmp_path / "far") as far:
        await far.member.join()
        moved = await farm.client.move(instance, worker="far")
        assert str(moved.mcp_url).startswith(far.url)
        [fork] = await farm.client.fork(instance, worker="local")
        assert (await farm.client.score(fork.instance)).reward == (await farm.client.score(instance)).reward == 1
        await farm.client.move(instance, worker="local")
        assert far.worker.live == 0


def written(worker: Worker, origin: Origin, calls: Sequence[KeptCall]) -> bytes:
    """A state file with these calls, whose digests fit."""
    path = worker.folder / "instances" / "forged.history"
    StateFile.create(path, worker.index, origin._replace(id="forged"), calls)
    return path.read_bytes()
