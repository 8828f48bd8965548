"""Workers that join a registry over HTTP, each with a control door of its own, in this process."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from starlette.types import ASGIApp, Receive, Scope, Send

from registry.http.join_door import JoinDoor
from registry.joining import Joining
from registry.workers.watchdog import Watchdog
from servers.bundle_library import Library
from servers.doors.control import ControlDoor
from servers.doors.mcp import no_instances
from servers.doors.server import listen, serving, url_of
from servers.doors.worker_process import WorkerDoors
from servers.joining.member import FarmMember
from servers.joining.proofs import ControlTokens
from servers.worker.settings import JoinSettings, WorkerSettings
from servers.worker.worker import Worker
from tests.registry.farms import Clock, Farm

JOIN_TOKEN = "join-token-of-the-tests-0123456789abcdef"


@dataclass
class Joinable:
    """The door of a farm at which workers join, and its watchdog, whose time is told by the test."""

    url: str
    joining: Joining
    watchdog: Watchdog
    clock: Clock

    async def silence(self, seconds: int) -> None:
        """So many seconds pass in which the registry hears of nobody."""
        for _ in range(seconds):
            self.clock.now += 1
            await self.watchdog.look()


@asynccontextmanager
async def joinable(farm: Farm, *, wall: Callable[[], float] | None = None) -> AsyncGenerator[Joinable]:
    """The door of a farm at which workers join."""
    opened = asyncio.Event()
    opened.set()
    joining = Joining(farm.registry, JOIN_TOKEN) if wall is None else Joining(farm.registry, JOIN_TOKEN, wall=wall)
    clock = Clock()
    with listen("127.0.0.1", 0) as listening:
        async with aclosing(joining), serving(JoinDoor(no_instances, joining, opened), listening):
            watchdog = Watchdog(farm.registry.fleet, farm.registry.lose, clock=clock)
            yield Joinable(url_of(listening), joining, watchdog, clock)


@dataclass
class Joined:
    """A worker with its doors, as a member of a farm or on its way there."""

    worker: Worker
    member: FarmMember
    url: str


@asynccontextmanager
async def worker_at(
    registry: str | tuple[str, ...],
    library: Library,
    folder: Path,
    *,
    name: str = "far",
    token: str = JOIN_TOKEN,
    advertise: str | None = None,
    capacity: int = 100_000,
    odd: Mapping[str, ASGIApp] = MappingProxyType({}),
) -> AsyncGenerator[Joined]:
    """A worker that is about to join: `member.join` does it. The `odd` operations are answered by others."""
    tokens = ControlTokens()
    async with Worker(library, folder, WorkerSettings(most_instances=capacity)) as worker:
        with listen("127.0.0.1", 0) as listening:
            url = url_of(listening)
            registries = (registry,) if isinstance(registry, str) else registry
            settings = JoinSettings(registries=registries, token=token, name=name, advertise=advertise or url)
            control = ControlDoor(worker, tokens)

            async def door(scope: Scope, receive: Receive, send: Send) -> None:
                await odd.get(scope["path"].rpartition("/")[2], control)(scope, receive, send)

            doors = WorkerDoors(no_instances, door)
            async with (
                serving(doors, listening),
                aclosing(FarmMember(worker, settings, tokens)) as member,
            ):
                yield Joined(worker, member, url)
