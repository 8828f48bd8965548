"""Several processes that do the same kind of work, each with whatever it needs open; one of them is this one.

What is asked and what comes back is pickled, so only our own values may be in it. A process that dies is an error, and
all of them end with this one.
"""

import asyncio
import multiprocessing
import os
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from multiprocessing.connection import Connection
from typing import Any, Generic, Protocol, TypeVar

from servers.errors import FarmError
from servers.worker_process import die_with_parent
from synth.at_once import run_alone

Order = TypeVar("Order")
Done = TypeVar("Done")
Order_contra = TypeVar("Order_contra", contravariant=True)
Done_co = TypeVar("Done_co", covariant=True)
SECONDS_TO_END = 10


class Job(Protocol[Order_contra, Done_co]):
    """A kind of work: opened once in each process, then asked for one thing after another. It can be pickled."""

    def open(self) -> AbstractAsyncContextManager[Callable[[Order_contra], Awaitable[Done_co]]]:
        """Open whatever it needs."""
        ...


def cores() -> int:
    """How many processes can run at once here."""
    return len(os.sched_getaffinity(0))


@asynccontextmanager
async def hands(job: Job[Order, Done], count: int) -> AsyncGenerator[Callable[[Order], Awaitable[Done]]]:
    """Whoever does one thing when asked; up to `count` at once, in the order in which they are asked."""
    async with AsyncExitStack() as stack:
        if count == 1:
            each = [await stack.enter_async_context(job.open())]
        else:
            threads = stack.enter_context(ThreadPoolExecutor(count))
            each = [(await stack.enter_async_context(_hand(job, threads))).ask for _ in range(count)]
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


class Hand(Generic[Order, Done]):
    """One process beside this one."""

    def __init__(self, job: Job[Order, Done], threads: ThreadPoolExecutor) -> None:
        context = multiprocessing.get_context("spawn")
        self._here, there = context.Pipe()
        self._threads = threads
        self._process = context.Process(target=_serve, args=(job, there, os.getpid()), daemon=True)
        self._process.start()
        there.close()

    async def ask(self, order: Order) -> Done:
        """Have one thing done.

        Raises:
            FarmError: what the work raised, or the process died.
        """
        try:
            done = await asyncio.get_running_loop().run_in_executor(self._threads, self._asked, order)
        except (EOFError, OSError):
            raise FarmError("a process that was to help ended in the middle of its work; use --jobs 1") from None
        if isinstance(done, FarmError):
            raise done
        return done

    def close(self) -> None:
        """Let it end; make it end if it does not."""
        with suppress(OSError):
            self._here.close()
        self._process.join(SECONDS_TO_END)
        self._process.kill()
        self._process.join()
        self._process.close()

    def _asked(self, order: Order) -> Any:
        self._here.send(order)
        return self._here.recv()


@asynccontextmanager
async def _hand(job: Job[Order, Done], threads: ThreadPoolExecutor) -> AsyncGenerator[Hand[Order, Done]]:
    hand = Hand(job, threads)
    try:
        yield hand
    finally:
        hand.close()


def _serve(job: Job[Any, Any], there: Connection, parent: int) -> None:
    """The life of a hand: it does what it is asked until nobody is left to ask."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it, and lets this one end
    die_with_parent(parent)
    with suppress(EOFError, OSError):
        run_alone(_working(job, there))


async def _working(job: Job[Any, Any], there: Connection) -> None:
    try:
        async with job.open() as do:
            while True:
                order = there.recv()
                try:
                    there.send(await do(order))
                except FarmError as error:
                    there.send(error)
    except FarmError as error:  # it could not be opened: whoever asks first is told
        there.recv()
        there.send(error)
