"""JSON values that were parsed: which of them are objects and lists, and how deep they are nested."""

from collections.abc import Callable
from typing import Any

from typing_extensions import TypeIs


def is_object(value: object) -> TypeIs[dict[str, Any]]:
    """True for a JSON object."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeIs[list[Any]]:
    """True for a JSON array."""
    return isinstance(value, list)


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


def with_texts(value: Any, change: Callable[[str], Any]) -> Any:
    """A JSON value with each of its texts changed, at any depth. Keys stay."""
    if is_object(value):
        return {key: with_texts(part, change) for key, part in value.items()}
    if is_list(value):
        return [with_texts(part, change) for part in value]
    return change(value) if isinstance(value, str) else value
