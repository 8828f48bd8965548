"""Samples arguments for a command that a person could mean: about their own rows, or rows that belong to nobody."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from random import Random
from typing import Any

from servers.bundle.description import Tool
from servers.bundle.phrases import Phrases
from servers.text.json_leaves import leaf
from synth.play.value_sources import ValueSource
from synth.play.values import day_in, later
from synth.solutions.argument_sources import Arguments
from synth.solutions.plausible_values import enum_of
from synth.solutions.row_lookup import Query, RowLookup
from synth.solutions.row_relations import RowPlace, RowRelations

FIRST_NAMES = ("Noemi", "Tariq", "Freya", "Bongani", "Soledad", "Anton", "Leila", "Marek", "Ayumi", "Gustavo", "Imke")
LAST_NAMES = ("Brandt", "Osei", "Marchetti", "Halloran", "Nakamura", "Sandoval", "Iyer", "Lindgren", "Abebe", "Duarte")
STAYS = (1, 2, 2, 3, 3, 4, 5, 6)


@dataclass(frozen=True)
class Derived:
    """A number that the task does not state: a query shows it, and words refer to it."""

    query: Query
    path: str
    words: str


@dataclass(frozen=True)
class Drawn:
    """A sampled command: its arguments, the rows that they name, and the numbers to look up."""

    tool: str
    arguments: dict[str, Any]
    places: dict[str, RowPlace]
    derived: dict[str, Derived] = field(default_factory=dict[str, Derived])
    prose: frozenset[str] = frozenset()


class CommandSampler:
    """Samples commands for one errand, given the current rows."""

    def __init__(
        self,
        world: RowRelations,
        arguments: Arguments,
        phrases: Phrases,
        finder: RowLookup,
        clock: str,
        random: Random,
        said: dict[str, list[dict[str, Any]]] | None = None,
    ) -> None:
        self._said = said or {}
        self._world = world
        self._arguments = arguments
        self._phrases = phrases
        self._finder = finder
        self._clock = clock
        self._random = random

    async def draw(self, tool: Tool, person: RowPlace | None, lately: list[RowPlace]) -> Drawn | None:
        """Arguments for a tool. None if it fits nothing of this person."""
        example, needed = self._example_for(tool)
        arguments: dict[str, Any] = {}
        places: dict[str, RowPlace] = {}
        rest: list[tuple[str, dict[str, Any], ValueSource]] = []
        names_person = False
        for name, schema, source in self._arguments.of(tool):
            if name in example or name not in needed or source.kind != "id":
                rest.append((name, schema, source))
                continue
            place = self._place(source.columns[0].table, person, lately, names_person=names_person)
            if place is None:
                return None
            names_person = names_person or place == person
            arguments[name], places[name] = place[1], place
        if person is not None and not names_person and not self._is_about(person, places, lately):
            return None
        derived = await self._others(tool, rest, example, needed, arguments, places)
        if derived is None:
            return None
        self._put_in_order(rest, arguments)
        prose = frozenset(name for name in example if isinstance(example[name], str) and " " in example[name])
        order = [name for name, _, _ in self._arguments.of(tool)]
        return Drawn(tool.name, {name: arguments[name] for name in order if name in arguments}, places, derived, prose)

    def _example_for(self, tool: Tool) -> tuple[dict[str, Any], set[str]]:
        """Example values that go together, and the arguments to be given, among them those for rows."""
        told = self._phrases.examples.get(tool.name)
        if told:
            return dict(self._random.choice(told)), tool.required
        if tool.name not in self._said:
            return {}, tool.required | self._wished(tool)
        whole = self._random.choice(self._said[tool.name])
        rows = {one.name for one in self._arguments.of(tool) if one.source.kind == "id"}
        return {name: value for name, value in whole.items() if name not in rows}, tool.required | whole.keys()

    def _wished(self, tool: Tool) -> set[str]:
        """Some of the optional arguments. An update needs at least one."""
        asks = self._phrases.asks.get(tool.name)
        sayable = "" if asks is None else str(asks)
        may = [
            one.name
            for one in self._arguments.of(tool)
            if one.name not in tool.required
            and (asks is None or f"{{{one.name}" in sayable or f"[{one.name}:" in sayable)
            and (one.source.kind in ("id", "date", "number") or enum_of(one.schema) or "boolean" in str(one.schema))
            and "array" not in str(one.schema)
        ]
        return set(self._random.sample(may, self._random.randint(1, min(2, len(may))))) if may else set()

    def _place(
        self, table: str, person: RowPlace | None, lately: list[RowPlace], *, names_person: bool
    ) -> RowPlace | None:
        """A row for an argument: the person, something of theirs, something recent, or something of nobody's."""
        if person is not None and table == person[0]:
            return person
        recent = [place for place in lately if place[0] == table]
        if recent and self._random.random() < 0.6:
            return self._random.choice(recent)
        near: list[RowPlace] = []
        if person is not None:
            near = sorted((place for place in self._world.around(person) if place[0] == table), key=str)
        free = self._of_nobody(table)
        if person is None:
            return self._random.choice(free or self._world.places(table) or [None])
        if near and (not (names_person and free) or self._random.random() < 0.5):
            return self._random.choice(near)
        return self._random.choice(free) if free and (names_person or not near) else None

    def _of_nobody(self, table: str) -> list[RowPlace]:
        """The rows of a table that belong to no person."""
        speaker = self._phrases.speaker
        places = self._world.places(table)
        if speaker is None or not places:
            return places
        owned = any(one[0] == speaker for one in self._world.ancestors(places[0]))
        return [] if owned or table == speaker else places

    def _is_about(self, person: RowPlace, places: dict[str, RowPlace], lately: list[RowPlace]) -> bool:
        """True if a command that does not name the person is about something of theirs."""
        around = self._world.around(person)
        return any(place in around or place in lately for place in places.values())

    async def _others(
        self,
        tool: Tool,
        rest: list[tuple[str, dict[str, Any], ValueSource]],
        example: dict[str, Any],
        needed: set[str],
        arguments: dict[str, Any],
        places: dict[str, RowPlace],
    ) -> dict[str, Derived] | None:
        """Fill in all other arguments. None if a number cannot be known."""
        derived: dict[str, Derived] = {}
        name = f"{self._random.choice(FIRST_NAMES)} {self._random.choice(LAST_NAMES)}"
        for argument, schema, source in rest:
            if argument in example:
                arguments[argument] = self._example(example[argument], name)
            elif argument not in needed:
                continue
            elif f"{tool.name}.{argument}" in self._phrases.amounts:
                known = await self._amount(f"{tool.name}.{argument}", places)
                if known is None:
                    return None
                derived[argument], arguments[argument] = known
            else:
                arguments[argument] = self._plain(argument, schema, source, places)
        return derived

    async def _amount(self, place: str, places: dict[str, RowPlace]) -> tuple[Derived, int] | None:
        """A number that a query shows of a row of this command."""
        found: list[tuple[Derived, int]] = []
        for query in self._queries_about(places):
            result = await self._finder.answer(query)
            for rule, words in self._phrases.amounts[place].items():
                path, _, condition = rule.partition(" if ")
                where, _, wanted = condition.partition("=")
                value = leaf(result, path)
                if isinstance(value, int) and value > 0 and (not condition or str(leaf(result, where)) == wanted):
                    found.append((Derived(query, path, words), value))
        return self._random.choice(found) if found else None

    def _queries_about(self, places: dict[str, RowPlace]) -> Iterator[Query]:
        for tool in self._arguments.tools.values():
            needed = tool.required
            if not tool.writes and len(needed) == 1 and needed <= places.keys():
                [name] = needed
                yield Query(tool.name, {name: places[name][1]}, {name: places[name]})

    def _plain(self, name: str, schema: dict[str, Any], source: ValueSource, places: dict[str, RowPlace]) -> Any:
        """A value for an argument of which only schema and name are known."""
        choices = [choice for choice in enum_of(schema) if choice is not None]
        if choices:
            return self._random.choice(choices)
        if schema.get("type") == "boolean":
            return self._random.random() < 0.5
        if source.kind == "date":
            rows = [self._world.rows.get(place, {}) for place in places.values()]
            own = [row[name] for row in rows if row.get(name)]
            if own and self._random.random() < 0.4:
                return own[0]
            begin = (day_in(own[0]) if own else None) or date.fromisoformat(self._clock[:10])
            return later(begin, self._random.randint(1, 30)).isoformat()
        values = sorted({value for column in source.columns for value in self._world.view.values(column)}, key=str)
        if source.kind == "number":
            numbers = [value for value in values if isinstance(value, int) and value > 0]
            return self._random.choice(numbers or [1, 2, 3])
        texts = [value for value in values if isinstance(value, str)]
        return self._random.choice(texts or ["As discussed"])

    def _put_in_order(self, rest: list[tuple[str, dict[str, Any], ValueSource]], arguments: dict[str, Any]) -> None:
        """Put two dates in the order of their arguments, some days apart."""
        names = [name for name, _, source in rest if source.kind == "date" and name in arguments]
        if len(names) == 2:
            first = day_in(arguments[names[0]])
            if first and not arguments[names[0]] < arguments[names[1]] <= later(first, 8).isoformat():
                arguments[names[1]] = later(first, self._random.choice(STAYS)).isoformat()

    def _example(self, value: Any, name: str) -> Any:
        if value == "@name":
            return name
        if value == "@email":
            return f"{name.lower().replace(' ', '.')}@mailhaven.example"
        if value == "@phone":
            return f"+44 7700 900{self._random.randint(100, 999)}"
        return value
