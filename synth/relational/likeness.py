"""Whether a value of the imported environment and one of its rewriting are the same, but for made-up ids."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from servers.text.json_values import is_list, is_object

MADE_UP = re.compile(r"[a-z][a-z0-9_]*_[0-9a-f]{8}")
"""An id of `db.new_id`."""
MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,6})?")
ONE_CALL = 1.0
"""Seconds that two readings of the clock in one call may differ."""
Entries = Mapping[str, Any]


class Likeness:
    """Compares values of both sides of one run. An id that one side made up stands for the one of the other side."""

    def __init__(self) -> None:
        self.imported_of: dict[str, str] = {}
        """The imported id for each id that the rewriting made up."""
        self._seen: set[str] = set()

    def see(self, *values: Any) -> None:
        """Take in values that both sides have already: no text in them is made up later."""
        for value in values:
            self._seen.update(_texts(value))

    def translated(self, value: Any) -> Any:
        """A value of the imported side as the rewriting knows it."""
        made_up = {imported: own for own, imported in self.imported_of.items()}
        return _replaced(value, made_up)

    def as_imported(self, value: Any) -> Any:
        """A value of the rewriting as the imported side knows it."""
        return _replaced(value, self.imported_of)

    def difference(self, imported: Any, own: Any, place: str = "") -> str:
        """Where and how two values differ, or nothing."""
        if is_object(imported) and is_object(own):
            if imported.keys() != own.keys():
                return f"{place or 'it'} has the fields {_listed(imported)}; here {_listed(own)}"
            return self._first((imported[name], own[name], f"{place}.{name}".strip(".")) for name in imported)
        if is_list(imported) and is_list(own):
            if len(imported) != len(own):
                return f"{place or 'it'} has {len(imported)} entries; here {len(own)}"
            pairs = zip(imported, own, strict=True)
            return self._first((one, other, f"{place}[{number}]") for number, (one, other) in enumerate(pairs))
        return "" if self._is_same(imported, own) else f"{place or 'it'} is {_shown(imported)}; here {_shown(own)}"

    def differs_in_order_only(self, imported: Any, own: Any) -> bool:
        """True if two values are the same once every list is sorted."""
        return not self.difference(_in_order(imported), _in_order(_replaced(own, self.imported_of)))

    def difference_of_entries(self, imported: Entries, own: Entries, place: str) -> str:
        """The same for the entries of a dict, by key. Their order does not matter."""
        renamed = {self.imported_of.get(key, key): value for key, value in own.items()}
        gone, new = [key for key in imported if key not in renamed], [key for key in renamed if key not in imported]
        for key in new:
            other = next((one for one in gone if self._stands_for(one, key, imported[one], renamed[key])), None)
            if other is None:
                return f"{place}: has an entry {key!r} that should not be there: {_shown(renamed[key])}"
            gone.remove(other)
            renamed[other] = renamed.pop(key)
        if gone:
            return f"{place}: the entry {gone[0]!r} is not there: {_shown(imported[gone[0]])}"
        return self._first((value, renamed[key], f"{place}[{key!r}]") for key, value in imported.items())

    def _first(self, pairs: Iterator[tuple[Any, Any, str]]) -> str:
        return next((found for one, other, place in pairs if (found := self.difference(one, other, place))), "")

    def _stands_for(self, imported: str, own: str, value: Any, own_value: Any) -> bool:
        """True if two new entries are the same under a made-up key. Then the keys stand for one another."""
        before = dict(self.imported_of)
        if self._is_same(imported, own) and not self.difference(value, own_value):
            return True
        self.imported_of = before
        return False

    def _is_same(self, imported: Any, own: Any) -> bool:
        if isinstance(imported, str) and isinstance(own, str):
            return imported == own or self._is_same_text(imported, own)
        if isinstance(imported, bool) or isinstance(own, bool):
            return imported is own
        if isinstance(imported, int | float) and isinstance(own, int | float):
            return imported == own or math.isclose(imported, own, rel_tol=1e-9)
        return type(imported) is type(own) and imported == own

    def _is_same_text(self, imported: str, own: str) -> bool:
        if own in self.imported_of:
            return self.imported_of[own] == imported
        known = {imported, own} & self._seen
        if MADE_UP.fullmatch(own) and not known and imported and imported not in self.imported_of.values():
            self.imported_of[own] = imported
            return True
        if MOMENT.fullmatch(imported) and MOMENT.fullmatch(own):
            return _apart(imported, own) < ONE_CALL
        return imported == _replaced(own, self.imported_of)


def _apart(one: str, other: str) -> float:
    try:
        return abs((datetime.fromisoformat(one) - datetime.fromisoformat(other)).total_seconds())
    except ValueError:
        return math.inf


def _replaced(value: Any, names: Mapping[str, str]) -> Any:
    """A value with ids replaced, also within texts."""
    if isinstance(value, str):
        for one, other in names.items():
            value = value.replace(one, other)
        return value
    if is_object(value):
        return {_replaced(key, names): _replaced(part, names) for key, part in value.items()}
    return [_replaced(part, names) for part in value] if is_list(value) else value


def _in_order(value: Any) -> Any:
    """A value with every list sorted."""
    if is_object(value):
        return {key: _in_order(part) for key, part in value.items()}
    return sorted(map(_in_order, value), key=_place) if is_list(value) else value


def _place(value: Any) -> str:
    """Where a value stands in a sorted list. Equal numbers are written alike, whole or not."""
    return json.dumps(_rounded(value), sort_keys=True)


def _rounded(value: Any) -> Any:
    if is_object(value):
        return {key: _rounded(part) for key, part in value.items()}
    if is_list(value):
        return [_rounded(part) for part in value]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{value:.6g}" if is_number else value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif is_object(value):
        for key, part in value.items():
            yield key
            yield from _texts(part)
    elif is_list(value):
        for part in value:
            yield from _texts(part)


def _listed(value: Mapping[str, Any]) -> str:
    return ", ".join(value) or "(none)"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 300 else f"{text[:300]}…"
