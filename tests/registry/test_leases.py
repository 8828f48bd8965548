"""Leases: launched, prolonged, listed, forked, closed."""

import asyncio
from datetime import timedelta

import httpx
import pytest

from servers.errors import CapacityError, Conflict, NotFound
from servers.worker.settings import WorkerSettings
from tests.registry.farms import Farm


async def test_a_launch_leases_as_many_instances_as_were_asked_for(farm: Farm) -> None:
    leases = await farm.client.launch("shop", "dearer", count=3, ttl_seconds=60, seed=7)
    assert len({lease.instance for lease in leases}) == 3
    assert len({lease.token for lease in leases}) == 3
    for lease in leases:
        assert lease.mcp_url == f"{farm.url}/i/{lease.instance}/mcp"
        assert (lease.environment, lease.scenario, lease.seed, lease.worker) == ("shop", "dearer", 7, "local")
        assert (lease.status, lease.expires_at - lease.created_at) == ("live", timedelta(seconds=60))
        assert lease.token == farm.worker.token_of(lease.instance)
    assert sorted(lease.instance for lease in leases) == farm.worker.ids()


async def test_a_thousand_instances_come_with_one_request(farm: Farm) -> None:
    assert len(await farm.client.launch("shop", count=1000)) == 1000
    assert (await farm.client.leases(status="live", limit=1)).total == 1000
    assert (await farm.client.health()).instances == 1000


async def test_an_instance_begins_at_its_scenario(farm: Farm) -> None:
    instance = await farm.launched("dearer", seed=3)
    standing = await farm.worker.standing(instance)
    assert (standing.scenario, standing.seed, standing.calls) == ("dearer", 3, 0)


async def test_a_lease_can_be_looked_up_with_its_token(farm: Farm) -> None:
    [lease] = await farm.client.launch("shop")
    assert await farm.client.lease(lease.instance) == lease


async def test_leases_are_listed_newest_first_by_status_and_environment_without_tokens(farm: Farm) -> None:
    first = await farm.launched()
    farm.clock.now += 1
    second = await farm.launched()
    await farm.client.close(first)
    every = await farm.client.leases()
    assert [lease.instance for lease in every.items] == [second, first]
    assert all(lease.token is None for lease in every.items)
    assert [lease.instance for lease in (await farm.client.leases(status="live")).items] == [second]
    assert [lease.instance for lease in (await farm.client.leases(status="closed")).items] == [first]
    assert (await farm.client.leases(environment="zoo")).total == 0
    page = await farm.client.leases(environment="shop", offset=1, limit=1)
    assert ([lease.instance for lease in page.items], page.total) == ([first], 2)


async def test_a_heartbeat_lets_the_time_of_a_lease_begin_anew(farm: Farm) -> None:
    [lease] = await farm.client.launch("shop", ttl_seconds=60)
    farm.clock.now += 50
    prolonged = await farm.client.heartbeat(lease.instance)
    assert prolonged.expires_at - lease.expires_at == timedelta(seconds=50)
    assert prolonged.token == lease.token
    farm.clock.now += 50
    assert (await farm.client.lease(lease.instance)).status == "live"


async def test_a_closed_instance_is_gone_and_its_lease_is_remembered(farm: Farm) -> None:
    instance = await farm.launched("dearer")
    await farm.client.close(instance)
    assert farm.worker.ids() == []
    lease = await farm.client.lease(instance)
    assert (lease.status, lease.token, lease.mcp_url) == ("closed", None, None)
    with pytest.raises(Conflict, match="closed already"):
        await farm.client.close(instance)
    for verb in (farm.client.heartbeat, farm.client.reset, farm.client.state, farm.client.fork, farm.client.score):
        with pytest.raises(Conflict, match=f"the lease of instance {instance} is closed; launch a new one"):
            await verb(instance)


async def test_a_reset_instance_stands_at_its_start_behind_the_same_door(farm: Farm) -> None:
    [lease] = await farm.client.launch("shop")
    await farm.call(lease.instance, "price", id="t2", cents=1)
    await farm.client.reset(lease.instance)
    assert (await farm.client.diff(lease.instance)).items == ()
    assert (await farm.client.history(lease.instance)).total == 0
    assert await farm.client.lease(lease.instance) == lease


async def test_forks_stand_where_their_parent_stands_for_its_remaining_time(farm: Farm) -> None:
    [parent] = await farm.client.launch("shop", "dearer", ttl_seconds=60)
    await farm.call(parent.instance, "price", id="t2", cents=1)
    farm.clock.now += 20
    forks = await farm.client.fork(parent.instance, 2)
    assert [fork.expires_at for fork in forks] == [parent.expires_at] * 2
    assert len({parent.token, *(fork.token for fork in forks)}) == 3
    await farm.call(forks[0].instance, "price", id="t2", cents=250)
    assert (await farm.client.history(forks[0].instance)).total == 2
    assert (await farm.client.history(forks[1].instance)).total == 1
    assert (await farm.client.score(forks[0].instance)).reward == 1
    assert (await farm.client.score(parent.instance)).reward == 0


async def test_launches_at_the_same_time_all_get_their_own(farm: Farm) -> None:
    many = await asyncio.gather(*(farm.client.launch("shop", count=5) for _ in range(20)))
    assert len({lease.instance for leases in many for lease in leases}) == 100
    assert (await farm.client.workers()).items[0].instances == 100


async def test_a_launch_that_has_no_room_leaves_nothing_and_says_when_to_come_back(farm: Farm) -> None:
    farm.worker.settings = WorkerSettings(most_instances=2)
    answer = await farm.http.post("/v1/instances", json={"environment": "shop", "count": 3})
    assert (answer.status_code, answer.json()["error"]["kind"]) == (503, "capacity")
    assert int(answer.headers["Retry-After"]) > 0
    assert (await farm.client.leases()).total == 0
    with pytest.raises(CapacityError, match="no room for 3 more"):
        await farm.client.launch("shop", count=3)
    assert len(await farm.client.launch("shop", count=2)) == 2


async def test_an_instance_that_never_was_is_not_found_by_any_route(farm: Farm) -> None:
    nobody = "0123456789abcdef"
    client = farm.client
    verbs = [client.lease, client.heartbeat, client.reset, client.close, client.state, client.diff, client.history]
    verbs += [client.snapshot, client.fork, client.score]
    for verb in verbs:
        with pytest.raises(NotFound, match=f"there is no instance '{nobody}'"):
            await verb(nobody)
    for asked in (client.table(nobody, "things"), client.query(nobody, "SELECT 1"), client.rewind(nobody, 0)):
        with pytest.raises(NotFound, match=f"there is no instance '{nobody}'"):
            await asked


async def test_the_farm_says_how_it_is_to_anybody(farm: Farm) -> None:
    await farm.launched()
    async with httpx.AsyncClient(base_url=farm.url) as stranger:
        said = (await stranger.get("/v1/health")).json()
    assert said.pop("version")
    assert said == {"status": "ok", "workers": 1, "instances": 1, "orphans": 0}


async def test_the_workers_are_listed(farm: Farm) -> None:
    await farm.client.launch("shop", count=2)
    [worker] = (await farm.client.workers()).items
    assert (worker.name, worker.url, worker.instances, worker.answers) == ("local", farm.url, 2, True)
