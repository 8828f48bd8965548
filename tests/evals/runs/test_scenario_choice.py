"""Which scenarios a suite chooses, and what it says when it can choose none."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from evals.runs.scenario_choice import chosen
from evals.runs.suite import ScenarioChoice
from registry.client import FarmClient
from registry.farm import private
from servers.errors import BundleError, FarmError, RequestError
from tests.bundles import SOUND_SCENARIO, write_bundle


@asynccontextmanager
async def market(folder: Path) -> AsyncGenerator[FarmClient]:
    [call] = SOUND_SCENARIO["solution"]["calls"]
    long = {"calls": [call] * 3, "answer": "Done."}
    scenarios: list[dict[str, Any]] = [
        {**SOUND_SCENARIO, "id": "a", "tags": ["price"]},
        {**SOUND_SCENARIO, "id": "b", "tags": ["price", "hard"], "solution": long},
        {**SOUND_SCENARIO, "id": "c", "title": "Once more"},
    ]
    await write_bundle(folder / "shop", scenarios=scenarios)
    await write_bundle(folder / "stall", scenarios=scenarios[:1])
    async with private((folder,)) as address, FarmClient(address.url, address.token) as farm:
        yield farm


@pytest.mark.parametrize(
    ("choice", "names"),
    [
        (ScenarioChoice(), ["shop/a", "shop/b", "shop/c", "stall/a"]),
        (ScenarioChoice(environments=("stall",)), ["stall/a"]),
        (ScenarioChoice(ids=("shop/a", "b")), ["shop/a", "shop/b"]),
        (ScenarioChoice(ids=("a",)), ["shop/a", "stall/a"]),
        (ScenarioChoice(tags=("price",), without_tags=("hard",)), ["shop/a", "stall/a"]),
        (ScenarioChoice(search="ONCE"), ["shop/c"]),
        (ScenarioChoice(min_calls=2), ["shop/b"]),
        (ScenarioChoice(max_calls=1, environments=("shop",)), ["shop/a", "shop/c"]),
        (ScenarioChoice(sample=9, environments=("stall",)), ["stall/a"]),
    ],
    ids=str,
)
async def test_every_filter_must_be_passed(tmp_path: Path, choice: ScenarioChoice, names: list[str]) -> None:
    async with market(tmp_path) as farm:
        assert [one.name for one in await chosen(farm, choice)] == names


async def test_a_sample_depends_on_its_seed_alone(tmp_path: Path) -> None:
    async with market(tmp_path) as farm:
        samples = [
            [one.name for one in await chosen(farm, ScenarioChoice(sample=2, seed=seed % 5))] for seed in range(10)
        ]
        assert samples[:5] == samples[5:]
        assert len({str(sample) for sample in samples}) > 1
        assert all(len(set(sample)) == 2 for sample in samples)


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        (ScenarioChoice(environments=("zoo",)), "no environment 'zoo' on this farm; there are: shop, stall"),
        (ScenarioChoice(environments=("stal",)), "no environment 'stal' on this farm; did you mean 'stall'?"),
        (ScenarioChoice(ids=("a", "shop/z")), "scenarios.ids: no scenario 'shop/z' among 4; did you mean"),
        (ScenarioChoice(tags=("easy",)), "no scenario of 4 passes the filters of [scenarios]: tags = ('easy',)"),
    ],
    ids=str,
)
async def test_what_is_not_there_is_said(tmp_path: Path, choice: ScenarioChoice, said: str) -> None:
    async with market(tmp_path) as farm:
        with pytest.raises(RequestError) as found:
            await chosen(farm, choice)
        assert said in str(found.value)


async def test_a_bundle_that_cannot_be_read_is_not_passed_over(tmp_path: Path) -> None:
    async with market(tmp_path) as farm:
        (tmp_path / "stall" / "policy.md").unlink()
        with pytest.raises(BundleError, match=r"policy.md: the file is missing; .* \(name the environments"):
            await chosen(farm, ScenarioChoice())
        assert len(await chosen(farm, ScenarioChoice(environments=("shop",)))) == 3


async def test_a_farm_that_is_not_there_is_said() -> None:
    async with FarmClient("http://127.0.0.1:9", "token") as nobody:
        with pytest.raises(FarmError, match="no farm answers"):
            await chosen(nobody, ScenarioChoice())
