"""A pool of workers for one job: this process, child processes, or processes of a Ray cluster.

Results depend on neither the number of workers nor their place. All of them end with this process.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, closing
from typing import NamedTuple, TypeVar

from synth.pipeline.plan import Engine
from synth.processes.job import Job
from synth.processes.ray_cluster import on_cluster
from synth.processes.worker_process import ProcessWorker

OrderT = TypeVar("OrderT")
DoneT = TypeVar("DoneT")
MOST = 64


class PoolSettings(NamedTuple):
    """The number of workers, one a core if `workers` is None, and their place."""

    workers: int | None = None
    engine: Engine = "asyncio"


def cores() -> int:
    """The number of processor cores for this process."""
    return len(os.sched_getaffinity(0))


@asynccontextmanager
async def process_pool(
    job: Job[OrderT, DoneT], settings: PoolSettings, *, most: int = MOST
) -> AsyncGenerator[Callable[[OrderT], Awaitable[DoneT]]]:
    """A function that does one order. Calls run concurrently, one on each worker, with `most` workers at most."""
    count = settings.workers
    async with AsyncExitStack() as stack:
        each: list[Callable[[OrderT], Awaitable[DoneT]]]
        here = min(count or cores(), max(most, 1))
        if settings.engine == "ray":
            each = await stack.enter_async_context(on_cluster(job, count, max(1, min(most, MOST))))
        elif here == 1:
            each = [await stack.enter_async_context(job.open())]
        else:
            threads = stack.enter_context(ThreadPoolExecutor(here))
            beside = [stack.enter_context(closing(ProcessWorker(job, threads))) for _ in range(here)]
            for one in beside:  # all of them before the first is waited for
                stack.callback(one.tell_to_end)
            each = [one.ask for one in beside]
        free: asyncio.Queue[Callable[[OrderT], Awaitable[DoneT]]] = asyncio.Queue()
        for one in each:
            free.put_nowait(one)

        async def do(order: OrderT) -> DoneT:
            one = await free.get()
            try:
                return await one(order)
            finally:
                free.put_nowait(one)

        yield do
