"""A pause of Python's garbage collector while many long-lived objects are made."""

import gc
from collections.abc import Generator
from contextlib import contextmanager

MANY_OBJECTS = 50_000


@contextmanager
def at_rest() -> Generator[None]:
    """Pause collection. Objects that are made meanwhile are never scanned again.

    They are freed by reference counting. A scan would block the event loop for a tenth of a second and longer.
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
    """Collect once, and exempt all remaining objects from later scans: they live as long as the program.

    A farm has some 400,000 of them. A full scan, which a burst of requests causes, blocks the event loop for a tenth of
    a second and longer.
    """
    gc.collect()
    gc.freeze()
