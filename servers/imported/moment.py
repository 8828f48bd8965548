"""The clock, chances and hashes of one call: the same call at the same place in the same instance draws the same."""

import builtins
import hashlib
import random
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, cast

READING = timedelta(milliseconds=1)
"""How far each reading of the clock is after the one before it: ids that are made of times differ within a call."""
OF_NONE = 0xFCA86420
"""The hash of None, which Python 3.11 takes from its place in memory."""


class _Moment:
    """What the call that runs now is told."""

    def __init__(self) -> None:
        self.now = datetime(1970, 1, 1)
        self.seed = ""
        self.drawn = 0


_moment = _Moment()


def begin(now: str, seed: str) -> None:
    """Set the clock to `YYYY-MM-DD HH:MM:SS`, and all chances to a seed."""
    _moment.now, _moment.seed, _moment.drawn = datetime.fromisoformat(now), seed, 0
    random.seed(seed)


def read_clock() -> datetime:
    """The time, in UTC and without a zone."""
    now = _moment.now
    _moment.now += READING
    return now


def draw(size: int) -> bytes:
    """So many bytes (64 at most) that nothing drew before in this call."""
    _moment.drawn += 1
    return hashlib.blake2b(f"{_moment.seed}/{_moment.drawn}".encode(), digest_size=size).digest()


def hash(value: Any) -> int:  # noqa: A001 - the name that it stands in for
    """The hash of a value. The same in every guest.

    Raises:
        TypeError: the hash would be of the place in memory.
    """
    if value is None:
        return OF_NONE
    if type(value) is tuple:
        return builtins.hash(tuple(hash(part) for part in cast("tuple[Any, ...]", value)))
    if type(value) is frozenset:
        members: Iterable[int] = (hash(part) for part in cast("frozenset[Any]", value))
        return builtins.hash(frozenset(members))
    if type(value).__hash__ is object.__hash__:
        raise TypeError(f"the hash of a {type(value).__name__} is its place in memory, which does not repeat")
    return builtins.hash(value)
