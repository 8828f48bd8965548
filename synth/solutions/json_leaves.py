"""The single values inside a result, each with its path as references write it."""

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
