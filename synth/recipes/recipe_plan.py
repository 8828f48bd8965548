"""The calls of a recipe: its steps with chosen values, made one after another, with references to earlier results."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from servers.bundle.description import Tool
from servers.scenario.scenario import PlannedCall
from servers.text.json_leaves import path_to
from servers.text.json_values import is_list, is_object
from synth.play.playground import Session
from synth.recipes.recipe_bindings import Binding, BoundValues
from synth.recipes.recipe_file import Recipe, RecipeStep
from synth.solutions.plausible_values import enum_of

HOLE = re.compile(r"\{([\w.\[\]]+)\}")


class Unfit(Exception):
    """A way to fill a recipe makes no scenario. The message says why."""


class ExpandedStep(NamedTuple):
    """One call to make: its step, the chosen values, and the row of the set that it is made for."""

    step: RecipeStep
    values: BoundValues
    row: int


@dataclass
class RecipePlan:
    """The calls of a recipe that were made, with their results."""

    calls: list[PlannedCall] = field(default_factory=list[PlannedCall])
    results: list[Any] = field(default_factory=list[Any])
    refused: list[int] = field(default_factory=list[int])
    """The numbers of calls that were refused."""
    choices: dict[Any, tuple[Any, ...]] = field(default_factory=dict[Any, tuple[Any, ...]])
    """For a chosen value, the values that are as right."""
    _names: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])

    def number_of(self, name: str, row: int) -> int:
        """The number of the call that a step's name means. Raises Unfit."""
        found = self._names.get((name, row)) or self._names.get((name, -1))
        if found is None:
            raise Unfit(f"no step named {name}")
        return found

    def keep(self, one: ExpandedStep, call: PlannedCall, result: Any) -> None:
        """Note a call that was made."""
        self.calls.append(call)
        self.results.append(result)
        if one.step.name:
            self._names[one.step.name, one.row] = len(self.calls)

    def value_at(self, path: str, row: int) -> tuple[Any, str]:
        """A value of a named step's result, and the reference to it. Raises Unfit."""
        name, _, rest = path.partition(".")
        number = self.number_of(name, row)
        return _at(self.results[number - 1], rest), f"${{{number}.{rest}}}"


def expanded(recipe: Recipe, binding: Binding) -> Iterator[ExpandedStep]:
    """The steps of a recipe, those of a set once for each of its rows."""
    groups: list[list[RecipeStep]] = []
    for step in recipe.steps:
        if step.along and groups:
            groups[-1].append(step)
        else:
            groups.append([step])
    chosen = {**binding.values, **_columns(binding)}
    for group in groups:
        rows = binding.sets[group[0].each] if group[0].each else [None]
        for number, row in enumerate(rows):
            values = {**chosen, **(row or {})}
            for step in group:
                wanted = values.get(step.when.lstrip("!")) if step.when else True
                if bool(wanted) != step.when.startswith("!"):
                    yield ExpandedStep(step, values, -1 if row is None else number)


def _columns(binding: Binding) -> BoundValues:
    """The columns of sets, as `NAME[].COLUMN`: for arguments that are lists."""
    return {
        f"{name}[].{column}": [row[column] for row in rows]
        for name, rows in binding.sets.items()
        if rows
        for column in rows[0]
    }


async def made(
    scene: Session, steps: Sequence[ExpandedStep], tools: Mapping[str, Tool], *, weak: bool, task: str = ""
) -> RecipePlan:
    """Make the calls of a recipe from the start.

    Keys become references to the result that showed them first, or stay if the task tells them. A weak run may guess
    keys, and may be refused.

    Raises:
        Unfit: a call is refused, a key was shown nowhere, or a result lacks a value.
    """
    await scene.rewind(0)
    async with scene.reading() as reader:
        keys = _keys(reader.connection)
    told = {key for key in keys if re.search(rf"(?<!\w){re.escape(key)}(?!\w)", task)}
    plan = RecipePlan()
    for one in steps:
        try:
            given = {name: _filled(value, one, plan) for name, value in one.step.arguments.items()}
        except Unfit:
            if plan.refused:  # a weak agent has not got what this call needs, and stops
                return plan
            raise
        arguments = {name: value[0] for name, value in given.items() if value[0] is not None}
        outcome = await scene.call(one.step.tool, arguments)
        if outcome.kind == "refused" and weak:
            plan.refused.append(len(plan.calls) + 1)
        elif outcome.kind != "ok":
            raise Unfit(f"{one.step.tool}: {outcome.kind}: {outcome.text[:120]}")
        planned = {
            name: reference or (value if weak else _looked_up(value, plan, keys - told, tools[one.step.tool], name))
            for name, (value, reference) in given.items()
            if value is not None
        }
        plan.keep(one, PlannedCall(tool=one.step.tool, arguments=planned, free=one.step.free), outcome.structured)
        if outcome.kind == "refused" and not tools[one.step.tool].writes:
            raise Unfit("a query is refused")
    return plan


def _keys(connection: Any) -> set[Any]:
    """The texts that are keys of rows."""
    found: set[Any] = set()
    tables = connection.execute("SELECT name FROM main.sqlite_schema WHERE type = 'table'").fetchall()
    for (table,) in tables:
        columns = connection.execute("SELECT name FROM pragma_table_info(?) WHERE pk > 0", (table,)).fetchall()
        if len(columns) == 1:
            quoted = str(columns[0][0]).replace('"', '""')
            found |= {key for (key,) in connection.execute(f'SELECT "{quoted}" FROM main."{table}"').fetchall()}
    return {key for key in found if isinstance(key, str)}


def _filled(value: Any, one: ExpandedStep, plan: RecipePlan) -> tuple[Any, str]:
    """A step's value with its holes filled, and the reference to it if it is one of a result."""
    if is_list(value):
        return [_filled(part, one, plan)[0] for part in value], ""
    if is_object(value):
        return {name: _filled(part, one, plan)[0] for name, part in value.items()}, ""
    if not isinstance(value, str):
        return value, ""
    whole = HOLE.fullmatch(value)
    if whole:
        if whole[1] in one.values:
            return one.values[whole[1]], ""
        if "." in whole[1]:
            return plan.value_at(whole[1], one.row)
        raise Unfit(f"no value named {whole[1]}")
    return HOLE.sub(lambda hole: str(one.values[hole[1]]), value), ""


def _looked_up(value: Any, plan: RecipePlan, keys: set[Any], tool: Tool, name: str) -> Any:
    """A value as an agent knows it: a key by the result that showed it first."""
    if is_list(value):
        return [_looked_up(part, plan, keys, tool, name) for part in value]
    if is_object(value):
        return {key: _looked_up(part, plan, keys, tool, name) for key, part in value.items()}
    if not isinstance(value, str) or value not in keys or value in enum_of(tool.properties.get(name, {})):
        return value
    for number, result in enumerate(plan.results, start=1):
        path = path_to(result, value, name)
        if path is not None:
            return f"${{{number}{path if path.startswith(('.', '[')) else '.' + path}}}"
    raise Unfit(f"{tool.name}.{name}: {value!r} was shown nowhere")


def _at(result: Any, path: str) -> Any:
    value = result
    for name, index in re.findall(r"(\w+)|\[(\d+)\]", path):
        try:
            value = value[name] if name else value[int(index)]
        except (KeyError, IndexError, TypeError):
            raise Unfit(f"a result has no {path}") from None
    return value
