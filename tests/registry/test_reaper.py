"""Leases end by their time, and instances that nobody holds are closed."""

import logging
from pathlib import Path

import pytest

from registry.messages import KEEP_SECONDS
from registry.reaper import GRACE_SECONDS, Reaper, Reconciled
from registry.workers.fleet import FleetMember
from registry.workers.remote_worker import RemoteWorker
from servers.bundle_library import Library
from servers.errors import Conflict
from servers.messages import Launch
from tests.registry.farms import Clock, Farm, running


async def test_a_lease_ends_at_its_time_even_before_the_reaper_comes(farm: Farm) -> None:
    [lease] = await farm.client.launch("shop", ttl_seconds=60)
    farm.clock.now += 60
    late = await farm.client.lease(lease.instance)
    assert (late.status, late.token) == ("expired", None)
    with pytest.raises(Conflict, match="is expired; a heartbeat revives it until"):
        await farm.client.reset(lease.instance)
    assert [found.instance for found in (await farm.client.leases(status="expired")).items] == [lease.instance]
    assert (await farm.client.leases(status="live")).total == 0


async def test_the_reaper_closes_what_is_over_and_counts_it_as_orphaned(farm: Farm) -> None:
    await farm.client.launch("shop", count=250, ttl_seconds=60)
    kept = await farm.launched(ttl_seconds=600)
    closed = await farm.launched(ttl_seconds=60)
    await farm.client.close(closed)
    farm.clock.now += 60
    assert await farm.reaper.reap() == 250
    assert farm.worker.live - len(await farm.worker.suspended()) == 1
    assert not farm.worker.is_suspended(kept)
    health = await farm.client.health()
    assert (health.orphans, health.instances) == (250, 1)
    assert farm.ledger.orphans() == 250
    assert await farm.reaper.reap() == 0


async def test_an_instance_without_a_lease_is_closed_after_a_grace(
    farm: Farm, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    kept = await farm.launched()
    [stranger] = await farm.worker.launch(Launch(environment="shop"))
    assert await farm.reaper.reconcile() == Reconciled(closed=0, dropped=0)
    farm.clock.now += KEEP_SECONDS - 1
    await farm.client.heartbeat(kept)
    assert await farm.reaper.reconcile() == Reconciled(closed=0, dropped=0)
    farm.clock.now += 1
    assert await farm.reaper.reconcile() == Reconciled(closed=1, dropped=0)
    assert farm.worker.ids() == [kept]
    assert stranger.instance != kept


async def test_a_lease_whose_instance_is_gone_is_dropped(farm: Farm) -> None:
    lost, kept = await farm.launched(), await farm.launched()
    await farm.worker.close(lost)
    assert await farm.reaper.reconcile() == Reconciled(closed=0, dropped=1)
    assert (await farm.client.lease(lost)).status == "closed"
    assert (await farm.client.lease(kept)).status == "live"
    assert (await farm.client.health()).instances == 1


async def test_a_worker_that_does_not_answer_loses_no_lease_and_shows_in_the_health(farm: Farm) -> None:
    silent = RemoteWorker("http://127.0.0.1:9", "token")
    await farm.registry.join(FleetMember("far", silent.url, silent))
    await farm.launched()
    await farm.reaper.reconcile()
    health = await farm.client.health()
    assert (health.status, health.workers, health.instances) == ("degraded", 1, 1)
    assert {worker.name: worker.answers for worker in (await farm.client.workers()).items} == {
        "far": False,
        "local": True,
    }
    await silent.aclose()


async def test_the_reaper_looks_after_leases_by_itself_and_mends_what_a_crash_left(
    library: Library, tmp_path: Path, clock: Clock
) -> None:
    async with running(library, tmp_path / "farm", clock) as farm:
        lost = await farm.launched()
        late = await farm.launched(ttl_seconds=60)
        clock.now += 60
    (tmp_path / "farm" / "worker" / "instances" / f"{lost}.history").unlink()
    async with running(library, tmp_path / "farm", clock) as farm:
        while (await farm.client.health()).orphans == 0:
            pass
        assert (await farm.client.lease(lost)).status == "closed"
        assert (await farm.client.lease(late)).status == "expired"
        assert farm.worker.ids() == await farm.worker.suspended() == [late]


async def test_trouble_with_the_ledger_shows_in_the_health(farm: Farm, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    (farm.folder / "ledger.db").write_bytes(b"spoilt" * 10_000)
    (farm.folder / "ledger.db-wal").write_bytes(b"")
    farm.ledger.close()
    async with Reaper(farm.registry, every_seconds=0) as reaper:
        while reaper.trouble is None:
            await farm.http.get("/v1/health")
    answer = await farm.http.get("/v1/instances")
    assert (answer.status_code, answer.json()["error"]["kind"]) == (503, "infra")


async def test_an_instance_whose_lease_was_closed_goes_sooner_than_an_unknown_one(farm: Farm) -> None:
    ended = await farm.launched()
    [unknown] = await farm.worker.launch(Launch(environment="shop"))
    farm.ledger.close_leases([ended], at=1.0)
    await farm.reaper.reconcile()
    farm.clock.now += GRACE_SECONDS
    assert await farm.reaper.reconcile() == Reconciled(closed=1, dropped=0)
    assert farm.worker.ids() == [unknown.instance]
