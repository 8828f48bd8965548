"""The files that an import wrote, by their digests, so that another import replaces these and nothing else."""

import hashlib
import json
from pathlib import Path

from servers.errors import RequestError
from servers.files.atomic_write import write_whole
from servers.files.named_file import bytes_named, text_named
from servers.files.trouble import trouble
from servers.text.json_values import is_object
from synth.interop.imports.dataset import Unreadable

LIST = ".imported.json"
"""Beside the bundles: environment → file → digest."""


class WrittenFiles:
    """The list of a folder of bundles."""

    def __init__(self, out: Path) -> None:
        self._path = out / LIST
        self._written: set[str] = set()
        self._files: dict[str, dict[str, str]] = {}
        try:
            told = json.loads(text_named(self._path))
        except FileNotFoundError:
            return
        except (OSError, ValueError, RecursionError) as error:
            raise RequestError(f"{self._path}: cannot be read: {trouble(error)}") from None
        if not is_object(told) or not all(is_object(one) for one in told.values()):
            raise RequestError(f"{self._path}: is not a list of files that `farm import` wrote; move it away")
        self._files = told

    def refuse_foreign(self, folder: Path) -> None:
        """Refuse to write into a folder with a file that no import wrote, or that has changed since.

        Nor into one that this import wrote already: two names of theirs can come to one id.

        Raises:
            Unreadable: there is one.
        """
        if folder.name in self._written:
            raise Unreadable(f"its name comes to {folder.name!r}, as that of an environment before it")
        foreign = self._foreign(folder)
        if foreign is not None:
            raise Unreadable(f"{folder}: {foreign}: was not written by this import, or has changed since; move it away")

    def _foreign(self, folder: Path) -> str | None:
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            return folder.name
        known = self._files.get(folder.name, {})
        for path in sorted(folder.rglob("*")):
            name = str(path.relative_to(folder))
            if path.is_symlink() or not path.is_file() or known.get(name) != _digest(path):
                return name
        return None

    def keep(self, folder: Path) -> None:
        """Put the files of a bundle that was just written on the list."""
        self._written.add(folder.name)
        self._files[folder.name] = {path.name: _digest(path) for path in sorted(folder.iterdir())}
        write_whole(self._path, json.dumps(self._files, indent=1) + "\n")


def _digest(path: Path) -> str:
    return hashlib.blake2b(bytes_named(path), digest_size=16).hexdigest()
