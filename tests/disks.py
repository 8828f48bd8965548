"""Disks that are full."""

import resource
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


def filled(disk: Path) -> Path:
    """Take all the room that a disk has left."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (4096, 512, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue
    return ballast


@contextmanager
def no_file_longer_than(length: int) -> Generator[None]:
    """Let this process make no file longer, as on a disk that is about to be full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (length, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
