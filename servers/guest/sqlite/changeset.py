"""Changesets as SQLite's session extension writes them, made from rows that were compared.

What is kept is written here and not copied from a guest: two readers of strange bytes may read different things.
"""

import struct
from collections.abc import Sequence
from typing import Any

INSERT, DELETE, UPDATE = 18, 9, 23
UNCHANGED = b"\0"
NULL = b"\5"
INTEGER, REAL = struct.Struct(">Bq"), struct.Struct(">Bd")
SHORT = [bytes((length,)) for length in range(0x80)]
"""Numbers of one byte, as SQLite writes them."""


def header(table: str, columns: int, keys: Sequence[int]) -> bytes:
    """What stands before the records of a table."""
    flags = bytearray(columns)
    for number, place in enumerate(keys):
        flags[place] = number + 1
    return b"T" + varint(columns) + bytes(flags) + table.encode() + b"\0"


def record(
    before: Sequence[Any] | None, after: Sequence[Any] | None, changed: Sequence[int], keys: Sequence[int]
) -> bytes:
    """What happened to one row; nothing if it is as it was. `changed` are the columns that an update changed."""
    if before is None or after is None:
        return bytes((INSERT if before is None else DELETE, 0)) + b"".join(map(_value, after or before or ()))
    if not changed:
        return b""
    old, new = [UNCHANGED] * len(before), [UNCHANGED] * len(after)
    for place in keys:
        old[place] = _value(before[place])
    for place in changed:
        old[place], new[place] = _value(before[place]), _value(after[place])
    return bytes((UPDATE, 0)) + b"".join(old + new)


def equal(one: Any, other: Any) -> bool:
    """Whether two values are the same for SQLite: to Python 1 equals 1.0."""
    return type(one) is type(other) and one == other


def varint(number: int) -> bytes:
    """A number below 2**28 as SQLite writes it: seven bits in a byte, the highest first."""
    if number < 0x80:
        return SHORT[number]
    found = [number & 0x7F]
    while number := number >> 7:
        found.append(number & 0x7F | 0x80)
    return bytes(reversed(found))


def _value(value: Any) -> bytes:
    if isinstance(value, str):
        text = value.encode()
        return b"\3" + varint(len(text)) + text
    if isinstance(value, int):
        return INTEGER.pack(1, value)
    if isinstance(value, float):
        return REAL.pack(2, value)
    return NULL if value is None else b"\4" + varint(len(value)) + value
