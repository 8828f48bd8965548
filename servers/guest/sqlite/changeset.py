"""Changesets in the format of SQLite's session extension, written from compared rows.

The stored changeset is written here, not copied from a guest: two readers may read malformed bytes differently.
"""

import struct
from collections.abc import Sequence
from typing import Any

INSERT, DELETE, UPDATE = 18, 9, 23
UNCHANGED = b"\0"
NULL = b"\5"
INTEGER, REAL = struct.Struct(">Bq"), struct.Struct(">Bd")
SHORT = [bytes((length,)) for length in range(0x80)]
"""Numbers of one byte in SQLite's encoding."""


def header(table: str, columns: int, keys: Sequence[int]) -> bytes:
    """The header of a table's records."""
    flags = bytearray(columns)
    for number, place in enumerate(keys):
        flags[place] = number + 1
    return b"T" + varint(columns) + bytes(flags) + table.encode() + b"\0"


def record(
    before: Sequence[Any] | None, after: Sequence[Any] | None, changed: Sequence[int], keys: Sequence[int]
) -> bytes:
    """The record of one row, empty if it is unchanged. `changed` lists the columns that an update changed."""
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
    """True if two values are the same for SQLite. To Python 1 equals 1.0."""
    return type(one) is type(other) and one == other


def varint(number: int) -> bytes:
    """A number below 2**28 in SQLite's encoding: seven bits a byte, the highest first."""
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
