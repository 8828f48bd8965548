"""Which scenarios a round has made: so many for each weak spot, by the options of `farm synth backward`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rl_training.evolve.plan import EvolutionPlan
from rl_training.evolve.weak_spots import WeakSpot, shares

EVENLY = "evenly"
RECIPES = "recipes.json"
SEEDS_OF_A_PLAN, SEEDS_OF_A_ROUND = 10_000_000, 1000
"""Seeds are apart by that much, so that no two orders have the same."""


class MakingOrder(NamedTuple):
    """Some scenarios of one environment. `n` and `seed` are those of `farm synth backward`."""

    spot: str
    environment: str
    options: tuple[str, ...]
    n: int
    seed: int


def orders_of(
    plan: EvolutionPlan, bundles: Mapping[str, Path], number: int, weak: Sequence[WeakSpot]
) -> list[MakingOrder]:
    """The orders of a round. Without a weak spot they are even over all environments."""
    spots = list(weak[: plan.weak.most]) if plan.make.where == "weak" else []
    if not spots:
        wanted = [(EVENLY, name, (), count) for name, count in shares(plan.make.scenarios, plan.environments).items()]
        return _with_seeds(plan, number, wanted)
    wanted: list[tuple[str, str, tuple[str, ...], int]] = []
    for label, count in shares(plan.make.scenarios, [one.label for one in spots]).items():
        spot = next(one for one in spots if one.label == label)
        places = _places(spot, bundles)
        for name, part in shares(count, [name for name, _ in places]).items():
            wanted.append((label, name, dict(places)[name], part))
    return _with_seeds(plan, number, wanted)


def held_out_orders(plan: EvolutionPlan) -> list[MakingOrder]:
    """The orders of what is held out, before the first round."""
    return _with_seeds(plan, -1, [("held out", name, (), plan.held_out.make) for name in plan.environments])


def _places(spot: WeakSpot, bundles: Mapping[str, Path]) -> list[tuple[str, tuple[str, ...]]]:
    """The environments in which scenarios are made for a spot, with the options that make them there."""
    cooked = [name for name, bundle in bundles.items() if (bundle / RECIPES).is_file()]
    match spot.kind:
        case "environment":
            return [(spot.name, ())]
        case "tool":
            return [(spot.environment, ("--tool", spot.name))]
        case "level" if cooked:
            return [(name, ("--level", spot.name)) for name in cooked]
        case "demand" if cooked:
            return [(name, ("--profile", spot.name)) for name in cooked]
        case _:
            return [(name, ()) for name in bundles]


def _with_seeds(
    plan: EvolutionPlan, number: int, wanted: Sequence[tuple[str, str, tuple[str, ...], int]]
) -> list[MakingOrder]:
    first = (plan.seed + 1) * SEEDS_OF_A_PLAN + (number + 1) * SEEDS_OF_A_ROUND
    return [MakingOrder(*one, seed=first + at) for at, one in enumerate(wanted) if one[3]]
