"""JSON values that were parsed: which of them are objects and lists, and how deep they are nested.

The checks tell type checkers what a value is, so that no reader of JSON casts. `agent_client/json_values.py` has those
that an agent needs, for neither part imports the other.
"""

from typing import Any

from typing_extensions import TypeIs

JsonSchema = dict[str, Any]


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


def is_deeper(value: object, text: str, most: int) -> bool:
    """True if JSON is nested deeper than a bound. Most texts show without a walk that they are not."""
    if text.count("[") + text.count("{") <= most:
        return False
    level = [value]
    for _ in range(most):
        level = [part for whole in level for part in parts_of(whole)]
    return any(is_object(one) or is_list(one) for one in level)


def parts_of(value: object) -> list[Any]:
    """The items of a JSON array or object. A scalar has none."""
    if is_object(value):
        return list(value.values())
    return value if is_list(value) else []
