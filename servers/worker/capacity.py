"""The number of instances that a machine takes by its cores, its memory and its free disk."""

import os
import shutil
from pathlib import Path

from servers.worker.settings import MOST_INSTANCES

INSTANCES_PER_CORE = 2000
BYTES_OF_MEMORY = 1024 * 1024
"""Memory of one instance in use: its rows in a guest. An idle one takes none."""
BYTES_OF_DISK = 1024 * 1024
"""Disk of one instance: its history, and its part of a start image."""


def usual_capacity(folder: Path) -> int:
    """The capacity of this machine for a worker whose state is in a folder. At least 1.

    Each of cores, memory and disk allows a number. The smallest counts.
    """
    cores = len(os.sched_getaffinity(0))
    return capacity_of(cores=cores, memory=_free_memory(), disk=_free_disk(folder))


def capacity_of(*, cores: int, memory: int, disk: int) -> int:
    """The capacity by cores, and bytes of free memory and free disk."""
    allowed = (cores * INSTANCES_PER_CORE, memory // BYTES_OF_MEMORY, disk // BYTES_OF_DISK)
    return max(1, min(*allowed, MOST_INSTANCES))


def _free_memory() -> int:
    """The bytes that the kernel could give to processes now."""
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _free_disk(folder: Path) -> int:
    """The bytes that may be written where a folder is, or will be."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return shutil.disk_usage(folder).free
