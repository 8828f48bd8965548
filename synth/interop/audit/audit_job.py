"""The job of a process that audits: it probes a scenario, plays what the probe found, and lets wrong agents play."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from agent_client.errors import AgentError
from agent_client.references import resolve
from agent_client.trace import ToolResult
from servers.answer import JUDGE_VERSION
from servers.authoring.proof import digests_of
from servers.bundle.environment import load
from servers.errors import BundleError, CheckpointError
from servers.messages import Judge, Launch
from servers.sandbox.guest_pool import Guests
from servers.scenario.scenario import Scenario, Solution
from servers.state.rows import RowChange
from servers.worker.worker import Worker
from synth.certify.agents.company import company
from synth.interop.audit.audit import SECONDS, AuditOrder, AuditPart, ScenarioAudit, audited, has_endpoints
from synth.interop.audit.cleaning import cleaned
from synth.interop.audit.endpoint_audit import WALKS, audited_endpoints, audited_verifier
from synth.play.pinned_bundle import playgrounds
from synth.play.playground import Playground
from synth.processes.kept_results import KeptResults
from synth.solutions.reference_run import played

SEEDS = (0, 1)
"""Seeds. A literal id differs under the second seed, so such calls do not pass."""
ANSWER = "It is done."
AUDITED_FILE = "audited.jsonl"
SCENARIOS_FILE = "scenarios.jsonl"
VERSION = 2
"""The version of what an audit does. Results of another one are not continued."""


@dataclass(frozen=True)
class Auditing:
    """Audits scenarios, one at a time. `seconds` of processor time are for the probe of one."""

    seconds: float = SECONDS
    clean: bool = False
    """True if scenarios are cleaned, and wrong agents play those."""
    walks: int = WALKS
    """How many walks look for a state that a verifier of imported endpoints calls complete."""

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Callable[[AuditOrder], Awaitable[AuditPart]]]:
        """Start the guests. A playground is opened once there is something to play."""
        async with Guests() as guests, playgrounds() as stage_of:

            async def whole(order: AuditOrder) -> AuditPart:
                with order.bundle.on_worker():
                    part = await audited(order, guests, self.seconds)
                    if not part.findings and has_endpoints(load(order.bundle.folder)):
                        part = await _played(await stage_of(order.bundle), order.scenario, self.walks)
                    if order.scenario is None or part.scenario is None or part.scenario.problem:
                        return part
                    case = _Case(await stage_of(order.bundle), order.scenario, part.scenario)
                    return part.model_copy(update=await case.results(clean=self.clean))

            yield whole


def kept_audits(folder: Path) -> KeptResults[AuditOrder, AuditPart]:
    """The audits in a folder that the user named. They hold for the files of a bundle and its scenarios."""

    def name(order: AuditOrder) -> list[object]:
        bundle = order.bundle
        if order.scenario is None:
            about = digests_of(bundle.folder, (SCENARIOS_FILE,)).get(SCENARIOS_FILE)
        else:
            absent = {"certificate", "provenance", "witness"}
            about = order.scenario.model_dump_json(exclude=absent, exclude_defaults=True)
        return [VERSION, JUDGE_VERSION, bundle.folder.name, *bundle.files, about]

    return KeptResults(folder / AUDITED_FILE, TypeAdapter(tuple[str, AuditPart]), name)


async def _played(stage: Playground, scenario: Scenario | None, walks: int) -> AuditPart:
    """The part of imported endpoints."""
    if scenario is None:
        return await audited_endpoints(stage)
    try:
        return AuditPart(scenario=await audited_verifier(stage, scenario, walks=walks))
    except (BundleError, CheckpointError) as error:
        return AuditPart(scenario=ScenarioAudit(id=scenario.id, problem=f"it could not be played: {error}"))


@dataclass
class _Case:
    """A probed scenario on a playground."""

    stage: Playground
    scenario: Scenario
    found: ScenarioAudit

    async def results(self, *, clean: bool) -> dict[str, object]:
        """The part's fields: the audit with a witness and what wrong agents earn, and the cleaned scenario."""
        witness = await _witness(self.stage.worker, self.stage.environment.id, self.scenario, self.found)
        solution = self.scenario.solution or witness
        told: dict[str, object] = {"witness": witness}
        made: dict[str, object] = {}
        try:
            if clean:
                cleaning = cleaned(self.scenario, self.found.checks, await self._changes(solution))
                made = {"cleaned": cleaning.scenario, "cleaning": cleaning.done}
                self.scenario = cleaning.scenario or self.scenario
            if solution is not None:
                told["wrong_agents"] = await self._earned(solution)
        except (BundleError, CheckpointError) as error:
            made = {}
            told["problem"] = f"it could not be played: {error}"
        return {"scenario": self.found.model_copy(update=told), **made}

    async def _changes(self, solution: Solution | None) -> Sequence[RowChange]:
        if solution is None:
            return ()
        reference = await played(self.stage, self.scenario.model_copy(update={"solution": solution}))
        await reference.close()
        return reference.changes

    async def _earned(self, solution: Solution) -> dict[str, float]:
        """The highest reward of each wrong agent."""
        reference = await played(self.stage, self.scenario.model_copy(update={"solution": solution}))
        try:
            return {one.agent: one.reward for one in await company(reference) if one.counts}
        finally:
            await reference.close()


async def _witness(worker: Worker, environment: str, scenario: Scenario, found: ScenarioAudit) -> Solution | None:
    """The calls of a probe as a solution, if they earn 1 when they are played."""
    solution = Solution(calls=found.calls if found.reward_found == 1 else (), answer=found.answer or ANSWER)
    earns = [await _earns_all(worker, environment, scenario, solution, seed) for seed in SEEDS if solution.calls]
    return solution if earns and all(earns) else None


async def _earns_all(worker: Worker, environment: str, scenario: Scenario, solution: Solution, seed: int) -> bool:
    launch = Launch(environment=environment, setup=scenario.setup, clock=scenario.clock, seed=seed)
    [ticket] = await worker.launch(launch)
    instance = worker.find(ticket.instance)
    results: list[ToolResult] = []
    try:
        for call in solution.calls:
            outcome = await instance.call(call.tool, resolve(call.arguments, results))
            if outcome.kind != "ok":
                return False
            results.append(ToolResult(text=outcome.text, structured=outcome.structured))
        return (
            await worker.judge(ticket.instance, Judge(checkpoints=scenario.checkpoints, answer=solution.answer))
        ).success
    except AgentError:
        return False
    finally:
        await worker.close(ticket.instance)
