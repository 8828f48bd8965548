"""Batched launches: equal requests of the same moment become one.

All episodes of a group begin together, so this is one request and not eight.
"""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

import httpx2

from agent_client.toolbox import JoinedToolbox, Place, Toolbox, connect, connect_both
from registry.client import FarmClient
from registry.messages import Lease
from rl_training.data.rows import Task
from servers.errors import FarmError
from servers.scenario.two_environments import routes

MOST_AT_ONCE = 1000
T = TypeVar("T")


class Opening:
    """Connects agents to the instances of one launch, which are at the same scenario of the same bundle."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()  # protects the farm: one asks, and the others wait for what it was told
        self._shown: Toolbox | None = None
        self._tried = False

    async def toolbox(self, lease: Lease, http: httpx2.AsyncClient) -> Toolbox:
        """The tools of one instance. Listed once for all, and for each one if the first gets no answer.

        Raises:
            FarmUnreachable, InfraError: the instance does not answer, or its lease has ended.
        """
        async with self._turn:
            if self._shown is None and not self._tried:
                self._tried = True
                self._shown = await _asked(lease, http)
        if self._shown is None:
            self._shown = await _asked(lease, http)
        if isinstance(self._shown, JoinedToolbox):
            return self._shown.moved(_places(lease))
        return self._shown.at(*lease.address())


async def _asked(lease: Lease, http: httpx2.AsyncClient) -> Toolbox:
    places = _places(lease)
    if len(places) > 1:
        async with connect_both(places, routes, http_client=http) as both:
            return both
    url, token = lease.address()
    async with connect(url, token, http_client=http) as toolbox:
        return toolbox


def _places(lease: Lease) -> list[Place]:
    """Where an agent reaches the instances of a lease."""
    first = Place(lease.environment, *lease.address())
    return [first] if lease.second is None else [first, Place(lease.second.environment, *lease.second.address())]


class LaunchedBatch(NamedTuple):
    """A lease, and the shared connection of its launch."""

    lease: Lease
    opening: Opening


class Launches:
    """Launches instances of one farm. An instance whose requester was cancelled is closed."""

    def __init__(self, farm: FarmClient, *, ttl_seconds: int, perturb: str = "") -> None:
        self._farm = farm
        self._ttl = ttl_seconds
        self._perturb = perturb
        self._waiting: dict[Task, list[asyncio.Future[LaunchedBatch]]] = {}
        self._under_way: set[asyncio.Task[Any]] = set()

    async def take(self, task: Task) -> LaunchedBatch:
        """A new instance at a task. Raises the registry's error."""
        future: asyncio.Future[LaunchedBatch] = asyncio.get_running_loop().create_future()
        waiting = self._waiting.setdefault(task, [])
        waiting.append(future)
        if len(waiting) == 1:
            self._do(self._launch(task))
        try:
            return await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled() and future.exception() is None:
                self.give_back(future.result().lease)
            raise

    async def fork(self, instance: str, count: int) -> list[Lease]:
        """New instances with the state of an existing one. Raises the registry's error."""
        forking = self._do(self._farm.fork(instance, count))
        try:
            return await asyncio.shield(forking)
        except asyncio.CancelledError:
            forking.add_done_callback(self._give_all_back)
            raise

    def _give_all_back(self, forking: "asyncio.Task[list[Lease]]") -> None:
        if not forking.cancelled() and forking.exception() is None:
            for lease in forking.result():
                self.give_back(lease)

    def give_back(self, lease: Lease) -> "asyncio.Task[None]":
        """Close an instance in the background. If that fails, its lease ends it."""
        return self._do(self._close(lease))

    async def settle(self) -> None:
        """Wait until all pending work is done."""
        while self._under_way:
            await asyncio.wait(self._under_way)

    async def _launch(self, task: Task) -> None:
        await asyncio.sleep(0)  # all who begin in this pass of the loop have asked by then
        waiting = [future for future in self._waiting.pop(task) if not future.done()]
        for begin in range(0, len(waiting), MOST_AT_ONCE):
            await self._serve(task, waiting[begin : begin + MOST_AT_ONCE])

    async def _serve(self, task: Task, waiting: list[asyncio.Future[LaunchedBatch]]) -> None:
        try:
            leases = await self._farm.launch(
                task.environment,
                task.scenario,
                count=len(waiting),
                ttl_seconds=self._ttl,
                seed=task.seed,
                perturb=self._perturb,
                pairs=True,
            )
        except FarmError as error:
            for future in waiting:
                if not future.done():
                    future.set_exception(type(error)(str(error)))  # one each: a traceback belongs to one waiter
            return
        opening = Opening()
        for future, lease in zip(waiting, leases, strict=True):
            if future.done():
                self.give_back(lease)
            else:
                future.set_result(LaunchedBatch(lease, opening))

    async def _close(self, lease: Lease) -> None:
        with suppress(FarmError):
            await self._farm.close(lease.instance)

    def _do(self, work: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        doing = asyncio.create_task(work)
        self._under_way.add(doing)
        doing.add_done_callback(self._under_way.discard)
        return doing
