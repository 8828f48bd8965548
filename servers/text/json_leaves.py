"""The leaves of a JSON value: its single values, each with its path in the notation of references.

An empty object and an empty array have none.
"""

from collections.abc import Iterator
from typing import Any

from servers.text.json_values import is_list, is_object


def leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every value with its path, such as `.loans[0].id`."""
    if is_object(value):
        for name, inner in value.items():
            yield from leaves(inner, f"{path}.{name}")
    elif is_list(value):
        for index, inner in enumerate(value):
            yield from leaves(inner, f"{path}[{index}]")
    else:
        yield path, value


def texts_in(value: Any) -> Iterator[str]:
    """The texts that a value is, or holds."""
    return (leaf for _, leaf in leaves(value, "") if isinstance(leaf, str))


def path_to(result: Any, wanted: Any, name: str = "") -> str | None:
    """Where a value stands in a result, best under a property of a name."""
    found = [path for path, value in leaves(result, "") if value == wanted]
    found.sort(key=lambda path: (not path.endswith(f".{name}"), path.count("."), len(path)))
    return found[0] if found else None


def leaf(result: Any, path: str) -> Any:
    """The value at a path such as `booking.deposit_cents`."""
    for name in path.split("."):
        if not is_object(result) or name not in result:
            return None
        result = result[name]
    return result
