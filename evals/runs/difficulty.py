"""How hard a scenario is: as its author says, as models found it, or by what its reference solution takes."""

from typing import Literal

from servers.scenario.scenario import Scenario

Rating = Literal["easy", "medium", "hard"]
RATINGS: tuple[Rating, ...] = ("easy", "medium", "hard")
OFTEN, SELDOM = 0.75, 0.25
"""Pass rates from which on a scenario is easy, and below which it is hard."""
FEW, MANY = 4, 8
"""Tools used and tables changed, together: up to so many it is easy, above it is hard."""


def rating_of(scenario: Scenario) -> Rating | None:
    """None where nothing is known: neither tag nor certificate."""
    for tag in scenario.tags:
        if tag in RATINGS:
            return tag
    if scenario.certificate is None:
        return None
    difficulty = scenario.certificate.difficulty
    if difficulty.pass_rate is not None:
        return "easy" if difficulty.pass_rate >= OFTEN else "hard" if difficulty.pass_rate < SELDOM else "medium"
    takes = len(difficulty.tools) + len(difficulty.tables)
    return "easy" if takes <= FEW else "medium" if takes <= MANY else "hard"
