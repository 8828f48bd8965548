"""A search, without a model, for cheap ways to earn everything: runs and answers that nobody would call right.

It knows what the company knows, and tries what a policy would stumble over: fewer calls, other values, other orders,
calls that nobody asked for, answers that were pasted or left out. What it finds is a hole, written as it is played.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, permutations
from random import Random
from typing import Any

from servers.environment import Tool
from servers.errors import CheckpointError
from servers.scenario import PlannedCall, Scenario, Solution
from synth.proving.stage import Stage
from synth.scenarios.company import Player, Run, Script, script_of
from synth.scenarios.plausible import Rows, enum_of, other_arguments
from synth.scenarios.reference import played
from synth.scenarios.run import Step

WORTHLESS = ("", "Done.", "Yes.", "No.", "0", "Yes and no.", "I don't know.", "See above.", "N/A")
SHARES = {"fewer": 4, "values": 4, "orders": 2, "others": 3, "answers": 3}
"""How often each way to search has its turn."""


@dataclass(frozen=True)
class Hole:
    """A run that earns everything and is not right: other rows than the reference leaves, or other last words."""

    scenario: str
    way: str
    solution: Solution
    calls: int
    """The calls of the reference."""


@dataclass(frozen=True)
class Searched:
    """What a search in one scenario came to."""

    scenario: str
    runs: int = 0
    most: float = 0.0
    """The most that a run earned that is not right, by any way."""
    holes: tuple[Hole, ...] = ()
    problem: str = ""


async def search(stage: Stage, scenario: Scenario, budget: int) -> Searched:
    """Play up to `budget` runs of a scenario, the same ones each time.

    Raises:
        BundleError: the scenario does not start, or its solution leads nowhere.
    """
    reference = await played(stage, scenario)
    script = script_of(reference)
    player = Player(reference)
    random = Random(scenario.id)  # noqa: S311 - a choice that can be repeated, no secret
    holes: list[Hole] = []
    most, runs = 0.0, 0
    try:
        for way, run in _ways(script, reference.rows, random, budget):
            runs += 1
            reward = await player.reward(run)
            most = max(most, reward or 0.0)
            if reward is not None and reward >= 1:
                holes.append(Hole(scenario.id, way, _solution(run), len(script.steps)))
    except CheckpointError as error:
        return Searched(scenario.id, runs, most, tuple(holes), str(error))
    finally:
        await reference.close()
    return Searched(scenario.id, runs, most, tuple(holes))


def _ways(script: Script, rows: Rows, random: Random, budget: int) -> Iterator[tuple[str, Run]]:
    """Runs by every way in turn, none twice."""
    searches = {
        "fewer": _fewer(script, random),
        "values": _values(script, rows, random),
        "orders": _orders(script, random),
        "others": _others(script, rows, random),
        "answers": _answers(script, random),
    }
    seen: set[str] = set()
    while searches and len(seen) < budget:
        for way in [name for name in SHARES for _ in range(SHARES[name])]:
            run = next(searches[way], None) if way in searches else None
            if run is None:
                searches.pop(way, None)
            elif (name := f"{run.steps}{run.answer}") not in seen and len(seen) < budget:
                seen.add(name)
                yield way, run


def _fewer(script: Script, random: Random) -> Iterator[Run]:
    """Some of the commands: one, the first ones, any of them; by the keys that a right run would look up."""
    commands = [_known(script, index) for index in script.commands]
    for number in range(1, len(commands)):
        chosen = list(combinations(commands, number))
        for some in random.sample(chosen, min(len(chosen), 4)):
            yield Run(some, script.answer)


def _values(script: Script, rows: Rows, random: Random) -> Iterator[Run]:
    """Two values at once that are near misses, or one that is another row's altogether."""
    places = [place for place, near in script.near.items() if near]
    pairs = list(combinations(places, 2))
    for pair in random.sample(pairs, min(len(pairs), 12)):
        steps = list(script.steps)
        for place in pair:
            step = steps[place.call - 1]
            other = random.choice(script.near[place])
            steps[place.call - 1] = step._replace(arguments={**step.arguments, place.argument: other})
        yield Run(steps, script.answer)
    for place in random.sample(places, len(places)):
        value = script.arguments[place.call - 1][place.argument]
        tables = rows.tables_of.get(value, []) if isinstance(value, str) else []
        for table in tables[:1]:
            others = [row[rows.keys[table][0]] for row in rows.rows[table]]
            step = script.steps[place.call - 1]
            changed = step._replace(arguments={**step.arguments, place.argument: random.choice(others)})
            yield Run([*script.steps[: place.call - 1], changed, *script.steps[place.call :]], script.answer)


def _orders(script: Script, random: Random) -> Iterator[Run]:
    """The commands in other orders, and without what is looked up in between."""
    commands = [_known(script, index) for index in script.commands]
    if len(commands) > 5:
        orders = [random.sample(commands, len(commands)) for _ in range(8)]
    else:
        orders = [list(order) for order in permutations(commands)][1:]
    for order in random.sample(orders, min(len(orders), 8)):
        yield Run(order, script.answer)


def _others(script: Script, rows: Rows, random: Random) -> Iterator[Run]:
    """A command that nobody asked for, on rows at random: alone, before the right run, or behind it."""
    writers = [tool for tool in script.tools.values() if tool.writes]
    for _ in range(40 if writers else 0):
        step = _drawn(random.choice(writers), script, rows, random)
        if step is None:
            continue
        where = random.choice(("alone", "before", "behind"))
        steps = {"alone": [step], "before": [step, *script.steps], "behind": [*script.steps, step]}[where]
        yield Run(steps, script.answer)


def _answers(script: Script, random: Random) -> Iterator[Run]:
    """Last words that tell nothing, or everything: after the right calls, and after none."""
    shown = sorted({text for text in script.texts if text}, key=len)
    for answer in [*WORTHLESS, *shown[-3:], " ".join(map(str, range(200))), script.answer * 2 + script.contradiction]:
        yield Run(script.steps, answer)
    for answer in [*random.sample(WORTHLESS, 3), *shown[-2:], script.task]:
        yield Run((), answer)


def _known(script: Script, index: int) -> Step:
    """A right call with its values in place of references."""
    return Step(0, script.steps[index].tool, script.arguments[index])


def _drawn(tool: Tool, script: Script, rows: Rows, random: Random) -> Step | None:
    """A call with values at random: keys of rows, choices, and what the right calls were given under that name."""
    given = {name: value for arguments in script.arguments for name, value in arguments.items()}
    arguments: dict[str, Any] = {}
    for name in sorted(tool.required):
        schema = tool.properties.get(name, {})
        stem = name.removesuffix("_id")
        tables = [table for table in rows.rows if stem in table and len(rows.keys[table]) == 1 and rows.rows[table]]
        if enum_of(schema):
            arguments[name] = random.choice(enum_of(schema))
        elif name.endswith("_id") and tables:
            arguments[name] = random.choice(rows.rows[tables[0]])[rows.keys[tables[0]][0]]
        elif name in given:
            arguments[name] = random.choice([given[name], *other_arguments(schema, given[name], rows)])
        else:
            return None
    return Step(0, tool.name, arguments)


def _solution(run: Run) -> Solution:
    calls = tuple(PlannedCall(tool=step.tool, arguments=step.arguments) for step in run.steps)
    return Solution(calls=calls, answer=run.answer)
