"""JSON values that were parsed: which of them are objects and lists, and what they hold.

The checks tell type checkers what a value is, so that no reader of JSON casts.
"""

from typing import Any

from typing_extensions import TypeIs


def is_object(value: object) -> TypeIs[dict[str, Any]]:
    """True for a JSON object."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeIs[list[Any]]:
    """True for a JSON array."""
    return isinstance(value, list)


def as_object(value: object) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if is_object(value) else {}


def as_list(value: object) -> list[Any]:
    """The value if it is an array, else an empty one."""
    return value if is_list(value) else []


def parts_of(value: object) -> list[Any]:
    """What an array or object holds. A scalar holds nothing."""
    return list(value.values()) if is_object(value) else as_list(value)
