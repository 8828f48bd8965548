"""The clumsy hand, whose demonstrations leave something to learn."""

from collections import Counter
from pathlib import Path

import pytest

from registry.client import FarmClient
from registry.farm import private
from registry.messages import ScenarioDetail
from rl_training.data.demonstrations import demonstrations, played
from rl_training.data.rows import scenarios_of
from rl_training.demo.clumsy_policy import clumsy
from rl_training.errors import RowError
from servers.scenario.scenario import Scenario


async def parcel_room(farm: FarmClient, count: int) -> list[ScenarioDetail]:
    return (await scenarios_of(farm, ["parcel_room"]))[:count]


async def test_it_takes_wrong_arguments_at_the_rate_that_is_asked_for_and_never_another_step(room: Path) -> None:
    async with private((room,)) as address, FarmClient(address.url, address.token) as farm:
        details = await parcel_room(farm, 6)
    shown = clumsy(details, times=40, errs=0.5, seed=0)
    assert Counter(one.detail.scenario.id for one in shown) == {one.scenario.id: 40 for one in details}
    kept = Counter[str]()
    for one in shown:
        right = one.detail.scenario.reference()
        assert [call.tool for call in one.solution.calls] == [call.tool for call in right.calls]
        assert one.solution.calls[2].arguments["shelf_id"] == "${1.shelf_id}"
        for made, meant in zip(one.solution.calls, right.calls, strict=True):
            kept.update(name for name, value in made.arguments.items() if value == meant.arguments[name])
    for name in ("item", "pieces", "town"):  # half by will, and some tenth of the other half by chance
        assert kept[name] / len(shown) == pytest.approx(0.55, abs=0.1)


async def test_what_it_shows_is_scored_as_it_is(room: Path) -> None:
    async with private((room,)) as address, FarmClient(address.url, address.token) as farm:
        details = await parcel_room(farm, 6)
        right = await demonstrations(farm, details, instructions=False)
        clumsily = await played(farm, clumsy(details, times=2, errs=0.8, seed=0), instructions=False)
        assert [one.reward for one in right] == [1.0] * 6
        assert 0 < sum(one.reward for one in clumsily) / 12 < 0.9
        assert [message["role"] for message in clumsily[0].messages] == [
            "user",
            *["assistant", "tool"] * 3,
            "assistant",
        ]
        assert (await farm.leases(status="live")).total == 0


async def test_a_reference_solution_that_does_not_solve_is_told(room: Path) -> None:
    async with private((room,)) as address, FarmClient(address.url, address.token) as farm:
        first, second = await parcel_room(farm, 2)
        mixed = {**first.scenario.model_dump(), "solution": second.scenario.reference().model_dump()}
        wrong = first.model_copy(update={"scenario": Scenario.model_validate(mixed)})
        with pytest.raises(RowError, match=r"back1_\d+ does not solve it"):
            await demonstrations(farm, [wrong], instructions=False)
