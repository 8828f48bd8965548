"""Several questions of one stage at once."""

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

T = TypeVar("T")


async def together(waits: Iterable[Awaitable[T]]) -> list[T]:
    """The results in order. Lets every one come to its end before the first error is raised.

    So a batch holds all questions of a stage, where a task group would give up the others at the first that waits.
    """
    done = await asyncio.gather(*waits, return_exceptions=True)
    for one in done:
        if isinstance(one, BaseException):
            raise one
    return [one for one in done if not isinstance(one, BaseException)]
