"""The curriculum: a scenario that is sometimes passed is drawn more often than one that always or never is.

A group whose episodes all end alike gives no gradient. That is likelier the nearer its pass rate is to 0 or 1.
"""

import random
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from rl_training.data.pass_rates import Key, PassRates
from servers.records import Record


class Curriculum(Record):
    """The weights of rows. `floor` is the weight at pass rate 0 or 1. At one half it is 1."""

    floor: float = Field(default=0.1, gt=0, le=1)
    memory: int = Field(default=16, ge=1)


def weight(rate: float | None, *, floor: float) -> float:
    """The weight of a scenario. One that was never played has the highest."""
    return 1.0 if rate is None else floor + (1 - floor) * 4 * rate * (1 - rate)


class Draw:
    """Draws rows, without repetition within a step if there are enough."""

    def __init__(self, rows: Sequence[Key], pass_rates: Path, options: Curriculum, *, step: int, seed: int) -> None:
        self._rows = rows
        self._floor = options.floor
        self._rates = PassRates(pass_rates, memory=options.memory)
        self._latest: deque[int] = deque(maxlen=max(0, min(step, len(rows)) - 1))
        # A training that goes on draws anew: its chance is of how far it has come.
        self._chance = random.Random(f"{seed} {self._rates.refresh()}")  # noqa: S311 - a repeatable draw

    def next(self) -> int:
        """The index of a row."""
        self._rates.refresh()
        weights = [
            0.0 if number in self._latest else weight(self._rates.of(row), floor=self._floor)
            for number, row in enumerate(self._rows)
        ]
        [drawn] = self._chance.choices(range(len(self._rows)), weights)
        self._latest.append(drawn)
        return drawn
