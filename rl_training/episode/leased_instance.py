"""An instance for one episode: leased, kept alive while it is played, and always given back."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import httpx2

from agent_client.toolbox import Toolbox
from registry.client import LeasedInstance
from registry.messages import Lease, Score
from rl_training.data.rows import Task
from rl_training.episode.farm_connection import FarmConnection
from rl_training.episode.instance_batches import LaunchedBatch
from servers.errors import CapacityError, FarmError

HEARTBEATS = 3
"""Heartbeats within one `ttl_seconds`, so that two may be lost."""
PAUSES = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
"""Seconds between attempts to get room. After the last one the farm counts as broken."""


@dataclass
class EpisodeInstance(LeasedInstance):
    """An instance from a batched launch. Its first view is fetched once for the whole launch."""

    launched: LaunchedBatch = field(kw_only=True)
    http: httpx2.AsyncClient = field(kw_only=True)
    given_back: bool = False

    @asynccontextmanager
    async def connect(self) -> AsyncGenerator[Toolbox]:
        """The agent's toolbox. Raises FarmUnreachable."""
        yield await self.launched.opening.toolbox(self.launched.lease, self.http)

    async def score(self, answer: str = "") -> Score:
        """Score it, and close it if it could be judged."""
        score = await self.farm.score(self.id, answer, close=True)
        self.given_back = score.outcome == "scored"
        return score


@asynccontextmanager
async def seat(link: FarmConnection, task: Task) -> AsyncGenerator[EpisodeInstance]:
    """Lease an instance at a task.

    A trainer that crashes sends no heartbeats, and the farm ends the lease.

    Raises:
        FarmError: the registry's error. CapacityError only after a long wait for room.
    """
    async with held(link, await _launched(link, task)) as taken:
        yield taken


@asynccontextmanager
async def held(link: FarmConnection, launched: LaunchedBatch) -> AsyncGenerator[EpisodeInstance]:
    """Keep an instance alive, and give it back on exit."""
    lease = launched.lease
    taken: EpisodeInstance | None = None
    alive = asyncio.create_task(_keep_alive(link, lease))
    try:
        taken = EpisodeInstance(link.registry, lease.instance, *lease.address(), launched=launched, http=link.http)
        yield taken
    finally:
        alive.cancel()
        if taken is None or not taken.given_back:
            await asyncio.shield(link.launches.give_back(lease))


async def _launched(link: FarmConnection, task: Task) -> LaunchedBatch:
    for pause in PAUSES:
        try:
            return await link.launches.take(task)
        except CapacityError:
            await asyncio.sleep(pause)
    return await link.launches.take(task)


async def _keep_alive(link: FarmConnection, lease: Lease) -> None:
    """Send heartbeats. If one fails, the next call or the score reports the reason."""
    while True:
        await asyncio.sleep(lease.ttl_seconds / HEARTBEATS)
        with suppress(FarmError):
            await link.registry.heartbeat(lease.instance)
