"""Work that is done for many items at once, with a bound on how many."""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Iterable
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


async def for_each(items: Iterable[Item], work: Callable[[Item], Awaitable[Result]], *, at_once: int) -> list[Result]:
    """Do some work for each item, for at most `at_once` items at a time. Returns the results in the items' order.

    After an error the other work is cancelled, and that error is raised.
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
