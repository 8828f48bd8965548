"""Instances that go to another worker: moved, and forked there. And every way in which that may end in the middle."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from registry import moves
from registry.ledger.database import LedgerError
from registry.moves import SECONDS_TO_GIVE_UP
from registry.workers import instance_door
from servers.bundle_library import Library
from servers.doors.mcp import AgentDoor
from servers.doors.operations import CALL, CallOrder
from servers.errors import CapacityError, Conflict, FarmError, Moving, NotFound
from servers.worker import departures, travelled_state, worker
from servers.worker.departures import Departures
from servers.worker.settings import WorkerSettings
from tests.bundles import write_bundle
from tests.processes import LONG
from tests.registry.farms import Farm
from tests.registry.members import joinable, worker_at
from tests.registry.moving import RegistryKilled, TwoWorkers, two_workers

FULL = WorkerSettings(most_instances=1)


@pytest_asyncio.fixture
async def both(farm: Farm, library: Library, tmp_path: Path) -> AsyncGenerator[TwoWorkers]:
    async with two_workers(farm, library, tmp_path / "second") as both:
        yield both


async def begun(both: TwoWorkers) -> str:
    """An instance on the first worker, with a call that changed rows, one that was refused, and one that was wrong."""
    instance = await both.farm.launched("dearer")
    await both.farm.call(instance, "price", id="t2", cents=250)
    for arguments in ({"id": "nobody", "cents": 1}, {"id": 7}):
        assert (await both.farm.worker.find(instance).call("price", arguments)).is_error
    return instance


async def test_a_moved_instance_keeps_its_lease_and_is_at_its_new_worker_alone(both: TwoWorkers) -> None:
    client, instance = both.farm.client, await begun(both)
    before, told = await client.lease(instance), (await client.history(instance)).items
    after = await client.move(instance)
    assert (after.instance, after.expires_at, after.scenario) == (instance, before.expires_at, "dearer")
    assert (after.worker, after.token != before.token) == ("second", True)
    assert str(after.mcp_url).startswith("http://localhost")
    assert await client.lease(instance) == after
    assert (both.copies()["local"], len(both.copies()["second"])) == ([], 1)
    assert [both.farm.registry.fleet.seats[name].live for name in ("local", "second")] == [0, 1]
    assert (await client.history(instance)).items == told
    assert (await client.score(instance)).reward == 1
    assert (await client.snapshot(instance))[:6] == b"SQLite"
    await client.rewind(instance, 1)
    await both.call(instance, "price", id="t2", cents=7)
    await client.move(instance, worker="local")
    assert await both.cents(instance) == [250, 7]
    assert await both.farm.reaper.reconcile() == (0, 0)
    await client.close(instance)
    assert both.copies() == {"local": [], "second": []}


async def test_calls_that_have_begun_are_in_the_state_that_moves_and_later_ones_go_to_it(both: TwoWorkers) -> None:
    instance = await both.farm.launched()
    order = [CallOrder(instance=instance, tool="price", arguments={"id": "t2", "cents": n}) for n in range(1, 31)]
    door = await both.farm.registry.door(instance)

    async def later(one: CallOrder) -> int:
        answer = await door.ask(CALL, one)
        assert answer.outcome == "ok", answer
        return one.arguments["cents"]

    calls = [asyncio.create_task(later(one)) for one in order[:20]]
    await asyncio.sleep(0)
    moving = asyncio.create_task(both.farm.registry.move(instance, worker="second"))
    await asyncio.sleep(0)
    calls += [asyncio.create_task(later(one)) for one in order[20:]]
    answered = await asyncio.gather(*calls)
    assert (await moving).worker == "second"
    assert sorted(await both.cents(instance)) == sorted(answered) == list(range(1, 31))


async def test_every_door_is_shut_while_an_instance_leaves_also_after_a_restart(both: TwoWorkers) -> None:
    instance, local = await begun(both), both.farm.worker
    held = local.find(instance)
    state = await local.depart(instance, "c" * 16)
    for one in (
        local.call(instance, "price", {"id": "t2", "cents": 9}),
        held.call("price", {"id": "t2", "cents": 9}),  # one that was past the doors already
        *(local.reset(instance), local.rewind(instance, 0), local.fork(instance, 1), local.mark_turn(instance)),
        *(local.standing(instance), local.history(instance), local.diff(instance), local.tables(instance)),
        *(local.snapshot(instance), local.query(instance, "SELECT 1"), local.export(instance)),
        local.depart(instance, "d" * 16),
    ):
        with pytest.raises((Moving, Conflict)) as refused:
            await one
        assert isinstance(refused.value, Moving), one
    await local.stay(instance, "d" * 16)  # the end of another move
    await both.restart("local")
    again = both.doors["local"].worker
    with pytest.raises(Moving):
        await again.call(instance, "price", {"id": "t2", "cents": 9})
    await again.stay(instance, "c" * 16)
    assert (await again.call(instance, "price", {"id": "t2", "cents": 9})).outcome == "ok"
    assert travelled_state.unpacked(state).calls[-1].seq == 3


async def test_the_old_url_says_that_the_instance_is_moving_and_then_that_it_has_moved(both: TwoWorkers) -> None:
    instance = await begun(both)
    lease = await both.farm.client.lease(instance)
    door = AgentDoor(both.farm.worker)
    body: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    headers = {"Authorization": f"Bearer {lease.token}", "MCP-Protocol-Version": "2025-11-25"}
    async with door.running(), httpx.AsyncClient(transport=httpx.ASGITransport(door), base_url="http://a") as http:

        async def answered(token: dict[str, str] = headers) -> tuple[int, str]:
            said = await http.post(f"/i/{instance}/mcp", json=body, headers=token)
            return said.status_code, said.json().get("error", {}).get("data", {}).get("kind", "")

        assert await answered() == (200, "")
        await both.farm.worker.depart(instance, "c" * 16)
        assert await answered() == (503, "moving")
        await both.farm.worker.stay(instance, "c" * 16)
        assert await answered() == (200, "")
        await both.farm.client.move(instance)
        assert await answered() == (410, "moved")
        assert await answered({}) == (401, "unauthorized")
    await both.restart("local")
    assert instance in both.doors["local"].worker.departures.left


async def test_of_many_moves_at_once_one_is_made_and_nothing_is_lost(both: TwoWorkers) -> None:
    instance = await begun(both)
    results = await asyncio.gather(
        *(both.farm.registry.move(instance, worker="second") for _ in range(8)), return_exceptions=True
    )
    refused = [one for one in results if isinstance(one, BaseException)]
    assert len(refused) == 7
    assert {type(one) for one in refused} == {Conflict}
    await both.settled(instance)
    assert (both.copies()["local"], len(both.copies()["second"])) == ([], 1)
    assert await both.cents(instance) == [250]


STEPS = [(name, when) for name in ("depart", "arrive", "leave") for when in ("before", "after")]


@pytest.mark.parametrize(("step", "when"), STEPS)
@pytest.mark.parametrize("victim", ["registry", "worker"])
async def test_after_a_death_at_any_step_one_copy_is_the_instance_and_has_every_answered_call(
    both: TwoWorkers, step: str, when: str, victim: str
) -> None:
    instance = await begun(both)
    broken = "second" if step == "arrive" else "local"
    both.doors[broken].kills = (step, when, victim)
    moved = None
    with suppress(RegistryKilled, FarmError):
        moved = await both.farm.registry.move(instance, worker="second")
    if victim == "worker":
        await both.restart(broken)
    answered = [250]
    await both.farm.reaper.reconcile()
    try:
        await both.call(instance, "price", id="t2", cents=300)
        answered.append(300)
    except Moving:
        assert victim == "registry"  # its move is given up after a minute
    await both.settled(instance)
    await both.call(instance, "price", id="t2", cents=400)
    assert await both.cents(instance) == [*answered, 400]
    assert sum(map(len, both.copies().values())) == 1
    kept = await both.farm.registry.kept(instance)
    assert (kept.worker, kept.moving) == ("second" if step == "leave" else "local", None)
    assert moved is None or moved.worker == "second"
    other = "local" if kept.worker == "second" else "second"
    assert (await both.farm.client.move(instance, worker=other)).worker == other
    assert await both.cents(instance) == [*answered, 400]


@pytest.mark.parametrize("is_settled", [True, False])
async def test_a_ledger_that_fails_at_the_switch_leaves_one_copy(
    both: TwoWorkers, monkeypatch: pytest.MonkeyPatch, is_settled: bool
) -> None:
    instance, ledger = await begun(both), both.farm.ledger
    settle = ledger.settle_move

    def fails(*args: object, **named: object) -> bool:
        if is_settled:
            settle(*args, **named)  # type: ignore[arg-type]
        raise LedgerError("the connection was cut")

    monkeypatch.setattr(ledger, "settle_move", fails)
    with pytest.raises(FarmError):
        await both.farm.registry.move(instance, worker="second")
    await both.settled(instance)
    assert (await both.farm.registry.kept(instance)).worker == ("second" if is_settled else "local")
    assert sum(map(len, both.copies().values())) == 1
    assert await both.cents(instance) == [250]


async def test_late_orders_of_a_move_that_is_over_change_nothing_for_long(both: TwoWorkers) -> None:
    instance, local = await begun(both), both.farm.worker
    await local.depart(instance, "c" * 16)  # of a move that its registry has given up
    with pytest.raises(Moving):
        await both.farm.registry.move(instance, worker="second")
    await both.farm.reaper.reconcile()
    assert (await both.farm.registry.move(instance, worker="second")).worker == "second"
    with pytest.raises(NotFound):
        await local.leave(instance, "c" * 16)
    await both.settled(instance)
    assert await both.cents(instance) == [250]


async def test_a_move_that_was_given_up_is_not_made_afterwards(both: TwoWorkers) -> None:
    instance = await begun(both)
    arrive, arrived = both.doors["second"].worker.arrive, asyncio.Event()
    go_on = asyncio.Event()

    async def slowly(*args: object) -> object:
        arrived.set()
        await go_on.wait()
        return await arrive(*args)  # type: ignore[arg-type]

    both.doors["second"].worker.arrive = slowly  # type: ignore[method-assign,assignment]
    move = asyncio.create_task(both.farm.registry.move(instance, worker="second"))
    async with asyncio.timeout(LONG):
        await arrived.wait()
    both.farm.clock.now += SECONDS_TO_GIVE_UP
    await both.farm.reaper.reconcile()
    await both.call(instance, "price", id="t2", cents=300)
    go_on.set()
    with pytest.raises(Conflict, match="took too long"):
        await move
    assert (both.copies()["second"], await both.cents(instance)) == ([], [250, 300])


async def test_a_lease_that_ends_during_a_move_leaves_nothing(both: TwoWorkers) -> None:
    instance = await begun(both)
    both.doors["local"].kills = ("depart", "after", "registry")
    with pytest.raises(RegistryKilled):
        await both.farm.registry.move(instance, worker="second")
    await both.farm.client.close(instance)
    assert both.copies() == {"local": [], "second": []}


async def test_a_reset_of_a_moving_instance_waits_and_reaches_it(both: TwoWorkers) -> None:
    instance = await begun(both)
    moving = asyncio.create_task(both.farm.registry.move(instance, worker="second"))
    await asyncio.sleep(0)
    await asyncio.gather(both.farm.registry.reset(instance), both.farm.client.score(instance))
    await moving
    assert (await both.farm.client.history(instance)).total == 0


async def test_what_cannot_move_stays_and_is_answered(both: TwoWorkers, monkeypatch: pytest.MonkeyPatch) -> None:
    instance, client, second = await begun(both), both.farm.client, both.doors["second"].worker
    with pytest.raises(Conflict, match="is on local already"):
        await client.move(instance, worker="local")
    with pytest.raises(NotFound, match=r"no worker 'secnod'; did you mean 'second'"):
        await client.move(instance, worker="secnod")
    await client.drain("second")
    with pytest.raises(CapacityError, match="is drained"):
        await client.move(instance, worker="second")
    await client.drain("second", drains=False)
    second.settings = WorkerSettings(most_instances=0)
    with pytest.raises(CapacityError, match="no room"):
        await client.move(instance)
    second.settings = WorkerSettings()
    monkeypatch.setattr(travelled_state, "LARGEST_TRAVELLER", 100)
    with pytest.raises(Conflict, match="at most 100 go to another worker"):
        await client.move(instance)
    monkeypatch.undo()
    monkeypatch.setattr(travelled_state, "MOST_TRAVELLING_CALLS", 2)
    with pytest.raises(Conflict, match="has 3 calls; at most 2 go"):
        await client.move(instance)
    monkeypatch.undo()
    monkeypatch.setattr(worker, "SECONDS_TO_ARRIVE", 0.0)
    with pytest.raises(CapacityError, match="could not be made once more within 0 s"):
        await client.move(instance)
    monkeypatch.undo()
    async with both.farm.worker.find(instance).in_turn():
        monkeypatch.setattr(worker, "SECONDS_TO_DEPART", 0.0)
        with pytest.raises(CapacityError, match="did not end within 0 s"):
            await both.farm.registry.move(instance)
    assert (second.live, both.farm.worker.departures.leaving) == (0, {})
    assert (await both.farm.registry.kept(instance)).moving is None
    await both.call(instance, "price", id="t2", cents=7)
    assert await both.cents(instance) == [250, 7]


async def test_an_instance_does_not_go_to_another_version_of_its_bundle(farm: Farm, tmp_path: Path) -> None:
    await write_bundle(tmp_path / "other" / "shop", policy="Be kind, and never lie.")
    async with two_workers(farm, Library([tmp_path / "other"]), tmp_path / "second") as both:
        instance = await begun(both)
        with pytest.raises(Conflict, match="its bundle or its scenario has changed"):
            await farm.client.move(instance)
        assert both.copies() == {"local": [instance], "second": []}
        await both.call(instance, "price", id="t2", cents=7)


async def test_forks_go_to_another_worker_where_their_own_has_no_room(both: TwoWorkers) -> None:
    client, parent, second = both.farm.client, await begun(both), both.doors["second"].worker
    both.farm.worker.settings = FULL
    forks = await client.fork(parent, 3)
    assert {fork.worker for fork in forks} == {"second"}
    for fork in forks:
        assert (await client.history(fork.instance)).items == (await client.history(parent)).items
        assert (await client.score(fork.instance)).reward == 1
    await both.call(forks[0].instance, "price", id="t2", cents=7)
    assert [await both.cents(one) for one in (parent, *(fork.instance for fork in forks))] == [
        [250],
        [250, 7],
        [250],
        [250],
    ]
    second.settings = FULL
    with pytest.raises(CapacityError, match="no room"):
        await client.fork(parent)
    second.settings = both.farm.worker.settings = WorkerSettings()
    [back] = await client.fork(forks[0].instance, worker="local")
    assert (back.worker, await both.cents(back.instance)) == ("local", [250, 7])
    moved = await client.move(forks[0].instance, worker="local")
    [one] = await client.fork(moved.instance)
    assert (one.worker, await both.cents(one.instance)) == ("local", [250, 7])
    assert await both.farm.reaper.reconcile() == (0, 0)


async def test_a_perturbed_instance_moves_as_it_is_and_as_nothing_else(both: TwoWorkers) -> None:
    [lease] = await both.farm.client.launch("shop", "dearer", perturb="names,fields,faults=0.5", seed=3)
    found = both.farm.worker.find(lease.instance)
    assert found.view is not None
    for name in [tool.name for tool in found.listed_tools()] * 3:
        await found.call(name, {"name": "x"} if "name" in found.view.tools[name].arguments["properties"] else {})
    told = (await both.farm.client.history(lease.instance)).items
    assert {"ok", "refused", "invalid"} <= {call.outcome for call in told}
    moved = await both.farm.client.move(lease.instance)
    assert (await both.farm.client.history(lease.instance)).items == told
    copy = (await both.farm.registry.kept(lease.instance)).copy
    assert both.doors["second"].worker.find(copy).listed_tools() == found.listed_tools()
    assert moved.worker == "second"


async def test_a_state_travels_between_processes(farm: Farm, library: Library, tmp_path: Path) -> None:
    instance = await farm.launched("dearer")
    await farm.call(instance, "price", id="t2", cents=250)
    async with joinable(farm) as door, worker_at(door.url, library, tmp_path / "far") as far:
        await far.member.join()
        moved = await farm.client.move(instance, worker="far")
        assert str(moved.mcp_url).startswith(far.url)
        [fork] = await farm.client.fork(instance, worker="local")
        assert (await farm.client.score(fork.instance)).reward == (await farm.client.score(instance)).reward == 1
        await farm.client.move(instance, worker="local")
        assert far.worker.live == 0


async def test_a_move_that_takes_too_long_is_undone(both: TwoWorkers, monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(*_: object) -> None:
        await asyncio.Event().wait()

    instance = await begun(both)
    monkeypatch.setattr(both.doors["second"].worker, "arrive", never)
    monkeypatch.setattr(moves, "SECONDS_TO_MOVE", 0.2)
    with pytest.raises(CapacityError, match=r"could not be moved within 0\.2 s and stays"):
        await both.farm.registry.move(instance, worker="second")
    await both.call(instance, "price", id="t2", cents=7)
    assert (await both.cents(instance), both.copies()["second"]) == ([250, 7], [])


async def test_an_order_waits_for_a_move_and_not_for_ever(both: TwoWorkers, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = await begun(both)
    await both.farm.worker.depart(instance, "c" * 16)
    reset = asyncio.create_task(both.farm.registry.reset(instance))
    await asyncio.sleep(0)
    await both.farm.reaper.reconcile()
    await reset
    assert (await both.farm.client.history(instance)).total == 0
    await both.farm.worker.depart(instance, "d" * 16)
    monkeypatch.setattr(instance_door, "SECONDS_TO_WAIT", 0.0)
    with pytest.raises(Moving):
        await both.farm.registry.reset(instance)


async def test_of_many_that_have_left_the_last_ones_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(departures, "MOST_LEFT", 2)
    told = Departures(tmp_path)
    for name in ("a" * 8, "b" * 8, "c" * 8):
        told.leave(name)
    again = Departures(tmp_path)
    again.read(())
    for one in (told, again):
        assert [name in one.left for name in ("a" * 8, "b" * 8, "c" * 8)] == [False, True, True]
