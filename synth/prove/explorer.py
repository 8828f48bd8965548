"""The explorer: random walks over an environment, with every call checked.

It prefers what is missing: tools that have not succeeded, tools that have not refused.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random
from typing import Any, NamedTuple

import jsonschema_rs

from servers.bundle.examples import BundleExample
from servers.bundle.rules import BundleRule
from servers.bundle.tool_schema import validator
from servers.errors import BundleError, QueryError
from servers.state.readonly_query import Reader
from servers.worker.instance import CallOutcome
from synth.play.argument_sampler import ArgumentSampler, Mode
from synth.play.playground import Playground, Session, digest_of
from synth.play.row_view import SchemaShape, View, view_of
from synth.prove.call_sequence import (
    CallSequence,
    Found,
    RecordedCall,
    Refusals,
    shortened,
)
from synth.prove.refusal_places import Places

WALK = 20
"""The most calls of a walk."""
DRAWN = 6
"""Candidates for one call: the most promising one is made."""
DAYS_LATER = (0, 0, 0, 0, 1, 2, 5, 14, 45)
"""Days after the environment's own time at which a walk begins."""
MODES: tuple[Mode, ...] = ("plausible", "plausible", "near_miss", "near_miss", "wild")
RARE = 5
"""A tool with fewer successes is supported, by calls about the rows that it needs."""
PATIENCE = 30
"""Refusals that count as one success in the choice of a walk's tool."""
FAULTS = ("failed", "timeout", "died")
WROTE = "it says that it only reads"


@dataclass(frozen=True)
class State:
    """The rows at one time."""

    view: View
    digest: str


class Chase(NamedTuple):
    """A tool that should succeed at last, and the rows that other calls prepare for it."""

    tool: str
    arguments: dict[str, Any]


class Explorer:
    """Makes walks on one playground. It counts what it sees, and adds faults to `found`."""

    def __init__(
        self,
        stage: Playground,
        shape: SchemaShape,
        places: Places,
        rules: Sequence[BundleRule],
        *,
        seed: int,
        found: Found,
    ) -> None:
        self.ok = dict.fromkeys(stage.environment.tools, 0)
        self.refused = dict.fromkeys(stage.environment.tools, 0)
        self.refusals = {tool: Refusals() for tool in stage.environment.tools}
        self.rule_refused = {rule.id: 0 for rule in rules}
        self.rule_states = {rule.id: 0 for rule in rules if rule.never}
        self._stage, self._shape, self._places, self._rules, self._found = stage, shape, places, rules, found
        self._random = Random(seed)  # noqa: S311 - a seed is what repeats
        self._drawer = ArgumentSampler(stage.environment, shape, self._random, progress=places.progress)
        self._results = {tool.name: validator(tool.result) for tool in stage.environment.description.tools}
        self._scenes: dict[str, Session] = {}
        self._excused: frozenset[str] = frozenset()
        """Rules that a prepared start already breaks, so that no call is blamed."""

    async def explore(self, calls: int, on_call: Callable[[int], None]) -> list[CallSequence]:
        """Make a number of calls, in walks."""
        walks: list[CallSequence] = []
        made = 0
        while made < calls:
            walk = await self._walk(min(WALK, calls - made))
            walks.append(walk)
            made += len(walk.calls)
            on_call(len(walk.calls))
        return walks

    async def show(self, examples: Sequence[BundleExample]) -> list[CallSequence]:
        """Make the bundle's example calls, each from its own start."""
        walks: list[CallSequence] = []
        scenes: dict[str, Session] = {}
        for number, example in enumerate(examples):
            self._found.checked("examples")
            try:
                scene = scenes.get(example.setup) or await self._stage.launch(setup=example.setup)
            except BundleError as error:
                self._found.add("examples", example.tool, f"example {number} cannot begin: {error}")
                continue
            scenes[example.setup] = scene
            await scene.rewind()
            self._drawer.begin()
            state = await self._state(scene, None)
            self._drawer.look(state.view, scene.now)
            self._excused = await self._broken(scene) if example.setup else frozenset()
            made, _ = await self._made(scene, example.tool, example.arguments, state)
            if made.kind != example.outcome:
                told = f"example {number} is to be {example.outcome} and was {made.kind}: {shortened(made.text)}"
                self._found.add("examples", example.tool, told, made)
            walks.append(CallSequence(self._stage.environment.description.clock, (made,), example.setup))
        self._excused = frozenset()
        return walks

    async def _broken(self, scene: Session) -> frozenset[str]:
        """The rules that are broken before any call."""
        async with scene.reading() as reader:
            return frozenset(rule.id for rule in self._rules if rule.never and _finds(reader, rule))

    async def _walk(self, length: int) -> CallSequence:
        scene, clock = await self._scene()
        self._drawer.begin()
        state = await self._state(scene, None)
        target = min(self.ok, key=lambda tool: self.ok[tool] + self.refused[tool] / PATIENCE + self._random.random())
        chase: Chase | None = None
        made: list[RecordedCall] = []
        for place in range(length):
            self._drawer.look(state.view, scene.now)
            if place == length // 2 and self.ok[target] < RARE and self._random.random() < 0.7:
                chase = Chase(target, self._likeliest(target))
            tool, arguments = self._next(target) if chase is None else self._towards(chase, place)
            one, state = await self._made(scene, tool, arguments, state)
            made.append(one)
        return CallSequence(clock, tuple(made))

    async def _made(
        self, scene: Session, tool: str, arguments: dict[str, Any], before: State
    ) -> tuple[RecordedCall, State]:
        """Make one call, check it and learn from it. Returns its record and the state after it."""
        outcome = await scene.call(tool, arguments)
        self._drawer.learn(tool, arguments, outcome)
        made = RecordedCall(tool, arguments, outcome.kind, outcome.text, outcome.detail, before.digest)
        after = before if outcome.kind == "ok" and not outcome.changes else await self._state(scene, made, before)
        self._check(made, outcome, before, after)
        return replace(made, digest=after.digest), after

    def _towards(self, chase: Chase, place: int) -> tuple[str, dict[str, Any]]:
        """Alternate between the call that should succeed and others that write the same rows."""
        about = self._drawer.about(chase.tool, chase.arguments)
        others = self._drawer.kin(about)
        if place % 2 or not others:
            return chase.tool, self._drawer.draw(chase.tool, about=about)
        hinted = [tool for tool in self._drawer.named_by_refusals() if tool in others]
        tool = self._random.choice(hinted if hinted and self._random.random() < 0.5 else others)
        return tool, self._drawer.draw(tool, about=about)

    async def _scene(self) -> tuple[Session, str]:
        """A session at its start: at the environment's time, or some days later if it can begin then."""
        begin = self._stage.environment.description.clock
        later = datetime.fromisoformat(begin) + timedelta(days=self._random.choice(DAYS_LATER))
        clock = later.isoformat(sep=" ")
        if clock not in self._scenes:
            try:
                self._scenes[clock] = await self._stage.launch(clock=clock)
            except BundleError:
                clock = begin
                self._scenes[clock] = self._scenes.get(clock) or await self._stage.launch()
        await self._scenes[clock].rewind()
        return self._scenes[clock], clock

    def _next(self, target: str) -> tuple[str, dict[str, Any]]:
        """The next tool and its arguments: mostly a tool of which little was seen."""
        names = list(self.ok)
        weights = [0.2 + 2 / (1 + self.ok[name]) + 1 / (1 + self.refused[name]) for name in names]
        tool = target if self._random.random() < 0.2 else self._random.choices(names, weights)[0]
        mode: Mode = "plausible" if self.ok[tool] < self.refused[tool] / 2 else self._random.choice(MODES)
        if mode != "plausible" or self._random.random() < 0.2:
            return tool, self._drawer.draw(tool, mode)
        return tool, self._likeliest(tool)

    def _likeliest(self, tool: str) -> dict[str, Any]:
        drawn = [self._drawer.draw(tool) for _ in range(DRAWN)]
        return max(drawn, key=lambda arguments: self._drawer.chance(tool, arguments))

    async def _state(self, scene: Session, after: RecordedCall | None, before: State | None = None) -> State:
        """The current rows, after the checks that hold for all rows."""
        async with scene.reading() as reader:
            if after is not None and after.kind == "ok":
                self._check_rows(reader, after)
            digest = digest_of(reader)
            if before is not None and before.digest == digest:
                return before
            return State(view_of(reader, self._shape), digest)

    def _check(self, made: RecordedCall, outcome: CallOutcome, before: State, after: State) -> None:
        """Check one call."""
        self._found.checked("answers")
        if outcome.kind == "ok":
            self.ok[made.tool] += 1
            self._check_result(made, outcome)
        elif outcome.kind == "refused":
            self.refused[made.tool] += 1
            self.refusals[made.tool].note(made)
            for place in self._places.of(outcome.text):
                for rule in set(place.rules) & self.rule_refused.keys():
                    self.rule_refused[rule] += 1
        elif outcome.kind in FAULTS:
            detail = outcome.detail or outcome.text
            self._found.add("reads_only" if detail.startswith(WROTE) else "answers", made.tool, detail, made)
        if outcome.kind != "ok":
            self._found.checked("refusal")
            if before.digest != after.digest:
                self._found.add("refusal", made.tool, "changed rows, and was not carried out", made)
        if not self._stage.environment.tools[made.tool].writes:
            self._found.checked("reads_only")

    def _check_result(self, made: RecordedCall, outcome: CallOutcome) -> None:
        self._found.checked("result")
        try:
            self._results[made.tool].validate(outcome.structured)
        except jsonschema_rs.ValidationError as error:
            place = "".join(f".{part}" for part in error.instance_path)
            what = f"its result does not fit its schema at {place or 'the whole'}: {error.message}"
            self._found.add("result", made.tool, what, made)

    def _check_rows(self, reader: Reader, made: RecordedCall) -> None:
        """Check foreign keys, CHECKs and rules of a state."""
        self._found.checked("integrity")
        for broken in broken_rows(reader):
            self._found.add("integrity", made.tool, broken, made)
        for rule in self._rules:
            if rule.never and rule.id not in self._excused:
                self._check_rule(reader, rule, made)

    def _check_rule(self, reader: Reader, rule: BundleRule, made: RecordedCall) -> None:
        try:
            broken = reader.select(rule.never, rows=1).rows
        except QueryError as error:
            self._found.add("rules", rule.id, f"its `never` does not run: {error}")
            return
        self.rule_states[rule.id] += 1
        if broken:
            self._found.add("rules", rule.id, f"was broken, as {json.dumps(broken[0], default=str)} shows", made)


def _finds(reader: Reader, rule: BundleRule) -> bool:
    """True if a rule is broken. A `never` that does not run is another finding."""
    try:
        return bool(reader.select(rule.never, rows=1).rows)
    except QueryError:
        return False


def broken_rows(reader: Reader) -> list[str]:
    """Dangling foreign keys, and broken constraints, in words, once for each kind."""
    orphans = reader.connection.execute("PRAGMA main.foreign_key_check").fetchall()
    found = [f"left a row of {table} that points to no row of {parent}" for table, _, parent, _ in orphans]
    problems = reader.connection.execute("PRAGMA main.integrity_check").fetchall()
    found += [f"left a database that says: {problem}" for (problem,) in problems if problem != "ok"]
    return list(dict.fromkeys(found))
