"""A scenario over two environments: one lease of two instances, which begin, are judged and end together."""

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from registry.messages import Lease
from registry.workers.fleet import EmbeddedWorker, FleetMember
from servers.bundle_library import Library
from servers.errors import BundleError, Conflict, FarmError, NotFound
from servers.scenario.two_environments import LONGEST_NAME, named_after, routes
from servers.worker.worker import Worker
from tests.pairs import TRIP, write_pair
from tests.registry.farms import Clock, Farm, running

HALF = {**TRIP["second"], "setup": "INSERT INTO nothing VALUES (1);"}
AWAY = {**TRIP["second"], "environment": "away"}


@pytest_asyncio.fixture(scope="module")
async def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return await write_pair(tmp_path_factory.mktemp("pair"))


@pytest_asyncio.fixture
async def trips(pair: Path, tmp_path: Path, clock: Clock) -> AsyncGenerator[Farm]:
    async with running(Library([pair]), tmp_path / "farm", clock) as farm:
        yield farm


async def launched(farm: Farm, **order: Any) -> tuple[Lease, str]:
    """A lease of two instances, and the id of the second."""
    [lease] = await farm.client.launch("shop", "trip", pairs=True, **order)
    assert lease.second is not None
    return lease, lease.second.instance


async def test_both_are_launched_judged_together_and_closed_together(trips: Farm) -> None:
    lease, second = await launched(trips)
    assert lease.second is not None
    assert (lease.environment, lease.second.environment) == ("shop", "inn")
    await trips.call(lease.instance, "price", id="t2", cents=300)
    half = await trips.client.score(lease.instance)
    assert (half.reward, half.success, [one.holds for one in half.verdicts]) == (0.5, False, [True, True, False, True])
    await trips.call(second, "price", id="t3", cents=450)
    whole = await trips.client.score(lease.instance, close=True)
    assert (whole.reward, whole.success, whole.calls) == (1.0, True, 2)
    assert (await trips.client.leases(status="live")).total == 0
    assert trips.worker.ids() == []


async def test_a_guard_of_the_second_one_takes_the_whole_reward(trips: Farm) -> None:
    lease, second = await launched(trips)
    await trips.call(lease.instance, "price", id="t2", cents=300)
    await trips.call(second, "price", id="t1", cents=1)
    assert (await trips.client.score(lease.instance)).reward == 0.0


@pytest.mark.parametrize(("second", "kind"), [(HALF, BundleError), (AWAY, NotFound)], ids=["no start", "not there"])
async def test_if_the_second_one_does_not_launch_neither_stays(
    second: dict[str, Any], kind: type[FarmError], tmp_path: Path, clock: Clock
) -> None:
    library = Library([await write_pair(tmp_path / "library", second=second)])
    async with running(library, tmp_path / "farm", clock) as farm:
        with pytest.raises(kind):
            await farm.client.launch("shop", "trip", count=3, pairs=True)
        assert (await farm.client.leases()).total == 0
        assert farm.worker.ids() == []


async def test_who_takes_one_instance_gets_none(trips: Farm) -> None:
    with pytest.raises(Conflict, match="over two environments, shop and inn"):
        await trips.client.launch("shop", "trip")
    with pytest.raises(Conflict, match="cannot be perturbed"):
        await trips.client.launch("shop", "trip", pairs=True, perturb="names")
    assert trips.worker.ids() == []


async def test_a_key_is_answered_with_the_same_two(trips: Farm) -> None:
    first, second = await launched(trips, key="step-1")
    assert await launched(trips, key="step-1") == (first, second)
    assert len(trips.worker.ids()) == 2


async def test_a_reset_puts_both_back(trips: Farm) -> None:
    lease, second = await launched(trips)
    await trips.call(lease.instance, "price", id="t2", cents=300)
    await trips.call(second, "price", id="t3", cents=450)
    await trips.client.reset(lease.instance)
    assert [(await trips.client.diff(one)).items for one in (lease.instance, second)] == [(), ()]


async def test_a_fork_has_two_of_its_own(trips: Farm) -> None:
    lease, second = await launched(trips)
    await trips.call(second, "price", id="t3", cents=450)
    [fork] = await trips.client.fork(lease.instance)
    assert fork.second is not None
    assert fork.second.instance not in (lease.instance, second)
    await trips.call(fork.instance, "price", id="t2", cents=300)
    assert (await trips.client.score(fork.instance)).success is True
    assert (await trips.client.score(lease.instance)).reward == 0.5


async def test_both_move_and_are_forked_elsewhere(pair: Path, trips: Farm, tmp_path: Path) -> None:
    lease, second = await launched(trips)
    await trips.call(lease.instance, "price", id="t2", cents=300)
    await trips.call(second, "price", id="t3", cents=450)
    async with Worker(Library([pair]), tmp_path / "far") as far:
        await trips.registry.join(FleetMember("far", "http://far", EmbeddedWorker(far)))
        [fork] = await trips.client.fork(lease.instance, worker="far")
        assert fork.second is not None
        assert far.ids() == sorted((fork.instance, fork.second.instance))
        assert (await trips.client.score(fork.instance)).reward == 1
        await trips.client.move(lease.instance, worker="far")
        await trips.client.move(second, worker="far")
        assert (far.live, trips.worker.live) == (4, 0)
        assert (await trips.client.score(lease.instance)).reward == 1
        await trips.client.close(lease.instance)
        assert far.live == 2


async def test_a_heartbeat_keeps_both_and_without_one_both_expire(trips: Farm, clock: Clock) -> None:
    lease, second = await launched(trips, ttl_seconds=60)
    clock.now += 50
    kept = await trips.client.heartbeat(lease.instance)
    assert kept.second is not None
    assert kept.second.token
    clock.now += 50
    await trips.reaper.reap()
    assert [(await trips.client.lease(one)).status for one in (lease.instance, second)] == ["live", "live"]
    clock.now += 50
    await trips.reaper.reap()
    assert [(await trips.client.lease(one)).status for one in (lease.instance, second)] == ["expired", "expired"]


async def test_the_second_one_is_no_lease_of_its_own(trips: Farm) -> None:
    lease, second = await launched(trips)
    assert (await trips.client.lease(second)).second_of == lease.instance
    client = trips.client
    for ask in (client.close, client.score, client.reset, client.fork, client.heartbeat):
        with pytest.raises(Conflict, match=f"ask about the first: {lease.instance}"):
            await ask(second)
    await client.close(lease.instance)
    assert (await client.lease(second)).status == "closed"


def test_the_name_of_a_tool_that_both_have_is_never_too_long() -> None:
    assert named_after("shop", "price") == "shop__price"
    assert (
        len(named_after("equipment_booking_of_a_university_laboratory", "show_the_history_of_a_thing")) == LONGEST_NAME
    )


@pytest.mark.parametrize(
    ("environments", "tools"),
    [(("a", "b"), (("find", "b__find"), ("find",))), (("alpha", "apple"), (("f" * 61,), ("f" * 61,)))],
)
def test_no_tool_is_lost_behind_the_name_of_another(
    environments: Sequence[str], tools: Sequence[Sequence[str]]
) -> None:
    with pytest.raises(BundleError, match=r"two tools of .* would be named"):
        routes(environments, tools)
