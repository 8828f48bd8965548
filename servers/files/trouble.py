"""The reasons why a file or folder cannot be read or written, in plain words."""

import errno
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

REASONS = {
    errno.EISDIR: "it is a folder",
    errno.ELOOP: "it is a symbolic link, which is not followed",
    errno.ENXIO: "it is a pipe or a socket that nobody reads",
}


def trouble(error: Exception) -> str:
    """The reason without the path, which precedes it, and without the system's error number."""
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8 at byte {error.start}"
    if not isinstance(error, OSError):
        return str(error)
    if error.errno in REASONS:
        return REASONS[error.errno]
    if error.errno == errno.ENOENT and isinstance(error.filename, str) and not Path(error.filename).parent.exists():
        return f"there is no folder {Path(error.filename).parent}"
    return error.strerror or str(error)


@contextmanager
def naming(path: Path) -> Generator[None]:
    """Let each OSError of a write name its file. The system names a file only when it is opened."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise
