"""Private files and folders: only their owner can read them, whatever the umask is."""

import os
import re
import secrets
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Literal

from servers.errors import RequestError, StateError
from servers.files.atomic_write import PART, put_in_place
from servers.files.trouble import trouble

FOLDER_MODE = 0o700
FILE_MODE = 0o600
OTHERS = stat.S_IRWXG | stat.S_IRWXO
SHORTEST_SECRET = 16
LONGEST_SECRET = 64 * 1024
LEAST_DIFFERENT = 6
"""Different bytes of a secret. One that was drawn has more."""
ANYTHING = re.compile(r".*")
Others = Literal["refused", "left alone"]
LEFT_ALONE: Others = "left alone"


def write_private(path: Path, content: bytes | Iterable[bytes | bytearray], *, mode: int = FILE_MODE) -> None:
    """Write a file atomically, with mode 0600 or less. Long content comes in pieces.

    A link in its place is replaced, never followed.

    Raises:
        OSError: it cannot be written. Nothing is left.
    """
    part = path.with_suffix(f".{secrets.token_hex(4)}.part")  # two may write the same file
    pieces = (content,) if isinstance(content, bytes) else content
    put_in_place(path, os.open(part, PART | os.O_EXCL, FILE_MODE), part, pieces, mode)


def kept_secret(path: Path, fresh: bytes) -> bytes:
    """The content of a secret file. If it is empty or missing, store a fresh secret.

    Raises:
        OSError: it cannot be read or written.
        StateError: it is damaged. A blank line or a run of zeros, as a crash leaves them, would open every door.
    """
    try:
        with os.fdopen(regular(path, os.O_RDONLY), "rb") as opened:
            found = opened.read(LONGEST_SECRET)
    except FileNotFoundError:
        found = b""
    except ValueError as error:
        raise StateError(f"{path}: {error}; delete it, and a new one is made") from None
    if not found:
        write_private(path, fresh)
        return fresh
    weak = weakness(found.strip())
    if weak is not None:
        raise StateError(f"{path}: holds no secret: {weak}; restore it, or delete it, and a new one is made")
    return found


def weakness(secret: bytes, *, shortest: int = SHORTEST_SECRET) -> str | None:
    """Why a secret could be guessed, or None."""
    if len(secret) < shortest or len(set(secret)) < LEAST_DIFFERENT:
        return f"it has less than {shortest} characters, or they are nearly all the same"
    return None


def regular(path: Path, flags: int, *, mode: int = FILE_MODE) -> int:
    """Open a regular file. Links are not followed, and pipes do not block. A new file gets `mode`.

    Raises:
        OSError: it cannot be opened.
        ValueError: it is not a regular file.
    """
    handle = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, mode)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise ValueError("it is no regular file")
    return handle


def remove(path: Path) -> None:
    """Delete a file, or whatever stands at its place. A folder is none of ours and stays."""
    with suppress(IsADirectoryError):
        path.unlink(missing_ok=True)


def keep_private(folder: Path, known: re.Pattern[str] = ANYTHING, *, others: Others = "refused") -> None:
    """Make a folder, or close an existing one and its files to other users. Folders below are left as they are.

    `known` matches the farm's own file names. An open folder with any other file is refused: it may be somebody's home,
    or /tmp. `others` says what happens to links, pipes and the like. In a folder with one file for each instance they
    are left alone: whoever reads one with `regular` finds that it is no file, and the other instances live on.

    Raises:
        RequestError: it cannot be used, or others may have written into it.
    """
    try:
        folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        _close(folder, known, others)
    except (FileExistsError, NotADirectoryError):
        file = next(one for one in (folder, *folder.parents) if one.exists())
        raise RequestError(f"the state folder {folder} cannot be used: {file} is a file; choose a folder") from None
    except OSError as error:
        raise RequestError(f"the state folder {folder} cannot be used: {trouble(error)}") from None


def _close(folder: Path, known: re.Pattern[str], others: Others) -> None:
    status = folder.stat()
    if status.st_uid != os.geteuid():
        raise RequestError(
            f"the state folder {folder} belongs to user {status.st_uid}, who could read and change it; choose another"
        )
    if status.st_mode & OTHERS:
        foreign = [entry.name for entry in _entries(folder) if not known.fullmatch(entry.name)]
        if foreign:
            raise RequestError(
                f"the state folder {folder} is open to other users and holds {foreign[0]}, which is not a farm's;"
                " choose another folder, or close it with `chmod 700`"
            )
        if status.st_mode & stat.S_IWOTH:
            raise RequestError(f"every user could write into the state folder {folder}; choose a new one")
        folder.chmod(FOLDER_MODE)
    for entry in _entries(folder):  # read after the folder was closed: nobody else can add one now
        if known.fullmatch(entry.name):
            _close_entry(entry, others)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as found:
        return sorted(found, key=lambda entry: entry.name)


def _close_entry(entry: os.DirEntry[str], others: Others) -> None:
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:  # another process of the farm has just renamed or deleted it
        return
    if others == LEFT_ALONE and not stat.S_ISREG(status.st_mode):
        return
    if stat.S_ISLNK(status.st_mode):
        raise RequestError(f"{entry.path} is a symbolic link; a state folder holds files and folders of its own")
    if status.st_uid != os.geteuid():
        raise RequestError(
            f"{entry.path} belongs to user {status.st_uid}; a state folder holds its owner's files alone"
        )
    if status.st_mode & OTHERS:
        if status.st_mode & stat.S_IWOTH:
            raise RequestError(f"every user could write {entry.path}; choose a new state folder")
        Path(entry.path).chmod(FOLDER_MODE if stat.S_ISDIR(status.st_mode) else FILE_MODE)
