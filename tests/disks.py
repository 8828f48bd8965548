"""Disks that are full."""

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
