"""Python's garbage collector at rest while many objects are made that stay."""

import gc
from collections.abc import Generator
from contextlib import contextmanager

MANY_OBJECTS = 50_000


@contextmanager
def at_rest() -> Generator[None]:
    """Inside nothing is collected. Many objects that are made here are never looked at again.

    They die with their last reference. A look at them holds up the event loop for a tenth of a second and longer.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if gc.get_count()[0] > MANY_OBJECTS:
            gc.freeze()
        if was_on:
            gc.enable()


def settle() -> None:
    """Look at all objects once, and never again at those that are left: a program has started, and they stay.

    A program of ours has some 400,000 of them. A look at all of them, which a burst of requests brings about, holds up
    the event loop for a tenth of a second and longer.
    """
    gc.collect()
    gc.freeze()
