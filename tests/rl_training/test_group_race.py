"""Over-sampling: the first episodes of a group that end are kept, and the others are dropped."""

import asyncio
from collections.abc import Sequence

from rl_training.episode.group_race import GroupRace, KeptEpisode, forget, race_of
from rl_training.errors import RolloutLost


class Played:
    """Episodes that end when they are told to, and how each went."""

    def __init__(self, count: int) -> None:
        self.ends = [asyncio.Event() for _ in range(count)]
        self.cancelled: list[int] = []

    async def play(self, number: int, *, breaks: bool = False) -> str:
        try:
            await self.ends[number].wait()
        except asyncio.CancelledError:
            self.cancelled.append(number)
            raise
        if breaks:
            raise RolloutLost("the farm broke")
        return f"episode {number}"

    def begun(self, race: GroupRace, breaking: Sequence[int] = ()) -> list[asyncio.Task[KeptEpisode[str] | None]]:
        return [
            asyncio.create_task(
                race.run(self.play(number, breaks=number in breaking), lambda number=number: 10 * number)
            )
            for number in range(len(self.ends))
        ]


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_the_first_to_end_are_kept_and_the_last_of_them_knows_what_was_dropped() -> None:
    played, race = Played(4), GroupRace(2, 4)
    tasks = played.begun(race)
    await settled()
    played.ends[3].set()
    await settled()
    assert not race.is_over
    played.ends[1].set()
    results = await asyncio.gather(*tasks)
    assert results == [None, KeptEpisode("episode 1", 2, 0 + 20), None, KeptEpisode("episode 3", 0, 0)]
    assert played.cancelled == [0, 2]
    assert race.is_over


async def test_of_those_that_end_in_one_moment_no_more_are_kept_than_wanted() -> None:
    played, race = Played(4), GroupRace(2, 4)
    tasks = played.begun(race)
    await settled()
    for end in played.ends:
        end.set()
    assert sum(one is not None for one in await asyncio.gather(*tasks)) == 2


async def test_one_that_begins_after_the_end_is_not_played() -> None:
    played, race = Played(2), GroupRace(1, 2)
    first = asyncio.create_task(race.run(played.play(0), lambda: 0))
    played.ends[0].set()
    assert await first is not None
    assert not race.is_over, "the second may still come"
    assert await race.run(played.play(1), lambda: 0) is None
    assert race.is_over


async def test_an_episode_that_is_lost_leaves_its_place_to_another_while_there_are_enough() -> None:
    played, race = Played(3), GroupRace(2, 3)
    tasks = played.begun(race, breaking=[0])
    await settled()
    for end in played.ends:
        end.set()
    results = await asyncio.gather(*tasks)
    assert [one and one.result for one in results] == [None, "episode 1", "episode 2"]
    few, race = Played(3), GroupRace(2, 3)
    tasks = few.begun(race, breaking=[0, 1])
    await settled()
    for end in few.ends:
        end.set()
    lost = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(one) for one in lost] == [type(None), RolloutLost, KeptEpisode]


async def test_a_trainer_that_ends_is_no_end_of_a_race() -> None:
    played, race = Played(2), GroupRace(1, 2)
    tasks = played.begun(race)
    await settled()
    for task in tasks:
        task.cancel()
    assert [type(one) for one in await asyncio.gather(*tasks, return_exceptions=True)] == [asyncio.CancelledError] * 2
    assert played.cancelled == [0, 1]


async def test_the_episodes_of_a_group_find_one_race_and_it_is_forgotten_with_the_last() -> None:
    race = race_of("a group of this test", keep=1, begun=2)
    assert race_of("a group of this test", keep=1, begun=2) is race
    played = Played(2)
    tasks = played.begun(race)
    await settled()
    forget("a group of this test")
    assert race_of("a group of this test", keep=1, begun=2) is race
    played.ends[0].set()
    await asyncio.gather(*tasks)
    forget("a group of this test")
    assert race_of("a group of this test", keep=1, begun=2) is not race
