"""The entries of an imported object's containers as Python values, kept between calls.

A call gets the values themselves. After it each entry is compared with what it was, to the types and the order of keys,
and each list and dict in it is asked whether another one holds it, too. So what the rows would not give back is found.
It is left to the whole way: all attributes are kept, and the next call reads them anew.
"""

import json
import marshal
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain, repeat
from sys import getrefcount
from typing import Any, cast

from servers.imported.keeping import Keeper
from servers.imported.marks import MARK, Classes, text_of
from servers.imported.rows import (
    MARKED,
    BoundStatement,
    EntryRow,
    Kept,
    attributes_of,
    changes,
    kept_of,
    places_of,
    row_changes,
)

SIZE_OF_VALUES = 10
"""About how many bytes the values of a packed byte take, and that byte."""
FORMAT = 2
"""Of `marshal`: it writes types, order and content, and neither shared values nor what is interned."""
EntryParts = tuple[Any, ...]


class Unclear(Exception):
    """Values that may hold more than their rows would give back."""


def _held_once() -> int:
    """The references that are counted of a part: of what it is in, of the tuple of parts, and of the counting."""
    parent = [list[Any]()]
    return next(map(getrefcount, chain.from_iterable([(parent[0],)])))


HELD_ONCE = _held_once()


def is_held_once(parts: Iterable[EntryParts]) -> bool:
    """True if nothing else holds any of these lists and dicts."""
    return set(map(getrefcount, chain.from_iterable(parts))) <= {HELD_ONCE}


def parts_of(value: Any) -> EntryParts:
    """All lists and dicts in a packed value, and itself if it is one."""
    found: list[Any] = []
    waiting: list[Any] = [value]
    while waiting:
        one = waiting.pop()
        if type(one) is dict or type(one) is list:
            found.append(one)
            waiting += cast("list[Any]", one.values() if type(one) is dict else one)
    return tuple(found)


def packed_all(values: Iterable[Any]) -> list[bytes]:
    """Each value packed.

    Raises:
        Unclear: one is no JSON.
    """
    try:
        packed: map[bytes] = map(marshal.dumps, values, repeat(FORMAT))
        return list(packed)
    except ValueError:
        raise Unclear from None


class LiveContainer:
    """A dict or a list whose entries are JSON. After a call: `look` at all, `check` all, then `statements`, `renew`."""

    def __init__(self, name: str, table: str, rows: Mapping[str, EntryRow], kind: type[Any]) -> None:
        self.name, self.table, self._kind = name, table, kind
        values: list[Any] = [json.loads(row.value) for row in rows.values()]
        self._keys = list(rows)
        self._packed: list[bytes] = packed_all(values)
        self._places = {key: row.place for key, row in rows.items()}
        self._parts = {key: parts_of(value) for key, value in zip(self._keys, values, strict=True)}
        self.value: Any = values if kind is list else dict(zip(self._keys, values, strict=True))
        self._before: dict[str, bytes] | None = None
        self._changed: set[str] = set()

    @property
    def size(self) -> int:
        return SIZE_OF_VALUES * sum(map(len, self._packed))

    def look(self, value: Any) -> None:
        """Take what the attribute holds after a call, and find the entries that differ.

        Raises:
            Unclear: it is no such container, or one is no JSON.
        """
        if type(value) is not self._kind:
            raise Unclear
        self.value = value  # the former one goes: what both hold is held once then
        held: Any = value
        keys: list[str] = list(map(str, range(len(held)))) if self._kind is list else list(held)
        packed = packed_all(held if self._kind is list else held.values())
        self._changed = set()
        if keys == self._keys and packed == self._packed:
            return
        if not all(type(key) is str and not key.startswith(MARKED) for key in keys):
            raise Unclear
        self._before = dict(zip(self._keys, self._packed, strict=True))
        self._keys, self._packed = keys, packed
        self._changed = {key for key, one in zip(keys, packed, strict=True) if self._before.get(key) != one}
        for key in self._changed | (self._before.keys() - set(keys)):
            self._parts.pop(key, None)

    def check(self) -> None:
        """Find out that nothing else holds a part of an entry.

        Raises:
            Unclear: something may.
        """
        if not is_held_once(self._parts.values()):
            others = {key for key, parts in self._parts.items() if not is_held_once([parts])}
            for key in others:
                del self._parts[key]
            self._changed |= others
        for key in self._changed:
            if not is_held_once([parts_of(self.value[self._at(key)])]):
                raise Unclear

    def statements(self, keeper: Keeper) -> list[BoundStatement]:
        """What a call has changed.

        Raises:
            Unclear: a value is no plain JSON.
        """
        if self._before is None:
            return []
        before, self._before = self._before, None
        were, self._places = self._places, places_of(self._keys, self._places)
        old: dict[str, EntryRow] = {key: EntryRow(were[key], "") for key in before if key not in self._places}
        new: dict[str, EntryRow] = {}
        for key, packed in zip(self._keys, self._packed, strict=True):
            if before.get(key) != packed or were[key] != self._places[key]:
                if key in before:
                    old[key] = EntryRow(were[key], "")
                new[key] = EntryRow(self._places[key], self._text(key, keeper))
        return list(row_changes(self.table, "key", old, new))

    def renew(self) -> None:
        """Put changed entries as their rows would give them, so that nothing else is left of the call."""
        packed = dict(zip(self._keys, self._packed, strict=True)) if self._changed else {}
        for key in self._changed:
            value = self.value[self._at(key)] = marshal.loads(packed[key])  # noqa: S302 - it was packed here
            self._parts[key] = parts_of(value)

    def _at(self, key: str) -> Any:
        return int(key) if self._kind is list else key

    def _text(self, key: str, keeper: Keeper) -> str:
        at = self._at(key)
        text = text_of(keeper.keep(self.value[at], (self.name, at)))
        if MARK in text:
            raise Unclear
        return text


@dataclass
class LiveObject:
    """The attributes of one instance's object: live containers, and the rows of the others."""

    rows: Kept
    containers: list[LiveContainer]

    @classmethod
    def of(cls, kept: Kept) -> "LiveObject":
        """An object of the rows. It takes out of them what is live."""
        containers: list[LiveContainer] = []
        shared = _shared_within(kept)
        for name, table in kept.containers.items():
            attribute = kept.attributes.get(name)
            rows = kept.tables[table]
            if attribute is None or attribute.kept == "value" or name in shared or any(map(_is_marked, rows.items())):
                continue
            containers.append(LiveContainer(name, table, rows, list if attribute.kept == "list" else dict))
            del kept.tables[table]
        return cls(kept, containers)

    @property
    def size(self) -> int:
        return sum(one.size for one in self.containers)

    def attributes(self, classes: Classes) -> dict[str, Any]:
        """The attributes for a call."""
        return attributes_of(self.rows, classes, {one.name: one.value for one in self.containers})

    def changes(
        self, attributes: Mapping[str, Any], classes: Classes, reached: frozenset[str] | None
    ) -> list[BoundStatement]:
        """What a call has changed, as statements. The object is as the changed rows then.

        Only the attributes that the call may have `reached` are asked. If that is None, all are.

        Raises:
            Unclear: see above. The object is of no more use then.
            NotKept: an attribute holds what no row can hold.
        """
        asked = [one for one in self.containers if reached is None or one.name in reached]
        for one in asked:
            one.look(attributes.get(one.name))
        if len({id(one.value) for one in self.containers}) < len(self.containers):
            raise Unclear
        for one in asked:
            one.check()
        keeper = Keeper(classes)
        of_live = {one.table: one.statements(keeper) for one in self.containers}
        after = kept_of(attributes, classes, self.rows, {one.name: one.value for one in self.containers})
        if any(after.attributes[one.name].kept == "value" for one in self.containers):
            raise Unclear  # it is another attribute's
        found = changes(self.rows, after, of_live)
        for one in asked:
            one.renew()
        self.rows = after
        return found


def _is_marked(item: tuple[str, EntryRow]) -> bool:
    key, row = item
    return MARK in row.value or key.startswith(MARKED)


def _shared_within(kept: Kept) -> set[str]:
    """The attributes of which another one shares a part."""
    found: set[str] = set()

    def note(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        held = dict(pairs)
        if held.get(MARK) == "same" and len(held["at"]) > 1:
            found.add(held["at"][0])
        return held

    texts = [attribute.value or "" for attribute in kept.attributes.values()]
    texts += [row.value for rows in kept.tables.values() for row in rows.values()]
    for text in texts:
        if MARK in text:
            json.loads(text, object_pairs_hook=note)
    return found
