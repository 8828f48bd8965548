"""Work is spread over processes, and comes to the same whatever becomes of them."""

import asyncio
from pathlib import Path

import pytest

from servers.errors import FarmError
from synth.run.together import together
from synth.spread.hands import hands
from tests.processes import until, watching_for_orphans
from tests.synth.jobs import Doubling, Endless, Locked


def count(folder: Path, pattern: str = "*") -> int:
    """How many files there are."""
    return len(list(folder.glob(pattern)))


@pytest.mark.parametrize("many", [1, 2, 5])
async def test_everything_is_done_however_many_there_are(tmp_path: Path, many: int) -> None:
    async with hands(Doubling(tmp_path), many) as double:
        assert await together(double(number) for number in range(9)) == list(range(0, 18, 2))
        with pytest.raises(FarmError, match="14 is too many"):
            await double(14)
        assert await double(21) == 42


async def test_what_a_process_died_of_is_done_again_by_another(tmp_path: Path) -> None:
    async with hands(Doubling(tmp_path, deaths=1), 2) as double:
        assert await together(double(number) for number in (12, 13, 11, 10)) == [24, 26, 22, 20]
    assert count(tmp_path) == 1


async def test_what_every_process_dies_of_is_an_error_and_the_rest_is_done(tmp_path: Path) -> None:
    with watching_for_orphans() as left:
        async with hands(Doubling(tmp_path, deaths=9), 2) as double:
            with pytest.raises(FarmError, match="2 processes ended in the middle of the same work"):
                await together(double(number) for number in (13, 1))
            assert await together(double(number) for number in (2, 3)) == [4, 6]
        assert [one for one in left() if "spawn_main" in one.command] == []
    assert count(tmp_path) == 2


async def test_whoever_is_busy_lets_go_and_closes_what_is_open(tmp_path: Path) -> None:
    async def work() -> None:
        async with hands(Endless(tmp_path), 2) as wait:
            await together(wait(name) for name in ("one", "two"))

    working = asyncio.create_task(work())
    await until(lambda: count(tmp_path, "asked-*") == 2, "both are asked")
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert count(tmp_path, "closed-*") == 2


async def test_whoever_cannot_begin_says_why() -> None:
    async with hands(Locked(), 2) as do:
        with pytest.raises(FarmError, match="the door is locked"):
            await do(1)
