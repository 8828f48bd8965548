"""An instance for one episode: leased, kept alive while it is played, and given back however the episode ends."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from registry.wire import Lease
from rl_training.link import Link
from rl_training.task import Task
from servers.errors import CapacityError, FarmError

HEARTBEATS = 3
"""How many a lease gets in its time, so that two may be lost."""
PAUSES = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
"""Seconds between attempts to get room. After the last one the farm counts as broken."""


@asynccontextmanager
async def seat(link: Link, task: Task) -> AsyncGenerator[Lease]:
    """A leased instance at a task.

    A trainer that dies without a word leaves a lease that is not prolonged; the farm ends it when its time is over.

    Raises:
        FarmError: what the registry answered; CapacityError only after a long wait for room.
    """
    lease = await _launched(link, task)
    alive = asyncio.create_task(_keep_alive(link, lease))
    try:
        yield lease
    finally:
        alive.cancel()
        await asyncio.shield(link.launches.give_back(lease))


async def _launched(link: Link, task: Task) -> Lease:
    for pause in PAUSES:
        try:
            return await link.launches.take(task)
        except CapacityError:
            await asyncio.sleep(pause)
    return await link.launches.take(task)


async def _keep_alive(link: Link, lease: Lease) -> None:
    """Prolong a lease again and again. Where that fails, the next call or the score finds out why."""
    while True:
        await asyncio.sleep(lease.ttl_seconds / HEARTBEATS)
        with suppress(FarmError):
            await link.registry.heartbeat(lease.instance)
