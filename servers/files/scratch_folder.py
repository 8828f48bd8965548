"""A private folder for as long as something works in it. What a killed process left of such folders, the next deletes.

The kernel's lock on a folder says whether its maker still lives: it ends with the process, however that ends.
"""

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

SUFFIX = ".scratch"
NAME = re.compile(r"farm-[a-z]+-[a-z0-9_]{8}\.scratch")
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def scratch_folder(purpose: str) -> Generator[Path]:
    """Make a folder `farm-PURPOSE-…` for temporary files, and delete it at the end. Only its owner can open it.

    Raises:
        OSError: it cannot be made.
    """
    delete_abandoned()
    folder, lock = _made(purpose)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def delete_abandoned() -> None:
    """Delete the scratch folders of this user whose makers have ended."""
    with suppress(OSError):
        for folder in Path(tempfile.gettempdir()).iterdir():
            if NAME.fullmatch(folder.name):
                _delete_if_abandoned(folder)


def _made(purpose: str) -> tuple[Path, int]:
    """A new folder and its lock. Another process may have deleted it before it was locked; then another is made."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"farm-{purpose}-", suffix=SUFFIX))
        with suppress(FileNotFoundError):
            lock = os.open(folder, FOLDER)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if folder.exists():
                return folder, lock
            os.close(lock)


def _delete_if_abandoned(folder: Path) -> None:
    with suppress(OSError):
        lock = os.open(folder, FOLDER)
        try:
            if os.fstat(lock).st_uid == os.geteuid():
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)
