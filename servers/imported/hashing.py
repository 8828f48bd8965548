"""The standard `hash` for values whose hash is of their content: what imported code that uses `hash` is given."""

import builtins
from typing import Any, cast

__all__ = ["hash"]

OF_NONE = 0xFCA86420
"""The hash of None, which Python 3.11 takes from its place in memory."""


def hash(value: Any) -> int:  # noqa: A001 - the name that it stands in for
    """The hash of a value. The same in every guest.

    Raises:
        TypeError: the hash would be of the place in memory.
    """
    if value is None:
        return OF_NONE
    if type(value) is tuple:
        return builtins.hash(tuple(hash(part) for part in cast("tuple[Any, ...]", value)))
    if type(value).__hash__ is object.__hash__:
        raise TypeError(f"the hash of a {type(value).__name__} is its place in memory, which does not repeat")
    return builtins.hash(value)
