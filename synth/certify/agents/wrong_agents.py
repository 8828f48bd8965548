"""Wrong agents that play every scenario. None may earn reward 1, unless its run is right there.

Each is a short function of a script. It knows the task, the tools, and a right run call by call. It knows no
checkpoint. `farm certify --against FILE` adds others.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from servers.bundle.description import Tool
from servers.errors import BundleError
from servers.judge import weighed
from servers.messages import Verdict
from servers.scenario.checkpoints.footprint import FootprintCheckpoint
from servers.scenario.checkpoints.kinds import Checkpoint
from servers.scenario.checkpoints.sql import SqlCheckpoint
from servers.state.readonly_query import Reader
from servers.text.json_values import is_list, is_object
from synth.certify.agents.run_mutants import Replay, other_values
from synth.certify.agents.wrong_answers import CLAIM, IDLE, REFUSAL, altered, counted_on
from synth.solutions.call_run import (
    PlannedStep,
    steps_of,
)
from synth.solutions.final_states import rows_changed
from synth.solutions.reference_run import ReferenceRun
from synth.solutions.told_values import ArgumentPlace

MOST_RUNS = 6
"""The most runs of one wrong agent in one scenario."""
MOST_OTHERS = 19
"""The most wrong values that a lister adds to the right one, one a sentence."""
_SENTENCE = re.compile(r"\S.*?(?:[.!?](?=\s|$)|$)", re.DOTALL)
_FIRST = re.compile(r"(\$\{\d+[^}\[]*)\[\d+\]")
UNDOING = ("cancel", "void", "withdraw", "remove", "delete", "release", "return", "lift", "strike", "undo", "reopen")
"""Words in the names of tools that revert something."""


@dataclass(frozen=True)
class Script:
    """The knowledge of a wrong agent about a scenario."""

    task: str
    tools: Mapping[str, Tool]
    steps: tuple[PlannedStep, ...]
    """The right calls. Their strings may refer to earlier results as `${2.loans[0].loan_id}`."""
    commands: tuple[int, ...]
    """The indexes of the writing calls."""
    arguments: tuple[dict[str, Any], ...]
    """The arguments of the right calls, without references."""
    results: tuple[Any, ...]
    """The results of the right calls: an object, or None for a refusal."""
    texts: tuple[str, ...]
    """The results as texts."""
    answer: str
    """The right last words."""
    contradiction: str
    """The same with other numbers, dates and names."""
    near: Mapping[ArgumentPlace, Sequence[Any]] = field(default_factory=dict[ArgumentPlace, Sequence[Any]])
    """Near misses for the arguments of the commands, except those that the task leaves open."""
    told: frozenset[ArgumentPlace] = frozenset()
    """The arguments whose values the task tells."""

    def with_other(self, index: int, others: Mapping[str, Any]) -> PlannedStep:
        """A right call with other arguments."""
        step = self.steps[index]
        return step._replace(arguments={**step.arguments, **others})

    def queries(self) -> list[PlannedStep]:
        """The right calls that only read."""
        return [step for index, step in enumerate(self.steps) if index not in self.commands]


class AgentRun(NamedTuple):
    """The calls of an agent, and its last words."""

    steps: Sequence[PlannedStep]
    answer: str
    added: str = ""
    """Words in addition to the right ones. If they alone earn reward 1, the run is not wrong."""


WrongAgent = Callable[[Script], Iterable[AgentRun]]
"""A generator of runs. The best of them counts."""


def name_of(agent: WrongAgent) -> str:
    """The name of an agent in certificates and options: `takes all`."""
    return agent.__name__.replace("_", " ")


@dataclass(frozen=True)
class Earned:
    """The highest reward of a wrong agent. It does not count if no run was wrong."""

    agent: str
    reward: float = 0.0
    counts: bool = False
    run: AgentRun | None = None

    def finding(self) -> str:
        """The finding if it earned reward 1."""
        said = self.run.answer if self.run else ""
        calls = len(self.run.steps) if self.run else 0
        return f"the {self.agent} earns {self.reward:g} with {calls} calls, saying {said[:80]!r}"


def near_miss(script: Script) -> Iterator[AgentRun]:
    """Replace the task's values by their neighbours, in one command at a time."""
    for index in script.commands:
        others = {
            place.argument: near[0]
            for place, near in script.near.items()
            if place.call == index + 1 and place in script.told and near
        }
        if others:
            steps = [*script.steps[:index], script.with_other(index, others), *script.steps[index + 1 :]]
            yield AgentRun(steps, script.answer)


def paster(script: Script) -> Iterator[AgentRun]:
    """Answer with all results."""
    yield AgentRun(script.steps, "\n".join(script.texts))
    yield AgentRun(script.steps, "\n".join([script.answer, *script.texts]))


def lister(script: Script) -> Iterator[AgentRun]:
    """Answer with all candidates: every value of each property that a look-up showed."""
    values = shown_values(script)
    lines = [f"{name.replace('_', ' ')}: {', '.join(dict.fromkeys(told))}" for name, told in values.items()]
    yield AgentRun(script.steps, "\n".join(lines))
    yield AgentRun(script.steps, "\n".join([script.answer, "All that there are:", *lines]))
    if script.contradiction != script.answer:
        others = list(islice(_counting_on(script.contradiction), MOST_OTHERS))
        yield AgentRun(script.steps, " ".join([*others, script.answer]), added=script.contradiction)


def shown_values(script: Script) -> dict[str, list[str]]:
    """Every value of each property that a right run was shown."""
    values: dict[str, list[str]] = {}
    for result in script.results:
        for name, value in _properties(result):
            values.setdefault(name, []).append(str(value))
    return values


def _counting_on(answer: str) -> Iterator[str]:
    """The sentences of an answer with a number, repeated with consecutive values."""
    told = " ".join(part for part in _SENTENCE.findall(answer) if any(sign.isdigit() for sign in part))
    while told:
        yield told
        told = counted_on(told)


def hedger(script: Script) -> Iterator[AgentRun]:
    """Give the right answer and its contrary, and leave the choice to the reader."""
    if script.contradiction != script.answer:
        yield AgentRun(
            script.steps, f"Either this: {script.answer} Or this: {script.contradiction} It is one of the two."
        )
        yield AgentRun(script.steps, f"{script.answer} No, sorry, that was wrong. {script.contradiction}")
        yield AgentRun(script.steps, f"{script.answer} {script.contradiction}", added=script.contradiction)


def echo(script: Script) -> Iterator[AgentRun]:
    """Repeat the task."""
    yield AgentRun(script.steps, script.task)


def claimer(script: Script) -> Iterator[AgentRun]:
    """Claim that all is done, after nothing or after everything."""
    yield AgentRun((), CLAIM)
    yield AgentRun(script.steps, CLAIM)


def refuser(script: Script) -> Iterator[AgentRun]:
    """Refuse, after nothing or after everything."""
    yield AgentRun((), REFUSAL)
    yield AgentRun(script.steps, REFUSAL)


def first_match(script: Script) -> Iterator[AgentRun]:
    """Take the first row of each list."""
    steps = [step._replace(arguments=_of_the_first(step.arguments)) for step in script.steps]
    if steps != list(script.steps):
        yield AgentRun(steps, script.answer)


def half(script: Script) -> Iterator[AgentRun]:
    """Stop after a command, and claim that all is done."""
    for index in script.commands[:-1]:
        yield AgentRun(script.steps[: index + 1], script.answer)


def over_doer(script: Script) -> Iterator[AgentRun]:
    """Do the same for the next row too."""
    for index in script.commands:
        for other in _elsewhere(script, index):
            yield AgentRun([*script.steps[: index + 1], other, *script.steps[index + 1 :]], script.answer)


def undoer(script: Script) -> Iterator[AgentRun]:
    """Do it, revert it, and do it elsewhere."""
    for index in script.commands:
        for other in _elsewhere(script, index):
            for back in _taking_back(script, index):
                yield AgentRun([*script.steps[: index + 1], back, other, *script.steps[index + 1 :]], script.answer)


def reader(script: Script) -> Iterator[AgentRun]:
    """Only look things up, and give the right answer."""
    yield AgentRun(script.queries(), script.answer)


def twice(script: Script) -> Iterator[AgentRun]:
    """Make each command once more."""
    steps: list[PlannedStep] = []
    for index, step in enumerate(script.steps):
        again = PlannedStep(0, step.tool, script.arguments[index])
        steps += [step, again] if index in script.commands else [step]
    yield AgentRun(steps, script.answer)


def script_of(reference: ReferenceRun) -> Script:
    """The script of a scenario for wrong agents."""
    near: dict[ArgumentPlace, list[Any]] = {}
    for index in reference.writing:
        for place, _, other in other_values(reference, index):
            near.setdefault(place, []).append(other)
    return Script(
        task=reference.scenario.task,
        tools=reference.environment.tools,
        steps=tuple(steps_of(reference.scenario.reference())),
        commands=tuple(reference.writing),
        arguments=tuple(one.arguments for one in reference.made),
        results=tuple(one.outcome.structured for one in reference.made),
        texts=tuple(one.outcome.text for one in reference.made),
        answer=reference.answer,
        contradiction=altered(reference.answer, reference.scenario.task, reference.rows),
        near=near,
        told=frozenset(one.place for one in reference.told),
    )


class WrongAgentPlayer:
    """Plays runs of wrong agents in the reference's instance, and rewards them."""

    def __init__(self, reference: ReferenceRun) -> None:
        self._reference = reference
        self._replay = Replay(reference)
        self._steps = steps_of(reference.scenario.reference())
        self._is_deaf: bool | None = None
        self._of_rows: dict[str, Verdict] | None = None

    async def play(self, agent: WrongAgent, script: Script) -> Earned:
        """The highest reward of an agent's wrong runs."""
        name = name_of(agent)
        best = Earned(name)
        for run in islice(agent(script), MOST_RUNS):
            reward = await self.reward(run)
            if reward is not None and (not best.counts or reward > best.reward):
                best = Earned(name, reward, counts=True, run=run)
        return best

    async def reward(self, run: AgentRun) -> float | None:
        """The reward of a run. None if the run is right: same rows and same answer as the reference."""
        reference = self._reference
        if list(run.steps) == self._steps:
            if run.answer == reference.answer or await self._hears_nothing():
                return None
            with reference.states.at_end() as reader:
                if run.added and await self._spoken(reader, run.added) == 1:
                    return None
                return await self._spoken(reader, run.answer)
        try:
            made = await self._replay.play(self._same(run), list(run.steps))
        except BundleError:
            return None  # it refers to what its own calls did not give: such a run cannot be made
        difference = reference.scene.instance.state.changes_since_start()
        with reference.states.after(difference) as reader:
            is_same = reference.essence_of(rows_changed(reader, difference)) == reference.essence
            if is_same and (run.answer == reference.answer or await self._hears_nothing()):
                return None
            return (await reference.judged(reader, run.answer, made)).reward

    async def _spoken(self, reader: Reader, answer: str) -> float:
        """The reward of the reference's final state with other last words.

        Checkpoints that hear no answer say the same each time, and are asked once.
        """
        reference = self._reference
        checkpoints = reference.scenario.checkpoints
        if self._of_rows is None:
            deaf = [one for one in checkpoints if not _hears(one)]
            said = await reference.judged(reader, answer, among=deaf)
            self._of_rows = {verdict.checkpoint: verdict for verdict in said.verdicts}
        said = await reference.judged(reader, answer, among=[one for one in checkpoints if _hears(one)])
        heard = {verdict.checkpoint: verdict for verdict in said.verdicts}
        verdicts = {**self._of_rows, **heard}
        return weighed([verdicts[one.id] for one in checkpoints]).reward

    def _same(self, run: AgentRun) -> int:
        """The number of a run's first calls that equal the reference's."""
        pairs = zip(run.steps, self._steps, strict=False)
        parts = (at for at, (mine, theirs) in enumerate(pairs) if mine != theirs)
        return next(parts, min(len(run.steps), len(self._steps)))

    async def _hears_nothing(self) -> bool:
        """True if the scenario judges no answer."""
        if self._is_deaf is None:
            self._is_deaf = not await self._reference.refuses(IDLE, now=self._reference.window.last)
        return self._is_deaf


def _hears(checkpoint: Checkpoint) -> bool:
    """Whether the verdict of a checkpoint may hang on the answer."""
    return not isinstance(checkpoint, FootprintCheckpoint | SqlCheckpoint) or ":answer" in checkpoint.model_dump_json()


def _properties(value: Any) -> Iterator[tuple[str, Any]]:
    if is_object(value):
        for name, inner in value.items():
            if isinstance(inner, dict | list):
                yield from _properties(inner)
            elif inner is not None:
                yield name, inner
    elif is_list(value):
        for inner in value:
            yield from _properties(inner)


def _of_the_first(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments whose references point to the first row of each list."""
    return json.loads(_FIRST.sub(lambda found: f"{found[1]}[0]", json.dumps(arguments)))


def _elsewhere(script: Script, index: int) -> Iterator[PlannedStep]:
    """A command as it would be made for the next row, if it is about one."""
    for place, near in script.near.items():
        if place.call == index + 1 and near and _is_looked_up(script.steps[index].arguments.get(place.argument)):
            yield PlannedStep(0, script.steps[index].tool, {**script.arguments[index], place.argument: near[0]})
            return


def _taking_back(script: Script, index: int) -> Iterator[PlannedStep]:
    """A call that may revert a command, with values from the command's arguments and result."""
    known = {**script.arguments[index], **dict(_properties(script.results[index]))}
    for name, tool in script.tools.items():
        takes_back = any(word in name for word in UNDOING) and name != script.steps[index].tool
        if tool.writes and takes_back and tool.required and tool.required <= known.keys():
            yield PlannedStep(0, name, {argument: known[argument] for argument in sorted(tool.required)})
            return


def _is_looked_up(planned: Any) -> bool:
    return isinstance(planned, str) and "${" in planned
