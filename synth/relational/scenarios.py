"""The scenarios of a rewriting: the imported tasks, each with a solution and the checks as SELECTs."""

from collections.abc import Iterable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from servers.bundle.description import Provenance
from servers.bundle.environment import load
from servers.errors import CheckpointError
from servers.records import Name, Record
from servers.scenario.checkpoints.kinds import Checkpoint
from servers.scenario.checkpoints.python import PythonCheckpoint
from servers.scenario.checkpoints.sql import SqlCheckpoint
from servers.scenario.scenario import PlannedCall, Scenario, Solution
from servers.scenario.scenario_file import lines_of, load_scenarios
from servers.state.rows import RowChange
from synth.certify.certifier import examine
from synth.environments.drafts.sample_calls import arguments_of
from synth.environments.drafts.start_images import image_of
from synth.environments.drafts.table_shapes import MOST_ROWS_SHOWN, rows_text, shape_of
from synth.interop.audit.cleaning import footprint_of
from synth.llm.prompt import Prompt
from synth.pipeline.artefact import digest_of_file
from synth.pipeline.asker import Asker, Rejected, gather_all
from synth.pipeline.stage import Artefacts, Stage
from synth.play.playground import Playground
from synth.relational.carried import IS_TRUE, Agreement, CheckComparison, sql_checkpoint
from synth.relational.equivalence import twin_starts
from synth.relational.states import TwinStart
from synth.relational.tables import ImportedCopy, imported_folder
from synth.relational.twin_file import Twin, twin_of
from synth.solutions.call_run import play, steps_of

PROMPT = Prompt.load(Path(__file__).with_name("scenarios.md"))
SCENARIOS_FILE = "scenarios.jsonl"
SHORTEST_REASON = 10
MOST_FINDINGS = 12
REWRITTEN = "rewritten"


class CarriedCheck(Record):
    """One check as a SELECT that gives 1 where it holds and 0 where not, or the reason why it is dropped."""

    id: str
    sql: str
    dropped: str


class CarriedCall(Record):
    """One call of the solution. `arguments` is a JSON object as text; it may refer to earlier results.

    `free` names the arguments whose value the task leaves to whoever does it.
    """

    tool: str
    arguments: str
    free: tuple[str, ...]


class FurtherCheck(Record):
    """What no imported check asks. `sql` gives 1 after the solution. It is a guard if it does so at the start too."""

    id: Name
    question: str
    sql: str


class CarriedScenario(Record):
    """What the writer gives for one scenario."""

    calls: tuple[CarriedCall, ...]
    answer: str
    checks: tuple[CarriedCheck, ...]
    further: tuple[FurtherCheck, ...]


class ScenarioShown(Record):
    """One scenario: its checks that came over, those that did not, and the states in which all were asked."""

    id: str
    goals: int = 0
    guards: int = 0
    dropped: dict[str, str] = {}
    asked: int = 0
    mutants: int = 0
    further: int = 0
    uncertified: tuple[str, ...] = ()
    """Why it has no certificate."""
    left_out: str = ""


class CarriedScenarios(Record):
    """All scenarios of the environment."""

    scenarios: tuple[ScenarioShown, ...]


async def scenarios(made: Artefacts, asker: Asker) -> CarriedScenarios:
    """Ask for each scenario. What cannot be brought over is left out with the reason."""
    twin = twin_of(made.bundle)
    async with AsyncExitStack() as stack:
        there = await stack.enter_async_context(Playground(imported_folder(made)))
        here = await stack.enter_async_context(Playground(made.bundle))
        starts = {one.name: one for one in await twin_starts(there, here, twin)}
        work = [
            _Carrying(there, here, twin, starts[name], scenario)
            for name, scenario in load_scenarios(there.environment).items()
        ]
        await gather_all(one.carry(asker) for one in work)
    about = _provenance(made, asker)
    kept = [one.scenario.model_copy(update={"provenance": about}) for one in work if one.scenario is not None]
    made.write(f"bundle/{made.environment}/{SCENARIOS_FILE}", lines_of(kept))
    load_scenarios(load(made.bundle))
    return CarriedScenarios(scenarios=tuple(one.shown for one in work))


def _provenance(made: Artefacts, asker: Asker) -> Provenance:
    """What made the scenarios: the tasks came with the imported bundle, all else is the writer's."""
    copy = made[ImportedCopy]
    return Provenance(
        source=f"rewritten from {copy.source}",
        licence=copy.licence,
        date=made.date,
        model=", ".join(sorted({one.model for one in asker.exchanges if one.model})) or None,
        prompts={PROMPT.path.stem: digest_of_file(PROMPT.path)},
        notes="The task is the imported one. A writer gave its solution and the checks as SELECTs.",
    )


def counts_of(value: CarriedScenarios) -> dict[str, int]:
    """The figures of all scenarios."""
    return {
        "scenarios": sum(not one.left_out for one in value.scenarios),
        "checkpoints": sum(one.goals + one.guards for one in value.scenarios),
        "dropped_checks": sum(len(one.dropped) for one in value.scenarios),
        "certified": sum(not one.left_out and not one.uncertified for one in value.scenarios),
        "states_judged": sum(one.asked for one in value.scenarios),
    }


STAGE = Stage("scenarios", CarriedScenarios, scenarios, counts=counts_of)


class _Carrying:
    """One scenario on its way."""

    def __init__(self, imported: Playground, own: Playground, twin: Twin, start: TwinStart, scenario: Scenario) -> None:
        self._there, self._here, self._twin, self._start, self._old = imported, own, twin, start, scenario
        self._checks = [one for one in scenario.checkpoints if isinstance(one, PythonCheckpoint)]
        self._best: tuple[int, Scenario, ScenarioShown] | None = None
        self.scenario: Scenario | None = None
        self.shown = ScenarioShown(id=scenario.id)

    async def carry(self, asker: Asker) -> None:
        """Ask until both kinds of checks agree and the scenario has a certificate.

        If no answer gets there, the best one is kept without the checks that disagree.
        """
        try:
            await asker.ask(await self._messages(), CarriedScenario, self._findings)
        except Rejected as rejected:
            if self._best is None:
                self.shown = self.shown.model_copy(update={"left_out": "; ".join(rejected.reasons)[:1000]})
        if self._best is not None:
            _, self.scenario, self.shown = self._best

    async def _messages(self) -> Any:
        environment, guests = self._here.environment, self._here.worker.guests
        clock = self._start.clock or environment.description.clock
        image, _ = await image_of(
            guests, schema=environment.schema, seed=environment.seed, setup=self._start.own, clock=clock
        )
        return PROMPT.fill(
            title=environment.description.title,
            policy=environment.policy,
            schema=environment.schema,
            rows=rows_text(shape_of(image), most=MOST_ROWS_SHOWN),
            clock=clock,
            task=self._old.task,
            tools="\n".join(_tool_text(tool) for tool in environment.description.tools),
            checks="\n\n".join(_check_text(check) for check in self._checks),
        )

    async def _findings(self, answer: CarriedScenario) -> list[str]:
        """The faults of an answer. What only some checks lack is kept for the case that no answer is better."""
        calls, found = planned(answer.calls)
        given = {one.id: one for one in answer.checks}
        asked = {one.id for one in self._checks}
        found += [f"checks: {name!r} is missing" for name in sorted(asked - given.keys())]
        found += [f"checks: there is no check {name!r}" for name in sorted(given.keys() - asked)]
        for one in answer.checks:
            if bool(one.sql) == bool(one.dropped):
                found.append(f"checks.{one.id}: has either a SELECT or a reason why it is dropped")
            elif one.dropped and len(one.dropped) < SHORTEST_REASON:
                found.append(f"checks.{one.id}: dropped: {one.dropped!r} is no reason")
        ids = [*asked, *(one.id for one in answer.further), "nothing_else"]
        if len(set(ids)) < len(ids):
            found.append("further: an id is used twice; `nothing_else` is the farm's own")
        if found:
            return found
        if not any(one.sql for one in answer.checks):
            self.shown = self.shown.model_copy(update={"left_out": answer.checks[0].dropped})
            return []
        ours = [sql_checkpoint(check, given[check.id].sql) for check in self._checks if given[check.id].sql]
        comparison = CheckComparison(self._there, self._here, self._twin, self._start, self._old, ours)
        try:
            agreement = await comparison.compare(calls)
        except CheckpointError as error:
            return [str(error)]
        if agreement.problem:
            return [agreement.problem]
        found = [f"checks.{name}: {told}" for name, told in agreement.disagreements.items()]
        found += [
            f"checks.{name}: does not hold after your calls. Mend the calls, or drop it with the reason"
            for name, holds in agreement.at_end.items()
            if not holds
        ]
        found += await self._weighed(answer, agreement)
        return found[:MOST_FINDINGS]

    async def _weighed(self, answer: CarriedScenario, agreement: Agreement) -> list[str]:
        """Make the scenario of an answer, certify it, and keep it if no earlier one was better."""
        made = await self._made(answer, agreement)
        if made is None:
            return ["checks: no goal is left"]
        scenario, shown = made
        examined = await examine(self._here, scenario)
        shown = shown.model_copy(update={"uncertified": tuple(examined.findings)})
        scenario = scenario.model_copy(update={"certificate": examined.certificate})
        badness = len(shown.dropped) + 100 * bool(examined.findings)
        if self._best is None or badness <= self._best[0]:
            self._best = (badness, scenario, shown)
        return [f"as a scenario: {finding}" for finding in examined.findings]

    async def _made(self, answer: CarriedScenario, agreement: Agreement) -> tuple[Scenario, ScenarioShown] | None:
        """The scenario. Checks true at the start are guards, and nothing may change beyond the solution."""
        calls, _ = planned(answer.calls)
        given, lost = {one.id: one for one in answer.checks}, _lost(agreement)
        kept: list[Checkpoint] = []
        for check in self._checks:
            if given[check.id].sql and check.id not in lost:
                role = "guard" if agreement.at_start[check.id] else "goal"
                kept.append(sql_checkpoint(check, given[check.id].sql).model_copy(update={"role": role}))
        goals = sum(one.role == "goal" for one in kept)
        if not goals:
            return None
        shown = ScenarioShown(
            id=self._old.id,
            goals=goals,
            guards=len(kept) - goals,
            dropped={name: one.dropped for name, one in given.items() if one.dropped} | lost,
            asked=agreement.asked,
            mutants=agreement.mutants,
            further=len(answer.further),
        )
        kept += await self._further(answer)
        solution = Solution(calls=tuple(calls), answer=answer.answer)
        kept.append(footprint_of(await self._changes(solution)))
        scenario = self._old.model_copy(
            update={
                "setup": self._start.own,
                "checkpoints": tuple(kept),
                "solution": solution,
                "tags": tuple(dict.fromkeys((*self._old.tags, REWRITTEN))),
                "witness": None,
                "certificate": None,
            }
        )
        return scenario, shown

    async def _further(self, answer: CarriedScenario) -> list[SqlCheckpoint]:
        """The writer's own checkpoints. What holds at the start is a guard, anything else a goal."""
        asked = [
            SqlCheckpoint(id=one.id, role="goal", question=one.question, kind="sql", sql=one.sql, expect=IS_TRUE)
            for one in answer.further
        ]
        if not asked:
            return []
        session = await self._here.launch(setup=self._start.own, clock=self._start.clock)
        try:
            said = await session.judge(asked)
        finally:
            await session.close()
        held = {one.checkpoint for one in said.verdicts if one.holds}
        return [one.model_copy(update={"role": "guard"}) if one.id in held else one for one in asked]

    async def _changes(self, solution: Solution) -> list[RowChange]:
        session = await self._here.launch(setup=self._start.own, clock=self._start.clock)
        try:
            await play(session, steps_of(solution))
            return await session.diff()
        finally:
            await session.close()


def _lost(agreement: Agreement) -> dict[str, str]:
    """The checks that cannot be kept, with the reason."""
    never = {name: "does not hold after the solution" for name, holds in agreement.at_end.items() if not holds}
    return {**never, **{name: f"disagrees {told}"[:300] for name, told in agreement.disagreements.items()}}


def planned(calls: Iterable[CarriedCall]) -> tuple[list[PlannedCall], list[str]]:
    """The calls of an answer, and the faults of their arguments."""
    found: list[PlannedCall] = []
    wrong: list[str] = []
    for number, call in enumerate(calls, start=1):
        arguments, why = arguments_of(call.arguments)
        if arguments is None:
            wrong.append(f"calls.{number}: {why}")
        else:
            found.append(PlannedCall(tool=call.tool, arguments=arguments, free=call.free))
    return found, wrong


def _tool_text(tool: Any) -> str:
    takes = ", ".join(f"{name}{'' if name in tool.required else '?'}" for name in tool.properties)
    return f"- {tool.name}({takes}): {tool.description.splitlines()[0]}"


def _check_text(check: PythonCheckpoint) -> str:
    source = check.python.partition("from servers.imported.judging")[0].strip()
    return f"{check.id}: {check.question}\n```python\n{source}\n```"
