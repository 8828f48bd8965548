"""Values as rows keep them, turned back into what they were."""

from enum import Enum
from types import SimpleNamespace
from typing import Any, cast

from servers.imported.marks import (
    FOUND,
    MAPPINGS,
    MARK,
    Classes,
    MarkPath,
    NotKept,
    default_of,
    is_dict,
    is_list,
    sequence_of,
    shown,
    text_of,
)


class Finder:
    """Turns kept values back. Without the class that made it, an object is its attributes, and an enum its name."""

    def __init__(self, classes: Classes) -> None:
        self._classes = classes
        self._made: dict[str, Any] = {}

    def find(self, kept: Any, path: MarkPath) -> Any:
        """One value.

        Raises:
            NotKept: it carries a marker that is not known, or that does not fit.
        """
        if is_list(kept):
            parts = self.remember(list[Any](), path)
            parts.extend(self._parts(kept, path))
            return parts
        if not is_dict(kept):
            return kept
        if MARK in kept:
            return self._fitting(kept, path)
        made = self.remember(dict[str, Any](), path)
        for key, part in kept.items():
            made[key] = self.find(part, (*path, key))
        return made

    def key(self, key: Any) -> Any:
        """A key of a dict: one that is marked is what its marker holds."""
        if is_dict(key) and key.get(MARK) == "key":
            return self.find(key["value"], ("a key",))
        return key

    def remember(self, made: Any, path: MarkPath) -> Any:
        """Say what stands somewhere, for those who share it."""
        self._made[text_of(path)] = made
        return made

    def _fitting(self, kept: dict[str, Any], path: MarkPath) -> Any:
        try:
            return self._marked(kept, path)
        except NotKept:
            raise
        except (LookupError, ValueError, TypeError, ArithmeticError, AttributeError) as error:
            raise NotKept(f"{shown(path)}: the marker {kept[MARK]!r} does not fit: {error}") from None

    def _marked(self, kept: dict[str, Any], path: MarkPath) -> Any:
        mark = kept[MARK]
        made: Any
        if mark in FOUND:
            made = FOUND[mark](kept["value"])
        elif mark == "same":
            made = self._made[text_of(kept["at"])]
        elif mark == "enum":
            kind = cast("type[Enum] | None", self._classes.get(kept["class"]))
            made = kept["value"] if kind is None else kind[kept["value"]]
        elif mark == "object":
            made = self._object(kept, path)
        elif mark in ("tuple", "frozenset"):
            parts = self._parts(kept["items"], path)
            made = tuple(parts) if mark == "tuple" else frozenset(parts)
        else:
            made = self._filled(kept, path)
        return made

    def _object(self, kept: dict[str, Any], path: MarkPath) -> Any:
        kind = self._classes.get(kept["class"], SimpleNamespace)
        made = self.remember(object.__new__(kind) if kind is not SimpleNamespace else SimpleNamespace(), path)
        for key, part in kept["value"]:
            vars(made)[key] = self.find(part, (*path, key))
        return made

    def _filled(self, kept: dict[str, Any], path: MarkPath) -> Any:
        mark = kept[MARK]
        if mark in ("set", "deque"):
            made = self.remember(sequence_of(mark), path)
            parts = self._parts(kept["items"], path)
            made.update(parts) if mark == "set" else made.extend(parts)
            return made
        made = self.remember(default_of(kept["factory"]) if mark == "defaultdict" else MAPPINGS[mark](), path)
        for key, part in kept["items"]:
            made[self.key(key)] = self.find(part, (*path, key))
        return made

    def _parts(self, kept: list[Any], path: MarkPath) -> list[Any]:
        return [self.find(part, (*path, number)) for number, part in enumerate(kept)]
