"""How much memory guests take, as the kernel counts it, and which of them are too large together."""

import mmap
from collections.abc import Mapping
from pathlib import Path

MOST_GUEST_MEMORY = 2 * 1024 * 1024 * 1024
"""Bytes of all guests of a worker, beyond what they share with the process that they were forked from."""


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
