"""The bundles that a worker has fetched from its registry: in a folder of its state, each under its name.

A bundle travels as the one text that its digest is of. The worker knows the digest from an answer that the registry has
proved. So the text is checked as a whole before any of it is read.
"""

import hashlib
import shutil
import tempfile
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from servers.bundle.environment import digest_of_bundle
from servers.bundle.files import PIECE, SERVED_FILES
from servers.bundle.seed_files import ROW_FILE
from servers.errors import BundleError, RequestError, StateError
from servers.files.private_files import FOLDER_MODE, write_private
from servers.files.spooled import SpooledBytes
from servers.files.trouble import trouble

FETCHED = "bundles"
"""The folder in a worker's state. It is the last of the worker's library, so that bundles of its own come first."""
LONGEST_HEAD = 100
"""Bytes of the line before each file: its name and its number of characters."""
LARGEST_PACKED = 66 * 1024 * 1024
"""Bytes of a bundle as one text: more than all its files may have together."""


class FetchedBundles:
    """The fetched bundles of one worker, which has its state folder to itself."""

    def __init__(self, state: Path) -> None:
        self.state = state
        self.folder = state / FETCHED

    def see_that_none_is_hidden(self, names: Iterable[str], library: Iterable[Path]) -> None:
        """Refuse to fetch what an own bundle of the same name would hide.

        Raises:
            RequestError: some have the names of own bundles, whose files are others than the registry's.
        """
        own = [folder for folder in library if folder != self.folder]
        hidden = sorted(name for name in names if any((folder / name).is_dir() for folder in own))
        if hidden:
            raise RequestError(
                f"this worker has other files than the registry of: {', '.join(hidden[:5])}"
                f"{f' and {len(hidden) - 5} more' if len(hidden) > 5 else ''}; give both the same bundles, or leave"
                " them out of this --library: then they are fetched"
            )

    def keep(self, name: str, digest: str, packed: SpooledBytes) -> None:
        """Keep a bundle that has come as one text. One of the same name is replaced.

        Raises:
            BundleError: it is not the bundle of this digest. Nothing of it was read, and nothing is left of it.
            StateError: it cannot be written.
        """
        _see_to_digest(name, digest, packed)
        try:
            self._forget_unfinished()
            with tempfile.TemporaryDirectory(dir=self.state, prefix="bundle-", suffix=".part") as part:
                fresh = Path(part) / "fresh"
                _unpack(packed, fresh)
                if digest_of_bundle(fresh) != digest:
                    raise BundleError(f"{name}: what was sent is no bundle, although it has the digest")
                self.folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
                with suppress(FileNotFoundError):
                    (self.folder / name).rename(Path(part) / "former")
                fresh.rename(self.folder / name)
        except OSError as error:
            raise StateError(f"{self.folder}: the bundle {name} cannot be kept: {trouble(error)}") from None

    def _forget_unfinished(self) -> None:
        """Delete what a killed worker left in the middle of a bundle."""
        for folder in self.state.glob("bundle-*.part"):
            shutil.rmtree(folder, ignore_errors=True)


def _see_to_digest(name: str, digest: str, packed: SpooledBytes) -> None:
    found = hashlib.sha256()
    for at in range(0, len(packed), PIECE):
        found.update(packed[at : at + PIECE])
    if found.hexdigest() != digest:
        raise BundleError(f"{name}: what was sent is not the bundle of the digest that the registry has named")


def _unpack(packed: SpooledBytes, folder: Path) -> None:
    """Write the files of a bundle into a new folder. Raises BundleError for what is none of a bundle's."""
    folder.mkdir(mode=FOLDER_MODE)
    at = 0
    while at < len(packed):
        line, newline, _ = packed[at : at + LONGEST_HEAD].partition(b"\n")
        name, _, count = line.decode("ascii", "replace").partition(" ")
        if not newline or not count.isdecimal() or (name not in SERVED_FILES and not ROW_FILE.fullmatch(name)):
            raise BundleError("what was sent is no bundle: it has a file that none has")
        at += len(line) + 1
        path = folder / name
        path.parent.mkdir(mode=FOLDER_MODE, exist_ok=True)
        write_private(path, _characters(packed, at, int(count)))
        at += path.stat().st_size


def _characters(packed: SpooledBytes, at: int, count: int) -> Iterator[bytes]:
    """So many characters from a place on, in pieces. Raises BundleError if there are not so many."""
    while count:
        text = getincrementaldecoder("utf-8")("replace").decode(packed[at : at + PIECE])[:count]
        if not text:
            raise BundleError("what was sent is no bundle: a file ends too early")
        content = text.encode()
        yield content
        at += len(content)
        count -= len(text)
