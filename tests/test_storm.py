"""An hour's worth of kill -9 in minutes: 200 instances, 20 clients, and nothing is lost, halved or left over."""

import asyncio
import os
import random
import signal
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent_client.errors import FarmUnreachable
from registry.client import FarmClient
from servers.errors import FarmError
from tests.counting import SEED, Caller, check, connected, write_counter
from tests.processes import (
    LONG,
    Process,
    Running,
    farm_up,
    free_ports,
    guests,
    until,
    watching_for_orphans,
    workers,
    zygotes,
)

INSTANCES, CLIENTS, CYCLES = 200, 20, 60
BELOW: list[Callable[[int], list[Process]]] = [guests, zygotes, workers]
CALLS_BETWEEN = 400
HANDLES_TO_SPARE = 40


@dataclass
class Keeper:
    """Looks after a farm as whoever runs one would: when it dies, it is started again, at the same place."""

    state: Path
    options: tuple[str, ...]
    home: Path
    up: Running | None = None
    starts: int = 0
    _answers: asyncio.Event = field(default_factory=asyncio.Event)

    @asynccontextmanager
    async def kept(self) -> AsyncGenerator[None]:
        async with asyncio.TaskGroup() as group:
            keeping = group.create_task(self._keep())
            await self.answering()
            yield
            keeping.cancel()

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

    async def strike(self, chance: random.Random) -> None:
        """kill -9 of the farm, or of something below it."""
        up = await self.answering()
        kind = chance.choice([None, *BELOW])
        if kind is None:
            self._answers.clear()
            up.kill()
        elif below := kind(up.pid):
            with suppress(ProcessLookupError):
                os.kill(chance.choice(below).pid, signal.SIGKILL)


@dataclass
class Load:
    """Clients that call what they hold, in any order, and one that comes and goes."""

    keeper: Keeper
    chance: random.Random
    calls: int = 0
    closed: int = 0
    enough: bool = False

    async def call(self, callers: list[Caller]) -> None:
        while not self.enough:  # no call is cancelled: what became of it must be known
            await self.keeper.answering()
            if await self.chance.choice(callers).call():
                self.calls += 1

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
    options = ("--port", str(free_ports(3)), "--library", str(tmp_path / "library"), "--workers", "2")
    options = (*options, "--keep", "0")  # a lease that nobody could close while the farm was down leaves no state
    keeper = Keeper(tmp_path / "state", options, tmp_path)
    load = Load(keeper, chance)
    with watching_for_orphans() as left:
        async with keeper.kept(), AsyncExitStack() as stack:
            up = await keeper.answering()
            async with FarmClient(up.url, up.token) as client:
                leases = await client.launch("counter", count=INSTANCES, seed=SEED)
            callers = await stack.enter_async_context(connected(leases))
            await asyncio.gather(*(caller.call() for caller in callers))
            held = _handles(await keeper.answering())
            async with asyncio.TaskGroup() as group:
                for at in range(CLIENTS):
                    group.create_task(load.call(callers[at::CLIENTS]))
                group.create_task(load.come_and_go())
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
                await check(callers, client)
                assert [await client.lease(lease.instance) for lease in leases] == leases
                await until(lambda: _state_files(tmp_path) == INSTANCES, "those that nobody closed are reaped")
                assert (await client.health()).instances == INSTANCES
            assert list((tmp_path / "state").rglob("*.part*")) == []
            assert _handles(up) <= held + HANDLES_TO_SPARE
        await until(lambda: not left(), "all processes of the farms are gone")
    print(f"{keeper.starts} starts, {load.calls} calls, {load.closed} came and went")  # noqa: T201


def _state_files(home: Path) -> int:
    return sum(1 for path in (home / "state").rglob("*.history") if path.parent.name == "instances")


def _handles(up: Running) -> int:
    """The open files and sockets of a farm's processes."""
    pids = [up.pid, *(one.pid for one in workers(up.pid))]
    return sum(len(list(Path(f"/proc/{pid}/fd").iterdir())) for pid in pids)
