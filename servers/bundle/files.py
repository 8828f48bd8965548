"""The files of a bundle: UTF-8 text of bounded size in regular files of its own folder and of its `seed/`.

A folder is opened once, and its files relative to it. Links inside it are not followed. Otherwise a bundle could show
an agent the farm's own files, or another bundle's answers.
"""

import os
import stat
from codecs import getincrementaldecoder
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from io import FileIO, RawIOBase
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic import TypeAdapter, ValidationError

from servers.errors import BundleError
from servers.files.atomic_write import write_whole
from servers.files.trouble import trouble
from servers.gate.parser import LARGEST_SOURCE
from servers.limits.json_size import refuse_key_twice, refuse_odd_numbers
from servers.validation import first_problem

T = TypeVar("T")
PACKAGED = Path(__file__).resolve().parents[1] / "library"
"""The farm's own bundles. Installers may hard-link their files from a cache, so these may have several names."""
SERVED_FILES = ("environment.json", "policy.md", "schema.sql", "seed.sql", "tools.py")
"""The files that define an environment."""
ROWS_FOLDER = "seed"
"""The folder in a bundle with CSV files of rows, each named after its table."""
MOST_ROW_FILES = 500
"""Files in that folder: as many as an environment may have tables."""
MISSING = f"the file is missing; a bundle has {', '.join(SERVED_FILES[:-1])} and {SERVED_FILES[-1]}"

LARGEST_DESCRIPTION = 512 * 1024
LARGEST_POLICY = 256 * 1024
LARGEST_SCHEMA = 256 * 1024
NO_OPTION = "no option raises it, so leave rows out"
LARGEST_SEED = 64 * 1024 * 1024
"""Bytes of `seed.sql`, and of it and all files of rows together."""
LARGEST_SCENARIOS = 8 * 1024 * 1024
LARGEST_PROOF = 4 * 1024 * 1024
LARGEST_OTHER = 1024 * 1024
"""Bytes of any other file, such as `rules.json`, `examples.json`, `phrases.json`."""
LARGEST = {
    "environment.json": LARGEST_DESCRIPTION,
    "policy.md": LARGEST_POLICY,
    "schema.sql": LARGEST_SCHEMA,
    "seed.sql": LARGEST_SEED,
    "tools.py": LARGEST_SOURCE,
    "scenarios.jsonl": LARGEST_SCENARIOS,
    "proof.json": LARGEST_PROOF,
}
KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
CHUNK = 1024 * 1024
PIECE = 256 * 1024
"""Bytes of a long text that are held while it is read in pieces."""
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class Stamp(NamedTuple):
    """A stamp that changes when a file is replaced or written."""

    inode: int
    modified: int
    changed: int
    size: int


class BundleFolder:
    """An open folder of a bundle. Made by `opened`."""

    def __init__(self, path: Path, handle: int) -> None:
        self.path = path
        self.handle = handle
        self._is_own = path.parent.resolve() == PACKAGED

    def text(self, name: str) -> str:
        """The text of a file.

        Raises:
            BundleError: it is missing, no regular file, too large, not UTF-8, or JSON with invalid numbers or
                a key twice.
        """
        found = self.text_if_there(name)
        if found is None:
            raise BundleError(f"{self.path / name}: {MISSING}")
        return found

    def text_if_there(self, name: str, *, largest: int | None = None) -> str | None:
        """The text of a file, or None if it does not exist. Raises BundleError like `text`."""
        path = self.path / name
        largest = largest or _largest(name)
        file = self._opened(name, largest)
        if file is None:
            return None
        with file:
            text = _decoded(path, _bounded(path, file, largest))
        if path.suffix == ".json":
            refuse_odd_numbers(f"{path}", text)
            refuse_key_twice(f"{path}", text)
        return text

    def pieces(self, name: str) -> Generator[str]:
        """The text of a file piece by piece: a long one is not held as a whole. Raises BundleError like `text`."""
        path = self.path / name
        largest = _largest(name)
        file = self._opened(name, largest)
        if file is None:
            raise BundleError(f"{path}: {MISSING}")
        with file:
            yield from _decoded_pieces(path, file, largest)

    def row_files(self) -> tuple[str, ...]:
        """The names of the files in `seed/`, as `seed/NAME`, in order. Hidden files are none of the bundle's.

        Raises:
            BundleError: it is no folder, or holds too many files.
        """
        found: list[str] = []
        try:
            with self._holding(f"{ROWS_FOLDER}/") as handle, os.scandir(handle) as entries:
                for number, entry in enumerate(entries):
                    if number > MOST_ROW_FILES:
                        raise BundleError(f"{self.path / ROWS_FOLDER}: holds more than {MOST_ROW_FILES} files")
                    if not entry.name.startswith("."):
                        found.append(f"{ROWS_FOLDER}/{entry.name}")
        except FileNotFoundError:
            return ()
        except OSError as error:
            reason = "it is no folder of files" if isinstance(error, NotADirectoryError) else trouble(error)
            raise BundleError(f"{self.path / ROWS_FOLDER}: cannot be read: {reason}") from None
        return tuple(sorted(found))

    @contextmanager
    def _holding(self, name: str) -> Generator[int]:
        """The open folder that holds a file: this one, or `seed/` in it. Raises OSError."""
        inner, slash, _ = name.rpartition("/")
        if not slash:
            yield self.handle
            return
        handle = os.open(inner, FOLDER | os.O_NOFOLLOW, dir_fd=self.handle)
        try:
            yield handle
        finally:
            os.close(handle)

    def _opened(self, name: str, largest: int) -> FileIO | None:
        """A file that may be read, or None if it does not exist."""
        path = self.path / name
        try:
            with self._holding(name) as holding:
                self._refuse_others(path, os.stat(path.name, dir_fd=holding, follow_symlinks=False), largest)
                handle = os.open(path.name, FILE, dir_fd=holding)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BundleError(f"{path}: cannot be read: {trouble(error)}") from None
        file = FileIO(handle, "rb")
        try:
            self._refuse_others(path, os.fstat(handle), largest)  # it may be another one by now
        except BundleError:
            file.close()
            raise
        return file

    def stamps(self, names: Iterable[str]) -> tuple[Stamp | None, ...]:
        """The stamp of each file. None for a missing one."""
        return tuple(self._stamp(name) for name in names)

    def _stamp(self, name: str) -> Stamp | None:
        try:
            found = os.stat(name, dir_fd=self.handle, follow_symlinks=False)  # a stamp says nothing of the content
        except OSError:
            return None
        return Stamp(found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size)

    def _refuse_others(self, path: Path, found: os.stat_result, largest: int) -> None:
        if not stat.S_ISREG(found.st_mode):
            kind = KINDS.get(stat.S_IFMT(found.st_mode), "no file")
            raise BundleError(f"{path}: cannot be read: it is {kind}; put a regular file there")
        if found.st_nlink > 1 and not self._is_own:
            raise BundleError(
                f"{path}: cannot be read: it has {found.st_nlink} names (hard links); put a copy of its own there"
            )
        if found.st_size > largest:
            raise BundleError(f"{path}: larger than {_told(largest)}")


def _largest(name: str) -> int:
    return LARGEST_SEED if name.startswith(f"{ROWS_FOLDER}/") else LARGEST.get(name, LARGEST_OTHER)


def name_in_commands(folder: Path) -> str:
    """What a command is given for a bundle: the id of one of the farm's own, the folder of any other."""
    return folder.name if folder.parent == PACKAGED else str(folder)


@contextmanager
def opened(folder: Path) -> Generator[BundleFolder]:
    """Open the folder of a bundle. The way to it is the operator's and may hold links; the folder itself is none.

    Raises:
        BundleError: there is no such folder.
    """
    path = folder if folder.name and folder.name != ".." else folder.resolve()
    try:
        around = os.open(path.parent, FOLDER)
        try:
            handle = os.open(path.name, FOLDER | os.O_NOFOLLOW, dir_fd=around)
        finally:
            os.close(around)
    except OSError as error:
        reason = "it is a symbolic link; put the folder itself there" if path.is_symlink() else trouble(error)
        raise BundleError(f"{folder}: cannot be read: {reason}") from None
    try:
        yield BundleFolder(folder, handle)
    finally:
        os.close(handle)


def text_of(path: Path) -> str:
    """The text of one file of a bundle. Raises BundleError, also if it is missing."""
    with opened(path.parent) as folder:
        return folder.text(path.name)


def files_of(folder: Path, names: Iterable[str]) -> tuple[str, ...]:
    """Some files of a bundle, and after them those of its rows. Raises BundleError if there are too many."""
    with opened(folder) as files:
        return (*names, *files.row_files())


def text_if_there(path: Path, *, largest: int | None = None) -> str | None:
    """The text of one file of a bundle, or None if it is missing. Raises BundleError if it cannot be read.

    `largest` is the bound in bytes for a file whose name tells none.
    """
    with opened(path.parent) as folder:
        return folder.text_if_there(path.name, largest=largest)


def write_text(path: Path, text: str) -> None:
    """Write a file of a bundle atomically. Only a regular file is replaced.

    Raises:
        BundleError: something else has this name, or the folder cannot be written.
    """
    try:
        with opened(path.parent) as folder:
            folder.text_if_there(path.name)
        write_whole(path, text)
    except OSError as error:
        raise BundleError(f"{path}: cannot be written: {trouble(error)}") from None


def copy_files(folder: Path, names: Iterable[str], into: Path) -> None:
    """Copy some files of a bundle, those that are there, and all its rows into another folder.

    Raises:
        BundleError: one cannot be read, or the other folder cannot be written.
    """
    with opened(folder) as files:
        for name in (*names, *files.row_files()):
            text = files.text_if_there(name)
            if text is not None:
                (into / name).parent.mkdir(exist_ok=True)
                write_text(into / name, text)


def _bounded(path: Path, file: RawIOBase, largest: int) -> bytes:
    """Read a file up to a bound, as it may grow meanwhile."""
    found = bytearray()
    while len(found) <= largest:
        part = file.read(min(CHUNK, largest + 1 - len(found)))
        if not part:
            return bytes(found)
        found += part
    raise BundleError(f"{path}: larger than {_told(largest)}")


def _decoded(path: Path, content: bytes) -> str:
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise BundleError(f"{path}: cannot be read: not UTF-8 at byte {error.start}; save it as UTF-8") from None
    if text.startswith("\ufeff"):
        raise BundleError(f"{path}: begins with a byte order mark; save it as UTF-8 without one")
    if "\0" in text:
        raise BundleError(f"{path}: holds a NUL character, at byte {content.index(0)}; take it out")
    return text


def _decoded_pieces(path: Path, file: RawIOBase, largest: int) -> Generator[str]:
    """The same, piece by piece."""
    decoder = getincrementaldecoder("utf-8")()
    size = 0
    while True:
        part = file.read(min(PIECE, largest + 1 - size)) or b""
        pending, _ = decoder.getstate()
        try:
            text = decoder.decode(part, final=not part)
        except UnicodeDecodeError as error:
            at = size - len(pending) + error.start
            raise BundleError(f"{path}: cannot be read: not UTF-8 at byte {at}; save it as UTF-8") from None
        if size == 0 and text.startswith("\ufeff"):
            raise BundleError(f"{path}: begins with a byte order mark; save it as UTF-8 without one")
        if b"\0" in part:
            raise BundleError(f"{path}: holds a NUL character, at byte {size + part.index(0)}; take it out")
        size += len(part)
        if size > largest:
            raise BundleError(f"{path}: larger than {_told(largest)}")
        if not part:
            return
        yield text


def _told(size: int) -> str:
    if size == LARGEST_SEED:
        return f"{size // 1024 // 1024} MiB, the most of seed.sql and seed/ together; {NO_OPTION}"
    return f"{size // 1024 // 1024} MiB" if size >= 1024 * 1024 else f"{size // 1024} KiB"


def listed(path: Path, kind: TypeAdapter[tuple[T, ...]]) -> tuple[T, ...]:
    """The records of an optional JSON list. Empty if the file is missing.

    Raises:
        BundleError: the file cannot be read.
    """
    try:
        text = text_if_there(path)
        return () if text is None else kind.validate_json(text)
    except ValidationError as error:
        raise BundleError(f"{path}: {first_problem(error)}") from None
