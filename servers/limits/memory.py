"""Bounds on the memory of the farm's own process, and of all its guests.

Everything that grows with requests has a budget in the module that holds it. Together with an idle farm they stay below
one ceiling. `tests/servers/limits/test_farm_memory.py` adds them up. For guests, the kernel counts.
"""

import mmap
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import apsw

CEILING = 590_000_000
"""Bytes of a serving process: a worker, or a farm with one worker."""
ORDINARY_START = 12 * 1024 * 1024
"""Bytes of a start image that may be held in memory. A larger one is read from a file."""
BASE = 130_000_000
"""Bytes of an idle process: the code, the library, SQLite."""
ROOM_TO_COMPILE = 64 * 1024 * 1024
"""Bytes that SQLite may take to compile statements."""
SQLITE_HEAP = 256 * 1024 * 1024
"""Bytes of SQLite in the process, over all connections: the budgets that it takes, and room to compile.

A statement that needs more fails alone, and its memory is freed.
"""
MOST_GUEST_MEMORY = 2 * 1024 * 1024 * 1024
"""Bytes of all guests of a worker, without pages shared with their parent."""


def limit_sqlite() -> None:
    """Set SQLite's memory limit for this process."""
    apsw.hard_heap_limit(SQLITE_HEAP)


def private_bytes(pid: int) -> int:
    """Bytes of a process without file-backed pages. 0 if it has ended."""
    try:
        _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text().split()
    except (OSError, ValueError):
        return 0
    return (int(resident) - int(shared)) * mmap.PAGESIZE


def excess(sizes: Mapping[int, int], idle: set[int], most: int) -> list[int]:
    """The processes to end so that the rest takes at most `most` bytes together.

    Only those above their equal share: idle ones first, and of these the largest first.
    """
    share = most // max(len(sizes), 1)
    total = sum(sizes.values())
    found: list[int] = []
    for pid in sorted(sizes, key=lambda pid: (pid not in idle, -sizes[pid])):
        if total <= most:
            break
        if sizes[pid] > share:
            found.append(pid)
            total -= sizes[pid]
    return found


class Buffer(Protocol):
    """A sender's incomplete message."""

    def give_up(self) -> None:
        """Drop the buffer and its sender."""
        ...


class BufferBudget:
    """The budget of all incomplete messages. When it is exceeded, the largest buffer is dropped.

    So a sender with a small message is never the victim of one with a large message.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._sizes: dict[Buffer, int] = {}
        self.total = 0

    def hold(self, buffer: Buffer, size: int) -> None:
        """Set the size of a buffer. This may drop it, or a larger one."""
        self.total += size - self._sizes.get(buffer, 0)
        self._sizes[buffer] = size
        while self.total > self._most:
            dropped = self._to_drop(self._sizes)
            self.release(dropped)
            dropped.give_up()

    def _to_drop(self, sizes: Mapping[Buffer, int]) -> Buffer:
        return max(sizes, key=sizes.__getitem__)

    def release(self, buffer: Buffer) -> None:
        """Remove a buffer: its message is complete, or it was dropped."""
        self.total -= self._sizes.pop(buffer, 0)


class UploadBudget(BufferBudget):
    """The same for messages that are usually complete within milliseconds. The oldest of the large ones is dropped.

    Many senders that stop in the middle of a message would fill the budget for good if only the largest one went: then
    everybody whose message is a little larger than theirs would go. Large are those of at least half the average.
    """

    def _to_drop(self, sizes: Mapping[Buffer, int]) -> Buffer:
        least = self.total / len(sizes) / 2
        return next(buffer for buffer, size in sizes.items() if size >= least)  # in the order in which they began
