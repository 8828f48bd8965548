"""JSON values that were parsed: which of them are objects and lists."""

from typing import Any

from typing_extensions import TypeIs


def is_object(value: object) -> TypeIs[dict[str, Any]]:
    """True for a JSON object."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeIs[list[Any]]:
    """True for a JSON array."""
    return isinstance(value, list)
