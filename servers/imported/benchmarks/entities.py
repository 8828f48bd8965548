"""A dict of a database in memory as the rows of a table: each entity is read when a call touches it, and only then.

A call costs what it touches. What it changed becomes statements. Types survive: 10 and 10.0 differ.
"""

import json
import marshal
from collections.abc import Iterable, Iterator
from typing import Any

from servers.imported.rows import BoundStatement
from servers.toolkit import Database

PLAIN = 2
"""The version of `marshal` that writes equal values alike, whoever else refers to them."""
_ABSENT = object()


class Entities(dict[str, Any]):
    """A table `(place, key, value)` as a dict in the order of the places. Without `writes` it notes no changes."""

    def __init__(self, db: Database, table: str, *, writes: bool = True) -> None:
        super().__init__()
        self._writes = writes
        self._db = db
        self._table = table
        self._whole = False
        self._loaded: dict[str, bytes] = {}
        """The entities that were read, as they were then."""

    def __getitem__(self, key: str) -> Any:
        if not self._has(key):
            raise KeyError(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        return self._has(key)

    def get(self, key: str, default: Any = None) -> Any:
        return super().__getitem__(key) if self._has(key) else default

    def __setitem__(self, key: str, value: Any) -> None:
        self._has(key)
        super().__setitem__(key, value)

    def setdefault(self, key: str, default: Any = None) -> Any:
        if not self._has(key):
            super().__setitem__(key, default)
        return super().__getitem__(key)

    def __delitem__(self, key: str) -> None:
        if not self._has(key):
            raise KeyError(key)
        super().__delitem__(key)

    def pop(self, key: str, default: Any = _ABSENT) -> Any:
        if not self._has(key) and default is _ABSENT:
            raise KeyError(key)
        return super().pop(key, default)

    def __iter__(self) -> Iterator[str]:
        self.load()
        return super().__iter__()

    def __len__(self) -> int:
        self.load()
        return super().__len__()

    def keys(self) -> Any:
        self.load()
        return super().keys()

    def values(self) -> Any:
        self.load()
        return super().values()

    def items(self) -> Any:
        self.load()
        return super().items()

    @property
    def touched(self) -> set[str]:
        """The keys of the entities that were read."""
        return set(self._loaded)

    def load(self) -> None:
        """Read every entity that was not read yet, and put all in their order."""
        if self._whole:
            return
        self._whole = True
        mine = dict(super().items())
        super().clear()
        for row in self._db.all(f'SELECT key, value FROM "{self._table}" ORDER BY place'):
            key = row["key"]
            if key not in self._loaded:
                self._read(key, row["value"])
            elif key in mine:
                super().__setitem__(key, mine[key])
        for key, value in mine.items():  # new ones stand behind
            super().__setitem__(key, value)

    def changes(self) -> Iterator[BoundStatement]:
        """The statements that make the rows what this dict is."""
        for key, value in super().items():
            before = self._loaded.get(key)
            if before is None:
                yield (
                    f'INSERT INTO "{self._table}" (place, key, value)'
                    f' VALUES ((SELECT coalesce(max(place), 0) + 1 FROM "{self._table}"), :key, :value)',
                    {"key": key, "value": _text(value)},
                )
            elif marshal.dumps(value, PLAIN) != before:
                yield (
                    f'UPDATE "{self._table}" SET value = :value WHERE key = :key',
                    {"key": key, "value": _text(value)},
                )
        for key in self._loaded:
            if not super().__contains__(key):
                yield f'DELETE FROM "{self._table}" WHERE key = :key', {"key": key}

    def _has(self, key: object) -> bool:
        if super().__contains__(key):
            return True
        if self._whole or not isinstance(key, str) or key in self._loaded:
            return False
        row = self._db.one(f'SELECT value FROM "{self._table}" WHERE key = :key', key=key)
        if row is not None:
            self._read(key, row["value"])
        return row is not None

    def _read(self, key: str, text: str) -> None:
        value = json.loads(text)
        self._loaded[key] = marshal.dumps(value, PLAIN) if self._writes else b""
        super().__setitem__(key, value)


def texts(db: Database, tables: Iterable[str]) -> dict[str, dict[str, str]]:
    """The JSON of every entity, by table and key, in their order."""
    return {
        table: {row["key"]: row["value"] for row in db.all(f'SELECT key, value FROM "{table}" ORDER BY place')}
        for table in tables
    }


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
