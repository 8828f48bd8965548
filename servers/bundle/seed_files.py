"""The files of an environment's first rows: `seed.sql`, and one CSV file a table in `seed/`.

They may be long, so nobody keeps them: they are measured when a bundle is read, and read again when a start is built.
"""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from servers.bundle.files import LARGEST_SEED, NO_OPTION, ROWS_FOLDER, BundleFolder, opened
from servers.errors import BundleError

SEED = "seed.sql"
ROW_FILE = re.compile(rf"{ROWS_FOLDER}/([a-z][a-z0-9_]{{0,63}})\.csv")


class SeedScript(Protocol):
    """The script of the first rows."""

    @property
    def digest(self) -> str:
        """What tells it from others."""
        ...

    @property
    def size(self) -> int:
        """Its bytes."""
        ...

    def text(self) -> str:
        """The script. Raises BundleError if it cannot be read."""
        ...

    def copy(self, into: Callable[[bytes], None]) -> None:
        """Pass it on in pieces. Raises BundleError if it cannot be read."""
        ...


@dataclass(frozen=True)
class SeedFile:
    """A file of first rows, as it was when the bundle was read."""

    folder: Path
    name: str
    digest: str
    size: int

    @property
    def table(self) -> str:
        """The table whose rows it holds. `seed.sql` has no such name."""
        return Path(self.name).stem

    def text(self) -> str:
        """Its text.

        Raises:
            BundleError: it cannot be read, or is another one by now.
        """
        with opened(self.folder) as files:
            found = files.text(self.name)
        self._see_that_it_is_the_same(digest_of_seed(found))
        return found

    def copy(self, into: Callable[[bytes], None]) -> None:
        """Pass its text on in pieces.

        Raises:
            BundleError: it cannot be read, or is another one by now. Then all that was passed on is void.
        """
        with opened(self.folder) as files:
            found = measured(files, self.name, into)
        self._see_that_it_is_the_same(found.digest)

    def _see_that_it_is_the_same(self, digest: str) -> None:
        if digest != self.digest:
            raise _changed(self.folder / self.name)


class FileMeasure(NamedTuple):
    """What is known of a file that was read in pieces."""

    digest: str
    size: int
    characters: int


class MeasuredSeeds(NamedTuple):
    """What is known of all files of first rows. `script` is None if one of them cannot be read."""

    script: FileMeasure | None
    tables: dict[str, FileMeasure]
    findings: list[str]

    def of(self, folder: Path) -> tuple[SeedFile, tuple[SeedFile, ...]] | None:
        """The script and the tables' files of a bundle, or None without a script."""
        if self.script is None:
            return None
        tables = tuple(SeedFile(folder, name, one.digest, one.size) for name, one in self.tables.items())
        return SeedFile(folder, SEED, self.script.digest, self.script.size), tables


def measured(files: BundleFolder, name: str, whole: Callable[[bytes], None] | None = None) -> FileMeasure:
    """Read a file in pieces, which `whole` gets too. Raises BundleError if it cannot be read."""
    digest = hashlib.sha256()
    size = characters = 0
    for piece in files.pieces(name):
        content = piece.encode()
        size += len(content)
        characters += len(piece)
        digest.update(content)
        if whole is not None:
            whole(content)
    return FileMeasure(digest.hexdigest(), size, characters)


def measured_seeds(files: BundleFolder) -> MeasuredSeeds:
    """Read all files of first rows in pieces."""
    tables: dict[str, FileMeasure] = {}
    findings: list[str] = []
    try:
        script = measured(files, SEED)
        size = script.size
        for name in files.row_files():
            if ROW_FILE.fullmatch(name) is None:
                findings.append(f"{files.path / name}: is not named after a table, as {ROWS_FOLDER}/items.csv is")
                continue
            tables[name] = measured(files, name)
            size += tables[name].size
            if size > LARGEST_SEED:
                together = (
                    f"{SEED} and {ROWS_FOLDER}/ are together larger than {LARGEST_SEED // 1024**2} MiB; {NO_OPTION}"
                )
                raise BundleError(f"{files.path}: {together}")
    except BundleError as error:
        return MeasuredSeeds(None, {}, [*findings, str(error)])
    return MeasuredSeeds(script, tables, findings)


def digest_again(files: BundleFolder, name: str, before: FileMeasure, into: Callable[[bytes], None]) -> None:
    """Read a file once more for a digest.

    Raises:
        BundleError: it cannot be read, or is another one by now.
    """
    into(f"{name} {before.characters}\n".encode())
    if measured(files, name, into) != before:
        raise _changed(files.path / name)


def digest_of_seed(text: str) -> str:
    """What tells a script of first rows from others."""
    return hashlib.sha256(text.encode()).hexdigest()


def _changed(path: Path) -> BundleError:
    return BundleError(f"{path}: has changed while it was used; try again")
