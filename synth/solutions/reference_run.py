"""A scenario's reference solution, played: what it did, what it left, and what was said at the end."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from agent_client.errors import AgentError
from agent_client.references import resolve_text
from agent_client.trace import ToolResult
from servers.bundle.environment import Environment
from servers.bundle.phrases import Phrases, phrases_if_readable
from servers.errors import BundleError
from servers.judge import judge
from servers.messages import Assessment
from servers.sandbox.guest_pool import Guests
from servers.scenario.checkpoints.kinds import Checkpoint
from servers.scenario.scenario import Scenario
from servers.state.readonly_query import Reader
from servers.state.rows import RowChange
from synth.play.playground import Playground, Session
from synth.solutions.call_run import (
    NOTHING,
    PlannedStep,
    PlayedCall,
    play,
    results_of,
    steps_of,
)
from synth.solutions.final_states import States
from synth.solutions.normalized_diff import MOMENT, DiffColumn, Window, essence, exactly
from synth.solutions.plausible_values import RowSample
from synth.solutions.told_values import (
    ArgumentPlace,
    TaskWords,
    ToldValue,
    told_values,
)

T = TypeVar("T")


@dataclass(frozen=True)
class ReferenceRun:
    """The reference of a scenario. `scene` is an instance of it, to play variations on."""

    environment: Environment
    scenario: Scenario
    scene: Session
    guests: Guests
    made: list[PlayedCall]
    answer: str
    states: States
    rows: RowSample
    changes: list[RowChange]
    of_the_clock: frozenset[str]
    """Its times that are others when it is played later."""
    phrases: Phrases
    """How people speak of the environment; phrases that say nothing where it has none."""

    @cached_property
    def results(self) -> list[ToolResult]:
        """What each call gave back."""
        return results_of(self.made)

    @cached_property
    def window(self) -> Window:
        """The times of its run."""
        return Window(self.scenario.clock or self.environment.description.clock)

    @cached_property
    def exact(self) -> str:
        """What it changed, to the byte."""
        return exactly(self.changes)

    @cached_property
    def essence(self) -> str:
        """What it changed, without made-up ids and times."""
        return self.essence_of(self.changes)

    def essence_of(self, changes: Sequence[RowChange]) -> str:
        """What changes come to, without made-up ids and times."""
        return essence(changes, self.window, self._fixed)

    @cached_property
    def _fixed(self) -> set[DiffColumn]:
        """The columns with times none of which hangs on when the run was."""
        places: dict[bool, set[DiffColumn]] = {True: set(), False: set()}
        for change in self.changes:
            for name, value in change.after.items():
                if isinstance(value, str) and MOMENT.fullmatch(value):
                    places[value in self.of_the_clock].add((change.table, change.operation, name))
        return places[False] - places[True]

    @cached_property
    def words(self) -> TaskWords:
        """The words of its task."""
        return TaskWords(self.scenario.task, clock=self.window.first, choices=self.phrases.words)

    @cached_property
    def told(self) -> list[ToldValue]:
        """What the task tells and the commands pass on."""
        return told_values(self.made, self.writing, self.words)

    @cached_property
    def writing(self) -> list[int]:
        """The indices of the calls that may write."""
        return [index for index, one in enumerate(self.made) if self.environment.tools[one.step.tool].writes]

    def is_open(self, place: ArgumentPlace) -> bool:
        """Whether an argument is left to the agent: it is said to be free, or is prose that the task does not give."""
        one = self.made[place.call - 1]
        value = one.arguments[place.argument]
        return place.argument in one.step.free or (
            is_prose(value, self.rows) and not self.words.tell(place.argument, value)
        )

    @cached_property
    def left_open(self) -> set[Any]:
        """The values that are left to the agent, and that no other argument has."""
        values: dict[bool, set[Any]] = {True: set(), False: set()}
        for index, one in enumerate(self.made):
            for name, value in one.arguments.items():
                kept = value if isinstance(value, (str, int, float)) else str(value)
                values[self.is_open(ArgumentPlace(index + 1, name))].add(kept)
        return values[True] - values[False]

    def neighbours(self, value: Any) -> list[Any]:
        """What stands in other rows where the reference put a value."""
        for change in self.changes:
            for column, there in change.after.items():
                if there == value and isinstance(value, str):
                    return self.rows.others(change.table, column, value)
        return []

    async def judged(
        self,
        reader: Reader,
        answer: str | None = None,
        made: Sequence[PlayedCall] | None = None,
        *,
        among: Sequence[Checkpoint] | None = None,
        now: str = "",
    ) -> Assessment:
        """What checkpoints, by default all, say of a state, of last words and of calls; without them, of its own."""
        calls = [one.told() for one in (self.made if made is None else made) if one.step is not NOTHING]
        return await judge(
            reader,
            self.scenario.checkpoints if among is None else among,
            answer=self.answer if answer is None else answer,
            calls=json.dumps(calls).encode(),
            now=now or self.scene.now,
            guests=self.guests,
            run=_in_place,
        )

    async def failing(
        self,
        reader: Reader,
        answer: str | None = None,
        made: Sequence[PlayedCall] | None = None,
        *,
        now: str = "",
    ) -> str | None:
        """A checkpoint that does not hold, if there is one. One is enough; those that take longest are asked last.

        Those that depend on each other are asked together, before the others.
        """
        checkpoints = self.scenario.checkpoints
        others = sorted((one for one in checkpoints if not one.depends_on_others), key=lambda one: one.cost)
        for group in ([one for one in checkpoints if one.depends_on_others], *([one] for one in others)):
            said = await self.judged(reader, answer, made, among=group, now=now)
            for verdict in said.verdicts:
                if not verdict.holds:
                    return verdict.checkpoint
        return None

    async def refuses(self, answer: str, *, now: str = "") -> bool:
        """Whether its final state with other last words fails."""
        with self.states.at_end() as reader:
            return await self.failing(reader, answer, now=now) is not None

    async def close(self) -> None:
        """End its instance, and close what was opened of its states."""
        self.states.close()
        await self.scene.close()

    def answered(self, made: Sequence[PlayedCall]) -> str:
        """The reference's last words, with what a run found put in."""
        return last_words(self.scenario, results_of(made, self.results))


async def _in_place(job: Callable[[], T]) -> T:
    """Run a job here: an examination judges hundreds of times in a row, and a thread for each costs more."""
    return job()


async def played(stage: Playground, scenario: Scenario, *, seed: int = 0) -> ReferenceRun:
    """Launch a scenario and play its reference solution.

    Raises:
        BundleError: the scenario does not start, a reference of the solution leads nowhere, or it is over two
            environments, of which the stage has one.
    """
    if scenario.second is not None:
        raise BundleError(f"{scenario.id} is over two environments, and here is one of them")
    scene = await stage.launch(setup=scenario.setup, clock=scenario.clock, seed=seed)
    async with scene.reading() as reader:
        rows, start = RowSample(reader), reader.connection.serialize("start")
    made = await play(scene, steps_of(scenario.reference()))
    answer = last_words(scenario, results_of(made))
    async with scene.reading() as reader:
        final, changes = reader.connection.serialize("main"), reader.changes()
    later = await times_of_the_clock(scene, steps_of(scenario.reference()), changes)
    environment = stage.environment
    states = States(start, final, whole=any(one.needs_images for one in scenario.checkpoints))
    guests = stage.worker.guests
    phrases = phrases_if_readable(environment)
    return ReferenceRun(environment, scenario, scene, guests, made, answer, states, rows, changes, later, phrases)


def last_words(scenario: Scenario, results: Sequence[ToolResult]) -> str:
    """The last words of a scenario's reference. Raises BundleError if a reference of theirs leads nowhere."""
    try:
        return resolve_text(scenario.reference().answer, results)
    except AgentError as error:
        raise BundleError(f"solution.answer: {error}") from None


def is_prose(value: Any, rows: RowSample) -> bool:
    """Whether a value is words of somebody's own, not the key of a row nor a choice."""
    return isinstance(value, str) and value not in rows.tables_of and " " in value.strip()


def ordered(steps: Sequence[PlannedStep], first: int, second: int) -> list[PlannedStep]:
    """Steps with two of them in each other's place."""
    swapped = list(steps)
    swapped[first], swapped[second] = swapped[second], swapped[first]
    return swapped


async def times_of_the_clock(
    scene: Session, steps: Sequence[PlannedStep], changes: Iterable[RowChange]
) -> frozenset[str]:
    """The times among changes that are others when their calls are made later. Leaves the scene at the later run.

    It begins when the first run has ended: none of its times can be one of the first run's.
    """
    there = _times(changes)
    if not there:
        return frozenset()
    await scene.rewind(0)
    await play(scene, [*[NOTHING] * (len(steps) + 1), *steps])
    async with scene.reading() as reader:
        return frozenset(there - _times(reader.changes()))


def _times(changes: Iterable[RowChange]) -> set[str]:
    return {
        value
        for change in changes
        for value in change.after.values()
        if isinstance(value, str) and MOMENT.fullmatch(value)
    }
