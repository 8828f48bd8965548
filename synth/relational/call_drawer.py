"""Draws calls that both sides of a comparison are asked: as an audit draws them, and as a proof does, some spoilt."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from random import Random
from typing import Any

from servers.bundle.description import Tool
from servers.bundle.environment import Environment
from servers.imported.audit.drawing import Drawer, Seen, spellings
from servers.scenario.checkpoints.python import PythonCheckpoint
from servers.scenario.scenario import Scenario
from servers.text.json_values import is_list, is_object
from synth.interop.audit.audit import drawn_from
from synth.interop.imports.check_values import hints_of, known_in
from synth.play.argument_sampler import ArgumentSampler, Mode
from synth.play.row_view import SchemaShape, View
from synth.relational.states import TwinState

MODES: tuple[Mode, ...] = ("plausible", "plausible", "near_miss", "wild")
OF_ROWS = 0.3
"""The share of calls that are drawn from the rewritten rows, by column."""
SPOILT = 0.25
ODD_TEXTS = ("", " ", "no_such_thing", "2024-02-30", "2025-01-02T03:04:05", "2031-01-01")
ODD_NUMBERS = (0, -1, 1, 0.5, 1_000_000)
TRIES = 4
LARGEST = 2**63
THERE = 6
PLAINLY_ODD = ("", "no_such_thing", -1)
PAIRS = 40
"""Calls with two changed arguments, of each tool: they show which check comes first."""


class CallDrawer:
    """Draws from one seed. `hints` are what the checks of the scenarios compare with."""

    def __init__(
        self, imported: Environment, own: Environment, shape: SchemaShape, scenarios: Sequence[Scenario], random: Random
    ) -> None:
        checks = [one for scenario in scenarios for one in scenario.checkpoints if isinstance(one, PythonCheckpoint)]
        hints = [hints_of(check.python) for check in checks if "check_func" in check.python]
        self._hints = len(hints)
        self._random = random
        self._environment = imported
        self._audit = Drawer(hints, random, known_in(imported.source))
        self.sampler = ArgumentSampler(own, shape, random)

    def draw(self, tool: str, state: TwinState, view: View, now: str) -> dict[str, Any]:
        """Arguments for a tool that fit its schema, if some are found."""
        told = self._environment.tools[tool]
        seen = seen_of(state)
        self.sampler.look(view, now)
        drawn: dict[str, Any] = {}
        for _ in range(TRIES):
            if self._random.random() < OF_ROWS:
                drawn = self.sampler.draw(tool, self._random.choice(MODES))
            else:
                number = self._random.randrange(self._hints) if self._hints and self._random.random() < 0.5 else None
                drawn = self._audit.draw(drawn_from(told), seen, number)
            drawn = self._with_rows(told, drawn, seen)
            if self._random.random() < SPOILT:
                drawn = self._spoilt(told, drawn)
            if self._fits(tool, drawn):
                return drawn
        return {} if _is_too_large(drawn) else drawn

    def variations(self, tool: str, arguments: dict[str, Any], state: TwinState) -> list[dict[str, Any]]:
        """A call with each argument changed in every way, left out, or None; and some with two changed arguments.

        Among the other values are some that rows of a state hold under the same name.
        """
        told = self._environment.tools[tool]
        seen = seen_of(state)
        changed = [
            (name, other)
            for name in told.properties
            for other in (*other_values(deepcopy(arguments.get(name))), *seen.values([*spellings(name)])[:THERE], None)
        ]
        single = [{**arguments, name: other} for name, other in changed]
        single += [{one: arguments[one] for one in arguments if one != name} for name in arguments]
        odd = [one for one in changed if one[1] in PLAINLY_ODD]
        pairs = [(one, other) for one in odd for other in odd if one[0] < other[0]]
        some = self._random.sample(pairs, min(PAIRS, len(pairs)))
        double = [{**arguments, one[0]: one[1], other[0]: other[1]} for one, other in some]
        return [one for one in (*single, *double) if one != arguments and self._fits(tool, one)]

    def _fits(self, tool: str, drawn: dict[str, Any]) -> bool:
        if _is_too_large(drawn):
            return False
        try:
            return bool(self._environment.checks[tool].validator.is_valid(drawn))
        except ValueError:
            return False

    def _with_rows(self, tool: Tool, drawn: dict[str, Any], seen: Seen) -> dict[str, Any]:
        """Give lists of objects some: rows of the state, some of them without a field."""
        lists = [
            name for name, schema in tool.properties.items() if name in drawn and _holds_objects(schema) and seen.rows
        ]
        flat = [row for row in seen.rows if not any(is_object(part) for part in row.values())]
        return {**drawn, **{name: self._some_rows(flat) for name in lists if flat}}

    def _some_rows(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        keys = self._random.choice(rows).keys()
        alike = [row for row in rows if row.keys() == keys]
        some = [dict(self._random.choice(alike)) for _ in range(self._random.randint(0, 3))]
        without = self._random.choice(list(keys)) if self._random.random() < 0.7 else ""
        some = [{name: value for name, value in row.items() if name != without} for row in some]
        for row in some:
            if self._random.random() < 0.4 and row:
                name = self._random.choice(list(row))
                row[name] = other_value(row[name], self._random)
        return some

    def _spoilt(self, tool: Tool, drawn: dict[str, Any]) -> dict[str, Any]:
        """The same with one value changed, left out or given as None."""
        if not tool.properties:
            return drawn
        name = self._random.choice(list(tool.properties))
        optional = name not in tool.required
        if optional and name in drawn and self._random.random() < 0.4:
            return {other: value for other, value in drawn.items() if other != name}
        return {**drawn, name: other_value(drawn.get(name), self._random)}


def _is_too_large(value: Any) -> bool:
    """True if a value holds a number that no column can hold. No tool is asked for such."""
    if is_object(value):
        return any(map(_is_too_large, value.values()))
    if is_list(value):
        return any(map(_is_too_large, value))
    return isinstance(value, int) and not -LARGEST <= value < LARGEST


def seen_of(state: TwinState) -> Seen:
    """A state as the audit's drawing reads it."""
    return Seen.of({name: attribute.value for name, attribute in state.items()})


def _holds_objects(schema: dict[str, Any]) -> bool:
    items: Any = schema.get("items")
    return is_object(items) and items.get("type") == "object"


def other_value(value: Any, random: Random) -> Any:
    """A value of the same kind, near to it or odd."""
    return random.choice(other_values(value))


def other_values(value: Any) -> list[Any]:
    """Values of the same kind, near to one or odd. For None: odd values of several kinds."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value + 1, value - 1, -value, *(kind for kind in ODD_NUMBERS if type(kind) is type(value))]
    if isinstance(value, str):
        return [*ODD_TEXTS, f" {value} ", f"{value}x", value[:-1], value.upper(), value.swapcase()]
    if is_list(value):
        inner = other_values(value[0]) if value else []
        return [[], value[:1], value + value, *([one, *value[1:]] for one in inner)]
    if is_object(value):
        without = [{other: part for other, part in value.items() if other != name} for name in value]
        return [*without, *({**value, name: one} for name, part in value.items() for one in other_values(part))]
    return [*ODD_TEXTS, *ODD_NUMBERS]
