"""What a text of JSON may hold, found before it is validated: so many values, and numbers that every reader takes."""

import json
import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

from servers.errors import BundleError

MOST_VALUES = 10_000
"""Values of one JSON text of a bundle: `environment.json`, or one line of `scenarios.jsonl`."""

LONGEST_INTEGER = 20
"""Characters of an integer of 64 bits, with its sign."""
LONGEST_TOLD = 40
PERHAPS_ODD = re.compile(r"NaN|Infinity|\d{19}|[eE]\+?\d{3}")
"""What a text holds that holds an odd number: most do not, and are read once."""


def refuse_many_values(where: str, text: str) -> None:
    """Refuse a text of JSON with more values than anybody writes. What a string holds does not count.

    Raises:
        BundleError: there are more; `where` begins its text.
    """
    if _marks(text) > MOST_VALUES and values_in(text) > MOST_VALUES:
        raise BundleError(f"{where}: holds more than {MOST_VALUES:,} values")


class _OddNumber(NamedTuple):
    """A number that is not the same to Python, SQLite and other readers of JSON."""

    text: str


def refuse_odd_numbers(where: str, text: str) -> None:
    """Refuse NaN, Infinity, numbers as large as that, and integers of more than 64 bits.

    Raises:
        BundleError: there is one, at the place that stands after `where`. Text that is no JSON is left to its reader.
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
    """Each odd number with its place, such as `checkpoints.0.expect.value`."""
    level: list[tuple[str, object]] = [("", whole)]
    while level:
        place, value = level.pop()
        if isinstance(value, _OddNumber):
            yield place or "the whole", value
        elif isinstance(value, dict):
            level += [(f"{place}.{key}".lstrip("."), one) for key, one in cast("dict[str, Any]", value).items()]
        elif isinstance(value, list):
            level += [(f"{place}.{number}".lstrip("."), one) for number, one in enumerate(cast("list[Any]", value))]


def values_in(text: str) -> int:
    """How many values there are, at most. Each step takes time that grows with the text and no further."""
    between = "".join(text.replace("\\\\", "").replace('\\"', "").split('"')[::2])
    return 1 + _marks(between)


def has_more_values(body: bytes, most: int) -> bool:
    """Whether a body of JSON holds more values than `most`. JSON is read in one step, which nothing can interrupt."""
    if body.count(b",") + body.count(b"[") + body.count(b"{") <= most:
        return False
    return values_in(body.decode("latin-1")) > most


def _marks(text: str) -> int:
    return text.count(",") + text.count("[") + text.count("{")
