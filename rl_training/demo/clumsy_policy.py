"""A clumsy hand that shows the tasks: it knows the steps, and often takes a wrong argument.

Whoever learns from it can do what it does, and as well as it does. What is right more often than chance is right at
all, it cannot learn from it: that is what reinforcement has to find.
"""

import random
from collections.abc import Sequence
from typing import Any

from registry.messages import ScenarioDetail
from rl_training.data.demonstrations import Showing
from servers.scenario.scenario import PlannedCall, Solution


def clumsy(scenarios: Sequence[ScenarioDetail], *, times: int, errs: float, seed: int) -> list[Showing]:
    """Each scenario so many times. Each argument is with chance `errs` one that was right in some scenario."""
    chance = random.Random(seed)  # noqa: S311 - a repeatable draw, not a secret
    known = _known([one.scenario.reference() for one in scenarios])
    return [
        Showing(one, _bungled(one.scenario.reference(), known, errs, chance)) for one in scenarios for _ in range(times)
    ]


def _known(solutions: Sequence[Solution]) -> dict[tuple[str, str], list[Any]]:
    """What the arguments of each tool are in all solutions, as often as they are."""
    known: dict[tuple[str, str], list[Any]] = {}
    for call in (call for solution in solutions for call in solution.calls):
        for name, value in call.arguments.items():
            known.setdefault((call.tool, name), []).append(value)
    return known


def _bungled(
    solution: Solution, known: dict[tuple[str, str], list[Any]], errs: float, chance: random.Random
) -> Solution:
    calls = tuple(
        PlannedCall(
            tool=call.tool,
            arguments={
                name: chance.choice(known[call.tool, name]) if chance.random() < errs else value
                for name, value in call.arguments.items()
            },
        )
        for call in solution.calls
    )
    return Solution(calls=calls, answer=solution.answer)
