"""Scenarios over two environments are played like others. What takes one environment refuses them."""

from pathlib import Path

import pytest
import pytest_asyncio

from agent_client.play import Limits
from agent_client.toolbox import JoinedToolbox
from agent_client.wire import shared_http
from evals.demo import gold_model, idle_model
from evals.frameworks.farm_link import FarmLink
from evals.frameworks.leased_episode import LeasedEpisode
from evals.programs.function import AgentFunction
from evals.rejudging import NamedRollout, rejudged
from evals.rollout import rollout
from registry.client import FarmClient
from registry.farm import private
from servers.errors import RequestError
from tests.pairs import write_pair

LIMITS = Limits(turns=10, seconds=60)


@pytest_asyncio.fixture(scope="module")
async def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return await write_pair(tmp_path_factory.mktemp("pair"))


async def test_an_agent_has_the_tools_of_both_and_the_reference_earns_the_reward(library: Path) -> None:
    async with private((library,)) as address, FarmClient(address.url, address.token) as farm:
        async with farm.leased("shop", "trip") as live, live.connect() as toolbox:
            assert isinstance(toolbox, JoinedToolbox)
            names = [spec.name for spec in toolbox.tools]
            assert names == ["find", "make", "shop__price", "scrap", "inn__price", "rooms"]
            assert "shop__price, inn__price" in toolbox.instructions
            assert toolbox.instructions.count("When you are done") == 1
            refused = await toolbox.call("price", {"id": "t2", "cents": 300})
            assert refused.is_error
            assert "no tool named 'price'" in refused.text
            assert not (await toolbox.call("shop__price", {"id": "t2", "cents": 300})).is_error
            assert not (await toolbox.call("inn__price", {"id": "t3", "cents": 450})).is_error
            assert (await live.score()).success is True
        trip = await farm.scenario("shop", "trip")
        run = await rollout(farm, trip, gold_model(trip.scenario.reference()), limits=LIMITS, with_effects=True)
        assert (run.outcome, run.reward, run.success) == ("scored", 1.0, True)
        changed = {effect.call: sorted(change.table for change in effect.changes) for effect in run.effects or ()}
        assert changed == {0: [], 1: [], 2: ["log", "things"], 3: ["log", "things"]}
        async with shared_http(1) as http:
            [again] = await rejudged(farm, [NamedRollout("one", run)], http, at_once=1, tell=lambda _: None)
        assert (again.problem, again.after, again.difference) == ("", 1.0, None)
        idle = await rollout(farm, trip, idle_model(), limits=LIMITS)
        assert (idle.reward, (await farm.leases(status="live")).total) == (0.0, 0)


async def test_what_takes_one_environment_is_given_none(library: Path) -> None:
    asked: list[object] = []

    async def work(task: object) -> str:
        asked.append(task)
        return ""

    async with private((library,)) as address, FarmClient(address.url, address.token) as farm:
        trip = await farm.scenario("shop", "trip")
        run = await rollout(farm, trip, AgentFunction(work), limits=LIMITS)
        assert (run.outcome, run.reward, asked) == ("infra_error", None, [])
        assert "gets one server" in run.error
        link = FarmLink(address)
        try:
            with pytest.raises(RequestError, match="over two environments"):
                await link.do(LeasedEpisode(link, "shop", "trip").begin())
        finally:
            link.close()
        assert (await farm.leases(status="live")).total == 0
