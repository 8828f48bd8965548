"""A job: a kind of work that several processes can do, each with its own open resources."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeVar

from servers.errors import InfraError

Order_contra = TypeVar("Order_contra", contravariant=True)
Done_co = TypeVar("Done_co", covariant=True)


class WorkerFault(InfraError):
    """This process cannot do the work, for a reason of its machine's. One on another machine may be able to."""


class Job(Protocol[Order_contra, Done_co]):
    """A kind of work: opened once in each process, then asked for one thing after another. It can be pickled.

    The same order is done the same way whoever is asked, so one whose process died can be given to another. A process
    that finds that it lacks what the order is about raises a WorkerFault.
    """

    def open(self) -> AbstractAsyncContextManager[Callable[[Order_contra], Awaitable[Done_co]]]:
        """Open whatever it needs."""
        ...
