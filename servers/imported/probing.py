"""What an audit runs in a guest, beside an imported class: it tries tools, asks checks, looks for a way to a task."""

import copy
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any, cast

from servers.imported import moment
from servers.imported.judging import functions
from servers.imported.rows import attributes_of, read
from servers.imported.running import Imported, attributes_in, plain
from servers.toolkit import Database

Arguments = dict[str, Any]
RANDOM = Random(7)  # noqa: S311 - it must repeat
OTHER_TIME = "2031-03-04 05:06:07"
SAMPLES = 40
LOOKS = 250
MOST_LOOKS = 50_000
"""Calls that are tried in the search for one scenario."""
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
class Told:
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
class Seen:
    """A state: packed for fast copies, with its rows and what they hold by name."""

    state: dict[str, Any]
    packed: bytes | None
    rows: list[Arguments]
    named: dict[str, list[Any]]

    @classmethod
    def of(cls, state: dict[str, Any]) -> "Seen":
        try:
            packed = pickle.dumps(state)
        except (pickle.PicklingError, TypeError, AttributeError):
            packed = None  # it holds objects of the imported module, which has no name to find it by
        rows = list(rows_of({name: value for name, value in state.items() if name != "init_config"}))
        named: dict[str, list[Any]] = {}
        for row in rows:
            for name, value in row.items():
                if not isinstance(value, dict):
                    named.setdefault(name, []).append(value)
        return cls(state, packed, rows, named)

    def copy(self) -> dict[str, Any]:
        return copy.deepcopy(self.state) if self.packed is None else pickle.loads(self.packed)  # noqa: S301 - ours

    def values(self, names: list[str]) -> list[Any]:
        """What rows hold under one of some names, and the keys of a container that such an id is a key of."""
        found = [value for name in names for value in self.named.get(name, [])]
        subject = names[0].removesuffix("_id").removeprefix("new_").rstrip("s")[:5]
        for name, value in self.state.items():
            if names[0].endswith("_id") and isinstance(value, dict) and subject in name:
                found.extend(cast("Arguments", value))
        return found


@dataclass
class World:
    """One scenario: its object, its tools, its checks, and the values that arguments are drawn from."""

    thing: Imported
    tools: list[dict[str, Any]]
    hints: list[dict[str, Any]]
    checks: list[Callable[[Any], Any]]
    start: dict[str, Any]
    now: str
    random: Random
    told: dict[str, Told] = field(default_factory=dict[str, Told])
    looks: int = 0
    _seen: "Seen" = field(default_factory=lambda: Seen.of({}))

    def seen(self, state: dict[str, Any]) -> "Seen":
        """A state, ready to be copied and drawn from. The last one that was asked for is kept."""
        if state is not self._seen.state:
            self._seen = Seen.of(state)
        return self._seen

    def play(
        self, state: dict[str, Any], tool: dict[str, Any], arguments: Arguments, *, step: int, now: str = ""
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
        if isinstance(answer, dict) and "success" in answer and not cast("dict[str, Any]", answer)["success"]:
            return Played("refused", answer, attributes_in(made), str(cast("dict[str, Any]", answer).get("error")))
        return Played("ok", answer, attributes_in(made))

    def holds(self, check: Callable[[Any], Any], state: dict[str, Any]) -> tuple[bool, str]:
        """What a check says of a state, of which it sees a copy; and what was wrong with the check."""
        check.__globals__["initial_state"] = copy.deepcopy(self.start)  # type: ignore[attr-defined]
        return self.glance(check, copy.deepcopy(state))

    def glance(self, check: Callable[[Any], Any], state: dict[str, Any]) -> tuple[bool, str]:
        """The same, faster: it could change the state."""
        moment.begin(self.now, "check")
        try:
            verdict = check(state)
        except Exception as error:
            return False, f"{type(error).__name__}: {error}"
        if not isinstance(verdict, bool):
            return False, f"returned {type(verdict).__name__}"
        return verdict, ""


def probe_all(thing: Imported, db: Database, tools: list[dict[str, Any]], checks: list[str], hints: list[Any]) -> Any:
    """Everything about one scenario."""
    world = World(thing, tools, hints, functions(checks), attributes_of(read(db), thing.named()), db.now(), RANDOM)
    world.told = {tool["name"]: Told() for tool in tools}
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
        arguments = draw(world, tool, world.start, None)
        played = note(world, tool, world.start, arguments, step)
        if played.kind == "ok" and world.told[tool["name"]].succeeded <= 3:
            compare(world, tool, arguments, step, played)
        if not tool["arguments"]:
            break


def note(world: World, tool: dict[str, Any], state: dict[str, Any], arguments: Arguments, step: int) -> Played:
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


def compare(world: World, tool: dict[str, Any], arguments: Arguments, step: int, played: Played) -> None:
    """Whether the same call does the same again, and whether it does at another time with other chances."""
    told = world.told[tool["name"]]
    again = world.play(world.start, tool, arguments, step=step)
    told.repeats &= again.result == played.result and again.state == played.state
    later = world.play(world.start, tool, arguments, step=step + 1000, now=OTHER_TIME)
    told.draws |= later.result != played.result or later.state != played.state


def search(world: World, held: list[bool]) -> tuple[list[dict[str, Any]], dict[str, Any], set[int]]:
    """Make one check after another true without losing one, as far as calls that are drawn lead there.

    It knows the checks, so what it finds shows that a task can be done, not how hard it is; what it does not find
    shows nothing.
    """
    state, calls, results = world.start, list[dict[str, Any]](), list[Any]()
    reached = {number for number, holds in enumerate(held) if holds}
    true = set(reached)
    writers = [tool for tool in world.tools if tool["writes"]]
    progress = True
    while progress and len(calls) < MOST_CALLS:
        progress = False
        for number in range(len(world.checks)):
            if number in true:
                continue
            found = step_towards(world, state, number, true, writers, len(calls), reached)
            if found is not None:
                tool, arguments, state, result = found
                calls.append({"tool": tool, "arguments": refer(world, arguments, results)})
                results.append(result)
                true = {one for one, check in enumerate(world.checks) if world.holds(check, state)[0]}
                reached |= true
                progress = True
    return calls, state, reached


def step_towards(
    world: World,
    state: dict[str, Any],
    number: int,
    true: set[int],
    writers: list[dict[str, Any]],
    step: int,
    reached: set[int],
) -> tuple[str, Arguments, dict[str, Any], Any] | None:
    """The call that makes a check true, loses none, and makes the most others true beside it."""
    best: tuple[int, str, Arguments, dict[str, Any], Any] | None = None
    for tool in writers:
        for _ in range(LOOKS if tool["arguments"] else 1):
            if world.looks >= MOST_LOOKS:
                break
            world.looks += 1
            arguments = draw(world, tool, state, number)
            played = note(world, tool, state, arguments, step)
            if played.kind != "ok" or not world.glance(world.checks[number], played.state)[0]:
                continue
            after = {one for one, check in enumerate(world.checks) if world.glance(check, played.state)[0]}
            reached |= after
            if true <= after and (best is None or len(after) > best[0]):
                best = (len(after), tool["name"], arguments, played.state, played.result)
    return None if best is None else best[1:]


def refer(world: World, arguments: Arguments, results: list[Any]) -> Arguments:
    """Arguments where an id that an earlier call made is said by the place in its result: `${2.data.id}`."""
    known = {value for row in rows_of(world.start) for value in row.values() if isinstance(value, str)}
    known |= {key for row in rows_of(world.start) for key in row}
    told: Arguments = {}
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
    elif isinstance(whole, dict):
        for key, part in cast("Arguments", whole).items():
            yield from (f".{key}{path}" for path in paths_of(part, value))
    elif isinstance(whole, list):
        for number, part in enumerate(cast("list[Any]", whole)):
            yield from (f"[{number}]{path}" for path in paths_of(part, value))


# arguments


def draw(world: World, tool: dict[str, Any], state: dict[str, Any], number: int | None) -> Arguments:
    """Arguments for a tool: from the state, and from what the checks compare with, those of one check first."""
    drawn: Arguments = {}
    row = world.random.choice(rows) if (rows := world.seen(state).rows) and world.random.random() < 0.5 else {}
    for argument in tool["arguments"]:
        if not argument["required"] and world.random.random() < 0.4:
            continue
        drawn[argument["name"]] = value_for(world, argument, state, number, row)
    return drawn


def value_for(world: World, argument: dict[str, Any], state: dict[str, Any], number: int | None, row: Arguments) -> Any:
    """One value, of the argument's type where there is one; often one that other rows hold under the same name."""
    names = list(spellings(argument["name"]))
    options: list[list[Any]] = []
    if number is not None:
        options.append(named(world.hints[number]["named"], names))
        options.append(world.hints[number]["loose"])
    if number is not None or world.random.random() < 0.5:
        options.append([value for hint in world.hints for value in named(hint["named"], names)])
    if any(name in row for name in names):
        options.append([row[name] for name in names if name in row])
    options.append(world.seen(state).values(names))
    options.append([f"new_{argument['name']}", "2025-12-01", "a text"])
    fitting = [[value for value in values if fits(value, argument["types"])] for values in options]
    fitting = [values for values in fitting if values]
    while len(fitting) > 1 and world.random.random() < 0.45:
        fitting.pop(0)
    if fitting and "string" in argument["types"] and number is not None and world.random.random() < 0.08:
        loose = [one for hint in world.hints for one in hint["loose"] if isinstance(one, str)]
        return ", ".join(world.random.sample(loose, 2)) if len(loose) > 1 else world.random.choice(fitting[0])
    if fitting:
        return world.random.choice(fitting[0])
    return next((EMPTY[kind] for kind in argument["types"] if kind in EMPTY), "a text")


EMPTY: dict[str, Any] = {"string": "a text", "integer": 1, "number": 1.0, "boolean": True, "array": [], "object": {}}
KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def fits(value: Any, types: list[str]) -> bool:
    return any(isinstance(value, KINDS[kind]) and (kind == "boolean") >= isinstance(value, bool) for kind in types)


def spellings(name: str) -> Iterator[str]:
    """An argument's name, and what a row may call the same thing."""
    yield name
    for prefix in (
        "new_",
        "target_",
        "updated_",
        "initial_",
        "parent_",
        "requester_",
        "actor_",
        "resolver_",
        "submitter_",
    ):
        if name.startswith(prefix):
            yield name.removeprefix(prefix)
    parts = name.split("_")
    if len(parts) > 1:
        yield "_".join(parts[-2:])
        yield parts[-1]
        yield f"_{parts[-1]}"


def named(values: dict[str, list[Any]], names: list[str]) -> list[Any]:
    return next((values[name] for name in names if name in values), [])


def rows_of(value: Any, depth: int = 0) -> Iterator[Arguments]:
    """Every dict within a value."""
    if isinstance(value, dict) and depth < 4:
        yield cast("Arguments", value)
        for part in cast("Arguments", value).values():
            yield from rows_of(part, depth + 1)
    elif isinstance(value, list) and depth < 4:
        for part in cast("list[Any]", value):
            yield from rows_of(part, depth + 1)
