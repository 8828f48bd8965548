"""Work that is done for many items at once, with a bound on how many."""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Iterable
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


async def for_each(items: Iterable[Item], work: Callable[[Item], Awaitable[Result]], *, at_once: int) -> list[Result]:
    """Do some work for each item, for a bounded number of items at a time.

    Args:
        items: what to work on. The results are in their order.
        work: what is done for one item. Its first error cancels the rest, and is raised as it is.
        at_once: the most items at a time, which protects what the work asks: a farm, or an endpoint.
    """
    room = asyncio.Semaphore(at_once)

    async def one(item: Item) -> Result:
        async with room:
            return await work(item)

    with one_error():
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(item)) for item in items]
    return [task.result() for task in tasks]


@contextmanager
def one_error() -> Generator[None]:
    """Raise the first error of a task group instead of the group."""
    try:
        yield
    except ExceptionGroup as group:
        raise group.exceptions[0] from None
