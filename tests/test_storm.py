"""An hour's worth of kill -9 in minutes: 200 instances, 20 clients, and nothing is lost, halved, unpaid or left over.

Two workers are the farm's own, and two have joined it.
"""

import asyncio
import os
import random
import signal
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from agent_client.errors import FarmUnreachable
from registry.client import FarmClient
from registry.messages import Lease
from servers.errors import CapacityError, FarmError
from tests.counting import SEED, Caller, check, connected, write_counter
from tests.processes import (
    LONG,
    Process,
    Running,
    Started,
    farm_up,
    free_ports,
    guests,
    offspring,
    started,
    until,
    watching_for_orphans,
    workers,
    zygotes,
)

INSTANCES, CLIENTS, CYCLES = 200, 20, 60
BELOW: list[Callable[[int], list[Process]]] = [guests, zygotes, workers]
CALLS_BETWEEN = 400
HANDLES_TO_SPARE = 40
SCORERS = 3


@dataclass
class Keeper:
    """Looks after a farm as whoever runs one would: when it dies, it is started again, at the same place."""

    state: Path
    options: tuple[str, ...]
    home: Path
    up: Running | None = None
    starts: int = 0
    struck: Counter[str] = field(default_factory=Counter[str])
    joined: list["Joined"] = field(default_factory=list["Joined"])
    _answers: asyncio.Event = field(default_factory=asyncio.Event)

    @asynccontextmanager
    async def kept(self) -> AsyncGenerator[None]:
        async with asyncio.TaskGroup() as group:
            keeping = [group.create_task(self._keep())]
            await self.answering()
            keeping += [group.create_task(one.keep()) for one in self.joined]
            yield
            for task in keeping:
                task.cancel()

    async def answering(self) -> Running:
        """The farm, as soon as it answers."""
        async with asyncio.timeout(LONG):
            await self._answers.wait()
        assert self.up is not None
        return self.up

    async def _keep(self) -> None:
        while True:
            async with farm_up(self.state, *self.options, home=self.home) as self.up:
                self.starts += 1
                self._answers.set()
                code = await self.up.started.end
                self._answers.clear()
                assert code == -signal.SIGKILL, "a farm ends only because it is killed"

    def kill_the_farm(self) -> None:
        """kill -9 of the farm that answers."""
        assert self.up is not None
        self._answers.clear()
        self.up.kill()
        self.struck["farms"] += 1

    async def strike(self, chance: random.Random) -> None:
        """kill -9 of the farm, or of something below it."""
        up = await self.answering()
        kind = chance.choice([None, *BELOW])
        if kind is None:
            self.kill_the_farm()
            return
        above = chance.choice([up.pid, *(one.started.pid for one in self.joined if one.started is not None)])
        below = kind(above)
        if kind is workers and above != up.pid:
            below = [one for one in offspring(os.getpid()) if one.pid == above]
        if below:
            with suppress(ProcessLookupError):
                os.kill(chance.choice(below).pid, signal.SIGKILL)
                self.struck[f"{'joined ' if above != up.pid else ''}{kind.__name__}"] += 1


@dataclass
class Joined:
    """Looks after a worker that joins the farm: when it dies, it is started again, at the same place."""

    arguments: tuple[str | Path, ...]
    home: Path
    started: Started | None = None

    async def keep(self) -> None:
        try:
            while True:
                self.started = await started("worker", *self.arguments, home=self.home, leads=False)
                code = await self.started.end
                self.started.err.close()
                assert code == -signal.SIGKILL, "a worker ends only because it is killed"
        finally:
            if self.started is not None:
                self.started.send(signal.SIGKILL)
                self.started.err.close()


@dataclass
class Load:
    """Clients that call what they hold, in any order, and one that comes and goes."""

    keeper: Keeper
    chance: random.Random
    calls: int = 0
    closed: int = 0
    scores: Counter[str] = field(default_factory=Counter[str])
    enough: bool = False

    async def call(self, callers: list[Caller]) -> None:
        while not self.enough:  # no call is cancelled: what became of it must be known
            await self.keeper.answering()
            if await self.chance.choice(callers).call():
                self.calls += 1

    async def score(self, leases: list[Lease]) -> None:
        """Score what the others call. Each state earns 1, whatever is killed meanwhile."""
        while not self.enough:
            up = await self.keeper.answering()
            with suppress(FarmError, FarmUnreachable):
                async with FarmClient(up.url, up.token) as client:
                    found = await client.score(self.chance.choice(leases).instance)
                    self.scores[found.outcome if found.outcome != "scored" else f"{found.reward:g}"] += 1

    async def come_and_go(self) -> None:
        """Launch, call and close; what cannot be closed is left to the reaper."""
        while not self.enough:
            up = await self.keeper.answering()
            with suppress(FarmError, FarmUnreachable):
                async with FarmClient(up.url, up.token) as client:
                    [lease] = await client.launch("counter", ttl_seconds=30)
                    try:
                        async with connected([lease]) as [caller]:
                            await caller.call()
                    finally:
                        await client.close(lease.instance)
                        self.closed += 1


@pytest.mark.slow
async def test_a_farm_that_is_killed_again_and_again_loses_nothing_and_leaves_nothing(tmp_path: Path) -> None:
    await write_counter(tmp_path / "library")
    chance = random.Random(200)  # noqa: S311
    port = free_ports(5)
    options = ("--port", str(port), "--library", str(tmp_path / "library"), "--workers", "2")
    options = (*options, "--keep", "0")  # a lease that nobody could close while the farm was down leaves no state
    keeper = Keeper(tmp_path / "state", options, tmp_path)
    keeper.joined = [Joined(joining(tmp_path, port, number), tmp_path) for number in (3, 4)]
    load = Load(keeper, chance)
    with watching_for_orphans() as left:
        async with keeper.kept(), AsyncExitStack() as stack:
            up = await keeper.answering()
            async with FarmClient(up.url, up.token) as client:
                await until_all(client, 4)
                leases = await client.launch("counter", "whole", count=INSTANCES, seed=SEED)
            callers = await stack.enter_async_context(connected(leases))
            await asyncio.gather(*(caller.call() for caller in callers))
            held = _handles(await keeper.answering())
            async with asyncio.TaskGroup() as group:
                for at in range(CLIENTS):
                    group.create_task(load.call(callers[at::CLIENTS]))
                group.create_task(load.come_and_go())
                for _ in range(SCORERS):
                    group.create_task(load.score(leases))
                for _ in range(CYCLES):
                    most = load.calls + chance.randint(1, CALLS_BETWEEN)
                    await until(lambda most=most: load.calls >= most, "calls are answered")
                    await keeper.strike(chance)
                await keeper.answering()
                load.enough = True
            for caller in callers:
                await caller.call_again()
            up = await keeper.answering()
            async with FarmClient(up.url, up.token) as client:
                await until_all(client, 4)
                await check(callers, client)
                _see_that_none_got_shorter(leases, [await client.lease(lease.instance) for lease in leases])
                await until(lambda: _state_files(tmp_path) == INSTANCES, "those that nobody closed are reaped")
                assert (await client.health()).instances == INSTANCES
            assert list((tmp_path / "state").rglob("*.part*")) == []
            assert _handles(up) <= held + HANDLES_TO_SPARE
        await until(lambda: not left(), "all processes of the farms are gone")
    assert set(load.scores) <= {"1", "infra_error"}
    assert load.scores["1"] > 0
    told = f"{keeper.starts} starts, {load.calls} calls, {load.closed} came and went"
    print(told, dict(keeper.struck), dict(load.scores))  # noqa: T201


def joining(home: Path, port: int, number: int) -> tuple[str | Path, ...]:
    """The options of a worker that joins."""
    return (
        *("--registry", f"http://127.0.0.1:{port}", "--token-file", home / "state" / "join-token"),
        *("--advertise", f"http://127.0.0.1:{port + number}", "--host", "127.0.0.1", "--name", f"joined-{number}"),
        *("--state", home / f"joined-{number}", "--library", home / "library", "--walls-available"),
    )


async def until_all(client: FarmClient, count: int) -> None:
    """Wait until so many workers answer."""
    async with asyncio.timeout(LONG):
        while True:
            with suppress(CapacityError):
                if sum(one.answers for one in (await client.workers()).items) == count:
                    return
            await asyncio.sleep(0.1)


def _see_that_none_got_shorter(before: list[Lease], after: list[Lease]) -> None:
    """The leases are the same. In dates they end later: a time in which the farm was away counts for none of them."""
    later = [now.expires_at - then.expires_at for now, then in zip(after, before, strict=True)]
    assert timedelta(0) <= min(later) <= max(later) <= min(later) + timedelta(seconds=1)
    assert [one.model_copy(update={"expires_at": None}) for one in after] == [
        one.model_copy(update={"expires_at": None}) for one in before
    ]


def _state_files(home: Path) -> int:
    return sum(1 for path in home.rglob("*.history") if path.parent.name == "instances")


def _handles(up: Running) -> int:
    """The open files and sockets of a farm's processes."""
    pids = [up.pid, *(one.pid for one in workers(up.pid))]
    return sum(len(list(Path(f"/proc/{pid}/fd").iterdir())) for pid in pids)
