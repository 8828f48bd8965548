"""Over-sampling: a group begins more episodes than it keeps, and those that end first are kept.

So a step does not wait for the slowest episodes of its groups. The price is a bias: episodes that take long are dropped
more often, whatever they would have earned. All episodes of a group are played in one process.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import Field

from rl_training.errors import RolloutLost
from servers.records import Record

T = TypeVar("T")
MOST_EXTRA = 64
log = logging.getLogger("farm.training")


class OverSampling(Record):
    """How many episodes a group of the training data begins beyond those that it keeps."""

    extra: int = Field(default=2, ge=1, le=MOST_EXTRA)


class KeptEpisode(NamedTuple, Generic[T]):
    """An episode that is kept. The last one of its group knows how many were dropped for it, and their tokens."""

    result: T
    dropped: int
    dropped_tokens: int


class GroupRace:
    """The episodes of one group. When `keep` of them have ended, the others are cancelled."""

    def __init__(self, keep: int, begun: int) -> None:
        self._keep = keep
        self._left = begun
        self._to_join = begun
        self._kept = 0
        self._running: dict[asyncio.Task[Any], Callable[[], int]] = {}

    @property
    def is_over(self) -> bool:
        """True if every episode of the group has joined, and none is running."""
        return self._to_join <= 0 and not self._running

    async def run(self, play: Coroutine[Any, Any, T], tokens: Callable[[], int]) -> KeptEpisode[T] | None:
        """Play one of the episodes. `tokens` says how many it has generated so far. None if it is not kept.

        Raises:
            RolloutLost: it broke, and too few are left to fill the group.
        """
        self._to_join -= 1
        if self._kept >= self._keep:
            play.close()
            return None
        task = asyncio.ensure_future(play)
        self._running[task] = tokens
        try:
            result = await task
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if self._kept < self._keep or (current is not None and current.cancelling()):
                raise  # the trainer ends
            return None
        except RolloutLost as error:
            self._left -= 1
            if self._left < self._keep:
                raise
            log.warning("an episode is lost, and others of its group take its place: %s", error)
            return None
        finally:
            self._running.pop(task, None)
        if self._kept >= self._keep:
            return None  # it ended in the same moment as the last one that is kept
        self._kept += 1
        return self._ended(result)

    def _ended(self, result: T) -> KeptEpisode[T]:
        if self._kept < self._keep:
            return KeptEpisode(result, 0, 0)
        dropped, spent = len(self._running), sum(said() for said in self._running.values())
        for other in self._running:
            other.cancel()
        return KeptEpisode(result, dropped, spent)


_races: dict[str, GroupRace] = {}


def race_of(group: str, *, keep: int, begun: int) -> GroupRace:
    """The race of a group. The first episode that asks opens it."""
    return _races.setdefault(group, GroupRace(keep, begun))


def forget(group: str) -> None:
    """Forget the race of a group if it is over."""
    if group in _races and _races[group].is_over:
        del _races[group]
