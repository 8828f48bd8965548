"""The demo: every scenario is played three ways over real HTTP, each with its required reward.

The reference solution must earn 1, doing nothing must earn 0, and a run without its last step must not succeed.
"""

from collections.abc import Callable
from dataclasses import dataclass

import httpx2

from agent_client.play import Limits
from agent_client.scripted_model import ScriptedCall, ScriptedModel
from agent_client.wire import shared_http
from evals.rollout import Rollout, for_each, rollout
from registry.client import FarmClient
from registry.messages import EnvironmentDetail
from servers.errors import BundleError
from servers.perturb.tool_view import TRANSIENT
from servers.scenario.scenario import Scenario, Solution

AT_ONCE = 8
FIRST_FEW = 2
"""Scenarios of each environment that are played by default: the first ones of its file."""
LIMITS = Limits(turns=100, seconds=60)


@dataclass(frozen=True)
class PlayedScenario:
    """One scenario, played three ways."""

    environment: str
    scenario: Scenario
    gold: Rollout
    idle: Rollout
    sabotaged: Rollout

    @property
    def as_it_must_be(self) -> bool:
        """True if the three rewards are as required."""
        return (
            self.gold.success is True
            and self.gold.reward == 1.0
            and self.idle.reward == 0.0
            and self.sabotaged.outcome != "infra_error"
            and self.sabotaged.success is False
        )


async def play_demo(
    farm: FarmClient, on_shown: Callable[[PlayedScenario], None], *, most: int | None = None
) -> list[PlayedScenario]:
    """Play scenarios of every environment of a farm: the first `most` of each, or all.

    Raises:
        BundleError: some bundles cannot be played.
    """
    found = await farm.environments()
    if found.broken:
        raise BundleError("; ".join(found.broken.values()))
    environments = [await farm.environment(card.id) for card in found.items]
    listed = [
        (environment, card.id)
        for environment in environments
        for card in (await farm.scenarios(environment.id, limit=1000)).items[:most]
    ]
    async with shared_http(AT_ONCE * 3) as http:

        async def play(one: tuple[EnvironmentDetail, str]) -> PlayedScenario:
            shown = await _played(farm, *one, http)
            on_shown(shown)
            return shown

        return await for_each(listed, play, at_once=AT_ONCE)


async def _played(
    farm: FarmClient, environment: EnvironmentDetail, scenario_id: str, http: httpx2.AsyncClient
) -> PlayedScenario:
    detail = await farm.scenario(environment.id, scenario_id)
    solution = detail.scenario.reference()
    writers = {tool.name for tool in environment.tools if tool.writes}
    gold, idle, sabotaged = [
        await rollout(farm, detail, model, limits=LIMITS, http_client=http)
        for model in (gold_model(solution), idle_model(), sabotaged_model(solution, writers))
    ]
    return PlayedScenario(environment.id, detail.scenario, gold, idle, sabotaged)


def gold_model(solution: Solution, *, name: str = "gold") -> ScriptedModel:
    """A model that plays the reference solution, or another one. A call that failed by a perturbation is repeated."""
    return ScriptedModel(_calls(solution, len(solution.calls)), solution.answer, name=name, again_after=TRANSIENT)


def idle_model() -> ScriptedModel:
    """A model that does nothing and says nothing."""
    return ScriptedModel([], "", name="idle")


def sabotaged_model(solution: Solution, writers: set[str]) -> ScriptedModel:
    """A model that plays the reference solution up to its last writing call, and then claims to be done."""
    writing = [number for number, call in enumerate(solution.calls) if call.tool in writers]
    end = writing[-1] if writing else len(solution.calls)
    return ScriptedModel(_calls(solution, end), "All done, as you asked.", name="sabotaged", again_after=TRANSIENT)


def _calls(solution: Solution, end: int) -> list[ScriptedCall]:
    return [ScriptedCall(tool=call.tool, arguments=call.arguments) for call in solution.calls[:end]]
