"""What the company of wrong agents earns in imported environments, where a reference solution is known to play from."""

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
    """What each wrong agent earned in one scenario by its best run; `problem` where they could not play it."""

    environment: str
    scenario: str
    earned: dict[str, float] = {}
    problem: str | None = None


async def earned_in(folder: Path) -> list[WrongAgents]:
    """Have the company play the scenarios of a bundle that have a reference solution."""
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
    """Who earns what: in how many scenarios an agent could do wrong, what it earned there, and how often everything."""
    table = Table("wrong agent", "scenarios", "earned", "all", box=SIMPLE, pad_edge=False, padding=0)
    for agent in dict.fromkeys(agent for one in found for agent in one.earned):
        rewards = [one.earned[agent] for one in found if agent in one.earned]
        everything = sum(reward >= 1 for reward in rewards)
        table.add_row(agent, str(len(rewards)), f"{sum(rewards) / len(rewards):.2f}", str(everything))
    return table
