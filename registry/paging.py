"""Lists of the API that come in parts, read whole."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from registry.messages import Part

T = TypeVar("T")


async def every_item(part_from: Callable[[int], Awaitable[Part[T]]]) -> list[T]:
    """All items of a list; `part_from` asks for those after so many."""
    found: list[T] = []
    while True:
        part = await part_from(len(found))
        found += part.items
        if not part.items or len(found) >= part.total:
            return found
