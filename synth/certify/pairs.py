"""Certifies a scenario over two environments.

What is wrong in one environment leaves the other as the reference leaves it, where every checkpoint holds. So each
environment's part is examined as a scenario of its own: its calls, with what the other one showed as plain values. The
whole is played too, as an agent plays it, with made-up ids of two kinds.
"""

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from agent_client.errors import AgentError
from agent_client.json_values import with_texts
from agent_client.references import REFERENCE, resolve, resolve_text
from agent_client.trace import ToolResult
from servers.errors import BundleError, CheckpointError, NotFound
from servers.judge import weighed
from servers.messages import Verdict
from servers.scenario.checkpoints.kinds import Checkpoint
from servers.scenario.scenario import (
    Difficulty,
    PlannedCall,
    Scenario,
    SecondEnvironment,
    Solution,
)
from servers.scenario.scenario_file import digest_of
from servers.scenario.two_environments import Route, first_side, routes_between, second_side
from synth.certify.agents.run_mutants import LEFT_OUT, Tried
from synth.certify.agents.wrong_agents import AgentRun, Earned, Script, WrongAgent
from synth.certify.certifier import (
    WRONG_LAST_WORDS,
    Examined,
    broken_calls,
    conclude,
    examine,
    not_holding,
    too_strict,
)
from synth.play.playground import Playground
from synth.solutions.call_run import PlayedCall, play, results_of, steps_of
from synth.solutions.reference_run import last_words

Stages = tuple[Playground, Playground]
_INDEX = re.compile(r"\[\d+\]")


class PlayedPair(NamedTuple):
    """The calls of a solution, played over two environments in order, its last words, and the verdicts of both."""

    made: list[PlayedCall]
    answer: str
    verdicts: list[Verdict]


class Side(NamedTuple):
    """The part of a scenario in one environment, and the places of its calls in the whole solution, from 1."""

    environment: str
    scenario: Scenario
    places: list[int]
    weight: float
    first_elsewhere: list[dict[str, Any]]
    """The arguments of its calls with the first row of each list of the other environment, where one is chosen."""


@dataclass(frozen=True)
class Both:
    """A scenario over two environments, and where each call of its solution goes."""

    scenario: Scenario
    second: SecondEnvironment
    solution: Solution
    names: Mapping[str, Route]

    @classmethod
    def of(cls, stages: Stages, scenario: Scenario) -> "Both":
        """The scenario on the environments of two stages.

        Raises:
            NotFound: it has no reference solution.
            BundleError: a call names no tool of the two.
        """
        names = routes_between(stages[0].environment, stages[1].environment)
        solution = scenario.reference()
        for number, call in enumerate(solution.calls, start=1):
            if call.tool not in names:
                raise BundleError(f"solution.calls.{number}: no tool named {call.tool!r} in either environment")
        if scenario.second is None:
            raise NotFound(f"scenario {scenario.id!r} has no second environment")
        return cls(scenario, scenario.second, solution, names)

    @cached_property
    def routes(self) -> list[Route]:
        """Where each call of the solution goes."""
        return [self.names[call.tool] for call in self.solution.calls]


async def examine_both(stages: Stages, scenario: Scenario, others: Sequence[WrongAgent] = ()) -> Examined:
    """Play a scenario over two environments in all ways that test its checkpoints."""
    begin = time.perf_counter()
    seen = Examined(scenario)
    try:
        both = Both.of(stages, scenario)
        run = await played_over(stages, both)
        seen.findings += [*broken_calls(run.made), *not_holding(weighed(run.verdicts).verdicts)]
        if not seen.findings:
            await _examine(stages, both, run, seen, others)
    except (BundleError, CheckpointError, NotFound) as error:
        seen.findings.append(str(error))
    seen.seconds = time.perf_counter() - begin
    return seen


async def played_over(stages: Stages, both: Both, *, seed: int = 0) -> PlayedPair:
    """Launch both environments of a scenario, play its solution over them, and judge both.

    Raises:
        BundleError: it does not start, or a reference of the solution leads nowhere.
    """
    second = both.second
    starts = ((both.scenario.setup, both.scenario.clock), (second.setup, second.clock))
    scenes = [
        await stage.launch(setup=setup, clock=clock, seed=seed)
        for stage, (setup, clock) in zip(stages, starts, strict=True)
    ]
    made: list[PlayedCall] = []
    try:
        for step, route in zip(steps_of(both.solution), both.routes, strict=True):
            made += await play(scenes[route.at], [step._replace(tool=route.tool)], results_of(made))
        answer = last_words(both.scenario, results_of(made))
        verdicts: list[Verdict] = []
        for scene, checkpoints in zip(scenes, (both.scenario.checkpoints, second.checkpoints), strict=True):
            verdicts += (await scene.judge(checkpoints, answer=answer)).verdicts
    finally:
        for scene in scenes:
            await scene.close()
    return PlayedPair(made, answer, verdicts)


def sides_of(stages: Stages, both: Both, run: PlayedPair) -> list[Side]:
    """The two parts of a scenario: the values that the other environment showed stand in each as themselves."""
    found: list[Side] = []
    for at, stage in enumerate(stages):
        places = [number for number, route in enumerate(both.routes, start=1) if route.at == at]
        results = results_of(run.made)
        part = _Part(places, results)
        calls = [(both.solution.calls[place - 1], both.routes[place - 1].tool) for place in places]
        solution = Solution(
            calls=tuple(
                PlannedCall(tool=tool, arguments=part.value(call.arguments), free=call.free) for call, tool in calls
            ),
            answer=part.text(both.solution.answer),
        )
        scenario = first_side(both.scenario, solution) if at == 0 else second_side(both.scenario, both.second, solution)
        first = [part.value(_of_the_first(call.arguments, set(places), results)) for call, _ in calls]
        found.append(Side(stage.environment.id, scenario, places, _weight(scenario.checkpoints), first))
    return found


@dataclass(frozen=True)
class _Part:
    """The calls of one environment within a whole solution. References to them are numbered anew."""

    places: list[int]
    results: list[ToolResult]

    def value(self, value: Any) -> Any:
        """A value whose references to calls of the other environment are resolved."""

        def own(text: str) -> Any:
            whole = REFERENCE.fullmatch(text)
            return resolve(text, self.results) if whole and int(whole[1]) not in self.places else self.text(text)

        return with_texts(value, own)

    def text(self, text: str) -> str:
        """A text whose references to calls of the other environment are resolved."""
        return REFERENCE.sub(lambda found: self._own(int(found[1]), found[0], found[2]), text)

    def _own(self, number: int, whole: str, path: str) -> str:
        if number in self.places:
            return f"${{{self.places.index(number) + 1}{path}}}"
        return resolve_text(whole, self.results)


async def _examine(stages: Stages, both: Both, run: PlayedPair, seen: Examined, others: Sequence[WrongAgent]) -> None:
    sides = sides_of(stages, both, run)
    parts: list[Examined] = []
    for at, (stage, side) in enumerate(zip(stages, sides, strict=True)):
        paster = _paster_of_both(
            [one.outcome.text for one, route in zip(run.made, both.routes, strict=True) if route.at != at]
        )
        own = (*others, paster, _first_match_elsewhere(side.first_elsewhere))
        part = await examine(stage, side.scenario, own, alone=False)
        seen.findings += [f"in {side.environment}: {one}" for one in part.findings]
        parts.append(part)
    if seen.findings:
        return
    other = await played_over(stages, both, seed=1)
    fails = not all(one.holds for one in other.verdicts)
    seen.tried = [Tried("with other made-up ids in both", False, fails)]
    is_told = parts[0].paraphrases is not None
    for side, part in zip(sides, parts, strict=True):
        is_deaf = is_told and side is not sides[0]  # what is said is judged in the first environment
        own = [one for one in part.tried if not (is_deaf and one.what in WRONG_LAST_WORDS)]
        seen.findings += [
            f"in {side.environment}: it is enough without all of it: {one.what}"
            for one in own
            if one.must_fail and not one.fails and one.what.startswith(LEFT_OUT)
        ]
        seen.tried += [replace(one, what=f"in {side.environment}: {one.what}", place=None) for one in own]
        seen.findings += [f"in {side.environment}: {one.finding()}" for one in part.told if one.alive]
        seen.findings += [f"in {side.environment}: {one.finding()}" for one in part.company if one.reward >= 1]
    seen.told = [one for part in parts for one in part.told]
    seen.company = list(_together([part.company for part in parts], sides))
    seen.ladder = list(_together([part.ladder for part in parts], sides))
    seen.paraphrases = parts[0].paraphrases
    _weigh(stages, both, sides, parts, seen)


def _weigh(stages: Stages, both: Both, sides: Sequence[Side], parts: Sequence[Examined], seen: Examined) -> None:
    """Turn the results of both into findings, or into a certificate."""
    seen.findings += too_strict(seen)
    told = {
        f"{side.places[one.told.place.call - 1]}.{one.told.place.argument}": one.by
        for side, part in zip(sides, parts, strict=True)
        for one in part.told
    }
    difficulty = Difficulty(
        calls=len(both.solution.calls),
        tools=tuple(sorted({call.tool for call in both.solution.calls})),
        tables=tuple(sorted({table for part in parts if part.difficulty for table in part.difficulty.tables})),
        ladder={one.agent: one.reward for one in seen.ladder},
    )
    digest = digest_of(stages[0].environment, both.scenario)
    conclude(seen, digest, told, difficulty, second=stages[1].environment.digest)


def _together(earned: Sequence[Sequence[Earned]], sides: Sequence[Side]) -> Iterator[Earned]:
    """What each wrong agent earns at most that is wrong in every environment where it can be.

    Where it does nothing wrong it earns the whole, as the reference does.
    """
    names = dict.fromkeys(one.agent for part in earned for one in part)
    for name in names:
        own = [next((one for one in part if one.agent == name), Earned(name)) for part in earned]
        rewards = [one.reward if one.counts else 1.0 for one in own]
        pairs = list(zip(rewards, sides, strict=True))
        reward = sum(reward * side.weight for reward, side in pairs) / sum(side.weight for _, side in pairs)
        yield Earned(name, round(reward, 6), counts=any(one.counts for one in own))


def _paster_of_both(texts: Sequence[str]) -> WrongAgent:
    """An agent that pastes what the other environment showed, beside what this one did."""

    def paster_of_both(script: Script) -> Iterator[AgentRun]:
        yield AgentRun(script.steps, "\n".join([*script.texts, *texts]))
        yield AgentRun(script.steps, "\n".join([script.answer, *texts]))

    return paster_of_both


def _first_match_elsewhere(arguments: Sequence[dict[str, Any]]) -> WrongAgent:
    """An agent that takes the first row of each list that the other environment showed."""

    def first_match_elsewhere(script: Script) -> Iterator[AgentRun]:
        steps = [step._replace(arguments=given) for step, given in zip(script.steps, arguments, strict=True)]
        if steps != list(script.steps):
            yield AgentRun(steps, script.answer)

    return first_match_elsewhere


def _of_the_first(value: Any, own: set[int], results: list[ToolResult]) -> Any:
    """A value whose references to the other environment point to the first row of each list, where there is one."""

    def first(found: re.Match[str]) -> str:
        other = found[0] if int(found[1]) in own else _INDEX.sub("[0]", found[0])
        try:
            resolve(other, results)
        except AgentError:
            return found[0]
        return other

    return with_texts(value, lambda text: REFERENCE.sub(first, text))


def _weight(checkpoints: Sequence[Checkpoint]) -> float:
    return sum(one.weight for one in checkpoints if one.role == "goal")
