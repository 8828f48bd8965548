"""The reference solutions of a library, each played on a farm of its own."""

from pathlib import Path

from agent_client.play import Limits
from agent_client.wire import shared_http
from evals.demo import gold_model
from evals.rollout import Rollout, for_each, rollout
from evals.runs.scenario_choice import ChosenScenario, chosen
from evals.runs.suite import ScenarioChoice
from registry.client import FarmClient
from registry.farm import private

AT_ONCE = 8
LIMITS = Limits(turns=200, seconds=120)


async def references(library: Path) -> list[Rollout]:
    """Play every scenario of a folder of bundles that has a reference solution.

    Raises:
        RequestError: there is no such folder, or it holds no bundles.
        BundleError: a bundle cannot be read.
    """
    async with (
        private((library,)) as address,
        FarmClient(address.url, address.token) as farm,
        shared_http(2 * AT_ONCE) as http,
    ):

        async def play(one: ChosenScenario) -> Rollout | None:
            detail = await farm.scenario(one.environment, one.card.id)
            if detail.scenario.solution is None:
                return None
            model = gold_model(detail.scenario.solution)
            return await rollout(farm, detail, model, limits=LIMITS, http_client=http)

        found = await chosen(farm, ScenarioChoice())
        runs = await for_each(found, play, at_once=AT_ONCE)
    return [run for run in runs if run is not None]
