"""Python values as JSON: what an imported object holds, as its rows keep it."""

import math
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, cast

from servers.imported.marks import FACTORIES, MARK, PLAIN, Classes, MarkPath, NotKept, shown, text_of

DEEPEST = 100
MORE_THAN_ATTRIBUTES = (dict, list, set, tuple, str, int, float)


class Keeper:
    """Turns the attributes of one object into JSON. What was met before is kept as its place."""

    def __init__(self, classes: Classes) -> None:
        self._names = {kind: name for name, kind in classes.items()}
        self._places: dict[int, MarkPath] = {}

    def keep(self, value: Any, path: MarkPath) -> Any:
        """One value.

        Raises:
            NotKept: no row can hold it.
        """
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {MARK: "float", "value": str(value)}
        for plain in PLAIN:
            if isinstance(value, plain.kind):
                return {MARK: plain.mark, "value": plain.keep(value)}
        if id(value) in self._places:
            return {MARK: "same", "at": list(self._places[id(value)])}
        if len(path) > DEEPEST:
            raise NotKept(f"{shown(path[:3])}: nested deeper than {DEEPEST}")
        if type(value) not in (tuple, frozenset):
            self.own(value, path)
        return self._own_class(value, path) if type(value) in self._names else self._container(value, path)

    def own(self, value: Any, path: MarkPath) -> None:
        """Say where something stands that is kept in parts."""
        self._places[id(value)] = path

    def key(self, key: Any) -> Any:
        """A key of a dict: text as it is, another value marked as in EnvScaler's files."""
        return key if type(key) is str else {MARK: "key", "value": self.keep(key, ("a key",))}

    def _container(self, value: Any, path: MarkPath) -> Any:
        kind = cast("type[Any]", type(value))
        kept: Any = None
        if kind is list:
            kept = self._parts(value, path)
        elif kind in (tuple, deque):
            kept = {MARK: kind.__name__, "items": self._parts(value, path)}
        elif kind in (set, frozenset):
            kept = {MARK: kind.__name__, "items": sorted(self._parts(value, path), key=text_of)}
        elif kind is dict and all(type(key) is str for key in value) and MARK not in value:
            kept = {key: self.keep(part, (*path, key)) for key, part in value.items()}
        elif kind in (dict, OrderedDict, Counter):
            kept = {MARK: kind.__name__, "items": self._items(value, path)}
        elif kind is defaultdict:
            kept = {MARK: "defaultdict", "factory": _factory(value, path), "items": self._items(value, path)}
        if kept is None:
            raise NotKept(f"{shown(path)}: a {kind.__name__}, which is not JSON and cannot be kept in a row")
        return kept

    def _own_class(self, value: Any, path: MarkPath) -> Any:
        name = self._names[type(value)]
        if isinstance(value, Enum):
            return {MARK: "enum", "class": name, "value": value.name}
        held = cast("dict[str, Any] | None", getattr(value, "__dict__", None))
        if held is None or isinstance(value, MORE_THAN_ATTRIBUTES):
            raise NotKept(f"{shown(path)}: a {name}, which holds more than attributes and cannot be kept in a row")
        return {MARK: "object", "class": name, "value": self._items(held, path)}

    def _parts(self, values: Iterable[Any], path: MarkPath) -> list[Any]:
        return [self.keep(part, (*path, number)) for number, part in enumerate(values)]

    def _items(self, value: Mapping[Any, Any], path: MarkPath) -> list[Any]:
        keys = [(self.key(key), part) for key, part in value.items()]
        return [[key, self.keep(part, (*path, key))] for key, part in keys]


def _factory(value: "defaultdict[Any, Any]", path: MarkPath) -> str | None:
    factory = value.default_factory
    if factory is None:
        return None
    name = getattr(factory, "__name__", "")
    if FACTORIES.get(name) is not factory:
        raise NotKept(f"{shown(path)}: a defaultdict of {name or factory!r}, which cannot be kept in a row")
    return name
