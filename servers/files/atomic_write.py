"""A file is written whole or not at all."""

import os
from pathlib import Path

from servers.errors import RequestError
from servers.files.trouble import trouble

PART = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def write_whole(path: Path, text: str, *, mode: int | None = None) -> None:
    """Write a file so that whoever reads it, also after a kill, sees the old one or the new one.

    It is not forced to the disk: that takes longer than all else here. After a power cut digests tell what is whole.
    A pipe or a device, such as /dev/stdout, is never replaced. Without a `mode`, the umask decides.
    """
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    part, content = path.with_name(f".{path.name}.part"), text.encode()
    part.unlink(missing_ok=True)  # a link that was laid there is not followed, and a pipe is not waited for
    put_in_place(path, os.open(part, PART | os.O_TRUNC, 0o666), part, content, mode)


def put_in_place(path: Path, handle: int, part: Path, content: bytes, mode: int | None) -> None:
    """Write a part that is open, and put it in the place of a file. Raises OSError; then nothing is left of it."""
    try:
        with os.fdopen(handle, "wb") as file:
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            file.write(content)
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def make_sure_of(path: Path, option: str) -> None:
    """See that a file can be written before there is something to lose. Raises RequestError, which names the option."""
    is_new = not path.exists()
    try:
        path.open("a").close()
        if is_new:
            path.unlink()
    except OSError as error:
        raise RequestError(f"{option} {path}: cannot be written: {trouble(error)}") from None
