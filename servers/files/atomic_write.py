"""Atomic writes of files."""

import os
from collections.abc import Iterable
from pathlib import Path

from servers.errors import RequestError
from servers.files.trouble import naming, trouble

PART = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def write_whole(path: Path, text: str, *, mode: int | None = None) -> None:
    """Write a file so that every reader, also after a kill, sees either the old or the new content.

    It is not synced to the disk, which would take longer than everything else. After a power cut, digests find damage.
    A pipe or a device, such as /dev/stdout, is never replaced. Without a `mode`, the umask decides.
    """
    if path.exists() and not path.is_file():
        with naming(path), os.fdopen(_opened_to_write(path), "w", encoding="utf-8") as file:
            file.write(text)
        return
    part, content = path.with_name(f".{path.name}.part"), text.encode()
    part.unlink(missing_ok=True)  # a link that was laid there is not followed, and a pipe is not waited for
    put_in_place(path, os.open(part, PART | os.O_TRUNC, 0o666), part, (content,), mode)


def put_in_place(path: Path, handle: int, part: Path, content: Iterable[bytes | bytearray], mode: int | None) -> None:
    """Finish a temporary file and rename it to its place. Raises whatever its content does, and then removes it."""
    try:
        with naming(path), os.fdopen(handle, "wb") as file:
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            file.writelines(content)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _opened_to_write(path: Path) -> int:
    """Open a file to append to it. Raises OSError, also for a pipe that nobody reads: it is not waited for."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC, 0o666)
    os.set_blocking(handle, True)
    return handle


def make_sure_of(path: Path, option: str) -> None:
    """Check that a file can be written before there is work to lose. Raises RequestError with the option's name."""
    is_new = not path.exists()
    try:
        os.close(_opened_to_write(path))
        if is_new:
            path.unlink()
    except OSError as error:
        raise RequestError(f"{option} {path}: cannot be written: {trouble(error)}") from None
