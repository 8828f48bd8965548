"""A job: a kind of work that several processes can do, each with its own resources; the connection to one of them."""

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, suppress
from multiprocessing.connection import Connection
from typing import Any, Generic, Protocol, TypeVar

from servers.errors import FarmError, InfraError

OrderT = TypeVar("OrderT")
DoneT = TypeVar("DoneT")

Order_contra = TypeVar("Order_contra", contravariant=True)
Done_co = TypeVar("Done_co", covariant=True)


class WorkerFault(InfraError):
    """This process cannot do the work, because of its machine. One on another machine may."""


class Job(Protocol[Order_contra, Done_co]):
    """A kind of work: opened once in each process, then called for each order. It can be pickled.

    The same order gives the same result in any process, so one whose process died can be repeated elsewhere. A process
    without the needed files raises a WorkerFault.
    """

    def open(self) -> AbstractAsyncContextManager[Callable[[Order_contra], Awaitable[Done_co]]]:
        """Open the needed resources."""
        ...


class Gone(FarmError):
    """Nobody is at the other end any more."""


class WorkerConnection(Generic[OrderT, DoneT]):
    """Our end of a connection to a worker that does one order at a time. `threads` has room for one that waits for it.

    What is asked and what comes back is pickled, so only our own values may be in it.
    """

    def __init__(self, here: Connection, threads: ThreadPoolExecutor) -> None:
        self._here = here
        self._threads = threads

    async def ask(self, order: OrderT) -> DoneT:
        """Have one thing done.

        Raises:
            Gone: nobody is there.
            FarmError: what the work raised.
        """
        try:
            done = await asyncio.get_running_loop().run_in_executor(self._threads, self._asked, order)
        except (EOFError, OSError):
            raise Gone("a process that was to help ended in the middle of its work") from None
        if isinstance(done, FarmError):
            raise done
        return done

    def close(self) -> None:
        """Close it; whoever waits at either end, in whatever thread, hears it at once."""
        with suppress(OSError), socket.socket(fileno=os.dup(self._here.fileno())) as wire:
            wire.shutdown(socket.SHUT_RDWR)

    def _asked(self, order: OrderT) -> Any:
        self._here.send(order)
        return self._here.recv()
