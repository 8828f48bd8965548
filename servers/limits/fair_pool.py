"""Bounded resources that environments share fairly: a pool of threads, and an amount of memory.

Requests of one environment wait in its own queue, and the queues take turns. So a thousand jobs of one environment
delay another's job by one running job at most.
"""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from servers.errors import CapacityError

MOST_PASSED_OVER = 64
"""The number of later requests that may overtake one that does not fit. Then all wait until it does."""
MOST_THREADS = 32
MOST_THREADS_EACH = 2
T = TypeVar("T")


class _Request:
    """A waiting request for an amount."""

    def __init__(self, amount: int) -> None:
        self.amount = amount
        self.passed_over = 0
        self.granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()


class FairLimit:
    """An amount that environments share: `most` in all, `most_each` for one environment.

        async with limit.taken(environment_id, 3): ...

    A request above `most_each` is granted when its environment holds nothing, one above `most` when nobody does.
    """

    def __init__(self, most: int, most_each: int) -> None:
        self.most = most
        self.most_each = most_each
        self._held: Counter[str] = Counter()
        self._total = 0
        self._queues: OrderedDict[str, deque[_Request]] = OrderedDict()  # the next turn is the first one's

    @property
    def waiting(self) -> int:
        """The number of waiting requests."""
        return sum(map(len, self._queues.values()))

    @asynccontextmanager
    async def taken(self, environment: str, amount: int = 1) -> AsyncGenerator[None]:
        """Wait for an amount, and hold it while the context is open."""
        if self._queues or not self._fits(environment, amount):
            await self._queued(environment, amount)
        else:
            self._take(environment, amount)
        try:
            yield
        finally:
            self._give_back(environment, amount)

    async def _queued(self, environment: str, amount: int) -> None:
        request = _Request(amount)
        self._queues.setdefault(environment, deque()).append(request)
        self._grant()
        try:
            await request.granted
        except asyncio.CancelledError:
            if request.granted.done() and not request.granted.cancelled():
                self._give_back(environment, amount)
            else:
                self._withdraw(environment, request)
            raise

    def _withdraw(self, environment: str, request: _Request) -> None:
        queue = self._queues.get(environment, deque())
        if request in queue:
            queue.remove(request)
            if not queue:
                del self._queues[environment]
        self._grant()

    def _grant(self) -> None:
        """Grant requests that fit, environment by environment."""
        while (environment := self._next()) is not None:
            queue = self._queues[environment]
            request = queue.popleft()
            self._queues.move_to_end(environment)
            if not queue:
                del self._queues[environment]
            if not request.granted.cancelled():
                self._take(environment, request.amount)
                request.granted.set_result(None)

    def _next(self) -> str | None:
        """The next environment whose request fits."""
        passed: list[_Request] = []
        for environment, queue in self._queues.items():
            request = queue[0]
            if self._fits(environment, request.amount):
                for one in passed:
                    one.passed_over += 1
                return environment
            if request.passed_over >= MOST_PASSED_OVER:
                return None
            if self._has_share(environment, request.amount):
                passed.append(request)
        return None

    def _fits(self, environment: str, amount: int) -> bool:
        fits = self._total == 0 or self._total + amount <= self.most
        return fits and self._has_share(environment, amount)

    def _has_share(self, environment: str, amount: int) -> bool:
        held = self._held[environment]
        return held == 0 or held + amount <= self.most_each

    def _take(self, environment: str, amount: int) -> None:
        self._held[environment] += amount
        self._total += amount

    def _give_back(self, environment: str, amount: int) -> None:
        self._total -= amount
        self._held[environment] -= amount
        if not self._held[environment]:
            del self._held[environment]
        self._grant()


class FairThreadPool:
    """Threads for long work: queries, diffs, checkpoints, reads of large states.

        answer = await threads.run(environment_id, lambda: reader.select(sql))

    At most `most` threads run concurrently, and `most_each` for one environment. A job must be bounded to about a
    second, or be split, or be stoppable. No job outlives its caller. One that is cancelled before its turn never runs.
    One that runs is stopped and awaited, so its data may be closed afterwards.
    """

    def __init__(self, most: int = MOST_THREADS, most_each: int = MOST_THREADS_EACH) -> None:
        self._limit = FairLimit(most, most_each)
        self._executor = ThreadPoolExecutor(most, thread_name_prefix="fair")
        self._running: dict[asyncio.Future[Any], Callable[[], object]] = {}  # what stops each job
        self._is_closed = False

    @property
    def waiting(self) -> int:
        """The number of jobs that wait for a thread."""
        return self._limit.waiting

    @property
    def running(self) -> int:
        """The number of running jobs."""
        return len(self._running)

    async def run(self, environment: str, job: Callable[[], T], *, stop: Callable[[], object] = lambda: None) -> T:
        """Run a job for an environment in a thread, when it is that environment's turn.

        `stop` makes the job end soon, whatever it returns or raises. It is called on cancellation.

        Raises:
            CapacityError: the pool is closed.
        """
        async with self._limit.taken(environment):
            if self._is_closed:
                raise CapacityError("the worker is stopping; try again when it is back")
            running = asyncio.wrap_future(self._executor.submit(job))
            self._running[running] = stop
            try:
                return await asyncio.shield(running)
            except asyncio.CancelledError:
                stop()
                await _ended(running)
                raise
            finally:
                del self._running[running]

    async def close(self) -> None:
        """Stop running jobs, wait for them, and end the threads."""
        self._is_closed = True
        for stop in self._running.values():
            stop()
        for running in list(self._running):
            await _ended(running)
        self._executor.shutdown(wait=False)


async def _ended(running: asyncio.Future[Any]) -> None:
    """Wait for the end of a job, also on cancellation."""
    while not running.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait([running])
    running.exception()  # nobody asks for it any more
