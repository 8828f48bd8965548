"""A clumsy policy for demonstrations: it knows the steps, and often uses a wrong argument.

A model that imitates it becomes as good as it is, and no better. Only reinforcement finds that the right argument
always succeeds.
"""

import random
from collections.abc import Sequence
from typing import Any

from registry.messages import ScenarioDetail
from rl_training.data.demonstrations import Showing
from servers.scenario.scenario import PlannedCall, Solution


def clumsy(scenarios: Sequence[ScenarioDetail], *, times: int, errs: float, seed: int) -> list[Showing]:
    """Demonstrate each scenario `times` times.

    With probability `errs`, an argument is one that is right in another scenario.
    """
    chance = random.Random(seed)  # noqa: S311 - a repeatable draw, not a secret
    known = _known([one.scenario.reference() for one in scenarios])
    return [
        Showing(one, _bungled(one.scenario.reference(), known, errs, chance)) for one in scenarios for _ in range(times)
    ]


def _known(solutions: Sequence[Solution]) -> dict[tuple[str, str], list[Any]]:
    """The arguments of each tool in all solutions, with repetitions."""
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
