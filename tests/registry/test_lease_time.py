"""Leases go by the seconds in which the farm ran; what has expired is kept for a while."""

from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from registry.ledger.lease_clock import LONGEST_GAP, LeaseClock
from registry.messages import KEEP_SECONDS
from servers.bundle_library import Library
from servers.errors import Conflict
from servers.worker.settings import WorkerSettings
from tests.registry.farms import Clock, Farm, running

HOUR = 3600


@pytest.mark.parametrize("jump", [HOUR, -HOUR, 1e12, -1e12])
async def test_a_wall_clock_that_jumps_ends_no_lease_and_deletes_no_state(farm: Farm, jump: float) -> None:
    [lease] = await farm.client.launch("shop", ttl_seconds=60)
    farm.clock.wall_ahead = jump
    assert await farm.reaper.reap() == 0
    again = await farm.client.lease(lease.instance)
    assert (again.status, again.token) == ("live", lease.token)
    farm.clock.now += 59
    assert (await farm.client.heartbeat(lease.instance)).status == "live"
    farm.clock.now += 60
    assert await farm.reaper.reap() == 1
    assert farm.worker.ids() == [lease.instance]


async def test_dates_follow_the_wall_clock_and_stay_the_same_until_it_jumps(farm: Farm) -> None:
    [lease] = await farm.client.launch("shop", ttl_seconds=60)
    farm.clock.wall_ahead = 0.3
    assert (await farm.client.lease(lease.instance)).expires_at == lease.expires_at
    farm.clock.wall_ahead = HOUR
    assert (await farm.client.lease(lease.instance)).expires_at == lease.expires_at + timedelta(hours=1)


async def test_the_time_in_which_the_farm_is_down_does_not_count(library: Library, tmp_path: Path) -> None:
    clock = Clock()
    async with running(library, tmp_path / "farm", clock) as farm:
        [lease] = await farm.client.launch("shop", ttl_seconds=60)
        clock.now += 50
    clock.now += 7 * 24 * HOUR
    async with running(library, tmp_path / "farm", clock) as farm:
        clock.now += 9
        assert (await farm.client.lease(lease.instance)).status == "live"
        clock.now += 1
        assert (await farm.client.lease(lease.instance)).status == "expired"


def test_a_machine_that_slept_counts_little_and_a_clock_never_goes_back() -> None:
    clock = Clock()
    lease_clock = LeaseClock(1_000.0, monotonic=clock, wall=clock.wall)
    clock.now += 5
    assert lease_clock.now() == 1_005.0
    clock.now += HOUR
    assert lease_clock.now() == 1_005.0 + LONGEST_GAP
    clock.now -= HOUR
    assert lease_clock.now() == 1_005.0 + LONGEST_GAP
    assert lease_clock.date(1e300).year == 9999
    assert lease_clock.date(-1e300).year == 1970


async def test_an_expired_lease_can_be_read_scored_and_revived_while_it_is_kept(farm: Farm) -> None:
    [lease] = await farm.client.launch("shop", "dearer", ttl_seconds=60)
    await farm.call(lease.instance, "price", id="t2", cents=250)
    farm.clock.now += 60
    await farm.reaper.reap()
    over = await farm.client.lease(lease.instance)
    assert (over.status, over.token, over.mcp_url) == ("expired", None, None)
    assert over.kept_until == over.expires_at + timedelta(seconds=KEEP_SECONDS)
    assert (await farm.client.history(lease.instance)).total == 1
    assert (await farm.client.score(lease.instance)).reward == 1
    for refused in (farm.client.reset(lease.instance), farm.client.fork(lease.instance)):
        with pytest.raises(Conflict, match="is expired; a heartbeat revives it until"):
            await refused
    revived = await farm.client.heartbeat(lease.instance)
    assert (revived.status, revived.token, revived.mcp_url, revived.kept_until) == (
        "live",
        lease.token,
        lease.mcp_url,
        None,
    )
    assert not farm.worker.is_suspended(lease.instance)
    assert (await farm.client.health()).instances == 1


async def test_the_state_of_an_expired_lease_is_deleted_after_its_time(farm: Farm) -> None:
    [lease] = await farm.client.launch("shop", ttl_seconds=60)
    farm.clock.now += 60 + KEEP_SECONDS - 1
    await farm.reaper.reap()
    assert farm.worker.ids() == [lease.instance]
    farm.clock.now += 1
    await farm.reaper.reap()
    assert farm.worker.ids() == []
    assert [path.name for path in (farm.folder / "worker" / "instances").iterdir()] == []
    assert (await farm.client.lease(lease.instance)).kept_until is None
    for verb in (farm.client.heartbeat, farm.client.state, farm.client.score):
        with pytest.raises(Conflict, match="is expired; launch a new one"):
            await verb(lease.instance)


async def test_a_kept_state_is_deleted_at_once_when_it_is_closed(farm: Farm) -> None:
    [lease] = await farm.client.launch("shop", ttl_seconds=60)
    farm.clock.now += 60
    await farm.reaper.reap()
    await farm.client.close(lease.instance)
    assert farm.worker.ids() == []
    assert (await farm.client.health()).instances == 0


async def test_without_keeping_a_state_goes_with_its_lease(library: Library, tmp_path: Path, clock: Clock) -> None:
    async with running(library, tmp_path / "farm", clock, keep_seconds=0) as farm:
        [lease] = await farm.client.launch("shop", ttl_seconds=60)
        clock.now += 60
        with pytest.raises(Conflict, match="is expired; launch a new one"):
            await farm.client.heartbeat(lease.instance)
        await farm.reaper.reap()
        assert farm.worker.ids() == []


async def test_what_is_kept_takes_room(farm: Farm) -> None:
    await farm.client.launch("shop", ttl_seconds=60)
    farm.clock.now += 60
    await farm.reaper.reap()
    farm.worker.settings = WorkerSettings(most_instances=1)
    answer = await farm.http.post("/v1/instances", json={"environment": "shop"})
    assert (answer.status_code, answer.json()["error"]["kind"]) == (503, "capacity")


async def test_a_lease_that_is_revived_while_it_is_suspended_stays_open(farm: Farm) -> None:
    [lease] = await farm.client.launch("shop", ttl_seconds=60)
    farm.clock.now += 60
    [due] = farm.ledger.expire(now=farm.clock(), at=farm.clock(), limit=10)
    await farm.client.heartbeat(lease.instance)
    await farm.registry.suspend(due)
    assert not farm.worker.is_suspended(lease.instance)


@pytest.mark.parametrize("ttl", ["0", "-1", "604801", "1e400", "NaN", "Infinity", "60.5", '"x"', "null", "1" * 400])
async def test_a_time_that_is_none_is_refused(farm: Farm, ttl: str) -> None:
    body = f'{{"environment": "shop", "ttl_seconds": {ttl}}}'
    answer = await farm.http.post("/v1/instances", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)
    assert answer.json()["error"]["kind"] == "invalid"
    assert (await farm.client.leases()).total == 0


async def test_the_reaper_deletes_nothing_by_a_ledger_that_is_not_its_own(farm: Farm) -> None:
    instance = await farm.launched()
    with farm.ledger._writing() as connection:  # pyright: ignore[reportPrivateUsage]
        connection.exec_driver_sql("DELETE FROM farm")
        connection.exec_driver_sql("DELETE FROM leases")
    for _ in range(3):
        farm.clock.now += KEEP_SECONDS
        await farm.reaper._pass(reconcile=True)  # pyright: ignore[reportPrivateUsage]
    assert farm.worker.ids() == [instance]
    assert "does not know this farm" in (farm.reaper.trouble or "")
    async with httpx.AsyncClient(base_url=farm.url) as stranger:
        assert (await stranger.get("/v1/health")).json()["status"] == "degraded"
