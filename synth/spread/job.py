"""A kind of work that several processes can do, each with whatever it needs open."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeVar

Order_contra = TypeVar("Order_contra", contravariant=True)
Done_co = TypeVar("Done_co", covariant=True)


class Job(Protocol[Order_contra, Done_co]):
    """A kind of work: opened once in each process, then asked for one thing after another. It can be pickled.

    The same order is done the same way whoever is asked, so one whose process died can be given to another.
    """

    def open(self) -> AbstractAsyncContextManager[Callable[[Order_contra], Awaitable[Done_co]]]:
        """Open whatever it needs."""
        ...
