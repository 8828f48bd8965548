"""Arguments for the tools of an imported class: from its rows, and from what its checks compare with."""

import copy
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from servers.imported.marks import is_dict, is_list

DrawnArguments = dict[str, Any]
EMPTY: dict[str, Any] = {"string": "a text", "integer": 1, "number": 1.0, "boolean": True, "array": [], "object": {}}
KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


@dataclass
class Seen:
    """A state: packed for fast copies, with its rows and what they hold by name."""

    state: dict[str, Any]
    packed: bytes | None
    rows: list[DrawnArguments]
    named: dict[str, list[Any]]

    @classmethod
    def of(cls, state: dict[str, Any]) -> "Seen":
        try:
            packed = pickle.dumps(state)
        except (pickle.PicklingError, TypeError, AttributeError):
            packed = None  # it holds objects of the imported module, which has no name to find it by
        rows = list(rows_of({name: value for name, value in state.items() if name != "init_config"}))
        named: dict[str, list[Any]] = {}
        for row in rows:
            for name, value in row.items():
                if not isinstance(value, dict):
                    named.setdefault(name, []).append(value)
        return cls(state, packed, rows, named)

    def copy(self) -> dict[str, Any]:
        return copy.deepcopy(self.state) if self.packed is None else pickle.loads(self.packed)  # noqa: S301 - ours

    def values(self, names: list[str]) -> list[Any]:
        """What rows hold under one of some names, and the keys of a container that such an id is a key of."""
        found = [value for name in names for value in self.named.get(name, [])]
        subject = names[0].removesuffix("_id").removeprefix("new_").rstrip("s")[:5]
        for name, value in self.state.items():
            if names[0].endswith("_id") and is_dict(value) and subject in name:
                found.extend(value)
        return found

    def ids(self) -> list[Any]:
        """The keys of all containers."""
        return [key for value in self.state.values() if is_dict(value) for key in value]


@dataclass
class Drawer:
    """Draws from one source of chances. `hints` are the values of each check, by name and loose.

    `known` are values that the class compares with, and keys that it reads from a dict, by name.
    """

    hints: list[dict[str, Any]]
    random: Random
    known: dict[str, dict[str, list[Any]]]

    def draw(self, tool: dict[str, Any], seen: Seen, number: int | None) -> DrawnArguments:
        """Arguments for a tool: from the state, and from what the checks compare with, those of one check first."""
        drawn: DrawnArguments = {}
        row = self.random.choice(rows) if (rows := seen.rows) and self.random.random() < 0.5 else {}
        for argument in tool["arguments"]:
            if not argument["required"] and self.random.random() < 0.4:
                continue
            drawn[argument["name"]] = self._value(argument, seen, number, row)
        return drawn

    def _value(self, argument: dict[str, Any], seen: Seen, number: int | None, row: DrawnArguments) -> Any:
        """One value, of the argument's type where there is one; often one that other rows hold under the same name."""
        if "null" in argument["types"] and self.random.random() < 0.1:
            return None
        names = list(spellings(argument["name"]))
        options: list[list[Any]] = []
        if number is not None:
            options.append(named(self.hints[number]["named"], names))
            options.append(self.hints[number]["loose"])
        if number is not None or self.random.random() < 0.5:
            options.append([value for hint in self.hints for value in named(hint["named"], names)])
        if any(name in row for name in names):
            options.append([row[name] for name in names if name in row])
        options.append(seen.values(names))
        if argument["name"].endswith(("_id", "_by")):
            options.append(seen.ids())
        options.append(named(self.known["values"], names))
        options.append(self._composed(argument, names, seen, row))
        options.append([f"new_{argument['name']}", "2025-12-01", "a text"])
        fitting = [[value for value in values if fits(value, argument["types"])] for values in options]
        fitting = [values for values in fitting if values]
        while len(fitting) > 1 and self.random.random() < 0.45:
            fitting.pop(0)
        if fitting and "string" in argument["types"] and number is not None and self.random.random() < 0.08:
            loose = [one for hint in self.hints for one in hint["loose"] if isinstance(one, str)]
            return ", ".join(self.random.sample(loose, 2)) if len(loose) > 1 else self.random.choice(fitting[0])
        if fitting:
            return self.random.choice(fitting[0])
        return next((EMPTY[kind] for kind in argument["types"] if kind in EMPTY), "a text")

    def _composed(self, argument: dict[str, Any], names: list[str], seen: Seen, row: DrawnArguments) -> list[Any]:
        """A dict with keys that the class reads from it, or that a row has; a list of what rows hold one of."""
        if "object" in argument["types"]:
            keys = named(self.known["keys"], names) or [key for key, value in row.items() if not is_dict(value)]
            some = self.random.sample(keys, self.random.randint(1, len(keys))) if keys else []
            return [{key: self._under(key, seen) for key in some}] if some else []
        if "array" in argument["types"]:
            singular = [name.removesuffix("s") for name in names]
            there = seen.values(singular) or named(self.known["values"], singular)
            return [self.random.sample(there, min(len(there), self.random.randint(1, 3)))] if there else []
        return []

    def _under(self, key: str, seen: Seen) -> Any:
        """A value for a key: one that a row has there, that the class compares with, or a new text."""
        there = [*seen.named.get(key, []), *self.known["values"].get(key, [])]
        return self.random.choice(there) if there and self.random.random() < 0.8 else f"new_{key}"


def fits(value: Any, types: list[str]) -> bool:
    return any(isinstance(value, KINDS[kind]) and (kind == "boolean") >= isinstance(value, bool) for kind in types)


def spellings(name: str) -> Iterator[str]:
    """An argument's name, and what a row may call the same thing."""
    yield name
    for prefix in (
        "new_",
        "target_",
        "updated_",
        "initial_",
        "parent_",
        "requester_",
        "actor_",
        "resolver_",
        "submitter_",
    ):
        if name.startswith(prefix):
            yield name.removeprefix(prefix)
    parts = name.split("_")
    if len(parts) > 1:
        yield "_".join(parts[-2:])
        yield parts[-1]
        yield f"_{parts[-1]}"


def named(values: dict[str, list[Any]], names: list[str]) -> list[Any]:
    return next((values[name] for name in names if name in values), list[Any]())


def rows_of(value: Any, depth: int = 0) -> Iterator[DrawnArguments]:
    """Every dict within a value."""
    if depth < 4 and is_dict(value):
        yield value
        for part in value.values():
            yield from rows_of(part, depth + 1)
    elif depth < 4 and is_list(value):
        for part in value:
            yield from rows_of(part, depth + 1)
