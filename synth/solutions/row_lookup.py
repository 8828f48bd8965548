"""Finding a row as an agent must: by queries over what a person would say, never by its key."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from servers.bundle.description import Tool
from servers.text.json_values import is_list, is_object
from synth.play.value_sources import ValueSource, singular
from synth.solutions.argument_sources import Arguments
from synth.solutions.plausible_values import enum_of
from synth.solutions.row_relations import RowPlace, RowRelations
from synth.solutions.trial_calls import Trying

ResultItem = dict[str, Any]
MOST_QUERIES = 24
DEEPEST = 3


@dataclass(frozen=True)
class Query:
    """A query whose arguments may be the keys of rows that must be found before: those stand in `needs`."""

    tool: str
    arguments: dict[str, Any]
    needs: dict[str, RowPlace] = field(default_factory=dict[str, RowPlace])


@dataclass(frozen=True)
class Sight:
    """A row seen in the result of a query: where its key stands, how it is shown, and what is shown beside it."""

    query: Query
    path: str
    item: ResultItem
    others: tuple[ResultItem, ...]
    key: str

    @property
    def needs(self) -> dict[str, RowPlace]:
        """The rows whose keys the query takes."""
        return self.query.needs


class RowLookup:
    """Looks rows up in one scene, as it stands now. What is `known` was asked of the same rows before."""

    def __init__(
        self,
        trying: Trying,
        world: RowRelations,
        arguments: Arguments,
        known: dict[str, ResultItem | None] | None = None,
    ) -> None:
        self._trying = trying
        self._world = world
        self._arguments = arguments
        self._tools = arguments.tools
        self._answers: dict[str, ResultItem | None] = {} if known is None else known
        self._sights: dict[RowPlace, list[Sight]] = {}

    async def sights(self, place: RowPlace) -> list[Sight]:
        """The ways in which a row can be seen, those that show the fewest others first."""
        if place in self._sights:
            return self._sights[place]
        found: list[Sight] = []
        for query in list(self._queries(place))[:MOST_QUERIES]:
            result = await self.answer(query)
            if result is not None:
                found += list(self._seen(query, result, place))
        found.sort(key=lambda sight: (len(sight.needs), len(sight.others), sight.query.tool))
        self._sights[place] = found
        return found

    async def answer(self, query: Query) -> ResultItem | None:
        """What a query gives, without leaving a trace in the scene."""
        name = f"{query.tool} {sorted(query.arguments.items(), key=str)}"
        if name not in self._answers:
            outcome = await self._trying.call(query.tool, query.arguments)
            self._answers[name] = outcome.structured if outcome.kind == "ok" else None
        return self._answers[name]

    def _queries(self, place: RowPlace) -> Iterator[Query]:
        """Queries that may show a row: with nothing given, by words, or by a row that it belongs to."""
        for name, tool in self._tools.items():
            if tool.writes or not self._may_show(tool, place):
                continue
            needed = tool.required
            if not needed:
                yield Query(name, {})
            for query in self._with_one_argument(tool, place):
                if needed <= query.arguments.keys():
                    yield query

    def _with_one_argument(self, tool: Tool, place: RowPlace) -> Iterator[Query]:
        """Those words first that the row has, then the rows that it has to do with."""
        by_place: list[Query] = []
        for argument, schema, source in self._arguments.of(tool):
            if source.kind == "id":
                near = self._near(place, source.columns[0].table)
                by_place += [Query(tool.name, {argument: one[1]}, {argument: one}) for one in near]
            elif source.kind in ("text", "email") and not enum_of(schema) and "string" in str(schema):
                for text in self._words(place, source):
                    yield Query(tool.name, {argument: text})
        yield from by_place

    def _words(self, place: RowPlace, source: ValueSource) -> list[str]:
        """What a row may be looked for by: its labels; without any, what it says in the column that is asked for."""
        row = self._world.rows.get(place, {})
        asked = [row.get(column.name) for column in source.columns if column.table == place[0]]
        return self._world.texts(place)[:3] or [text for text in asked if isinstance(text, str)]

    def _near(self, place: RowPlace, table: str) -> list[RowPlace]:
        """The rows of a table that a row belongs to; else those that have to do with the same rows."""
        parents = self._world.parents(place)
        related = [*parents, *(parent for one in parents for parent in self._world.parents(one))]
        holders = [parent for child in self._world.children(place) for parent in self._world.parents(child)]
        own = [one for one in related if one[0] == table and one != place]
        return own or [one for one in holders if one[0] == table and one != place][:6]

    def _may_show(self, tool: Tool, place: RowPlace) -> bool:
        """Whether the result of a tool has a property for the key of such a row."""
        text = str(tool.result)
        return any(f"'{name}'" in text for name in self.names(place[0])) or "properties" not in text

    def names(self, table: str) -> tuple[str, ...]:
        """The properties under which a table's keys are shown."""
        key = self._world.shape.keys[table].name
        one = singular(table)
        usual = (f"{one}_{key}", f"{one}_id", f"{one.split('_')[-1]}_id", key)
        shape = self._world.shape
        pointing = (column.name for column, aim in shape.points.items() if aim == shape.keys[table])
        return tuple(dict.fromkeys((*usual, *pointing, *self._arguments.names(shape.keys[table]))))

    def _seen(self, query: Query, result: ResultItem, place: RowPlace) -> Iterator[Sight]:
        names = self.names(place[0])
        for path, item, siblings in _items(result, "", 0):
            for name in names:
                if item.get(name) == place[1]:
                    others = tuple(other for other in siblings if other.get(name) != place[1])
                    yield Sight(query, f"{path}.{name}".lstrip("."), item, others, name)
                    break


def _items(value: Any, path: str, depth: int) -> Iterator[tuple[str, ResultItem, list[ResultItem]]]:
    """The objects of a result with their places and the objects beside them."""
    if depth > DEEPEST:
        return
    if is_object(value):
        yield path, value, []
        for name, inner in value.items():
            yield from _items_inside(inner, f"{path}.{name}", depth + 1)


def _items_inside(value: Any, path: str, depth: int) -> Iterator[tuple[str, ResultItem, list[ResultItem]]]:
    if is_object(value):
        yield from _items(value, path, depth)
    elif is_list(value):
        parts = [one for one in value if is_object(one)]
        for index, part in enumerate(parts):
            yield f"{path}[{index}]", part, parts
            for name, inner in part.items():
                yield from _items_inside(inner, f"{path}[{index}].{name}", depth + 1)
