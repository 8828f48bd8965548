"""How hard a scenario is: its level and its rating, by its reference solution and the agents that failed it."""

from typing import Literal

from servers.records import Record

Rating = Literal["easy", "medium", "hard"]
RATINGS: tuple[Rating, ...] = ("easy", "medium", "hard")
OFTEN, SELDOM = 0.75, 0.25
"""Pass rates: at or above OFTEN a scenario is easy, below SELDOM it is hard."""
FEW, MANY = 4, 8
"""Without a level, tools plus changed tables: up to FEW a scenario is easy, above MANY it is hard."""
LEVELS = range(1, 6)
EASY_LEVEL, HARD_LEVEL = 2, 4
LONG, VERY_LONG = 8, 12
"""Calls of a reference that make a scenario harder by one step each."""
STEPS_TO_LEVEL = (3, 5, 7, 9)
"""The steps from which a scenario has level 2, 3, 4 and 5."""
CALLS_OF_LEVEL = (1, 1, 1, 5, LONG)
"""The fewest calls of a reference at each level."""


class Difficulty(Record):
    """The length of a reference solution, its tools, the tables that it changes, and the weak agents that fail."""

    calls: int
    tools: tuple[str, ...]
    tables: tuple[str, ...]
    pass_rate: float | None = None
    ladder: dict[str, float] = {}
    """The reward of each scripted weak agent that does something wrong here. Empty if they did not play."""

    @property
    def level(self) -> int | None:
        """How hard it is, from 1 to 5: a step for each weak agent that fails, two for length. Short ones are not 5.

        None if no weak agent played.
        """
        if not self.ladder:
            return None
        steps = sum(reward < 1 for reward in self.ladder.values()) + (self.calls >= LONG) + (self.calls >= VERY_LONG)
        level = 1 + sum(steps >= least for least in STEPS_TO_LEVEL)
        return min(level, sum(self.calls >= least for least in CALLS_OF_LEVEL) or 1)

    @property
    def rating(self) -> Rating:
        """The pass rate decides, where agents have played. Otherwise the level does, or the length."""
        if self.pass_rate is not None:
            return "easy" if self.pass_rate >= OFTEN else "hard" if self.pass_rate < SELDOM else "medium"
        if self.level is not None:
            return "easy" if self.level <= EASY_LEVEL else "hard" if self.level >= HARD_LEVEL else "medium"
        takes = len(self.tools) + len(self.tables)
        return "easy" if takes <= FEW else "medium" if takes <= MANY else "hard"
