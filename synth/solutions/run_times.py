"""Which times of a run hang on when it was: the same calls are made again, a little later."""

from collections.abc import Iterable, Sequence

from servers.state.row_diff import RowChange, between
from synth.play.playground import Session
from synth.solutions.call_run import NOTHING, PlannedStep, play
from synth.solutions.normalized_diff import MOMENT


async def times_of_the_clock(
    scene: Session, steps: Sequence[PlannedStep], changes: Iterable[RowChange]
) -> frozenset[str]:
    """The times among changes that are others when their calls are made later. Leaves the scene at the later run.

    It begins when the first run has ended: none of its times can be one of the first run's.
    """
    there = _times(changes)
    if not there:
        return frozenset()
    await scene.rewind(0)
    await play(scene, [*[NOTHING] * (len(steps) + 1), *steps])
    async with scene.reading() as reader:
        return frozenset(there - _times(between(reader)))


def _times(changes: Iterable[RowChange]) -> set[str]:
    return {
        value
        for change in changes
        for value in change.after.values()
        if isinstance(value, str) and MOMENT.fullmatch(value)
    }
