"""The audit of imported endpoints, by playing them: which work, and which verifiers ever say that a task is complete.

Endpoints cannot be run beside their class, as EnvScaler's methods are: a server needs its database. So calls are made
as an agent makes them. A verifier says yes or no, and never how near an agent is, so walks with the values that it
names are all that leads to a yes. What they do not find may still be there.
"""

import re
from collections.abc import Sequence
from random import Random
from typing import Any, NamedTuple

from servers.bundle.description import Tool
from servers.scenario.checkpoints.python import PythonCheckpoint
from servers.scenario.scenario import PlannedCall, Scenario
from servers.worker.instance import CallOutcome
from synth.interop.audit.audit import AuditPart, CheckAudit, ScenarioAudit, ToolAudit
from synth.interop.imports.check_values import hints_of
from synth.play.argument_sampler import ArgumentSampler
from synth.play.playground import Playground, Session
from synth.play.row_view import SchemaShape

SEED = 7
TRIES = 12
"""Calls that are drawn for each endpoint."""
WALK = 40
"""Calls of endpoints that follow each other before the rows are those of the start again."""
WALKS = 12
"""Walks in search of a state that a verifier calls complete."""
STEPS = 5
"""Calls of such a walk that are carried out and change rows."""
DRAWS = 8
"""Calls that are tried for one that does."""
READS_ONLY = "it says that it only reads"
FAULTS = ("failed", "timeout", "died")
LONGEST_ANSWER, LONGEST_WORDS = 4000, 1000
QUOTED = re.compile(r"['\"‘“]([^'\"’”]{2,80})['\"’”]")
VERIFIER = "verify_task_completion"


class Made(NamedTuple):
    """A call and its outcome."""

    tool: str
    arguments: dict[str, Any]
    outcome: CallOutcome


async def audited_endpoints(stage: Playground) -> AuditPart:
    """What drawn calls show of each endpoint, and whether the same calls give the same again."""
    random = Random(SEED)  # noqa: S311 - it must repeat
    scene = await stage.launch()
    shape = await scene.shape()
    sampler = ArgumentSampler(stage.environment, shape, random)
    turns = [name for name in stage.environment.tools for _ in range(TRIES)]
    random.shuffle(turns)
    made: list[Made] = []
    odd: set[str] = set()
    for begin in range(0, len(turns), WALK):
        await scene.rewind()
        sampler.begin()
        walk = [await _drawn_call(scene, shape, sampler, tool) for tool in turns[begin : begin + WALK]]
        await scene.rewind()
        for one in walk:
            again = await scene.call(one.tool, one.arguments)
            if (again.kind, again.text) != (one.outcome.kind, one.outcome.text):
                odd.add(one.tool)
                break
        made += walk
    await scene.close()
    tools = [_tool_audit(tool, [one for one in made if one.tool == tool.name]) for tool in _tools(stage)]
    return AuditPart(tools=tuple(one.model_copy(update={"repeats": one.name not in odd}) for one in tools))


def _tools(stage: Playground) -> Sequence[Tool]:
    return stage.environment.description.tools


def _tool_audit(tool: Tool, made: Sequence[Made]) -> ToolAudit:
    broke = [one for one in made if one.outcome.kind in FAULTS]
    refused = [one for one in made if one.outcome.kind == "refused"]
    return ToolAudit(
        name=tool.name,
        writes=tool.writes,
        tries=len(made),
        succeeded=sum(one.outcome.kind == "ok" for one in made),
        refused=len(refused),
        broke=len(broke),
        error=f"{broke[0].outcome.detail or broke[0].outcome.text} (with {broke[0].arguments})"[:400] if broke else "",
        refusal=refused[0].outcome.text[:200] if refused else "",
        changed_when_reading=sum((one.outcome.detail or "").startswith(READS_ONLY) for one in broke),
    )


async def _drawn_call(scene: Session, shape: SchemaShape, sampler: ArgumentSampler, tool: str) -> Made:
    sampler.look(await scene.view(shape), scene.now)
    arguments = sampler.draw(tool)
    outcome = await scene.call(tool, arguments)
    sampler.learn(tool, arguments, outcome)
    return Made(tool, arguments, outcome)


async def audited_verifier(stage: Playground, scenario: Scenario, *, walks: int = WALKS) -> ScenarioAudit:
    """What a verifier says at the start, and of the states that some walks reach."""
    theirs = [one for one in scenario.checkpoints if isinstance(one, PythonCheckpoint) and VERIFIER in one.python]
    scene = await stage.launch(setup=scenario.setup, clock=scenario.clock)
    start = (await scene.judge(theirs)).verdicts
    reached = {one.checkpoint for one in start if one.holds}
    search = _Search(stage, scene, scenario, theirs)
    while len(reached) < len(theirs) and search.walks < walks:
        reached |= await search.walk()
    await scene.close()
    told = {one.checkpoint: one for one in start}
    checks = tuple(
        CheckAudit(
            id=one.id,
            question=one.question,
            at_start=told[one.id].holds,
            error_at_start=told[one.id].error or "",
            reached=one.id in reached,
        )
        for one in theirs
    )
    share = len(theirs) or 1
    return ScenarioAudit(
        id=scenario.id,
        checks=checks,
        reward_for_nothing=round(sum(one.at_start for one in checks) / share, 4),
        reward_found=round(len(reached) / share, 4),
        calls=search.calls,
        answer=search.answer,
    )


class _Search:
    """Walks of writing calls from the start of a scenario, with the values that its task and its verifier name."""

    def __init__(
        self, stage: Playground, scene: Session, scenario: Scenario, checks: Sequence[PythonCheckpoint]
    ) -> None:
        self.walks = 0
        self.calls: tuple[PlannedCall, ...] = ()
        """The shortest walk to a yes, if there was one, and the words that went with it."""
        self.answer = ""
        self._stage, self._scene, self._checks = stage, scene, checks
        self._random = Random(SEED)  # noqa: S311 - it must repeat
        self._shape: SchemaShape | None = None
        self._sampler: ArgumentSampler | None = None
        hints = [hints_of(one.python) for one in checks]
        self._named: dict[str, list[Any]] = {}
        for hint in hints:
            for name, values in hint["named"].items():
                self._named.setdefault(name, []).extend(values)
        self._loose = [value for hint in hints for value in hint["loose"]] + QUOTED.findall(scenario.task)
        self._words = ", ".join(str(one) for one in self._loose)[:LONGEST_WORDS]
        """What an answer always says: a verifier may look for any of it."""
        self._writers = [tool for tool in _tools(stage) if tool.writes]

    async def walk(self) -> set[str]:
        """The checks that held after some call of one more walk."""
        self.walks += 1
        await self._scene.rewind()
        if self._sampler is None or self._shape is None:
            self._shape = await self._scene.shape()
            self._sampler = ArgumentSampler(self._stage.environment, self._shape, self._random)
        self._sampler.begin()
        done: list[Made] = []
        held: set[str] = set()
        for _ in range(STEPS if self._writers else 0):
            made = await self._next(self._shape, self._sampler)
            if made is None:
                break
            done.append(made)
            answer = "\n".join([self._words, *(one.outcome.text for one in done)])[:LONGEST_ANSWER]
            told = await self._scene.judge(self._checks, answer=answer)
            held |= {one.checkpoint for one in told.verdicts if one.holds}
            if len(held) == len(self._checks):
                self.calls = tuple(PlannedCall(tool=one.tool, arguments=one.arguments) for one in done)
                self.answer = answer
                break
        return held

    async def _next(self, shape: SchemaShape, sampler: ArgumentSampler) -> Made | None:
        """A call that was carried out and changed rows. None if no draw is one."""
        for _ in range(DRAWS):
            tool = self._random.choice(self._writers)
            sampler.look(await self._scene.view(shape), self._scene.now)
            arguments = self._with_hints(tool, sampler.draw(tool.name))
            outcome = await self._scene.call(tool.name, arguments)
            sampler.learn(tool.name, arguments, outcome)
            if outcome.kind == "ok" and outcome.changes:
                return Made(tool.name, arguments, outcome)
        return None

    def _with_hints(self, tool: Tool, drawn: dict[str, Any]) -> dict[str, Any]:
        """Arguments in which some values are those that the verifier or the task names, where the schema permits it."""
        for name in tool.properties:
            parts = name.split("_")
            named: list[Any] = next((self._named[one] for one in (name, parts[-1]) if one in self._named), list[Any]())
            among = named if named and self._random.random() < 0.7 else self._loose
            if not among or self._random.random() < 0.4:
                continue
            changed = {**drawn, name: self._random.choice(among)}
            if self._stage.environment.checks[tool.name].validator.is_valid(changed):
                drawn = changed
        return drawn
