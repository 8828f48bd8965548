"""How hard a scenario is, by whoever knows best."""

from typing import Any

import pytest

from servers.scenario.scenario import Scenario, rating_of
from tests.bundles import SOUND_SCENARIO


def scenario(tags: tuple[str, ...] = (), **difficulty: Any) -> Scenario:
    """A scenario, with a certificate where a difficulty is given."""
    told: dict[str, Any] = {**SOUND_SCENARIO, "tags": tags}
    if difficulty:
        certificate = {"digest": "x", "mutants": 1, "killed": 1, "variants": 1, "difficulty": difficulty}
        told["certificate"] = certificate
    return Scenario.model_validate(told)


def takes(tools: int, tables: int, pass_rate: float | None = None) -> dict[str, Any]:
    """What a certificate says."""
    names = [f"t{number}" for number in range(max(tools, tables))]
    return {"calls": tools, "tools": names[:tools], "tables": names[:tables], "pass_rate": pass_rate}


@pytest.mark.parametrize(
    ("told", "rating"),
    [
        (scenario(), None),
        (scenario(("late", "hard"), **takes(1, 1, 1.0)), "hard"),
        (scenario(**takes(9, 9, 0.75)), "easy"),
        (scenario(**takes(1, 1, 0.5)), "medium"),
        (scenario(**takes(1, 1, 0.24)), "hard"),
        (scenario(**takes(3, 1)), "easy"),
        (scenario(**takes(4, 4)), "medium"),
        (scenario(**takes(6, 3)), "hard"),
    ],
)
def test_the_author_knows_best_then_models_then_the_reference(told: Scenario, rating: str | None) -> None:
    assert rating_of(told) == rating
