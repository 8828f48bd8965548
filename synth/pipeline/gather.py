"""Awaits several questions of one stage concurrently."""

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

T = TypeVar("T")


async def gather_all(waits: Iterable[Awaitable[T]]) -> list[T]:
    """The results in order. Every one ends before the first error is raised.

    So a batch holds all questions of a stage. A task group would cancel the others at the first that waits.
    """
    done = await asyncio.gather(*waits, return_exceptions=True)
    for one in done:
        if isinstance(one, BaseException):
            raise one
    return [one for one in done if not isinstance(one, BaseException)]
