"""The ladder: scripted weak agents that try a task honestly and lack one thing each. What fails them makes it hard.

Most are functions of a script, like the wrong agents. The others play the weak runs that a scenario brings along: the
scenario claims that they fail, so one that passes is a finding.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import get_args

from agent_client.references import REFERENCE
from servers.scenario.scenario import Solution, Weakness
from synth.certify.agents.wrong_agents import (
    AgentRun,
    Earned,
    Script,
    WrongAgent,
    WrongAgentPlayer,
    first_match,
    script_of,
)
from synth.certify.agents.wrong_answers import CLAIM
from synth.solutions.call_run import PlannedStep, steps_of
from synth.solutions.reference_run import ReferenceRun

NUMBER = re.compile(r"\$\{(\d+)")
"""The number of a call in a reference to its result."""


def never_looks_up(script: Script) -> Iterator[AgentRun]:
    """Make the commands at once, with the task's words in place of what a look-up would show."""
    said = [value for step in script.queries() for value in step.arguments.values() if isinstance(value, str)]
    word = next((value for value in said if "${" not in value), "unknown")
    steps = [
        step._replace(
            number=0,
            arguments={name: word if _is_looked_up(value) else value for name, value in step.arguments.items()},
        )
        for step in (script.steps[index] for index in script.commands)
    ]
    if any(_is_looked_up(value) for index in script.commands for value in script.steps[index].arguments.values()):
        yield AgentRun(steps, script.answer)


def forgets_the_last(script: Script) -> Iterator[AgentRun]:
    """Leave out the last of several commands."""
    if len(script.commands) > 1:
        last = script.commands[-1]
        yield AgentRun([step for index, step in enumerate(script.steps) if index != last], script.answer)


def one_of_a_set(script: Script) -> Iterator[AgentRun]:
    """Do for one row what is to be done for several."""
    again = {
        later
        for earlier, later in pairwise(script.commands)
        if script.steps[earlier].tool == script.steps[later].tool and script.results[later] is not None
    }
    if again:
        kept = [step for index, step in enumerate(script.steps) if index not in again]
        yield AgentRun(_independent(script, kept), script.answer)


def never_tells(script: Script) -> Iterator[AgentRun]:
    """Do everything, and say only that it is done."""
    yield AgentRun(script.steps, CLAIM)


def stops_when_refused(script: Script) -> Iterator[AgentRun]:
    """Stop at the first refusal."""
    refused = [index for index in script.commands[:-1] if script.results[index] is None]
    if refused:
        yield AgentRun(script.steps[: refused[0] + 1], script.answer)


LADDER: tuple[WrongAgent, ...] = (
    never_looks_up,
    first_match,
    one_of_a_set,
    forgets_the_last,
    never_tells,
    stops_when_refused,
)


async def ladder(reference: ReferenceRun) -> list[Earned]:
    """Let the weak agents play a scenario: the same ones for all, and those that it claims to fail."""
    script = script_of(reference)
    player = WrongAgentPlayer(reference)
    earned = {one.agent: one for one in [await player.play(agent, script) for agent in LADDER] if one.counts}
    for weakness in get_args(Weakness):
        claimed = await player.play(_weak(reference, weakness), script)
        there = earned.get(weakness)
        if claimed.counts and (there is None or claimed.reward > there.reward):
            earned[weakness] = claimed
    return list(earned.values())


def unmet(reference: ReferenceRun, earned: list[Earned]) -> list[str]:
    """The claims of a scenario that do not hold: its weak runs that are right, or earn reward 1."""
    failing = {one.agent for one in earned if one.reward < 1}
    claimed = dict.fromkeys(run.weakness for run in reference.scenario.weak)
    return [
        f"it claims that an agent that {_told(weakness)} fails, and one does not"
        for weakness in claimed
        if weakness not in failing
    ]


def _weak(reference: ReferenceRun, weakness: Weakness) -> WrongAgent:
    """The agent that plays a scenario's weak runs of one weakness."""

    def agent(_: Script) -> Iterator[AgentRun]:
        for run in reference.scenario.weak:
            if run.weakness == weakness:
                yield AgentRun(steps_of(Solution(calls=run.calls, answer=run.answer)), run.answer)

    agent.__name__ = weakness
    return agent


TOLD: dict[str, str] = {
    "first match": "takes the first match",
    "letter of names": "follows the letter of names",
    "off by one": "misses a limit by one",
    "one rule only": "heeds one rule only",
    "old figures": "trusts old figures",
}


def _told(weakness: str) -> str:
    return TOLD.get(weakness, weakness)


def _is_looked_up(value: object) -> bool:
    return isinstance(value, str) and REFERENCE.search(value) is not None


def _independent(script: Script, steps: list[PlannedStep]) -> list[PlannedStep]:
    """Steps without those that refer to one that is left out."""
    kept: list[PlannedStep] = []
    for step in steps:
        named = {int(number) for number in _numbers(step)}
        if named <= {one.number for one in kept}:
            kept.append(step)
    return kept


def _numbers(step: PlannedStep) -> list[str]:
    return NUMBER.findall(str(step.arguments))
