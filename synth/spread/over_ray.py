"""Ray: the cluster, and processes of it that do a kind of work. Needs the extra `envfarm[scale]`."""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false

import asyncio
import logging
import socket
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, contextmanager, suppress
from multiprocessing.connection import Connection
from typing import Any

import ray
from ray.exceptions import RayActorError, RayError

from servers.errors import FarmError
from synth.spread.job import Job

SECONDS_TO_ANSWER = 10
SECONDS_TO_END = 10
OPTIONS: dict[str, Any] = {"num_cpus": 0, "scheduling_strategy": "SPREAD"}
"""Cores are counted by us: an actor that reserved one would wait for ever where another program has them."""
ONCE_AGAIN: dict[str, Any] = {"max_restarts": -1, "max_task_retries": 1}
"""What a process was doing when it died is done once more, by another in its place."""


@contextmanager
def cluster(address: str) -> Generator[int]:
    """The cluster at an address, else one on this machine as long as we are inside; how many cores it has.

    Raises:
        FarmError: there is no such cluster.
    """
    try:
        _make_sure_of(address)
        context: Any = ray.init(
            address or None,
            log_to_driver=False,
            include_dashboard=False,
            ignore_reinit_error=True,
            logging_level=logging.ERROR,
        )
    except Exception as error:  # of no class of its own where a cluster does not start
        reason = str(error).strip().partition("\n")[0]
        raise FarmError(f"--engine ray: no cluster at {address or 'this machine'}: {reason}") from None
    with context:
        yield int(ray.cluster_resources().get("CPU", 1))


def _make_sure_of(address: str) -> None:
    """See that somebody listens there: Ray itself would try for ever."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host, int(port)), SECONDS_TO_ANSWER).close()


class Hand:
    """One process of the cluster. It opens its job when it is first asked."""

    def __init__(self, job: Job[Any, Any]) -> None:
        self._job = job
        self._stack = AsyncExitStack()
        self._do: Any = None
        self._doing: asyncio.Task[Any] | None = None

    async def do(self, order: Any) -> Any:
        """Do one thing; gives the error where there is one that we know."""
        self._doing = asyncio.ensure_future(self._done(order))
        return await self._doing

    async def close(self) -> None:
        """Let go of whatever it is doing, and close its job."""
        if self._doing is not None:
            self._doing.cancel()
            await asyncio.wait({self._doing})
        await self._stack.aclose()

    async def _done(self, order: Any) -> Any:
        try:
            if self._do is None:
                self._do = await self._stack.enter_async_context(self._job.open())
            return await self._do(order)
        except FarmError as error:
            return error


def attend(first: Connection, others: Sequence[Connection], address: str) -> None:
    """Have done what is asked over each connection, until the first is closed."""
    job, wanted = first.recv()
    try:
        with cluster(address) as cores, ThreadPoolExecutor(len(others)) as threads:
            count = max(1, min(wanted or cores, len(others)))
            actor: Any = ray.remote(Hand)
            hands = [actor.options(**OPTIONS, **ONCE_AGAIN).remote(job) for _ in range(count)]
            for hand, other in zip(hands, others, strict=False):
                threads.submit(_attend, hand, other)
            with suppress(EOFError, OSError):
                first.send(count)
                first.recv()
            with suppress(RayError):
                ray.wait([hand.close.remote() for hand in hands], num_returns=count, timeout=SECONDS_TO_END)
            for hand in hands:
                ray.kill(hand)
    except FarmError as error:
        with suppress(OSError):
            first.send(error)


def _attend(hand: Any, other: Connection) -> None:
    with suppress(EOFError, OSError):
        while True:
            order = other.recv()
            try:
                done = ray.get(hand.do.remote(order))
            except RayActorError:
                done = FarmError("processes of the Ray cluster died in the middle of the same work")
            except RayError as error:
                done = FarmError(f"a process of the Ray cluster broke: {str(error).strip().splitlines()[-1]}")
            other.send(done)
