"""An instance for one episode: leased, kept alive while it is played, and given back however the episode ends."""

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
"""How many a lease gets in its time, so that two may be lost."""
PAUSES = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
"""Seconds between attempts to get room. After the last one the farm counts as broken."""


@dataclass
class EpisodeInstance(LeasedInstance):
    """An instance that was launched with others: what an agent is shown first is asked of one of them for all."""

    launched: LaunchedBatch = field(kw_only=True)
    http: httpx2.AsyncClient = field(kw_only=True)
    given_back: bool = False

    @asynccontextmanager
    async def connect(self) -> AsyncGenerator[Toolbox]:
        """What the agent holds of it. Raises FarmUnreachable."""
        yield await self.launched.opening.toolbox(self.launched.lease, self.http)

    async def score(self, answer: str = "") -> Score:
        """Judge it, for the last time: what can be judged is given back with it."""
        score = await self.farm.score(self.id, answer, close=True)
        self.given_back = score.outcome == "scored"
        return score


@asynccontextmanager
async def seat(link: FarmConnection, task: Task) -> AsyncGenerator[EpisodeInstance]:
    """A leased instance at a task.

    A trainer that dies without a word leaves a lease that is not prolonged; the farm ends it when its time is over.

    Raises:
        FarmError: what the registry answered; CapacityError only after a long wait for room.
    """
    launched = await _launched(link, task)
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
    """Prolong a lease again and again. Where that fails, the next call or the score finds out why."""
    while True:
        await asyncio.sleep(lease.ttl_seconds / HEARTBEATS)
        with suppress(FarmError):
            await link.registry.heartbeat(lease.instance)
