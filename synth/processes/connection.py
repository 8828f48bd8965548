"""A connection to a worker that does one order at a time.

What is asked and what comes back is pickled, so only our own values may be in it.
"""

import asyncio
import os
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, Generic, TypeVar

from servers.errors import FarmError

Order = TypeVar("Order")
Done = TypeVar("Done")


class Gone(FarmError):
    """Nobody is at the other end any more."""


class Telephone(Generic[Order, Done]):
    """Our end of such a connection. `threads` has room for one thread that waits for it."""

    def __init__(self, here: Connection, threads: ThreadPoolExecutor) -> None:
        self._here = here
        self._threads = threads

    async def ask(self, order: Order) -> Done:
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

    def hang_up(self) -> None:
        """Close it; whoever waits at either end, in whatever thread, hears it at once."""
        with suppress(OSError), socket.socket(fileno=os.dup(self._here.fileno())) as wire:
            wire.shutdown(socket.SHUT_RDWR)

    def _asked(self, order: Order) -> Any:
        self._here.send(order)
        return self._here.recv()
