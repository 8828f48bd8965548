"""The leaves of a JSON value: its single values, each with its path in the notation of references."""

from collections.abc import Iterator
from typing import Any, cast


def leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every value with its path, such as `.loans[0].id`."""
    if isinstance(value, dict):
        for name, inner in cast("dict[str, Any]", value).items():
            yield from leaves(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for index, inner in enumerate(cast("list[Any]", value)):
            yield from leaves(inner, f"{path}[{index}]")
    else:
        yield path, value


def path_to(result: Any, wanted: Any, name: str = "") -> str | None:
    """Where a value stands in a result, best under a property of a name."""
    found = [path for path, value in leaves(result, "") if value == wanted]
    found.sort(key=lambda path: (not path.endswith(f".{name}"), path.count("."), len(path)))
    return found[0] if found else None


def leaf(result: Any, path: str) -> Any:
    """The value at a path such as `booking.deposit_cents`."""
    for name in path.split("."):
        if not isinstance(result, dict) or name not in result:
            return None
        result = cast("dict[str, Any]", result)[name]
    return result
