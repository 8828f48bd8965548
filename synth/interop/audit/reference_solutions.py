"""Reference solutions of imported scenarios: the calls of an audit that earn reward 1 when played."""

from collections.abc import Iterable
from pathlib import Path

from agent_client.errors import AgentError
from agent_client.references import resolve
from agent_client.trace import ToolResult
from servers.bundle.environment import load
from servers.bundle.files import write_text
from servers.bundle_library import Library
from servers.files.scratch_folder import scratch_folder
from servers.messages import Judge, Launch
from servers.scenario.scenario import Scenario, Solution
from servers.scenario.scenario_file import load_scenarios
from servers.worker.worker import Worker
from synth.interop.audit.audit import EnvironmentAudit, ScenarioAudit

SEEDS = (0, 1)
"""Seeds. A literal id differs under the second seed, so such calls do not pass."""
ANSWER = "It is done."


async def certify(folder: Path, audit: EnvironmentAudit) -> list[str]:
    """Play the calls that an audit found for a bundle, and store those that earn 1 as reference solutions.

    Returns the ids.
    """
    scenarios = load_scenarios(load(folder))
    found = {one.id: one for one in audit.scenarios if one.reward_found == 1}
    certified: dict[str, Scenario] = {}
    with scratch_folder("state") as state:
        async with Worker(Library([folder.parent]), state) as worker:
            for name in found.keys() & scenarios.keys():
                solution = Solution(calls=found[name].calls, answer=ANSWER)
                if all([await _earns_all(worker, folder.name, scenarios[name], found[name], seed) for seed in SEEDS]):
                    certified[name] = scenarios[name].model_copy(update={"solution": solution})
    if certified:
        _write(folder, [certified.get(name, scenario) for name, scenario in scenarios.items()])
    return sorted(certified)


async def _earns_all(worker: Worker, environment: str, scenario: Scenario, found: ScenarioAudit, seed: int) -> bool:
    launch = Launch(environment=environment, setup=scenario.setup, clock=scenario.clock, seed=seed)
    [ticket] = await worker.launch(launch)
    instance = worker.find(ticket.instance)
    results: list[ToolResult] = []
    for call in found.calls:
        try:
            outcome = await instance.call(call.tool, resolve(call.arguments, results))
        except AgentError:
            return False
        if outcome.kind != "ok":
            return False
        results.append(ToolResult(text=outcome.text, structured=outcome.structured))
    return (await worker.judge(ticket.instance, Judge(checkpoints=scenario.checkpoints, answer=ANSWER))).success


def _write(folder: Path, scenarios: Iterable[Scenario]) -> None:
    write_text(folder / "scenarios.jsonl", "".join(one.model_dump_json(exclude_none=True) + "\n" for one in scenarios))
