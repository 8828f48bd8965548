"""A file is written whole or not at all."""

import os
from pathlib import Path

from servers.errors import RequestError

PART = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def write_whole(path: Path, text: str) -> None:
    """Write a file so that whoever reads it, also after a kill, sees the old one or the new one.

    It is not forced to the disk: that takes longer than all else here. After a power cut digests tell what is whole.
    A pipe or a device, such as /dev/stdout, is never replaced.
    """
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)  # a link that was laid there is not followed, and a pipe is not waited for
    with os.fdopen(os.open(part, PART, 0o666), "w", encoding="utf-8") as file:
        file.write(text)
    part.replace(path)


def make_sure_of(path: Path, option: str) -> None:
    """See that a file can be written before there is something to lose. Raises RequestError, which names the option."""
    is_new = not path.exists()
    try:
        path.open("a").close()
        if is_new:
            path.unlink()
    except OSError as error:
        raise RequestError(f"{option} {path}: cannot be written: {error.strerror}") from None
