"""What the runtime of imported code remembers of an instance's rows between two calls of that instance.

The rows alone are the state. What is remembered is what they would give, so a call does the same without it.
"""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass
class Memory:
    """One instance's. `value` is None, or it stands for the rows as they are.

    `size` is about what it takes in bytes. `written` are the rows that this call changes and that `value` has already.
    """

    value: Any = None
    size: int = 0
    written: int = 0

    def clear(self) -> None:
        self.value, self.size, self.written = None, 0, 0

    def hold(self, value: Any, size: int, written: int) -> None:
        self.value, self.size, self.written = value, size, written


class _Lent:
    """The memory of the instance whose call runs now. There is none outside of calls."""

    def __init__(self) -> None:
        self.memory: Memory | None = None


_lent = _Lent()


@contextmanager
def lent(memory: Memory) -> Generator[None]:
    """Lend an instance's memory to its call."""
    memory.written = 0
    _lent.memory = memory
    try:
        yield
    finally:
        _lent.memory = None


def of_this_call() -> Memory:
    """The memory of the instance whose call runs now. Outside of calls it is a new one, which nothing keeps."""
    return _lent.memory or Memory()
