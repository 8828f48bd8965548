"""What was answered is there, and nothing by half: after kill -9 of every kind of process, and on a full disk."""

import asyncio
import os
import random
import shutil
import signal
import subprocess
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import httpx
import pytest

from agent_client.errors import FarmUnreachable
from registry.client import FarmClient
from registry.farm import Options, running
from registry.messages import Lease
from servers.errors import InfraError
from tests.counting import SEED, Caller, check, connected, write_counter
from tests.processes import (
    LONG,
    Process,
    farm,
    farm_up,
    free_ports,
    guests,
    until,
    watching_for_orphans,
    workers,
    zygotes,
)

INSTANCES = 3
CALLERS_EACH = 2
MOST_CALLS = 60


@pytest.fixture(scope="module")
def counters(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of one environment, whose one tool counts its calls."""
    folder = tmp_path_factory.mktemp("counters")
    asyncio.run(write_counter(folder))
    return folder


class Crowd:
    """Callers that all call at once, until something happens."""

    def __init__(self, callers: list[Caller], chance: random.Random) -> None:
        self.callers = callers
        self._chance = chance
        self._moment = asyncio.Event()
        self._calls_left = 0

    async def see(self, strike: Callable[[], object]) -> None:
        """Call, and strike at some moment. Returns when every call under way has ended, this way or that."""
        self._moment.clear()
        self._calls_left = self._chance.randint(1, MOST_CALLS)
        async with asyncio.timeout(LONG), asyncio.TaskGroup() as group:
            for caller in self.callers:
                group.create_task(self._keep_calling(caller))
            await self._moment.wait()
            strike()

    async def _keep_calling(self, caller: Caller) -> None:
        while not self._moment.is_set() and await caller.call():
            self._calls_left -= 1
            if self._calls_left <= 0:
                self._moment.set()

    async def call_again(self) -> None:
        """Every caller calls, with at most one retry."""
        async with asyncio.timeout(LONG), asyncio.TaskGroup() as group:
            for caller in self.callers:
                group.create_task(caller.call_again())


def _timeless(lease: Lease) -> Lease:
    """A lease without its end, which moves by the time that no farm was there."""
    return lease.model_copy(update={"expires_at": lease.created_at})


def killed(chance: random.Random, processes: list[Process]) -> None:
    """kill -9 of one of some processes."""
    os.kill(chance.choice(processes).pid, signal.SIGKILL)


VICTIMS: dict[str, Callable[[int], list[Process]]] = {"guest": guests, "zygote": zygotes, "worker": workers}


@pytest.mark.parametrize(
    ("victim", "count", "cycles"),
    [
        ("guest", 1, 3),
        ("zygote", 1, 3),
        ("worker", 2, 2),
        pytest.param("guest", 2, 40, marks=pytest.mark.slow),
        pytest.param("zygote", 2, 40, marks=pytest.mark.slow),
        pytest.param("worker", 2, 12, marks=pytest.mark.slow),
    ],
)
async def test_what_was_answered_survives_kill_9_below_a_farm(
    counters: Path, tmp_path: Path, victim: str, count: int, cycles: int
) -> None:
    chance = random.Random(cycles)  # noqa: S311
    with watching_for_orphans() as left:
        options = ("--port", "0", "--library", counters, "--workers", str(count))
        async with (
            farm_up(tmp_path / "state", *options, home=tmp_path) as up,
            FarmClient(up.url, up.token) as client,
        ):
            leases = await client.launch("counter", count=INSTANCES, seed=SEED)
            async with connected(leases * CALLERS_EACH) as callers:
                crowd = Crowd(callers, chance)
                for _ in range(cycles):
                    await crowd.see(lambda: killed(chance, VICTIMS[victim](up.pid)))
                    await crowd.call_again()
            await check(crowd.callers, client)
            if victim in ("guest", "zygote"):
                assert sum(caller.unanswered for caller in crowd.callers) == 0
            assert len(workers(up.pid)) == (0 if count == 1 else count)
            assert len(zygotes(up.pid)) == count
            assert (await up.ended_by(signal.SIGTERM)).code == 0
        await until(lambda: not left(), "all processes of the farm are gone")


@pytest.mark.parametrize(
    ("count", "cycles"),
    [
        (1, 2),
        (2, 1),
        pytest.param(1, 12, marks=pytest.mark.slow),
        pytest.param(2, 12, marks=pytest.mark.slow),
    ],
)
async def test_what_was_answered_survives_kill_9_of_the_farm(
    counters: Path, tmp_path: Path, count: int, cycles: int
) -> None:
    """It is started again at once, as whoever looks after it would."""
    chance = random.Random(cycles)  # noqa: S311
    options = ("--port", str(free_ports(count + 1)), "--library", counters, "--workers", str(count))
    with watching_for_orphans() as left:
        async with AsyncExitStack() as stack:
            async with farm_up(tmp_path / "state", *options, home=tmp_path) as up:
                async with FarmClient(up.url, up.token) as client:
                    leases = await client.launch("counter", count=INSTANCES, seed=SEED)
                crowd = Crowd(await stack.enter_async_context(connected(leases * CALLERS_EACH)), chance)
                await crowd.see(up.kill)
            for cycle in range(cycles):
                async with farm_up(tmp_path / "state", *options, home=tmp_path) as up:
                    await crowd.call_again()
                    if cycle < cycles - 1:
                        await crowd.see(up.kill)
                        continue
                    async with FarmClient(up.url, up.token) as client:
                        kept = [await client.lease(lease.instance) for lease in leases]
                        assert [_timeless(lease) for lease in kept] == [_timeless(lease) for lease in leases]
                        assert all(new.expires_at >= old.expires_at for new, old in zip(kept, leases, strict=True))
                        await check(crowd.callers, client)
                    assert (await up.ended_by(signal.SIGTERM)).code == 0
        await until(lambda: not left(), "all processes of the farms are gone")


@pytest.fixture
def small_disk(tmp_path: Path) -> Generator[Path]:
    """A file system of two megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("only root mounts a file system")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def filled(disk: Path) -> Path:
    """Take all the room that a disk has left."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"x" * 4096)
    return ballast


@pytest.mark.parametrize("count", [1, 2])
async def test_a_farm_on_a_full_disk_says_so_and_goes_on_once_there_is_room(
    counters: Path, small_disk: Path, count: int
) -> None:
    state = small_disk / "state"
    options = Options(library=(counters,), state=state, port=0, workers=count)
    async with running(options) as address, FarmClient(address.url, address.token) as client:
        leases = await client.launch("counter", count=2, seed=SEED)
        async with connected(leases) as callers:
            for caller in callers:
                assert await caller.call()
            ballast = filled(small_disk)
            headers = {"Authorization": f"Bearer {address.token}"}
            async with httpx.AsyncClient(base_url=address.url, headers=headers) as http:
                answer = await http.post("/v1/instances", json={"environment": "counter", "count": 3})
            assert answer.status_code == 503
            assert answer.json()["error"]["kind"] == "infra"
            said = "the state folder takes no new instance: No space left on device"
            assert answer.json()["error"] == {"kind": "infra", "message": said}
            for caller in callers:
                while await caller.call():  # the last block of its state file takes some more
                    assert caller.answered < MOST_CALLS
            for caller in callers * 3:
                with pytest.raises(
                    FarmUnreachable, match=r"^the environment cannot answer now, and nothing was changed"
                ):
                    await caller.toolbox.call("add", {})
            for lease, caller in zip(leases, callers, strict=True):
                counted = (await client.query(lease.instance, "SELECT value FROM counter")).rows
                assert counted == ((caller.answered,),)
                assert (await client.history(lease.instance)).total == caller.answered
            assert (await client.health()).instances == 2
            ballast.unlink()
            for caller in callers:
                assert await caller.call()
        await check(callers, client)
        assert len(await client.launch("counter", count=3)) == 3
        found = [path.name for path in state.rglob("*.history") if path.parent.name == "instances"]
        assert len(found) == 5
        assert list(state.rglob("*.part*")) == []
        async with asyncio.timeout(30):
            while (await client.health()).status != "ok":  # noqa: ASYNC110 - it is another process
                await asyncio.sleep(0.1)  # a worker is well again with its next heartbeat


async def test_a_farm_that_cannot_begin_on_a_full_disk_begins_once_there_is_room(
    counters: Path, small_disk: Path, tmp_path: Path
) -> None:
    state = small_disk / "state"
    state.mkdir()
    ballast = filled(small_disk)
    done = await farm("up", "--state", state, "--port", "0", "--library", counters, home=tmp_path)
    assert (done.code, done.out) == (1, "")
    assert done.err.splitlines()[-1].startswith("farm: ")
    assert "Traceback" not in done.err
    ballast.unlink()
    async with running(Options(library=(counters,), state=state, port=0)) as address:
        assert len(address.token) >= 32
        async with FarmClient(address.url, address.token) as client:
            [lease] = await client.launch("counter")
            assert len(lease.token or "") >= 32


async def test_a_farm_whose_state_folder_is_taken_away_answers_nothing_that_it_cannot_keep(
    counters: Path, tmp_path: Path
) -> None:
    """It says so, it lives, and it goes on where it was once the folder is back."""
    state = tmp_path / "state"
    async with farming(counters, state) as client:
        leases = await client.launch("counter", count=2, seed=SEED)
        async with connected(leases) as callers:
            for caller in callers:
                assert await caller.call()
            state.rename(tmp_path / "elsewhere")
            for caller in callers:
                assert not await caller.call()
            with pytest.raises(InfraError, match="the state folder takes no new instance: No such file"):
                await client.launch("counter")
            with pytest.raises(InfraError, match=r"the ledger .*ledger\.db is gone: put it back"):
                await client.lease(leases[0].instance)
            assert (await client.health()).instances == 2
            (tmp_path / "elsewhere").rename(state)
            for caller in callers:
                assert await caller.call()
            await check(callers, client)


async def test_a_farm_whose_state_folder_was_deleted_begins_anew_when_it_is_started_again(
    counters: Path, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    async with farming(counters, state) as client:
        leases = await client.launch("counter")
        async with connected(leases) as [caller]:
            shutil.rmtree(state)
            assert not await caller.call()
            state.mkdir()
            assert not await caller.call()
            with pytest.raises(InfraError):
                await client.launch("counter")
    assert list(state.iterdir()) == []
    async with farming(counters, state) as client:
        assert (await client.health()).instances == 0
        async with connected(await client.launch("counter")) as [caller]:
            assert await caller.call()


async def test_a_farm_whose_state_folder_becomes_read_only_says_so_and_goes_on_once_it_is_not(
    counters: Path, small_disk: Path
) -> None:
    state = small_disk / "state"
    async with farming(counters, state) as client:
        leases = await client.launch("counter", count=2, seed=SEED)
        async with connected(leases) as callers:
            for caller in callers:
                assert await caller.call()
            mount(state, "--bind", state)
            mount(state, "-o", "remount,ro,bind")
            with pytest.raises(InfraError, match="the state folder takes no new instance: Read-only file system"):
                await client.launch("counter")
            for caller in callers:
                await caller.call()  # whichever way: it is checked below
            unmount(state)
            for caller in callers:
                assert await caller.call()
            await check(callers, client)
        assert len(await client.launch("counter", count=2)) == 2


@asynccontextmanager
async def farming(library: Path, state: Path) -> AsyncGenerator[FarmClient]:
    options = Options(library=(library,), state=state, port=0)
    async with running(options) as address, FarmClient(address.url, address.token) as client:
        yield client


def mount(target: Path, *how: str | Path) -> None:
    subprocess.run(["mount", *how, target], check=True)


def unmount(target: Path) -> None:
    subprocess.run(["umount", target], check=True)
