"""A child process that does a job. If it dies during an order, a new one repeats the order once."""

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from typing import Any, Generic, TypeVar

from servers.errors import FarmError
from servers.limits.parent_death import die_with_parent
from synth.processes.inline_loop import run_alone
from synth.processes.job import Gone, Job, WorkerConnection

OrderT = TypeVar("OrderT")
DoneT = TypeVar("DoneT")
SECONDS_TO_END = 10
MOST_DEATHS = 2
"""The number of processes that may die during an order. Then it is not repeated: it may be the cause."""


class ProcessWorker(Generic[OrderT, DoneT]):
    """A worker in a child process. Close it after use."""

    def __init__(self, job: Job[OrderT, DoneT], threads: ThreadPoolExecutor) -> None:
        self._job = job
        self._threads = threads
        self._begin()

    async def ask(self, order: OrderT) -> DoneT:
        """Have one order done.

        Raises:
            FarmError: the work raised it, or processes died during it.
        """
        for _ in range(MOST_DEATHS):
            try:
                return await self._connection.ask(order)
            except Gone:
                self.close()
                self._begin()
        raise FarmError(f"{MOST_DEATHS} processes ended in the middle of the same work; is memory short? try --jobs 1")

    def tell_to_end(self) -> None:
        """Ask it to cancel its current order."""
        self._connection.close()
        self._process.terminate()

    def close(self) -> None:
        """End it, by force if needed."""
        self.tell_to_end()
        self._process.join(SECONDS_TO_END)
        self._process.kill()
        self._process.join()
        self._process.close()
        self._here.close()

    def _begin(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._here, there = context.Pipe()
        self._connection = WorkerConnection[OrderT, DoneT](self._here, self._threads)
        self._process = context.Process(target=_serve, args=(self._job, there, os.getpid()), daemon=True)
        with _deaf_to_interrupts():
            self._process.start()
        there.close()


@contextmanager
def _deaf_to_interrupts() -> Generator[None]:
    """Processes that start in this context ignore Ctrl-C from their beginning."""
    resource_tracker.ensure_running()  # the first process starts it, which would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(job: Job[Any, Any], there: Connection, parent: int) -> None:
    """The main function of a child: it serves orders until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it, and lets this one end
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    die_with_parent(parent)
    with suppress(EOFError, OSError, asyncio.CancelledError):
        run_alone(_working(job, there))


async def _working(job: Job[Any, Any], there: Connection) -> None:
    async with AsyncExitStack() as stack:
        try:
            with _until_told_to_end():
                do = await stack.enter_async_context(job.open())
        except FarmError as error:  # whoever asks first is told
            there.recv()
            there.send(error)
            return
        while True:
            order = there.recv()
            try:
                with _until_told_to_end():
                    done = await do(order)
            except FarmError as error:
                done = error
            there.send(done)


@contextmanager
def _until_told_to_end() -> Generator[None]:
    """A SIGTERM cancels the work in this context. Outside it has no effect, so that closing is not disturbed."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    if task is None:
        raise LookupError("only a task can be cancelled")
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        yield
    finally:
        loop.add_signal_handler(signal.SIGTERM, _nothing)


def _nothing() -> None: ...
