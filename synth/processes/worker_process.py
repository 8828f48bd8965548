"""A child process that does a job. When it dies during an order, a new one tries the order once more."""

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

from servers.doors.worker_process import die_with_parent
from servers.errors import FarmError
from synth.processes.inline_loop import run_alone
from synth.processes.job import Gone, Job, WorkerConnection

Order = TypeVar("Order")
Done = TypeVar("Done")
SECONDS_TO_END = 10
MOST_DEATHS = 2
"""An order in which so many processes died is given to no other: it may be what killed them."""


class ProcessWorker(Generic[Order, Done]):
    """Whoever does one thing when asked. To be closed."""

    def __init__(self, job: Job[Order, Done], threads: ThreadPoolExecutor) -> None:
        self._job = job
        self._threads = threads
        self._begin()

    async def ask(self, order: Order) -> Done:
        """Have one thing done.

        Raises:
            FarmError: what the work raised, or processes died of it.
        """
        for _ in range(MOST_DEATHS):
            try:
                return await self._connection.ask(order)
            except Gone:
                self.close()
                self._begin()
        raise FarmError(f"{MOST_DEATHS} processes ended in the middle of the same work; is memory short? try --jobs 1")

    def tell_to_end(self) -> None:
        """Have it let go of whatever it is doing."""
        self._connection.close()
        self._process.terminate()

    def close(self) -> None:
        """Let it end; make it end if it does not."""
        self.tell_to_end()
        self._process.join(SECONDS_TO_END)
        self._process.kill()
        self._process.join()
        self._process.close()
        self._here.close()

    def _begin(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._here, there = context.Pipe()
        self._connection = WorkerConnection[Order, Done](self._here, self._threads)
        self._process = context.Process(target=_serve, args=(self._job, there, os.getpid()), daemon=True)
        with _deaf_to_interrupts():
            self._process.start()
        there.close()


@contextmanager
def _deaf_to_interrupts() -> Generator[None]:
    """What is started inside is not ended by a Ctrl-C, from its very beginning."""
    resource_tracker.ensure_running()  # the first process starts it, which would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(job: Job[Any, Any], there: Connection, parent: int) -> None:
    """The life of a hand: it does what it is asked until nobody is left to ask."""
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
    """Inside, a SIGTERM cancels what is done. Outside it does nothing: closing what is open is not to be disturbed."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    if task is None:
        raise LookupError("only a task can be cancelled")
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        yield
    finally:
        loop.add_signal_handler(signal.SIGTERM, _nothing)


def _nothing() -> None: ...
