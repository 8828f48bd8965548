"""Mutants of the reference run with one mistake, and variants of it that are right as well."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from synth.solutions.call_run import (
    NOTHING,
    PlannedStep,
    PlayedCall,
    play,
    steps_of,
)
from synth.solutions.final_states import rows_changed
from synth.solutions.normalized_diff import exactly
from synth.solutions.plausible_values import other_arguments
from synth.solutions.reference_run import ReferenceRun, ordered
from synth.solutions.told_values import ArgumentPlace

MOST_SWAPS = 12
LEFT_OUT = "left out"
"""The beginning of the names of mutants that leave out a call."""


@dataclass(frozen=True)
class Tried:
    """One mutant or variant: the change, whether it must fail or pass, whether it fails, and its row difference."""

    what: str
    must_fail: bool
    fails: bool
    differs: str = ""
    place: ArgumentPlace | None = None
    """The changed argument, if the task tells its value."""
    held_by: str = ""
    """The checkpoint that fails."""


@dataclass(frozen=True)
class _Mistake:
    """One mistake: its description, the first differing step, its steps, and the changed argument."""

    what: str
    at: int
    steps: list[PlannedStep]
    place: ArgumentPlace | None = None


async def mistaken(reference: ReferenceRun) -> AsyncIterator[Tried]:
    """Play the reference with one mistake at a time. A mistake without an effect is left out."""
    steps = steps_of(reference.scenario.reference())
    told = {one.place for one in reference.told}
    replay = Replay(reference)
    seen, known = {reference.exact}, set[bytes]()
    for mistake in _mistakes(reference, steps):
        made = await replay.play(mistake.at, mistake.steps)
        difference = reference.scene.instance.state.changes_since_start()
        if difference in known:
            continue
        known.add(difference)
        with reference.states.after(difference) as reader:
            changes = rows_changed(reader, difference)
            exact = exactly(changes)
            if exact in seen:
                continue
            seen.add(exact)
            if mistake.what.startswith("repeated") and reference.essence_of(changes) == reference.essence:
                continue
            held_by = await reference.failing(reader, reference.answer, made)
            yield Tried(
                mistake.what,
                True,
                held_by is not None,
                _difference(exact, changes, reference),
                mistake.place if mistake.place in told else None,
                held_by or "",
            )


async def harmless(reference: ReferenceRun) -> AsyncIterator[Tried]:
    """Play the reference in equivalent ways: with another query, without its queries, in another order.

    Two neighbours that cannot be swapped without another result are a mistake instead, and must fail. Failed variants
    in queries say nothing: some facts are known from a query alone, or a list has another order.
    """
    steps = steps_of(reference.scenario.reference())
    for what, others in _with_other_queries(reference, steps):
        tried = await _other_way(reference, what, others)
        if tried.is_same or not tried.told.fails:
            yield tried.told
    for first, second in list(zip(reference.writing, reference.writing[1:], strict=False))[:MOST_SWAPS]:
        if f"${{{steps[first].number}." in str(steps[second].arguments):
            continue
        swapped = ordered(steps, first, second)
        tried = await _other_way(reference, f"calls {first + 1} and {second + 1} swapped", swapped)
        yield replace(tried.told, must_fail=not tried.is_same)


def _with_other_queries(reference: ReferenceRun, steps: list[PlannedStep]) -> Iterator[tuple[str, list[PlannedStep]]]:
    query = _query(reference)
    if query is not None:
        yield f"with {query.tool} called first", [query, *steps]
    writing = [step for index, step in enumerate(steps) if index in reference.writing]
    if 0 < len(writing) < len(steps):
        yield "without its queries", writing


class _OtherWay(NamedTuple):
    """A variant, and whether it leaves the same rows as the reference."""

    told: Tried
    is_same: bool


async def _other_way(reference: ReferenceRun, what: str, steps: list[PlannedStep]) -> _OtherWay:
    made = await Replay(reference).play(0, steps)
    difference = reference.scene.instance.state.changes_since_start()
    with reference.states.after(difference) as reader:
        changes = rows_changed(reader, difference)
        same = reference.essence_of(changes) == reference.essence
        failed = await reference.failing(reader, reference.answer, made)
        if same and failed:
            failed = await reference.failing(reader, reference.answered(made), made)
        return _OtherWay(Tried(what, False, failed is not None, _difference("", changes, reference)), same)


class Replay:
    """Plays variations in the reference's instance, from the first difference on."""

    def __init__(self, reference: ReferenceRun) -> None:
        self._reference = reference
        self._steps = steps_of(reference.scenario.reference())
        self._same = 0
        """The number of the history's calls that equal the reference's."""

    async def play(self, at: int, steps: list[PlannedStep]) -> list[PlayedCall]:
        """Play steps in place of the reference's. They are equal before `at`."""
        reference = self._reference
        same = min(at, self._same)
        await reference.scene.rewind(same)
        await play(reference.scene, self._steps[same:at], reference.results)
        self._same = at
        made = await play(reference.scene, steps[at:], reference.results)
        return [*reference.made[:at], *made]


def _mistakes(reference: ReferenceRun, steps: list[PlannedStep]) -> Iterator[_Mistake]:
    for index in reference.writing:
        step = steps[index]
        name = f"call {index + 1} ({step.tool})"
        yield _Mistake(f"{LEFT_OUT} {name}", index, [*steps[:index], NOTHING, *steps[index + 1 :]])
        again = PlannedStep(0, step.tool, reference.made[index].arguments)
        yield _Mistake(f"repeated {name}", index + 1, [*steps[: index + 1], again, *steps[index + 1 :]])
        for place, value, other in other_values(reference, index):
            changed = step._replace(arguments={**step.arguments, place.argument: other})
            yield _Mistake(
                f"{name} with {place.argument} {other!r} for {value!r}",
                index,
                [*steps[:index], changed, *steps[index + 1 :]],
                place,
            )


def other_values(reference: ReferenceRun, index: int) -> Iterator[tuple[ArgumentPlace, Any, Any]]:
    """Near misses for the arguments of a call, except those that are left to the agent."""
    made = reference.made[index]
    schema = reference.environment.tools[made.step.tool].properties
    for argument, value in made.arguments.items():
        place = ArgumentPlace(index + 1, argument)
        if argument not in schema or reference.is_open(place):
            continue
        for other in other_arguments(schema[argument], value, reference.rows, reference.neighbours(value)):
            yield place, value, other


def _query(reference: ReferenceRun) -> PlannedStep | None:
    """A query without required arguments, or one of the reference."""
    for name, tool in reference.environment.tools.items():
        if not tool.writes and not tool.required:
            return PlannedStep(0, name, {})
    for one in reference.made:
        if not reference.environment.tools[one.step.tool].writes and one.outcome.kind == "ok":
            return PlannedStep(0, one.step.tool, one.arguments)
    return None


def _difference(_exact: str, changes: Any, reference: ReferenceRun) -> str:
    """The tables and columns that differ from the reference."""
    mine = {_line(change) for change in changes}
    theirs = {_line(change) for change in reference.changes}
    return ", ".join(sorted({line.split("\t")[0] for line in mine ^ theirs})) or "only times and ids"


def _line(change: Any) -> str:
    columns = "" if change.operation != "update" else "." + "/".join(sorted(change.after))
    return f"{change.table}{columns}\t{change.model_dump_json()}"
