"""What a guest gives up before it runs anything: resources that it will not need."""

import resource

MEMORY = 1024 * 1024 * 1024
"""Bytes of address space. A warm guest maps about 100 MB before it loads anything."""


def give_up() -> None:
    """Set hard limits on memory, files, file size and core dumps of this process."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
