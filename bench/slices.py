"""Processor limits for processes, so that a small machine can represent a larger one.

Uses Linux control groups of version 1, which root can make where they are mounted.
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
    """True if processes can be limited here."""
    return os.access(GROUPS, os.W_OK) and (GROUPS / "cpu.shares").exists()


@contextmanager
def held_to(share: float, pids: Sequence[int]) -> Generator[None]:
    """Limit some processes and their descendants to `share` cores together."""
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
