"""Repairs a scenario whose checkpoints miss values of its task: makes its row goals again from its solution.

A backward scenario gets all of them again, and the goals over reasons of its refusals with the task's question. Any
other one keeps its goals, and gets further ones over the rows that hold the values.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from servers.errors import BundleError
from servers.scenario.checkpoints.answer import AnswerCheckpoint
from servers.scenario.checkpoints.footprint import FootprintCheckpoint
from servers.scenario.checkpoints.kinds import Checkpoint
from servers.scenario.checkpoints.sql import SqlCheckpoint
from servers.scenario.scenario import Scenario, Solution
from servers.state.readonly_query import Reader
from servers.state.rows import RowChange
from synth.backward.refusals.counterfactuals import RefusedCall
from synth.backward.refusals.reasons import reasons_of, told_beside, why_goals
from synth.backward.row_goals import Changed, changed, counted, footprint, goal, goals_of_rows
from synth.certify.agents.state_mutants import has_value
from synth.certify.agents.wrong_agents import WrongAgent
from synth.certify.certifier import Examined, examine, paraphrased
from synth.certify.rivals import with_rivals
from synth.certify.value_guards import Held
from synth.phrasing.task_text import without_question
from synth.play.playground import Playground
from synth.solutions.last_line import judged_by_line, judged_by_prose
from synth.solutions.reference_run import ReferenceRun, played
from synth.solutions.told_values import ArgumentPlace

BACKWARD = "backward"
WHY = re.compile(r"why_\d+")


async def mended(stage: Playground, scenario: Scenario, others: Sequence[WrongAgent] = ()) -> Examined:
    """A scenario whose checkpoints hold what its task tells, as far as rows show it, and its examination.

    Raises:
        BundleError: it does not start, or its solution fails.
    """
    scenario, clock = await _closed(stage, scenario), stage.environment.description.clock
    if BACKWARD in scenario.tags:
        explained = await _explained(stage, await _rebuilt(stage, judged_by_prose(scenario)))
        return await examine(stage, await rivalled(stage, judged_by_line(explained, clock)), others)
    scenario = judged_by_line(scenario, clock)
    seen = await examine(stage, await rivalled(stage, scenario), others)
    return await examine(stage, await _added(stage, seen), others) if any(one.alive for one in seen.told) else seen


async def _closed(stage: Playground, scenario: Scenario) -> Scenario:
    """The scenario without `free` arguments that its task tells."""
    reference = await played(stage, scenario)
    await reference.close()
    told = {one.place for one in reference.told if not one.is_row}
    calls = tuple(
        call.model_copy(update={"free": tuple(name for name in call.free if ArgumentPlace(number, name) not in told)})
        for number, call in enumerate(scenario.reference().calls, start=1)
    )
    solution = Solution(calls=calls, answer=scenario.reference().answer)
    return scenario.model_copy(update={"solution": solution, "certificate": None})


async def rivalled(stage: Playground, scenario: Scenario) -> Scenario:
    """The scenario with rivals for its names, except those that a right answer mentions."""
    reference = await played(stage, scenario)
    try:
        better = scenario.model_copy(update={"checkpoints": with_rivals(reference)})
        tried = await paraphrased(replace(reference, scenario=better)) if better != scenario else None
    finally:
        await reference.close()
    refused = tried.refused if tried else ()
    return scenario.model_copy(update={"checkpoints": with_rivals(reference, refused)}) if refused else better


async def _rebuilt(stage: Playground, scenario: Scenario) -> Scenario:
    reference = await played(stage, scenario)
    try:
        whole = _whole(reference)
        questions = {one.id: one.question for one in scenario.checkpoints}
        numbers = {index + 1: questions.get(f"done_{at}", "") for at, index in enumerate(reference.writing, start=1)}
        with reference.states.at_end() as reader:
            rows = {one.id: one for one in counted(goals_of_rows(numbers, reference.made, whole), reader)}
    finally:
        await reference.close()
    there = {one.id for one in scenario.checkpoints}
    if not rows.keys() <= there:
        return scenario
    fresh: list[Checkpoint] = [
        footprint(whole) if isinstance(one, FootprintCheckpoint) else rows.get(one.id, one)
        for one in scenario.checkpoints
    ]
    return scenario.model_copy(update={"checkpoints": tuple(fresh)})


async def _explained(stage: Playground, scenario: Scenario) -> Scenario:
    """The scenario with new goals over the reasons of its refusals.

    Raises:
        BundleError: nothing that can be judged is left of it.
    """
    reference = await played(stage, scenario)
    await reference.close()
    clock = reference.window.first
    refusals = [
        RefusedCall(one.step.tool, one.arguments, one.outcome.text, clock, scenario.setup)
        for one in reference.made
        if one.outcome.kind == "refused"
    ]
    if not refusals:
        return scenario
    beside = told_beside(scenario.task, refusals)
    goals = [_with_given(one, beside) for one in scenario.checkpoints if not WHY.fullmatch(one.id)]
    told = [fact for one in goals if isinstance(one, AnswerCheckpoint) for fact in one.facts]
    plain = without_question(scenario.task)
    reasons = [] if plain == scenario.task else await reasons_of(stage, refusals, plain, told)
    *rest, last = [*goals[:-1], *why_goals(reasons, beside), goals[-1]]
    if not any(one.role == "goal" for one in [*rest, last]):
        raise BundleError(f"{scenario.id}: nothing bars what is refused that an answer could tell, and nothing is done")
    task = scenario.task if reasons else plain
    return scenario.model_copy(update={"checkpoints": (*rest, last), "task": task})


def _with_given(checkpoint: Checkpoint, given: tuple[str, ...]) -> Checkpoint:
    """A checkpoint. One over the answer allows some values beside its facts."""
    return checkpoint.model_copy(update={"given": given}) if isinstance(checkpoint, AnswerCheckpoint) else checkpoint


def _whole(reference: ReferenceRun) -> Changed:
    left_open = {
        ArgumentPlace(number, name)
        for number, one in enumerate(reference.made, start=1)
        for name in one.arguments
        if reference.is_open(ArgumentPlace(number, name))
    }
    return changed(reference.changes, reference.made, left_open, reference.of_the_clock)


async def _added(stage: Playground, seen: Examined) -> Scenario:
    """The scenario with a further goal for each command whose told values were not held."""
    reference = await played(stage, seen.scenario)
    try:
        whole = _whole(reference)
        with reference.states.at_end() as reader:
            goals = [
                one
                for number in sorted({held.told.place.call for held in seen.told if held.alive})
                for one in _goals_for(reference, seen.told, number, whole, reader)
            ]
    finally:
        await reference.close()
    *_, last = seen.scenario.checkpoints
    before = [one for one in seen.scenario.checkpoints if one is not last]
    whole_list = [*before, *goals, last] if isinstance(last, FootprintCheckpoint) else [*before, last, *goals]
    return seen.scenario.model_copy(update={"checkpoints": tuple(whole_list)})


def _goals_for(
    reference: ReferenceRun, told: Sequence[Held], number: int, whole: Changed, reader: Reader
) -> list[SqlCheckpoint]:
    values = [one.told.value for one in told if one.told.place.call == number]
    touched = {(change.table, str(change.key)) for change in reference.made[number - 1].changes}
    rows = [_only(change, values) for change in whole.changes if (change.table, str(change.key)) in touched]
    kept = [row for row in rows if row is not None]
    if not kept:
        return []
    names = ", ".join(
        sorted({one.told.place.argument.replace("_", " ") for one in told if one.told.place.call == number})
    )
    question = (
        f"Do the rows of call {number} ({reference.made[number - 1].step.tool}) hold what the task tells: {names}?"
    )
    return counted([goal(f"as_told_{number}", question, kept, whole)], reader)


def _only(change: RowChange, values: Sequence[object]) -> RowChange | None:
    """A change reduced to the columns that hold one of the values. None if there is none."""
    after = {name: there for name, there in change.after.items() if any(has_value(there, value) for value in values)}
    return change.model_copy(update={"after": after}) if after and change.operation != "delete" else None
