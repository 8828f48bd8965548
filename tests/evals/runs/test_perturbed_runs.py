"""Suites on perturbed tools: the reference proves each scenario first, and a report shows the drop."""

from pathlib import Path

import pytest

from evals.report.comparison import compared
from evals.report.report import read_report
from evals.runs.folder import RunFolder
from evals.runs.suite_run import reference_of
from registry.client import FarmClient
from registry.farm import private
from servers.bundle_library import OWN_LIBRARY
from servers.errors import RequestError
from tests.bundles import SOUND_SCENARIO, write_bundle
from tests.evals.suite_runs import evaluated, shop, suite

EVERY = "names,arguments,descriptions,order,fields,shape,faults=0.3,tools=4"
ENVIRONMENTS = ("hotel_bookings", "library_loans", "parcel_room")


@pytest.mark.parametrize("seed", range(3))
async def test_a_reference_earns_everything_on_perturbed_tools(seed: int) -> None:
    async with private((OWN_LIBRARY,)) as address, FarmClient(address.url, address.token) as farm:
        for environment in ENVIRONMENTS:
            card = (await farm.scenarios(environment, limit=1)).items[0]
            detail = await farm.scenario(environment, card.id)
            played = await reference_of(farm, detail, seed=seed, perturb=f"{EVERY},seed={seed}")
            assert played is not None
            assert played.reward == 1.0, (environment, card.id, played.error)
            assert played.trace is not None
            assert detail.scenario.solution is not None
            assert played.effects is not None
            calls = [call for turn in played.trace.turns for call in turn.calls]
            assert len(played.effects) == len(calls)
            assert not {call.tool for call in calls} & {call.tool for call in detail.scenario.solution.calls}


async def test_a_suite_leaves_out_what_its_reference_cannot_do_and_says_so(tmp_path: Path) -> None:
    async with shop(tmp_path / "shelf") as farm:
        await evaluated(farm, tmp_path / "run", suite(perturb="order, names"))
        header = RunFolder(tmp_path / "run").header()
        assert (header.left_out, header.scenarios, header.suite.perturb) == (("shop/half",), 1, "names,order")
        [played] = [at.played for at in RunFolder(tmp_path / "run").rollouts()]
        assert (played.rollout.reward, played.rollout.perturb) == (1.0, "names,order")
        with pytest.raises(RequestError, match="of 1 scenarios none has a reference solution"):
            await evaluated(farm, tmp_path / "none", suite(perturb="names", scenarios={"ids": ["half"]}))


async def test_the_same_agent_is_compared_with_and_without(tmp_path: Path) -> None:
    async with shop(tmp_path / "shelf") as farm:
        plain, other = suite(), suite(perturb="names")
        assert plain.agent_digest == other.agent_digest
        assert plain.digest != other.digest
        for name, told in (("plain", plain), ("other", other)):
            await evaluated(farm, tmp_path / name, told)
    beside = compared(*(read_report(RunFolder(tmp_path / name)) for name in ("plain", "other")))
    assert [one.scenario for one in beside.scenarios] == ["shop/easy"]
    assert beside.only_first == 1


async def test_a_checkpoint_over_calls_knows_them_by_the_environments_own_names(tmp_path: Path) -> None:
    code = (
        "def check(start, final, answer, calls):\n    return [call['arguments']['cents'] for call in calls] == [250]\n"
    )
    by_calls = {"id": "called", "role": "goal", "question": "Was it priced?", "kind": "python", "python": code}
    scenario = {**SOUND_SCENARIO, "id": "called", "checkpoints": [SOUND_SCENARIO["checkpoints"][0], by_calls]}
    await write_bundle(tmp_path / "shelf" / "shop", scenarios=[scenario])
    async with private((tmp_path / "shelf",)) as address, FarmClient(address.url, address.token) as farm:
        played = await reference_of(
            farm, await farm.scenario("shop", "called"), seed=0, perturb="names,arguments,seed=2,price=set_cost"
        )
        assert played is not None
        assert played.reward == 1.0, played.score


async def test_tools_that_would_collide_are_refused_before_anything_is_leased(tmp_path: Path) -> None:
    async with shop(tmp_path / "shelf") as farm:
        with pytest.raises(RequestError, match="would both be named"):
            await farm.launch("shop", perturb="find=make")
        assert (await farm.leases(status="live")).total == 0
