"""Several processes that do the same kind of work: this one alone, others beside it, or those of a Ray cluster.

What comes of it does not hang on how many they are, or where. All of them end with this one.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, closing
from typing import Literal, TypeVar

from synth.processes.job import Job
from synth.processes.ray_cluster import on_cluster
from synth.processes.worker_process import ProcessWorker

Order = TypeVar("Order")
Done = TypeVar("Done")
Engine = Literal["asyncio", "ray"]
"""Where work is done: on this machine, or by a Ray cluster."""
MOST = 64


def cores() -> int:
    """How many processes can run at once here."""
    return len(os.sched_getaffinity(0))


@asynccontextmanager
async def hands(
    job: Job[Order, Done], count: int | None, *, most: int = MOST, engine: Engine = "asyncio"
) -> AsyncGenerator[Callable[[Order], Awaitable[Done]]]:
    """Whoever does one thing when asked; up to `count` at once, one a core if it is None, and never over `most`."""
    async with AsyncExitStack() as stack:
        each: list[Callable[[Order], Awaitable[Done]]]
        here = min(count or cores(), max(most, 1))
        if engine == "ray":
            each = await stack.enter_async_context(on_cluster(job, count, max(1, min(most, MOST))))
        elif here == 1:
            each = [await stack.enter_async_context(job.open())]
        else:
            threads = stack.enter_context(ThreadPoolExecutor(here))
            beside = [stack.enter_context(closing(ProcessWorker(job, threads))) for _ in range(here)]
            for one in beside:  # all of them before the first is waited for
                stack.callback(one.tell_to_end)
            each = [one.ask for one in beside]
        free: asyncio.Queue[Callable[[Order], Awaitable[Done]]] = asyncio.Queue()
        for one in each:
            free.put_nowait(one)

        async def do(order: Order) -> Done:
            one = await free.get()
            try:
                return await one(order)
            finally:
                free.put_nowait(one)

        yield do
