"""Bounded work for many items."""

import asyncio

import pytest

from evals.rollout import for_each


async def test_results_are_in_order_and_no_more_work_runs_than_is_allowed() -> None:
    running: set[int] = set()
    most = 0

    async def work(item: int) -> int:
        nonlocal most
        running.add(item)
        most = max(most, len(running))
        await asyncio.sleep(0)
        running.remove(item)
        return item * item

    assert await for_each(range(5), work, at_once=2) == [0, 1, 4, 9, 16]
    assert most == 2


async def test_the_first_error_is_raised_by_itself_and_ends_the_rest() -> None:
    ended: list[int] = []

    async def work(item: int) -> None:
        if item == 1:
            raise ValueError("no such item")
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(item)

    with pytest.raises(ValueError, match="no such item"):
        await for_each([0, 1, 2], work, at_once=3)
    assert sorted(ended) == [0, 2]
