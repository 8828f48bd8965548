"""Workers on a Ray cluster, reached through one child process.

Only that process, `synth/processes/ray_cluster_process.py`, needs `ray`.
"""

import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from servers.errors import FarmError
from synth.processes.job import Gone, Job, WorkerConnection

OrderT = TypeVar("OrderT")
DoneT = TypeVar("DoneT")
SECONDS_TO_END = 20


@asynccontextmanager
async def on_cluster(
    job: Job[OrderT, DoneT], count: int | None, most: int
) -> AsyncGenerator[list[Callable[[OrderT], Awaitable[DoneT]]]]:
    """The workers of a cluster: `count`, or one for each core, and never more than `most`.

    Raises:
        FarmError: `ray` is not installed, or there is no such cluster.
    """
    async with AsyncExitStack() as stack:
        threads = stack.enter_context(ThreadPoolExecutor(most + 1))
        connections = [
            WorkerConnection[Any, Any](stack.enter_context(here), threads) for here in _started(stack, 1 + most)
        ]
        for connection in connections:
            stack.callback(connection.close)
        first, *others = connections
        try:
            there: int = await first.ask((job, count))
        except Gone:
            raise FarmError("--engine ray: the process that speaks to the cluster ended before it did") from None
        yield [connection.ask for connection in others[:there]]


def _started(stack: AsyncExitStack, count: int) -> list[Connection]:
    """Start the child process with `count` connections. It ends when the stack is closed."""
    pairs: list[tuple[Any, Any]] = [Pipe() for _ in range(count)]
    theirs = [there.fileno() for _, there in pairs]
    command = [sys.executable, "-m", "synth.processes.ray_cluster_process", *map(str, theirs)]
    # a session of its own: what a terminal sends on Ctrl-C comes to us, and we let the cluster go
    process = subprocess.Popen(
        command, pass_fds=theirs, start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    stack.callback(_over, process)
    for _, there in pairs:
        there.close()
    return [here for here, _ in pairs]


def _over(process: "subprocess.Popen[bytes]") -> None:
    try:
        process.wait(SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
