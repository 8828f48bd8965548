"""The solver of new scenarios: an ordinary agent over MCP, on a farm of its own."""

import tempfile
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from agent_client.errors import EndpointRefused
from agent_client.model import Model
from agent_client.models.simulated_person import SimulatedPerson
from agent_client.person import Person
from agent_client.play import Limits
from agent_client.scripted_model import ReplayedModel
from agent_client.trace import Trace
from evals.rollout import OUTCOMES, Rollout, for_each, rollout
from registry.client import FarmClient
from registry.farm import private
from registry.messages import ScenarioDetail
from servers.bundle.files import SERVED_FILES, copy_files
from servers.files.atomic_write import write_whole
from servers.scenario.scenario import Scenario
from synth.forward.solution import steps_of
from synth.llm.writer import WriterRefused, WriterUnreachable

LIMITS = Limits(turns=40, seconds=24 * 3600)
"""The limits of a solver: in turns, since a slow endpoint must not cost a scenario."""


@dataclass(frozen=True)
class Solver:
    """A model, and its number of attempts. Each attempt has an instance with other generated ids.

    With a `user`, the model that plays the user, a scenario with a persona is a conversation. `refusals` are those of
    the endpoints, which note them here.
    """

    model: Model
    attempts: int = 4
    limits: Limits = LIMITS
    at_once: int = 4
    user: Model | None = None
    refusals: list[EndpointRefused] = field(default_factory=list[EndpointRefused])

    async def play(
        self, bundle: Path, scenario: Scenario, kept: Mapping[int, Trace], on_played: Callable[[int, Rollout], None]
    ) -> list[Rollout]:
        """Play a scenario `attempts` times. A stored run of the same seed is repeated, and judged again.

        Raises:
            WriterUnreachable: the farm broke, or an endpoint is down.
            WriterRefused: an endpoint refuses requests, as it would those of any other scenario.
        """
        async with _farm_of(bundle, scenario) as (farm, detail):

            async def attempt(seed: int) -> Rollout:
                trace = kept.get(seed)
                model = self.model if trace is None else _again(trace)
                person = self._person(scenario) if trace is None else None
                done = await rollout(farm, detail, model, limits=self.limits, person=person, seed=seed)
                if trace is not None and done.outcome != "infra_error":
                    done = done.model_copy(update={"trace": trace, "outcome": OUTCOMES[trace.end]})
                on_played(seed, done)
                return done

            played = await for_each(range(self.attempts), attempt, at_once=self.at_once)
        broken = [one.error for one in played if one.outcome == "infra_error"]
        if broken and self.refusals:
            raise WriterRefused(f"solver: {self.refusals[0]}")
        if broken:
            raise WriterUnreachable(f"solver: {broken[0]}")
        return played

    def _person(self, scenario: Scenario) -> Person | None:
        if self.user is None or scenario.persona is None:
            return None
        return SimulatedPerson(self.user, persona=scenario.persona, task=scenario.task)


@asynccontextmanager
async def _farm_of(bundle: Path, scenario: Scenario) -> AsyncGenerator[tuple[FarmClient, ScenarioDetail]]:
    """A farm whose library is one bundle with one scenario."""
    with tempfile.TemporaryDirectory(prefix="farm-draft-") as library:
        folder = Path(library) / bundle.name
        folder.mkdir()
        copy_files(bundle, SERVED_FILES, folder)
        write_whole(folder / "scenarios.jsonl", scenario.model_dump_json(exclude_defaults=True) + "\n")
        async with private((Path(library),)) as address, FarmClient(address.url, address.token) as farm:
            yield farm, await farm.scenario(bundle.name, scenario.id)


def _again(trace: Trace) -> ReplayedModel:
    """A model that repeats a trace."""
    return ReplayedModel([step.call for step in steps_of(trace)], trace.answer, name=trace.model)
