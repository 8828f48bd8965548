"""A lock file: one process at a time works in a folder. The lock of a dead process is free."""

import fcntl
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from servers.errors import FarmError
from servers.files.private_files import regular
from servers.files.trouble import trouble


@contextmanager
def locked(path: Path, *, unusable: Callable[[str], FarmError], taken: Callable[[str], FarmError]) -> Generator[None]:
    """Hold a lock file. A missing folder is made.

    Raises:
        The result of `unusable(reason)` if the file cannot be written.
        The result of `taken(pid)` if another process holds it.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = regular(path, os.O_RDWR | os.O_CREAT)
    except (OSError, ValueError) as error:
        raise unusable(trouble(error)) from None
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise taken(os.pread(lock, 32, 0).decode() or "unknown") from None
        with suppress(OSError):  # on a full disk nobody learns who holds it
            os.truncate(lock, 0)
            os.pwrite(lock, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(lock)
