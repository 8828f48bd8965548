"""Shares of the processor that processes are held to, so that a small machine can stand for a larger one.

Linux control groups of the first version, which root can make where they are mounted.
"""

import itertools
import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup/cpu")
PERIOD_MICROS = 10_000
_numbers = itertools.count()


def possible() -> bool:
    """Whether processes can be held to a share here."""
    return os.access(GROUPS, os.W_OK) and (GROUPS / "cpu.shares").exists()


@contextmanager
def held_to(share: float, pids: Sequence[int]) -> Generator[None]:
    """Let some processes, and all that come from them, have together at most so many cores."""
    group = GROUPS / f"farm-bench-{os.getpid()}-{next(_numbers)}"
    group.mkdir()
    try:
        (group / "cpu.cfs_period_us").write_text(str(PERIOD_MICROS))
        (group / "cpu.cfs_quota_us").write_text(str(int(share * PERIOD_MICROS)))
        for pid in pids:
            (group / "cgroup.procs").write_text(str(pid))
        yield
    finally:
        for pid in (group / "cgroup.procs").read_text().split():
            (GROUPS / "cgroup.procs").write_text(pid)
        group.rmdir()
