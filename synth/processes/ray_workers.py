"""The workers of a Ray cluster for a job. Needs the extra `envfarm[scale]`."""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, suppress
from multiprocessing.connection import Connection
from threading import Lock
from typing import Any

import ray
from ray.exceptions import ActorUnschedulableError, RayActorError, RayError

from servers.cluster.ray_cluster import cluster, nodes, on_node
from servers.errors import FarmError
from synth.processes.job import Job, WorkerFault

SECONDS_TO_END = 10
MOST_DEATHS = 3
"""The number of processes that may die during an order. Then it is not repeated: it may be the cause."""


class RayWorker:
    """One process of the cluster. It opens its job on first use."""

    def __init__(self, job: Job[Any, Any]) -> None:
        self._job = job
        self._stack = AsyncExitStack()
        self._do: Any = None
        self._doing: asyncio.Task[Any] | None = None

    async def do(self, order: Any) -> Any:
        """Do one order. Returns known errors."""
        self._doing = asyncio.ensure_future(self._done(order))
        return await self._doing

    async def close(self) -> None:
        """Cancel the current order, and close the job."""
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


class ClusterWorker:
    """A worker with one actor at a time. If the actor dies or is at fault, the order is repeated on another node."""

    def __init__(self, job: Job[Any, Any], number: int) -> None:
        self._job = job
        self._number = number
        self._is_closed = False
        self._starting = Lock()  # protects _actors: none is started once this is closed
        self._actors: dict[str, Any] = {}
        self._node = ""
        self._move(())

    def do(self, order: Any) -> Any:
        """The result of an order, or its error."""
        tried: list[str] = []
        faults: list[str] = []
        deaths = 0
        while actor := self._actors.get(self._node):
            tried.append(self._node)
            try:
                done = ray.get(actor.do.remote(order))
                if not isinstance(done, WorkerFault):
                    return done
                faults.append(str(done))
            except ActorUnschedulableError:
                faults.append(f"node {self._node[:8]} is gone")
                self._drop(actor)
            except RayActorError:
                deaths += 1
                self._drop(actor)
            if deaths == MOST_DEATHS:
                return FarmError(f"{deaths} processes of the Ray cluster died in the middle of the same work")
            if faults and not nodes().keys() - set(tried):
                return FarmError(f"no machine of the Ray cluster can do this: {'; '.join(faults)}")
            self._move(tried)
        return FarmError("the Ray cluster was let go of in the middle of the work")

    def close(self) -> list[Any]:
        """Ask the actors to end. Returns handles to wait for."""
        with self._starting:
            self._is_closed = True
            return [actor.close.remote() for actor in self._actors.values()]

    def end(self) -> None:
        """Kill the actors."""
        for actor in list(self._actors.values()):
            ray.kill(actor)

    def _drop(self, actor: Any) -> None:
        with self._starting:
            self._actors = {node: other for node, other in self._actors.items() if other is not actor}
        ray.kill(actor)  # it may live, and only be out of reach

    def _move(self, tried: Sequence[str]) -> None:
        """Move to an actor on an untried node, if there is one. Workers begin on different nodes."""
        living = sorted(nodes())
        left = [node for node in living if node not in tried] or living
        self._node = left[self._number % len(left)]
        with self._starting:
            if self._node not in self._actors and not self._is_closed:
                self._actors[self._node] = on_node(self._node, RayWorker, self._job)


def attend(first: Connection, others: Sequence[Connection], address: str) -> None:
    """Serve orders on each connection until the first is closed."""
    job, wanted = first.recv()
    try:
        with cluster(address) as cores, ThreadPoolExecutor(len(others)) as threads:
            count = max(1, min(wanted or cores, len(others)))
            workers = [ClusterWorker(job, number) for number in range(count)]
            for worker, other in zip(workers, others, strict=False):
                threads.submit(_attend, worker, other)
            with suppress(EOFError, OSError):
                first.send(count)
                first.recv()
            with suppress(RayError, ValueError):  # there may be none left to wait for
                closed = [one for worker in workers for one in worker.close()]
                ray.wait(closed, num_returns=len(closed), timeout=SECONDS_TO_END)
            for worker in workers:
                worker.end()
    except FarmError as error:
        with suppress(OSError):
            first.send(error)


def _attend(worker: ClusterWorker, other: Connection) -> None:
    with suppress(EOFError, OSError):
        while True:
            order = other.recv()
            try:
                done = worker.do(order)
            except RayError as error:
                done = FarmError(f"a process of the Ray cluster broke: {str(error).strip().splitlines()[-1]}")
            other.send(done)
