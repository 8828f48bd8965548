"""Moves between workers that lie, or that their registry cannot reach for a while."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from registry import moves
from registry.reaper import GRACE_SECONDS
from registry.workers.remote_worker import WorkerAway
from servers.bundle_library import Library
from servers.doors.operations import MOST_LEAVERS, AnswerT, Operation, OrderT
from servers.errors import CapacityError, FarmError, InfraError
from servers.worker.travelled_state import LARGEST_SENT
from tests.registry.farms import Farm
from tests.registry.members import Joined, joinable, worker_at
from tests.registry.moving import FragileDoor, TwoWorkers, two_workers


def ticket(instance: str) -> dict[str, str]:
    return {"instance": instance, "path": f"/i/{instance}/mcp", "token": "t" * 32}


@asynccontextmanager
async def liar(farm: Farm, library: Library, folder: Path, **lies: ASGIApp) -> AsyncGenerator[Joined]:
    """A worker that has joined, and whose `lies` are what it answers to some operations."""
    odd: dict[str, ASGIApp] = {}
    async with joinable(farm) as door, worker_at(door.url, library, folder, odd=odd) as far:
        await far.member.join()
        odd |= lies
        yield far


async def begun(farm: Farm) -> str:
    instance = await farm.launched("dearer")
    await farm.call(instance, "price", id="t2", cents=250)
    return instance


async def is_where_it_was(farm: Farm, far: Joined, instance: str) -> None:
    """See that an instance answers at the farm's own worker, and that the other one has nothing, by now or later."""
    kept = await farm.registry.kept(instance)
    assert (kept.worker, kept.copy, kept.moving) == ("local", instance, None)
    await farm.call(instance, "price", id="t2", cents=300)
    calls = (await farm.client.history(instance)).items
    assert [call.arguments["cents"] for call in calls] == [250, 300]
    for seconds in (0.0, GRACE_SECONDS, float(farm.registry.keep_seconds)):
        farm.clock.now += seconds
        farm.ledger.prolong(instance, until=farm.clock.now + 3600, over_since=0)
        await farm.reaper.reconcile()
    assert far.worker.ids() == []


ARRIVALS: dict[str, Callable[[list[str]], Any]] = {
    "none": lambda _: [],
    "another": lambda _: [ticket("b" * 16)],
    "one too many": lambda copies: [ticket(copies[0]), ticket("b" * 16)],
    "elsewhere": lambda copies: [{**ticket(copies[0]), "path": "@elsewhere.example/i/x/mcp"}],
    "no answer": lambda copies: {"made": copies},
}


@pytest.mark.parametrize("lie", ARRIVALS)
async def test_what_a_worker_says_that_has_arrived_is_checked(
    farm: Farm, library: Library, tmp_path: Path, lie: str
) -> None:
    async def arrive(scope: Scope, receive: Receive, send: Send) -> None:
        order = await Request(scope, receive).json()
        await JSONResponse(ARRIVALS[lie](order["instances"]))(scope, receive, send)

    async with liar(farm, library, tmp_path / "far", arrive=arrive) as far:
        instance = await begun(farm)
        with pytest.raises(FarmError):
            await farm.registry.move(instance, worker="far")
        with pytest.raises(FarmError):
            await farm.registry.fork(instance, 1, worker="far")
        await is_where_it_was(farm, far, instance)


async def test_a_worker_that_takes_an_instance_in_and_denies_it_does_not_get_it(
    farm: Farm, library: Library, tmp_path: Path
) -> None:
    async def arrive(scope: Scope, receive: Receive, send: Send) -> None:
        order = await Request(scope, receive).json()
        [copy] = order["instances"]
        await far.worker.arrive(moves.Launch(**order["launch"]), order["source"], sent[0], [copy])
        arrived.append(copy)
        await JSONResponse({"error": {"kind": "NotFound", "message": "what?"}}, 404)(scope, receive, send)

    arrived = list[str]()
    async with liar(farm, library, tmp_path / "far", arrive=arrive) as far:
        instance = await begun(farm)
        sent = [await farm.worker.export(instance)]
        with pytest.raises(FarmError, match=r"what\?"):
            await farm.registry.move(instance, worker="far")
        assert len(arrived) == 1
        await is_where_it_was(farm, far, instance)


async def test_a_state_that_a_worker_makes_up_is_not_taken_in_and_the_instance_stays_its(
    farm: Farm, library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lies: list[Response] = []

    async def depart(scope: Scope, receive: Receive, send: Send) -> None:
        await lies[-1](scope, receive, send)

    async with liar(farm, library, tmp_path / "far", depart=depart, export=depart) as far:
        other = await begun(farm)
        await farm.client.drain("local")
        instance = await farm.launched("dearer")
        await farm.client.drain("local", drains=False)
        for said in (
            b"",
            b"[]",
            b"\x00" * 100,
            b"\x00" * (LARGEST_SENT + 1),
            await farm.worker.export(other),  # an honest one, of another instance
        ):
            lies.append(Response(said))
            for way in (farm.registry.move, farm.registry.fork):
                more: dict[str, Any] = {"count": 1} if way == farm.registry.fork else {}
                with pytest.raises(FarmError) as refused:
                    await way(instance, worker="local", **more)
                assert len(str(refused.value)) < 500
            assert farm.worker.ids() == [other]
        lies.append(Response(b"\x00" * (LARGEST_SENT + 1)))
        with pytest.raises(InfraError, match="the worker far sent a state of"):
            await farm.registry.move(instance, worker="local")
        kept = await farm.registry.kept(instance)
        assert (kept.worker, kept.copy, kept.moving) == ("far", instance, None)
        assert (await far.worker.call(instance, "price", {"id": "t2", "cents": 7})).outcome == "ok"


async def test_a_worker_that_does_not_answer_gets_no_instance(
    farm: Farm, library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hangs(scope: Scope, receive: Receive, send: Send) -> None:
        await gone.wait()

    gone = asyncio.Event()
    monkeypatch.setattr(moves, "SECONDS_TO_MOVE", 0.2)
    async with liar(farm, library, tmp_path / "far", arrive=hangs) as far:
        instance = await begun(farm)
        with pytest.raises(CapacityError, match="could not be moved within"):
            await farm.registry.move(instance, worker="far")
        gone.set()
        await is_where_it_was(farm, far, instance)


async def is_cleared_away(farm: Farm, instance: str) -> None:
    """The reaper deletes an instance whose lease has ended, whatever another worker says meanwhile."""
    farm.ledger.close_leases([instance], at=farm.clock.now)
    for _ in range(2):
        await farm.reaper.reconcile()
        farm.clock.now += GRACE_SECONDS + farm.registry.keep_seconds
    assert farm.worker.ids() == []


@pytest.mark.parametrize(
    "lies",
    [
        {"leavers": {"../x": "y"}},
        {"leavers": {"a" * 16: ""}},
        {"leavers": [["a" * 16, "b" * 16]]},
        {"leavers": {f"{number:016x}": "b" * 16 for number in range(MOST_LEAVERS + 1)}},
        {"ids": ["../x"]},
        {"suspended": ["\n"]},
    ],
)
async def test_a_worker_that_names_no_instances_keeps_the_reaper_from_nothing(
    farm: Farm, library: Library, tmp_path: Path, lies: dict[str, Any]
) -> None:
    odd = {name: JSONResponse(said) for name, said in lies.items()}
    async with liar(farm, library, tmp_path / "far", **odd):
        instance = await begun(farm)
        await is_cleared_away(farm, instance)


async def test_a_worker_that_refuses_what_the_reaper_asks_keeps_others_from_nothing(
    farm: Farm, library: Library, tmp_path: Path
) -> None:
    fails = JSONResponse({"error": {"kind": "InfraError", "message": "no"}}, 500)
    async with liar(farm, library, tmp_path / "far", ids=JSONResponse(["a" * 16]), close=fails):
        instance = await begun(farm)
        farm.registry.fleet.seats["local"] = farm.registry.fleet.seats.pop("local")  # the other one is seen to first
        await is_cleared_away(farm, instance)


async def test_a_worker_that_says_that_foreign_instances_leave_moves_none_of_them(
    farm: Farm, library: Library, tmp_path: Path
) -> None:
    said: dict[str, str] = {}

    async def leavers(scope: Scope, receive: Receive, send: Send) -> None:
        await JSONResponse(said)(scope, receive, send)

    async with liar(farm, library, tmp_path / "far", leavers=leavers) as far:
        instance = await begun(farm)
        await farm.worker.depart(instance, "c" * 16)
        farm.ledger.begin_move(await farm.registry.kept(instance), moving="c" * 16, at=farm.clock.now)
        said |= {instance: "c" * 16, "d" * 16: "e" * 16}
        await farm.reaper.reconcile()
        assert farm.worker.departures.leaving == {instance: "c" * 16}  # its move goes on
        farm.ledger.end_move("c" * 16)
        await farm.reaper.reconcile()
        await is_where_it_was(farm, far, instance)


class PartedDoor(FragileDoor):
    """The door of a worker that goes on, and whose registry cannot reach it for a while."""

    parts_at: tuple[str, str] | None = None
    """An operation, and `before` or `after` it is done."""
    is_parted = False

    async def ask(self, operation: Operation[OrderT, AnswerT], order: OrderT) -> AnswerT:
        self.is_parted |= self.parts_at == (operation.name, "before")
        if self.is_parted:
            raise WorkerAway("the worker cannot be reached")
        answer = await super().ask(operation, order)
        if self.parts_at == (operation.name, "after"):
            self.is_parted = True
            raise WorkerAway("the worker cannot be reached")
        return answer

    def heal(self) -> None:
        self.parts_at, self.is_parted = None, False


@pytest_asyncio.fixture
async def both(farm: Farm, library: Library, tmp_path: Path) -> AsyncGenerator[TwoWorkers]:
    async with two_workers(farm, library, tmp_path / "second") as both:
        for name, door in both.doors.items():
            both.doors[name] = farm.registry.fleet.seats[name].door = PartedDoor(door.worker)
        yield both


IS_OPEN = {
    ("depart", "before"): True,
    ("depart", "after"): False,
    ("arrive", "before"): True,
    ("arrive", "after"): True,
    ("leave", "before"): False,
    ("leave", "after"): False,
}
"""Whether the old worker answers its agents while it is apart, by the order at which it parted, and before or after."""


@pytest.mark.parametrize(("step", "when"), IS_OPEN)
async def test_a_partition_at_any_step_leaves_one_copy_and_every_answered_call(
    both: TwoWorkers, step: str, when: str
) -> None:
    instance = await begun(both.farm)
    agents = both.farm.worker  # an agent there needs no registry
    parted = both.doors["second" if step == "arrive" else "local"]
    assert isinstance(parted, PartedDoor)
    parted.parts_at = (step, when)
    answered = [250]
    has_moved = False
    with suppress(FarmError):
        has_moved = (await both.farm.registry.move(instance, worker="second")).worker == "second"
    assert has_moved == (step == "leave")
    if has_moved:
        await both.call(instance, "price", id="t2", cents=300)
        answered.append(300)
    with suppress(FarmError):  # shut, or gone: not answered
        assert (await agents.call(instance, "price", {"id": "t2", "cents": 310})).outcome == "ok"
        answered.append(310)
    assert (310 in answered) == IS_OPEN[step, when]
    await both.farm.reaper.reconcile()
    parted.heal()
    await both.settled(instance)
    await both.call(instance, "price", id="t2", cents=400)
    assert await both.cents(instance) == [*answered, 400]
    assert sum(map(len, both.copies().values())) == 1
    assert ((await both.farm.registry.kept(instance)).worker == "second") == has_moved


async def test_an_old_worker_that_was_given_up_on_during_a_move_brings_no_second_copy_back(both: TwoWorkers) -> None:
    instance = await begun(both.farm)
    local, fleet = both.doors["local"], both.farm.registry.fleet
    assert isinstance(local, PartedDoor)
    local.parts_at = ("leave", "before")
    await both.farm.registry.move(instance, worker="second")
    await both.farm.registry.lose(fleet.seats["local"])
    await both.call(instance, "price", id="t2", cents=300)
    local.heal()
    await both.farm.registry.welcome(fleet.seats["local"])
    await both.settled(instance)
    assert (both.copies()["local"], await both.cents(instance)) == ([], [250, 300])
    assert (await both.farm.client.lease(instance)).worker == "second"


async def test_an_instance_whose_worker_is_given_up_on_before_the_switch_is_lost_and_comes_back_with_it(
    both: TwoWorkers,
) -> None:
    instance = await begun(both.farm)
    seat = both.farm.registry.fleet.seats["local"]
    arrive = both.doors["second"].worker.arrive

    async def meanwhile(*order: Any) -> Any:
        tickets = await arrive(*order)
        await both.farm.registry.lose(seat)
        return tickets

    both.doors["second"].worker.arrive = meanwhile  # type: ignore[method-assign]
    with pytest.raises(FarmError):
        await both.farm.registry.move(instance, worker="second")
    assert (await both.farm.registry.kept(instance)).status == "lost"
    await both.farm.registry.welcome(seat)
    await both.settled(instance)
    await both.call(instance, "price", id="t2", cents=300)
    assert (both.copies(), await both.cents(instance)) == ({"local": [instance], "second": []}, [250, 300])
