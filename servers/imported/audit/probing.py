"""What an audit runs in a guest, beside an imported class: it tries tools, asks checks, looks for a way to a task."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from random import Random
from typing import Any

from servers.imported import moment
from servers.imported.audit.drawing import Drawer, DrawnArguments, Seen, rows_of
from servers.imported.judging import functions
from servers.imported.marks import is_dict, is_list
from servers.imported.rows import attributes_of, read
from servers.imported.running import Imported, attributes_in, plain
from servers.toolkit import Database

SEED = 7
OTHER_TIME = "2031-03-04 05:06:07"
SAMPLES = 40
LOOKS = (200, 1000)
"""Calls that are tried of each tool in search of the next step, and again when none was found."""
MOST_CALLS = 60
SECONDS_PER_CALL = 60


@dataclass
class Played:
    """One call: what it came to, the state after it, and what was thrown."""

    kind: str
    result: Any
    state: dict[str, Any]
    error: str = ""


@dataclass
class ToolFindings:
    """What is known of one tool."""

    tries: int = 0
    succeeded: int = 0
    refused: int = 0
    broke: int = 0
    error: str = ""
    refusal: str = ""
    changed_when_refused: int = 0
    changed_when_reading: int = 0
    repeats: bool = True
    draws: bool = False


@dataclass
class World:
    """One scenario: its object, its tools, its checks, and the values that arguments are drawn from."""

    thing: Imported
    tools: list[dict[str, Any]]
    checks: list[Callable[[Any], Any]]
    start: dict[str, Any]
    now: str
    drawer: Drawer
    told: dict[str, ToolFindings] = field(default_factory=dict[str, ToolFindings])
    _changing: set[int] = field(default_factory=set[int])
    _seen: "Seen" = field(default_factory=lambda: Seen.of({}))

    def seen(self, state: dict[str, Any]) -> "Seen":
        """A state, ready to be copied and drawn from. The last one that was asked for is kept."""
        if state is not self._seen.state:
            self._seen = Seen.of(state)
        return self._seen

    def play(
        self, state: dict[str, Any], tool: dict[str, Any], arguments: DrawnArguments, *, step: int, now: str = ""
    ) -> Played:
        """Call a method on a copy of a state, as the call after so many others."""
        passed = timedelta(seconds=step * SECONDS_PER_CALL)
        moment.begin((datetime.fromisoformat(now or self.now) + passed).isoformat(sep=" "), f"{now}/{step}")
        made: Any = object.__new__(self.thing.kind)
        made.__dict__.update(self.seen(state).copy())
        try:
            result = getattr(made, tool["method"])(**copy.deepcopy(arguments))
        except Exception as error:
            return Played("broke", None, attributes_in(made), f"{type(error).__name__}: {error}")
        answer: Any = plain(result)
        if is_dict(answer) and "success" in answer and not answer["success"]:
            return Played("refused", answer, attributes_in(made), str(answer.get("error")))
        return Played("ok", answer, attributes_in(made))

    def holds(self, check: Callable[[Any], Any], state: dict[str, Any]) -> tuple[bool, str]:
        """What a check says of a state, of which it sees a copy; and what was wrong with the check."""
        check.__globals__["initial_state"] = copy.deepcopy(self.start)  # type: ignore[attr-defined]
        seen = copy.deepcopy(state)
        verdict = self._asked(check, seen)
        if seen != state:
            self._changing.add(id(check))
        return verdict

    def glance(self, check: Callable[[Any], Any], state: dict[str, Any]) -> tuple[bool, str]:
        """The same without a copy, of a check that was asked before and changed nothing."""
        return self.holds(check, state) if id(check) in self._changing else self._asked(check, state)

    def _asked(self, check: Callable[[Any], Any], state: dict[str, Any]) -> tuple[bool, str]:
        moment.begin(self.now, "check")
        try:
            verdict = check(state)
        except Exception as error:
            return False, f"{type(error).__name__}: {error}"
        if not isinstance(verdict, bool):
            return False, f"returned {type(verdict).__name__}"
        return verdict, ""


def probe_all(
    thing: Imported, db: Database, tools: list[dict[str, Any]], checks: list[str], hints: list[Any], known: Any
) -> Any:
    """Everything about one scenario. `hints` are the constants of each check, `known` those of the class."""
    world = World(
        thing,
        tools,
        functions(checks),
        attributes_of(read(db), thing.named()),
        db.now(),
        Drawer(hints, Random(SEED), known),  # noqa: S311 - it must repeat
    )
    world.told = {tool["name"]: ToolFindings() for tool in tools}
    verdicts = [world.holds(check, world.start) for check in world.checks]
    for tool in tools:
        try_tool(world, tool)
    calls, state, reached = search(world, [holds for holds, _ in verdicts])
    last = [world.holds(check, state) for check in world.checks]
    return {
        "tools": {name: vars(told) for name, told in world.told.items()},
        "start": [{"holds": holds, "error": error} for holds, error in verdicts],
        "reached": sorted(reached),
        "end": [{"holds": holds, "error": error} for holds, error in last],
        "calls": calls,
    }


def try_tool(world: World, tool: dict[str, Any]) -> None:
    """Call a tool with arguments drawn from the state, and see what it does."""
    for step in range(SAMPLES):
        arguments = world.drawer.draw(tool, world.seen(world.start), None)
        played = note(world, tool, world.start, arguments, step)
        if played.kind == "ok" and world.told[tool["name"]].succeeded <= 3:
            compare(world, tool, arguments, step, played)
        if not tool["arguments"]:
            break


def note(world: World, tool: dict[str, Any], state: dict[str, Any], arguments: DrawnArguments, step: int) -> Played:
    """Call a tool, and count what came of it."""
    told = world.told[tool["name"]]
    played = world.play(state, tool, arguments, step=step)
    told.tries += 1
    told.succeeded += played.kind == "ok"
    told.refused += played.kind == "refused"
    told.broke += played.kind == "broke"
    if played.kind == "broke" and not told.error:
        told.error = f"{played.error} (with {arguments})"[:400]
    if played.kind == "refused" and not told.refusal:
        told.refusal = played.error[:200]
    if played.kind != "ok" and played.state != state:
        told.changed_when_refused += 1
    elif played.kind == "ok" and not tool["writes"] and played.state != state:
        told.changed_when_reading += 1
    return played


def compare(world: World, tool: dict[str, Any], arguments: DrawnArguments, step: int, played: Played) -> None:
    """Whether the same call does the same again, and whether it does at another time with other chances."""
    told = world.told[tool["name"]]
    again = world.play(world.start, tool, arguments, step=step)
    told.repeats &= again.result == played.result and again.state == played.state
    later = world.play(world.start, tool, arguments, step=step + 1000, now=OTHER_TIME)
    told.draws |= later.result != played.result or later.state != played.state


def search(world: World, held: list[bool]) -> tuple[list[dict[str, Any]], dict[str, Any], set[int]]:
    """Make one check after another true without losing one, as far as calls that are drawn lead there.

    It knows the checks, so what it finds shows that a task can be done, not how hard it is; what it does not find
    shows nothing. Calls that are not needed in the end are left out.
    """
    state, steps = world.start, list[Step]()
    true = {number for number, holds in enumerate(held) if holds}
    reached = set(true)
    while len(true) < len(world.checks) and len(steps) < MOST_CALLS:
        found, tried = None, set[str]()
        for looks in LOOKS:
            found = found or next_step(world, state, true, reached, len(steps), looks, tried)
        if found is None:
            break
        steps.append(found)
        state, true = found.state, found.true
    steps = pruned(world, steps, true)
    calls, results = list[dict[str, Any]](), list[Any]()
    for step in steps:
        calls.append({"tool": step.tool["name"], "arguments": refer(world, step.arguments, results)})
        results.append(step.result)
    return calls, steps[-1].state if steps else world.start, reached


def pruned(world: World, steps: "list[Step]", true: set[int]) -> "list[Step]":
    """The steps without those that no check in `true` needs, tried from the last one to the first."""
    for place in reversed(range(len(steps))):
        shorter = replayed(world, [*steps[:place], *steps[place + 1 :]])
        state = shorter[-1].state if shorter else world.start
        if shorter is not None and all(world.glance(world.checks[one], state)[0] for one in true):
            steps = shorter
    return steps


def replayed(world: World, steps: "list[Step]") -> "list[Step] | None":
    """The steps from the start on, each at its own time. None if one does not succeed any more."""
    state, done = world.start, list[Step]()
    for step in steps:
        played = world.play(state, step.tool, step.arguments, step=step.number)
        if played.kind != "ok":
            return None
        state = played.state
        done.append(replace(step, result=played.result, state=state))
    return done


@dataclass
class Step:
    """One call on the way, and which checks hold after it."""

    number: int
    tool: dict[str, Any]
    arguments: DrawnArguments
    result: Any
    state: dict[str, Any]
    true: set[int]


def next_step(
    world: World, state: dict[str, Any], true: set[int], reached: set[int], step: int, looks: int, tried: set[str]
) -> Step | None:
    """The call that loses no check and wins the most. What was `tried` from this state is not tried again."""
    missing = [number for number in range(len(world.checks)) if number not in true]
    best: Step | None = None
    for tool in (one for one in world.tools if one["writes"]):
        for _ in range(looks if tool["arguments"] else 1):
            arguments = world.drawer.draw(tool, world.seen(state), world.drawer.random.choice(missing))
            if (call := f"{tool['name']} {arguments}") in tried:
                continue
            tried.add(call)
            played = note(world, tool, state, arguments, step)
            won = {one for one in missing if played.kind == "ok" and world.glance(world.checks[one], played.state)[0]}
            reached |= won
            better = won and (best is None or len(true | won) > len(best.true))
            if better and all(world.glance(world.checks[one], played.state)[0] for one in true):
                best = Step(step, tool, arguments, played.result, played.state, true | won)
    return best


def refer(world: World, arguments: DrawnArguments, results: list[Any]) -> DrawnArguments:
    """Arguments where an id that an earlier call made is said by the place in its result: `${2.data.id}`."""
    known = {value for row in rows_of(world.start) for value in row.values() if isinstance(value, str)}
    known |= {key for row in rows_of(world.start) for key in row}
    told: DrawnArguments = {}
    for name, value in arguments.items():
        place = None if not isinstance(value, str) or value in known else place_in(results, value)
        told[name] = value if place is None else f"${{{place}}}"
    return told


def place_in(results: list[Any], value: str) -> str | None:
    """Where the result of an earlier call holds a value alone."""
    for number, result in enumerate(results, start=1):
        for path in paths_of(result, value):
            return f"{number}{path}"
    return None


def paths_of(whole: Any, value: str) -> Iterator[str]:
    if whole == value:
        yield ""
    elif is_dict(whole):
        for key, part in whole.items():
            yield from (f".{key}{path}" for path in paths_of(part, value))
    elif is_list(whole):
        for number, part in enumerate(whole):
            yield from (f"[{number}]{path}" for path in paths_of(part, value))
