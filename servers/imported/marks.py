"""The markers under which a row holds what JSON does not.

They are EnvScaler's own `__type__` for set, tuple, datetime, decimal and a dict whose keys are not all text; and some
more in the same way. What two attributes share stays shared: the second is kept as `{"__type__": "same", "at": [...]}`.
"""

import json
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from random import Random
from typing import Any, NamedTuple, TypeGuard
from uuid import UUID

MARK = "__type__"
MarkPath = tuple[Any, ...]
Classes = Mapping[str, type]
"""The classes of an imported module, by name."""


class NotKept(TypeError):
    """A value that no row can hold, or a marker that does not fit. Says where it is and what it is."""


class Plain(NamedTuple):
    """A kind of value that has no parts and does not change, and how it goes into JSON and back."""

    mark: str
    kind: type
    keep: Callable[[Any], Any]
    find: Callable[[Any], Any]


def _as_days(span: timedelta) -> list[int]:
    return [span.days, span.seconds, span.microseconds]


def _from_days(kept: list[int]) -> timedelta:
    days, seconds, microseconds = kept
    return timedelta(days, seconds, microseconds)


def _from_state(kept: list[Any]) -> Random:
    version, words, gauss = kept
    found = Random()  # noqa: S311 - it must repeat
    found.setstate((version, tuple(words), gauss))
    return found


PLAIN: tuple[Plain, ...] = (
    Plain("random", Random, Random.getstate, _from_state),
    Plain("datetime", datetime, datetime.isoformat, datetime.fromisoformat),
    Plain("date", date, date.isoformat, date.fromisoformat),
    Plain("time", time, time.isoformat, time.fromisoformat),
    Plain("timedelta", timedelta, _as_days, _from_days),
    Plain("decimal", Decimal, str, Decimal),
    Plain("uuid", UUID, str, UUID),
)
"""The first that fits counts: a datetime is a date, too."""

FOUND: dict[str, Callable[[Any], Any]] = {"float": float, **{plain.mark: plain.find for plain in PLAIN}}
MAPPINGS: dict[str, Callable[[], Any]] = {"dict": dict, "OrderedDict": OrderedDict, "Counter": Counter}
FACTORIES: dict[str, type] = {"list": list, "dict": dict, "set": set, "int": int, "float": float, "str": str}
"""What a defaultdict may make its missing values with."""


def default_of(factory: str | None) -> "defaultdict[Any, Any]":
    return defaultdict(None if factory is None else FACTORIES[factory])


def sequence_of(mark: str) -> Any:
    """An empty set or deque."""
    return set[Any]() if mark == "set" else deque[Any]()


def text_of(value: Any) -> str:
    """JSON as the rows hold it."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def shown(path: MarkPath) -> str:
    """A place for people: `patients.PAT-001.seen`."""
    return ".".join(str(part) for part in path)


def is_dict(value: object) -> TypeGuard[dict[Any, Any]]:
    """True for a dict, also of a class of its own."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """True for a list, also of a class of its own."""
    return isinstance(value, list)


def is_tuple(value: object) -> TypeGuard[tuple[Any, ...]]:
    """True for a tuple, also of a class of its own."""
    return isinstance(value, tuple)
