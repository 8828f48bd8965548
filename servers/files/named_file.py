"""The files that a user names: regular ones of bounded size. Links are followed, pipes and devices are not waited for.

A file that is only found in somebody else's folder, which the user has named, is read through no link out of it.

What is refused is an OSError, whose reason `trouble` tells.
"""

import errno
import os
import stat
from io import BufferedReader, StringIO
from pathlib import Path

LARGEST_NAMED = 512 * 1024 * 1024
MOST_FOUND = 10_000
"""Entries of a folder of others, with those of its folders."""
KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def opened_by_name(path: Path, *, largest: int = LARGEST_NAMED) -> BufferedReader:
    """Open a file to read it. It may grow meanwhile, so a reader has a bound of its own.

    Raises:
        OSError: it cannot be opened, is no regular file, or is larger than `largest` bytes.
    """
    _refuse_others(path, path.stat(), largest)  # some devices do something as soon as they are opened
    handle = os.open(path, FLAGS)
    try:
        _refuse_others(path, os.fstat(handle), largest)  # it may be another one by now
    except OSError:
        os.close(handle)
        raise
    return os.fdopen(handle, "rb")


def bytes_named(path: Path, *, largest: int = LARGEST_NAMED) -> bytes:
    """The content of a file. Raises OSError like `opened_by_name`."""
    with opened_by_name(path, largest=largest) as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        raise _too_large(path, largest)
    return content


def text_named(path: Path, *, largest: int = LARGEST_NAMED, encoding: str = "utf-8") -> str:
    """The text of a file, its lines ended by line feeds.

    Raises OSError like `opened_by_name`, and UnicodeDecodeError.
    """
    return StringIO(bytes_named(path, largest=largest).decode(encoding), newline=None).read()


def text_found(folder: Path, name: str, *, largest: int = LARGEST_NAMED) -> str:
    """The text of a file in a folder of others, its lines ended by line feeds.

    Raises OSError like `opened_by_name` and if a link leads out of the folder, and UnicodeDecodeError.
    """
    return text_named(_refuse_a_way_out(folder, name), largest=largest)


def names_found(
    folder: Path, below: str, suffixes: tuple[str, ...], *, deep: bool = False, most: int = MOST_FOUND
) -> list[str]:
    """The sorted names of the regular files in `below`, a folder of a folder of others. No link is followed.

    With `deep`, those of its folders too. A folder that is missing has none.

    Raises:
        OSError: a folder cannot be read, a link leads out of `folder` to it, or there are more than `most` entries.
    """
    found: list[str] = []
    waiting, seen = [below], 0
    _refuse_a_way_out(folder, below)
    while waiting:
        here = waiting.pop()
        try:
            entries = os.scandir(folder / here)
        except FileNotFoundError:
            continue
        with entries:
            for entry in entries:
                seen += 1
                if seen > most:
                    raise OSError(errno.EFBIG, f"it has more than {most:,} files and folders", str(folder / below))
                name = f"{here}/{entry.name}" if here else entry.name
                if entry.is_dir(follow_symlinks=False) and deep:
                    waiting.append(name)
                elif entry.name.endswith(suffixes) and entry.is_file(follow_symlinks=False):
                    found.append(name)
    return sorted(found)


def _refuse_a_way_out(folder: Path, name: str) -> Path:
    """The path of a name in a folder, if no link leads out of it."""
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise OSError(errno.EINVAL, "a link leads out of its folder; put the file itself there", str(path))
    return path


def opened_in(folder: Path, name: str, *, largest: int = LARGEST_NAMED) -> BufferedReader:
    """Open a file in a folder of others to read it. Raises OSError like `opened_by_name`, and for a link out of it."""
    return opened_by_name(_refuse_a_way_out(folder, name), largest=largest)


def _refuse_others(path: Path, found: os.stat_result, largest: int) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = KINDS.get(stat.S_IFMT(found.st_mode), "no file")
        raise OSError(errno.EINVAL, f"it is {kind}; give a regular file", str(path))
    if found.st_size > largest:
        raise _too_large(path, largest)


def _too_large(path: Path, largest: int) -> OSError:
    told = f"{largest // 1024 // 1024} MiB" if largest >= 1024 * 1024 else f"{largest // 1024} KiB"
    return OSError(errno.EFBIG, f"it is larger than {told}", str(path))
