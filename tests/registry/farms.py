"""A registry with its worker in this process, served on a free port, whose time is told by the test."""

import math
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from registry.client import FarmClient
from registry.http.app import control_app
from registry.leases import Registry
from registry.ledger.lease_clock import LeaseClock
from registry.ledger.store import KeptFarm, Ledger
from registry.messages import KEEP_SECONDS
from registry.reaper import Reaper
from registry.workers.fleet import EmbeddedWorker, Fleet, FleetMember
from servers.bundle_library import Library
from servers.doors.server import listen, serving, url_of
from servers.worker.worker import Worker

TOKEN = "token-of-the-registry"
NEVER = 1e6


class Clock:
    """A time that passes when it is told to, and a wall clock that is ahead of it by as much as it is told."""

    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self.now = now
        self.wall_ahead = 0.0

    def __call__(self) -> float:
        return self.now

    def wall(self) -> float:
        return self.now + self.wall_ahead


@dataclass(frozen=True)
class Farm:
    """What a test may hold of a farm."""

    url: str
    folder: Path
    clock: Clock
    ledger: Ledger
    worker: Worker
    registry: Registry
    reaper: Reaper
    client: FarmClient
    http: httpx.AsyncClient

    async def call(self, instance: str, tool: str, **arguments: Any) -> None:
        """Make a tool call, as an agent would through its own door."""
        outcome = await self.worker.find(instance).call(tool, arguments)
        assert not outcome.is_error, outcome.text

    async def launched(self, scenario: str | None = None, **order: Any) -> str:
        [lease] = await self.client.launch("shop", scenario, **order)
        return lease.instance


@asynccontextmanager
async def running(
    library: Library, folder: Path, clock: Clock, *, keep_seconds: int = KEEP_SECONDS
) -> AsyncGenerator[Farm]:
    """A farm over a state folder; entered again over the same folder, it is the same farm after a restart."""
    ledger = Ledger.open(f"sqlite:///{_made(folder) / 'ledger.db'}")
    try:
        async with Worker(library, folder / "worker") as worker:
            begin = ledger.claim(KeptFarm("farm-of-the-tests", str(folder), "here", clock())).time
            lease_clock = LeaseClock(begin, monotonic=clock, wall=clock.wall, longest_gap=math.inf)
            registry = Registry(library, ledger, Fleet(), clock=lease_clock, keep_seconds=keep_seconds)
            with listen("127.0.0.1", 0) as listening:
                url = url_of(listening)
                await registry.join(FleetMember("local", url, EmbeddedWorker(worker)))
                door = control_app(registry, token=TOKEN, reap_every_seconds=NEVER)
                async with (
                    door.router.lifespan_context(door),
                    serving(door, listening),
                    FarmClient(url, TOKEN) as client,
                    httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {TOKEN}"}) as http,
                ):
                    reaper: Reaper = door.state.reaper
                    yield Farm(url, folder, clock, ledger, worker, registry, reaper, client, http)
    finally:
        ledger.close()


def _made(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    return folder
