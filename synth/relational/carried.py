"""Checkpoints in SQL that came from check functions: both are asked on reached states, and on mutants of them."""

from collections.abc import AsyncGenerator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from agent_client.errors import AgentError
from agent_client.references import resolve
from agent_client.trace import ToolResult
from servers.errors import BundleError, CheckpointError, QueryError
from servers.messages import Assessment
from servers.scenario.checkpoints.python import PythonCheckpoint
from servers.scenario.checkpoints.sql import Comparison, SqlCheckpoint
from servers.scenario.scenario import PlannedCall, Scenario
from servers.text.json_values import is_list, is_object
from synth.play.playground import Playground
from synth.play.row_view import SchemaShape
from synth.relational.call_drawer import CallDrawer, other_value
from synth.relational.paired_run import PairedRun, calls_text
from synth.relational.states import TwinStart, TwinState, own_rows, rows_of_state
from synth.relational.twin_file import Twin

STATE_MUTANTS = 60
"""Mutants of the state after the solution, and half as many of the first one."""
DRAWN_RUNS = 24
DRAWN_CALLS = 3
MOST_OF_ROWS, MOST_OF_ENTRY = 1500, 400
"""Characters of the rows that a refusal shows, and of one entry in it."""
IS_TRUE = Comparison(op="==", value=1)
Verdicts = dict[str, bool]


@dataclass
class Agreement:
    """What both kinds of checks said. `asked` counts the states in which they were asked."""

    asked: int = 0
    mutants: int = 0
    disagreements: dict[str, str] = field(default_factory=dict[str, str])
    """The first state in which a check disagrees, by id."""
    at_start: Verdicts = field(default_factory=dict[str, bool])
    at_end: Verdicts = field(default_factory=dict[str, bool])
    problem: str = ""


def sql_checkpoint(check: PythonCheckpoint, sql: str) -> SqlCheckpoint:
    """A check as a SELECT that gives 1 where it holds."""
    return SqlCheckpoint(id=check.id, role=check.role, question=check.question, kind="sql", sql=sql, expect=IS_TRUE)


class CheckComparison:
    """Asks the checks of one scenario on both sides."""

    def __init__(
        self,
        imported: Playground,
        own: Playground,
        twin: Twin,
        start: TwinStart,
        scenario: Scenario,
        checks: Sequence[SqlCheckpoint],
    ) -> None:
        self._there, self._here, self._twin, self._start = imported, own, twin, start
        names = {one.id for one in checks}
        self._theirs = [one for one in scenario.checkpoints if one.id in names]
        self._ours, self._scenario = list(checks), scenario
        self._random = Random(0)  # noqa: S311 - a seed is what repeats
        self.found = Agreement()

    async def compare(self, calls: Sequence[PlannedCall]) -> Agreement:
        """Ask along a solution, on what goes wrong with it, on drawn calls after it, and on changed rows.

        Raises:
            CheckpointError: a checkpoint cannot be asked.
        """
        run = await self._launched(self._start.imported, self._start.own)
        try:
            await self._along(run, calls)
            if self.found.problem:
                return self.found
            last = run.state
            for what, planned in self._mistakes(calls):
                await self._after(run, planned, what)
            await self._drawn(run, calls)
            await run.begin()
            first = run.state
        finally:
            await run.imported.close()
            await run.own.close()
        for state, count in ((last, STATE_MUTANTS), (first, STATE_MUTANTS // 2)):
            async for mutant in self._mutants(state, count):
                await self._ask(mutant, "with changed rows", unchanged=state)
        return self.found

    async def _launched(self, imported: str, own: str) -> PairedRun:
        run = PairedRun(
            await self._there.launch(setup=imported, clock=self._start.clock),
            await self._here.launch(setup=own, clock=self._start.clock),
            self._twin,
        )
        await run.begin()
        return run

    async def _along(self, run: PairedRun, calls: Sequence[PlannedCall]) -> None:
        """The solution, and the verdicts after each of its calls."""
        self.found.at_start = await self._ask(run, "before any call")
        results: list[ToolResult] = []
        made: list[tuple[str, dict[str, Any]]] = []
        for number, call in enumerate(calls, start=1):
            try:
                arguments = resolve(call.arguments, results)
            except AgentError as error:
                self.found.problem = f"calls.{number}: {error}"
                return
            one = await run.call(call.tool, arguments)
            if one.imported.kind != "ok" or one.wrong:
                self.found.problem = f"calls.{number}: {call.tool}: {one.wrong or one.imported.text}"
                return
            results.append(ToolResult(text=one.imported.text, structured=one.imported.structured))
            made.append((call.tool, arguments))
            if one.compared_states:
                self.found.at_end = await self._ask(run, f"after {calls_text(made)}")
        self.found.at_end = self.found.at_end or self.found.at_start

    def _mistakes(self, calls: Sequence[PlannedCall]) -> list[tuple[str, list[PlannedCall]]]:
        """The solution with a call left out, or an argument changed."""
        found = [(f"without call {at + 1}", [*calls[:at], *calls[at + 1 :]]) for at in range(len(calls))]
        for at, call in enumerate(calls):
            if not self._there.environment.tools[call.tool].writes:
                continue
            for name, value in call.arguments.items():
                other = other_value(deepcopy(value), self._random)
                changed = call.model_copy(update={"arguments": {**call.arguments, name: other}})
                found.append((f"with another {name} in call {at + 1}", [*calls[:at], changed, *calls[at + 1 :]]))
        return found

    async def _after(self, run: PairedRun, calls: Sequence[PlannedCall], what: str) -> None:
        """Ask after some calls. Those that cannot be made are left out."""
        if await self._played(run, calls):
            await self._ask(run, what)

    async def _played(self, run: PairedRun, calls: Sequence[PlannedCall]) -> bool:
        """True if some calls were made, and the states are still the same."""
        await run.begin()
        results: list[ToolResult] = []
        for call in calls:
            try:
                one = await run.call(call.tool, resolve(call.arguments, results))
            except AgentError:
                results.append(ToolResult(text="", is_error=True))
                continue
            if one.over:
                return False
            results.append(ToolResult(text=one.imported.text, structured=one.imported.structured))
        return True

    async def _drawn(self, run: PairedRun, calls: Sequence[PlannedCall]) -> None:
        """Ask after drawn calls, which follow a part of the solution."""
        shape: SchemaShape = await run.own.shape()
        there, here = self._there.environment, self._here.environment
        drawer = CallDrawer(there, here, shape, [self._scenario], self._random)
        writing = [name for name, tool in there.tools.items() if tool.writes]
        for number in range(DRAWN_RUNS if writing else 0):
            if not await self._played(run, calls[: self._random.randint(0, len(calls))]):
                continue
            for _ in range(DRAWN_CALLS):
                tool = self._random.choice(writing)
                view = await run.own.view(shape)
                arguments = run.as_imported(drawer.draw(tool, run.state, view, run.own.now))
                one = await run.call(tool, arguments)
                if one.over:
                    break
                if one.compared_states:
                    await self._ask(run, f"in drawn run {number + 1}, after {calls_text([(tool, arguments)])}")

    async def _mutants(self, state: TwinState, count: int) -> AsyncGenerator[PairedRun]:
        """States with a changed, deleted or doubled row, that the tables can hold."""
        gone, moved = without_one(state), with_one_moved(state)
        some = self._random.sample(gone, min(len(gone), count // 4))
        some += self._random.sample(moved, min(len(moved), count // 2))
        for mutant in (*some, *(mutated(state, self._random) for _ in range(count - len(some)))):
            try:
                own = await own_rows(
                    self._here.worker.guests,
                    schema=self._here.environment.schema,
                    loading=self._twin.loading_sql,
                    state=mutant,
                    clock=self._start.clock or self._here.environment.description.clock,
                )
                run = await self._launched(self._start.imported + rows_of_state(mutant), own)
            except (QueryError, BundleError):
                continue  # the tables, or the class, cannot hold such a row
            try:
                if not await run.begin():
                    yield run
            finally:
                await run.imported.close()
                await run.own.close()

    async def _ask(self, run: PairedRun, what: str, *, unchanged: TwinState | None = None) -> Verdicts:
        """Ask both kinds of checks, and note where they disagree. Returns what the imported ones say.

        `unchanged` is the state of which the present one has changed rows.
        """
        theirs = _verdicts(await run.imported.judge(self._theirs))
        said = await run.own.judge(self._ours)
        broken = [f"{one.checkpoint}: {one.error}" for one in said.verdicts if one.error]
        if broken:
            raise CheckpointError(f"checks.{broken[0]}")
        ours, seen = _verdicts(said), {one.checkpoint: one.seen for one in said.verdicts}
        self.found.asked += 1
        self.found.mutants += unchanged is not None
        for name, holds in theirs.items():
            if ours[name] != holds:
                told = "holds" if holds else "does not hold"
                shown = "" if unchanged is None else f" {rows_shown(run.state, unchanged)}"
                self.found.disagreements.setdefault(
                    name, f"{what}: the check {told}, and the SELECT gives {seen[name]}.{shown}"
                )
        return theirs


def _verdicts(said: Assessment) -> Verdicts:
    return {one.checkpoint: one.holds for one in said.verdicts}


def rows_shown(state: TwinState, unchanged: TwinState) -> str:
    """The rows of a state in words: the changed entries, then all rows, those of changed containers first."""
    entries: list[str] = []
    for name, held in state.items():
        before = unchanged[name].entries if name in unchanged else {}
        for key in {**before, **held.entries}:
            if (key in before, before.get(key)) != (key in held.entries, held.entries.get(key)):
                now = str(held.entries[key]) if key in held.entries else "gone"
                was = str(before[key]) if key in before else "nothing"
                entries.append(f"{name} {key!r} is {now[:MOST_OF_ENTRY]} and was {was[:MOST_OF_ENTRY]}")
    order = sorted(state, key=lambda name: state[name] == unchanged.get(name))
    rows = str({name: state[name].value for name in order})
    changed = "; ".join(entries)[:MOST_OF_ROWS]
    return f"Changed: {changed or 'the order'}. Rows: {rows[:MOST_OF_ROWS]}"


def without_one(state: TwinState) -> list[TwinState]:
    """The states that lack one entry of one container."""
    return [
        {**state, name: replace(held, entries={key: value for key, value in held.entries.items() if key != gone})}
        for name, held in state.items()
        if held.kept != "value"
        for gone in held.entries
    ]


def with_one_moved(state: TwinState) -> list[TwinState]:
    """The states in which one field of an entry has the value that the next entry has there."""
    found: list[TwinState] = []
    for name, held in state.items():
        entries = list(held.entries.items()) if held.kept != "value" else []
        for (key, value), (_, following) in zip(entries, [*entries[1:], *entries[:1]], strict=True):
            fields = value.keys() & following.keys() if is_object(value) and is_object(following) else set[str]()
            for field_name in sorted(one for one in fields if value[one] != following[one]):
                moved = {**value, field_name: deepcopy(following[field_name])}
                found.append({**state, name: replace(held, entries={**held.entries, key: moved})})
    return found


def mutated(state: TwinState, random: Random) -> TwinState:
    """A state with one entry of one container changed, deleted, or there twice."""
    containers = [name for name, one in state.items() if one.kept != "value" and one.entries]
    if not containers:
        return state
    name = random.choice(containers)
    entries = deepcopy(state[name].entries)
    key = random.choice(list(entries))
    how = random.random()
    if how < 0.15:
        del entries[key]
    else:
        target = key
        if how < 0.4:
            target = f"{key}_2"
            entries[target] = deepcopy(entries[key])
        entries[target] = _changed(entries[target], entries, random)
    return {**state, name: replace(state[name], entries=entries)}


def _changed(value: Any, others: dict[str, Any], random: Random) -> Any:
    """A value with one part changed, often to what another entry has there."""
    if is_object(value) and value:
        name = random.choice(list(value))
        there = [one[name] for one in others.values() if is_object(one) and name in one and one[name] != value[name]]
        part = random.choice(there) if there and random.random() < 0.6 else other_value(value[name], random)
        return {**value, name: deepcopy(part)}
    if is_list(value) and value:
        at = random.randrange(len(value))
        return [*value[:at], _changed(value[at], {}, random), *value[at + 1 :]]
    return other_value(value, random)
