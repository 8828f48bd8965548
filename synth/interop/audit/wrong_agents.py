"""The rewards of wrong agents in imported environments with a reference solution."""

from collections.abc import Sequence
from pathlib import Path

from rich.box import SIMPLE
from rich.table import Table

from servers.errors import BundleError, CheckpointError
from servers.records import Record
from servers.scenario.scenario_file import load_scenarios
from synth.certify.agents.wrong_agents import company
from synth.play.playground import Playground
from synth.solutions.reference_run import played


class WrongAgents(Record):
    """The highest reward of each wrong agent in one scenario. `problem` says why they could not play."""

    environment: str
    scenario: str
    earned: dict[str, float] = {}
    problem: str | None = None


async def earned_in(folder: Path) -> list[WrongAgents]:
    """Let the wrong agents play the scenarios of a bundle that have a reference solution."""
    found: list[WrongAgents] = []
    async with Playground(folder) as stage:
        for scenario in load_scenarios(stage.environment).values():
            if scenario.solution is None:
                continue
            try:
                reference = await played(stage, scenario)
                try:
                    earned = {one.agent: one.reward for one in await company(reference) if one.counts}
                finally:
                    await reference.close()
                found.append(WrongAgents(environment=folder.name, scenario=scenario.id, earned=earned))
            except (BundleError, CheckpointError) as error:
                found.append(WrongAgents(environment=folder.name, scenario=scenario.id, problem=str(error)))
    return found


def table_of_agents(found: Sequence[WrongAgents]) -> Table:
    """The rewards by agent: the number of scenarios where it can be wrong, its mean, and how often it earns 1."""
    table = Table("wrong agent", "scenarios", "earned", "all", box=SIMPLE, pad_edge=False, padding=0)
    for agent in dict.fromkeys(agent for one in found for agent in one.earned):
        rewards = [one.earned[agent] for one in found if agent in one.earned]
        everything = sum(reward >= 1 for reward in rewards)
        table.add_row(agent, str(len(rewards)), f"{sum(rewards) / len(rewards):.2f}", str(everything))
    return table
