"""How much memory the farm's own process takes, whatever strangers ask of it, and how much all its guests.

Each thing that grows with what strangers send has a budget of its own, in the module that holds it. Together with what
an idle farm takes they stay below one ceiling; `tests/servers/limits/test_farm_memory.py` adds them up. Of guests, the
kernel counts.
"""

import mmap
from collections.abc import Mapping
from pathlib import Path

import apsw

CEILING = 600_000_000
"""Bytes of a process that serves: a worker, or a farm with one worker."""
BASE = 175_000_000
"""Bytes of it when nobody has asked anything: the code, the library, SQLite."""
SQLITE_HEAP = 160 * 1024 * 1024
"""Bytes that SQLite may take in it, of all connections: what the budgets admit, and room to compile. A statement that
would take more fails alone; what it took is free again then."""
MOST_GUEST_MEMORY = 2 * 1024 * 1024 * 1024
"""Bytes of all guests of a worker, beyond what they share with the process that they were forked from."""


def limit_sqlite() -> None:
    """Have SQLite take no more memory in this process than a farm has for it."""
    apsw.hard_heap_limit(SQLITE_HEAP)


def private_bytes(pid: int) -> int:
    """Bytes of a process that no file stands behind; 0 when it has ended."""
    try:
        _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text().split()
    except (OSError, ValueError):
        return 0
    return (int(resident) - int(shared)) * mmap.PAGESIZE


def excess(sizes: Mapping[int, int], idle: set[int], most: int) -> list[int]:
    """The processes to end so that the rest takes at most `most` bytes together.

    Only those with more than their equal share: the idle ones first, and of these the largest first.
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
