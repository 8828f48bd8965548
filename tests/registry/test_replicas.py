"""Several registries of one farm, on one PostgreSQL ledger: workers, launches, and a registry's death."""

import asyncio
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import pytest
import pytest_asyncio

from registry.client import FarmClient
from registry.farm import Options, running
from registry.ledger.database import LedgerError, engine_of
from registry.ledger.lock import lock_of
from registry.ledger.store import KeptFarm, Ledger
from registry.messages import Lease
from servers.bundle_library import Library
from servers.errors import CapacityError, Conflict, FarmError, RequestError
from tests.processes import farm_up, free_ports, started
from tests.registry.members import JOIN_TOKEN, Joined, worker_at
from tests.registry.postgres import WITH_POSTGRES, Postgres, postgres_server
from tests.test_up import called

pytestmark = WITH_POSTGRES
TOKEN = "control-token-of-the-tests"
NUMBERS = count()


@pytest.fixture(scope="module")
def server() -> Generator[Postgres]:
    with postgres_server() as server:
        yield server


@pytest.fixture
def ledger(server: Postgres) -> str:
    return server.database(f"farm{next(NUMBERS)}")


@dataclass(frozen=True)
class Both:
    """Two registries of one farm, and a worker that is about to join the first."""

    first: FarmClient
    second: FarmClient
    worker: Joined
    end_first: AsyncExitStack


def replica(shelf: Path, state: Path, ledger: str) -> Options:
    shared = Options(library=(shelf,), state=state, ledger=ledger, token=TOKEN, join_token=JOIN_TOKEN, replica=True)
    return replace(shared, port=0, workers=0)


@asynccontextmanager
async def client_of(options: Options) -> AsyncGenerator[FarmClient]:
    async with running(options) as address, FarmClient(address.url, address.token) as client:
        yield client


@pytest_asyncio.fixture
async def both(shelf: Path, tmp_path: Path, ledger: str) -> AsyncGenerator[Both]:
    async with AsyncExitStack() as stack, AsyncExitStack() as end_first:
        first = await end_first.enter_async_context(client_of(replica(shelf, tmp_path / "first", ledger)))
        second = await stack.enter_async_context(client_of(replica(shelf, tmp_path / "second", ledger)))
        far = worker_at((first.url, second.url), Library([shelf]), tmp_path / "far")
        yield Both(first, second, await stack.enter_async_context(far), end_first)


async def join(both: Both) -> asyncio.Task[None]:
    """Have the worker join the first registry. Returns when the second knows it and that it answers."""
    await both.worker.member.join()
    beating = asyncio.create_task(both.worker.member.beat())
    await answers(both.second, "far")
    return beating


async def answers(client: FarmClient, name: str, *, wanted: bool = True) -> None:
    """Wait until a registry knows a worker that answers, or that none of the name is there that does."""
    await knows(client, {name} if wanted else set())


async def knows(client: FarmClient, expected: set[str]) -> None:
    """Wait until these are the workers that answer, as a registry knows."""

    async def is_so() -> bool:
        return {one.name for one in (await client.workers()).items if one.answers} == expected

    await until(is_so)


async def until(is_so: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while True:
            if await is_so():
                return
            await asyncio.sleep(0.05)


async def test_each_registry_launches_shows_scores_and_closes_what_the_other_leased(both: Both) -> None:
    beating = await join(both)
    [lease] = await both.second.launch("shop", "dearer")
    assert lease.mcp_url is not None
    assert lease.mcp_url.startswith(both.worker.url)
    shown = await both.first.lease(lease.instance)
    assert (shown.token, shown.mcp_url) == (lease.token, lease.mcp_url)

    async def is_counted() -> bool:
        return (await both.first.health()).instances == 1

    await until(is_counted)
    await both.worker.worker.call(lease.instance, "price", {"id": "t2", "cents": 250})
    assert (await both.first.score(lease.instance)).reward == 1.0
    assert (await both.first.heartbeat(lease.instance)).status == "live"
    await both.first.close(lease.instance)
    with pytest.raises(Conflict, match="closed already"):
        await both.second.close(lease.instance)
    beating.cancel()


async def test_the_end_of_a_registry_loses_no_lease_and_the_worker_goes_on_with_the_other(both: Both) -> None:
    beating = await join(both)
    leases = await both.first.launch("shop", "dearer", count=3)
    assert both.worker.member.registry == both.first.url
    await both.end_first.aclose()

    async def asks_the_second() -> bool:
        return both.worker.member.registry == both.second.url

    await until(asks_the_second)
    await answers(both.second, "far")
    for lease in leases:
        assert (await both.second.heartbeat(lease.instance)).token == lease.token
    assert len(await both.second.launch("shop", count=2)) == 2
    assert not beating.done()
    beating.cancel()


async def test_a_launch_with_a_key_is_made_once_however_often_and_wherever_it_is_asked_for(both: Both) -> None:
    beating = await join(both)
    asked = [client.launch("shop", "dearer", count=2, key="step-1") for client in (both.first, both.second) * 4]
    answered = await asyncio.gather(*asked)
    assert len({tuple((lease.instance, lease.token) for lease in leases) for leases in answered}) == 1
    assert (await both.first.leases()).total == 2
    assert len(both.worker.worker.ids()) == 2
    for many, seed, perturb in ((3, 0, ""), (2, 1, ""), (2, 0, "order")):
        with pytest.raises(Conflict, match="the key 'step-1' is that of another launch"):
            await both.second.launch("shop", "dearer", count=many, seed=seed, perturb=perturb, key="step-1")
    await both.first.close(answered[0][0].instance)
    again = await both.second.launch("shop", "dearer", count=2, key="step-1")
    assert [lease.status for lease in again] == ["closed", "live"]
    beating.cancel()


async def test_a_worker_drained_at_one_registry_gets_nothing_from_the_other_and_leaves_both(both: Both) -> None:
    beating = await join(both)
    await both.second.drain("far")
    async with asyncio.timeout(60):
        await beating
    for client in (both.first, both.second):
        await answers(client, "far", wanted=False)
        assert (await client.workers()).items == ()
        with pytest.raises(CapacityError):
            await client.launch("shop")


async def test_a_worker_that_joins_the_other_registry_anew_is_reached_by_both(both: Both) -> None:
    beating = await join(both)
    [lease] = await both.first.launch("shop", "dearer")
    beating.cancel()
    both.worker.member.ask_next()
    assert both.worker.member.registry == both.second.url
    await both.worker.member.join()
    beating = asyncio.create_task(both.worker.member.beat())

    async def is_reached() -> bool:
        try:
            assert (await both.first.lease(lease.instance)).token == lease.token
            return (await both.first.launch("shop"))[0].worker == "far"
        except FarmError:  # the first registry has not seen the new session yet
            return False

    await until(is_reached)
    assert not beating.done()
    beating.cancel()


async def test_of_moves_at_both_registries_at_once_one_is_made_and_every_answered_call_is_in_it(
    both: Both, shelf: Path, tmp_path: Path
) -> None:
    beating = await join(both)
    [lease] = await both.first.launch("shop", "dearer")
    await both.worker.worker.call(lease.instance, "price", {"id": "t2", "cents": 250})
    async with (
        worker_at((both.first.url, both.second.url), Library([shelf]), tmp_path / "near", name="near") as near,
        worker_at((both.second.url, both.first.url), Library([shelf]), tmp_path / "third", name="third") as third,
    ):
        others = {"near": near, "third": third}
        for one in others.values():
            await one.member.join()
        others_beat = [asyncio.create_task(one.member.beat()) for one in others.values()]
        for client in (both.first, both.second):
            await knows(client, {"far", "near", "third"})
        results = await asyncio.gather(
            *(
                client.move(lease.instance, worker=name)
                for name in others
                for client in (both.first, both.second, both.first)
            ),
            return_exceptions=True,
        )
        assert {type(one) for one in results} == {Lease, Conflict}, results
        shown = [await client.lease(lease.instance) for client in (both.first, both.second)]
        assert shown[0].worker == shown[1].worker
        assert shown[0].token == shown[1].token
        assert both.worker.worker.ids() == []
        assert {name: one.worker.live for name, one in others.items() if one.worker.live} == {shown[0].worker: 1}
        calls = (await both.second.history(lease.instance)).items
        assert [call.arguments["cents"] for call in calls] == [250]
        assert (await both.first.score(lease.instance)).reward == 1.0
        for task in others_beat:
            task.cancel()
    beating.cancel()


async def test_what_makes_no_replica_is_refused(shelf: Path, tmp_path: Path, ledger: str) -> None:
    good = replica(shelf, tmp_path / "first", ledger)
    for wrong, said in (
        (replace(good, ledger=None, join_token=None), "--ledger postgresql://… and --join-token-file"),
        (replace(good, token=None), "--token-file, the same as"),
        (replace(good, workers=2), "give --workers 0"),
        (replace(good, ledger=f"sqlite:///{tmp_path / 'ledger.db'}"), "in PostgreSQL only"),
    ):
        with pytest.raises(RequestError, match=said):
            async with running(replace(wrong, state=tmp_path / "wrong")):
                pass
    async with running(good):
        alone = replace(good, state=tmp_path / "alone", replica=False)
        with pytest.raises(RequestError, match="another farm uses the ledger"):
            async with running(alone):
                pass
        other = replace(good, state=tmp_path / "other", join_token=JOIN_TOKEN[::-1])
        with pytest.raises(RequestError, match="the ledger belongs to another farm"):
            async with running(other):
                pass


async def test_one_registry_at_a_time_looks_after_the_leases_and_another_takes_over(ledger: str) -> None:
    first, second = (Ledger.open(ledger, shared=True) for _ in range(2))
    farm = KeptFarm("of-both", "/one", "here", 1_000.0)
    for one in (first, second):
        one.claim(farm)
    assert (first.leads(), second.leads(), first.leads()) == (True, False, True)
    assert first.tick(1_010.0) == 1_010.0
    assert second.tick(1_005.0) == 1_010.0  # the lease clock never goes back
    first.close()

    async def leads() -> bool:
        return second.leads()  # PostgreSQL frees a lock soon after its connection

    await until(leads)
    second.close()
    alone = Ledger.open(ledger, shared=True)
    assert alone.claim(farm).time == 1_010.0
    alone.close()


def test_registries_that_open_a_new_ledger_at_the_same_time_all_get_it(ledger: str) -> None:
    with ThreadPoolExecutor(4) as threads:
        opening = [threads.submit(Ledger.open, ledger, shared=True) for _ in range(4)]
    opened = [one.result() for one in opening]
    farm = KeptFarm("of-all", "/one", "here", 1_000.0)
    assert {one.claim(farm).id for one in opened} == {"of-all"}
    for one in opened:
        one.close()


@pytest.mark.slow
async def test_a_killed_registry_and_a_restarted_database_cost_no_lease(
    server: Postgres, ledger: str, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    (tmp_path / "join").write_text(f"{JOIN_TOKEN}\n")
    shared = (
        *("--port", "0", "--workers", "0", "--replica", "--ledger", ledger, "--walls", "available"),
        *("--token-file", tmp_path / "token", "--join-token-file", tmp_path / "join"),
    )
    async with (
        farm_up(tmp_path / "first", *shared, home=tmp_path) as first,
        farm_up(tmp_path / "second", *shared, home=tmp_path) as second,
        FarmClient(first.url, TOKEN) as at_first,
        FarmClient(second.url, TOKEN) as at_second,
    ):
        worker = await started(
            *("worker", "--registry", first.url, "--registry", second.url, "--token-file", tmp_path / "join"),
            *("--name", "far", "--advertise", f"http://127.0.0.1:{free_ports(1)}", "--host", "127.0.0.1"),
            *("--state", tmp_path / "far", "--walls-available"),
            home=tmp_path,
            leads=False,
        )
        try:
            await answers(at_first, "far")
            await answers(at_second, "far")
            leases = await at_first.launch("library_loans", "renew_before_trip", count=3)
            first.started.send(signal.SIGKILL)
            await all_there(at_second, leases)
            server.stop()
            for lease in leases:
                assert "books" in await called(lease, "find_books")  # agents need no registry
            server.start()
            await all_there(at_second, leases)
            await answers(at_second, "far")
            assert len(await at_second.launch("library_loans", count=2)) == 2
            assert (await at_second.score(leases[0].instance)).outcome == "scored"
        finally:
            worker.send(signal.SIGKILL)
            await worker.ended()


async def all_there(client: FarmClient, leases: list[Lease]) -> None:
    """Wait until a registry answers, and see that it has these leases with their tokens."""

    async def answers_for_all() -> bool:
        try:
            found = [await client.heartbeat(lease.instance) for lease in leases]
        except FarmError:
            return False
        assert [one.token for one in found] == [one.token for one in leases]
        return True

    await until(answers_for_all)


@pytest.mark.parametrize("shared", [False, True])
def test_a_lock_is_regained_after_a_database_that_was_away_for_some_rounds(
    server: Postgres, ledger: str, shared: bool
) -> None:
    engine = engine_of(ledger)
    lock = lock_of(engine, shared=shared)
    server.stop()
    for _ in range(3):
        with pytest.raises(LedgerError, match="cannot be used"):
            lock.confirm()
    server.start()
    lock.confirm()
    assert lock.leads()
    with pytest.raises(RequestError, match="another farm uses the ledger"):
        lock_of(engine)
    lock.release()
    lock_of(engine).release()
    engine.dispose()
