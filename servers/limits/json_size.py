"""Bounds on JSON text before validation: a number of values, and numbers that every reader takes."""

import json
import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from servers.errors import BundleError
from servers.text.json_values import is_deeper, is_list, is_object

MOST_VALUES = 10_000
"""Values of one JSON text of a bundle: `environment.json`, or one line of `scenarios.jsonl`."""

LONGEST_INTEGER = 20
"""Characters of a 64-bit integer with its sign."""
LONGEST_TOLD = 40
PERHAPS_ODD = re.compile(r"NaN|Infinity|\d{19}|[eE]\+?\d{3}")
"""A pattern for text that may hold an invalid number. Most texts do not match, and are parsed once."""


def refuse_many_values(where: str, text: str) -> None:
    """Refuse a JSON text with too many values. The content of strings does not count.

    Raises:
        BundleError: there are more. `where` begins its text.
    """
    if _marks(text) > MOST_VALUES and values_in(text) > MOST_VALUES:
        raise BundleError(f"{where}: holds more than {MOST_VALUES:,} values")


class _OddNumber(NamedTuple):
    """A number that JSON readers interpret differently."""

    text: str


def refuse_odd_numbers(where: str, text: str) -> None:
    """Refuse NaN, Infinity, numbers that overflow, and integers of more than 64 bits.

    Raises:
        BundleError: there is one, with its place after `where`. Text that is not JSON is left to its reader.
    """
    if PERHAPS_ODD.search(text) is None:
        return
    try:
        whole = json.loads(text, parse_constant=_OddNumber, parse_float=_real, parse_int=_integer)
    except (ValueError, RecursionError):
        return
    for place, number in _odd_numbers(whole):
        told = number.text if len(number.text) <= LONGEST_TOLD else f"{number.text[:LONGEST_TOLD]}…"
        raise BundleError(f"{where}: {place}: {told} is not a finite number of at most 64 bits")


def _real(text: str) -> float | _OddNumber:
    value = float(text)
    return value if math.isfinite(value) else _OddNumber(text)


def _integer(text: str) -> int | _OddNumber:
    is_short = len(text) <= LONGEST_INTEGER
    return int(text) if is_short and -(2**63) <= int(text) < 2**63 else _OddNumber(text)


def _odd_numbers(whole: object) -> Iterator[tuple[str, _OddNumber]]:
    """Each invalid number with its place, such as `checkpoints.0.expect.value`."""
    level: list[tuple[str, object]] = [("", whole)]
    while level:
        place, value = level.pop()
        if isinstance(value, _OddNumber):
            yield place or "the whole", value
        elif is_object(value):
            level += [(f"{place}.{key}".lstrip("."), one) for key, one in value.items()]
        elif is_list(value):
            level += [(f"{place}.{number}".lstrip("."), one) for number, one in enumerate(value)]


def values_in(text: str) -> int:
    """An upper bound on the number of values, in linear time."""
    between = "".join(text.replace("\\\\", "").replace('\\"', "").split('"')[::2])
    return 1 + _marks(between)


def has_more_values(body: bytes, most: int) -> bool:
    """True if a JSON body holds more than `most` values. Parsing JSON is one step that cannot be interrupted."""
    if body.count(b",") + body.count(b"[") + body.count(b"{") <= most:
        return False
    return values_in(body.decode("latin-1")) > most


class _KeyTwice(ValueError):
    """An object has a key twice, and its readers differ in which of the two they take."""


def key_twice_in(text: bytes | str) -> str | None:
    """A key that is twice in one object of a JSON text. None if there is none, or the text is not JSON."""
    try:
        json.loads(text, object_pairs_hook=_object_of)
    except _KeyTwice as error:
        return str(error)
    except (ValueError, RecursionError):
        return None
    return None


def refuse_key_twice(where: str, text: str) -> None:
    """Refuse a JSON text in which an object has a key twice.

    Raises:
        BundleError: there is one. `where` begins its text. Text that is not JSON is left to its reader.
    """
    twice = key_twice_in(text)
    if twice is not None:
        raise BundleError(f"{where}: an object has the key {twice[:LONGEST_TOLD]!r} twice")


def _object_of(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen = set[str]()
        raise _KeyTwice(next(key for key, _ in pairs if key in seen or seen.add(key)))
    return found


def strict_json(text: str, *, deepest: int) -> Any:
    """The value of a stranger's JSON text, if all readers of JSON would agree about it.

    Raises:
        ValueError: it is not JSON, an object has a key twice, a number is not finite, or it is nested deeper than
            `deepest` levels.
    """
    try:
        value = json.loads(text, object_pairs_hook=_object_of, parse_constant=_finite, parse_float=_finite)
    except _KeyTwice as error:
        raise ValueError(f"an object has the key {str(error)[:LONGEST_TOLD]!r} twice") from None
    except RecursionError:
        raise ValueError(f"nested deeper than {deepest} levels") from None
    if is_deeper(value, text, deepest):
        raise ValueError(f"nested deeper than {deepest} levels")
    return value


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:LONGEST_TOLD]} is not a finite number")
    return value


def _marks(text: str) -> int:
    return text.count(",") + text.count("[") + text.count("{")
