"""Finds the checkpoint that guards each value of a task: the one that fails when the value is slightly wrong."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from synth.certify.agents.run_mutants import Tried
from synth.solutions.reference_run import ReferenceRun
from synth.solutions.told_values import ToldValue

BY_THE_TOOLS = "-"
"""In place of a checkpoint: the tools refuse each near miss, or it has no effect."""


@dataclass(frozen=True)
class Held:
    """A value that the task tells, the checkpoint that holds it, and the near misses that pass nevertheless."""

    told: ToldValue
    by: str
    alive: tuple[str, ...] = ()

    def finding(self) -> str:
        """The finding about it."""
        place = self.told.place
        return (
            f"no checkpoint holds {place.argument} of call {place.call} ({self.told.tool}), which the task tells: "
            f"{self.told.value!r}; passes: {self.alive[0]}"
        )


def held(reference: ReferenceRun, mutants: Sequence[Tried]) -> list[Held]:
    """The checkpoint that holds each value of the task."""
    found: list[Held] = []
    for told in reference.told:
        mine = [tried for tried in mutants if tried.place == told.place]
        by = Counter(tried.held_by for tried in mine if tried.fails)
        alive = tuple(tried.what for tried in mine if not tried.fails)
        found.append(Held(told, by.most_common(1)[0][0] if by else BY_THE_TOOLS, alive))
    return found


def free_though_told(reference: ReferenceRun) -> list[str]:
    """The arguments that a solution calls free although its task tells their value."""
    return [
        f"solution.calls.{told.place.call}.free: the task tells {told.place.argument}: {told.value!r}"
        for told in reference.told
        if not told.is_row and told.place.argument in reference.made[told.place.call - 1].step.free
    ]
