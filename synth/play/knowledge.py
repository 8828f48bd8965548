"""The knowledge of the argument sampler: state, results of earlier calls, and refusals."""

import re
from collections import defaultdict, deque
from collections.abc import Sequence
from random import Random
from typing import Any, cast

from servers.bundle.description import Tool
from servers.bundle.environment import Environment
from servers.text.json_values import JsonSchema
from servers.worker.instance import CallOutcome
from synth.play import values
from synth.play.experience import Features, features_of
from synth.play.json_schema import Schemas
from synth.play.row_view import (
    SchemaShape,
    SqlColumn,
    View,
    ViewRow,
)
from synth.play.value_sources import ValueSource, source_of

About = dict[SqlColumn, Any]
SEEN = 300
TOLD = 3
"""The number of refusals that are remembered for their amounts, dates and tools."""


class Known:
    """The current state, and what the calls of a walk have shown. `focus` are the rows written last."""

    def __init__(self, environment: Environment, shape: SchemaShape, schemas: Schemas) -> None:
        self._environment = environment
        self._schemas = schemas
        self._sources: dict[tuple[str, str], ValueSource] = {}
        self.shape = shape
        self.view = View({})
        self.now = environment.description.clock
        self.begin()

    def begin(self) -> None:
        """Begin a new walk: forget the results of calls."""
        self._seen: defaultdict[str, deque[Any]] = defaultdict(lambda: deque(maxlen=SEEN))
        self._shown: defaultdict[tuple[str, str], deque[Any]] = defaultdict(lambda: deque(maxlen=SEEN))
        self.focus: dict[SqlColumn, Any] = {}
        self._told: deque[str] = deque(maxlen=TOLD)

    def learn(self, tool: str, arguments: dict[str, Any], outcome: CallOutcome) -> None:
        """Take in what a call showed, told or wrote."""
        for name, value in arguments.items():
            self._keep_in_focus(tool, name, value, outcome)
        if outcome.kind == "refused":
            self._told.append(outcome.text)
        if outcome.structured is not None and outcome.changes:
            self._focus_on_new(outcome.structured)
        if outcome.structured is not None:
            for shown in values.objects_in(outcome.structured):
                for key, value in shown.items():
                    if isinstance(value, str | int | float) and not isinstance(value, bool):
                        self._seen[key].append(value)
                        self._shown[tool, key].append(value)

    def about(self, tool: str, arguments: dict[str, Any]) -> About:
        """Which rows a call is about: the keys that it names, and those that their rows point to."""
        named = {path: value for path, value in arguments.items() if isinstance(value, str | int)}
        sources = {path: self._sources.get((tool, path)) for path in named}
        found = {
            source.columns[0]: named[path]
            for path, source in sources.items()
            if source is not None and source.kind == "id"
        }
        for key, value in list(found.items()):
            for row in self.view.where(key, value):
                aims = {aim: row[column.name] for column, aim in self.shape.points.items() if column.table == key.table}
                found = {aim: one for aim, one in aims.items() if one is not None} | found
        return found

    def kin(self, about: About) -> list[str]:
        """The tools that write and can be told about one of some rows."""
        return [
            tool.name
            for tool in self._environment.description.tools
            for sources in [[self.source(tool, name, one) for name, one in tool.properties.items()]]
            if tool.writes and any(one.kind == "id" and one.columns[0] in about for one in sources)
        ]

    def _keep_in_focus(self, tool: str, name: str, value: Any, outcome: CallOutcome) -> None:
        """Remember the row written last: later calls are more often about it, as a person's are."""
        source = self._sources.get((tool, name))
        if outcome.changes and source is not None and source.kind == "id" and isinstance(value, str | int):
            self.focus[source.columns[0]] = value

    def _focus_on_new(self, result: dict[str, Any]) -> None:
        """Remember the rows in the result of a writing call."""
        for source in list(self._sources.values()):
            value = result.get(source.name)
            if source.kind == "id" and isinstance(value, str | int):
                self.focus[source.columns[0]] = value

    def told_by(self, pattern: re.Pattern[str]) -> list[str]:
        return [one for text in self._told for one in pattern.findall(text)]

    def source(self, tool: Tool, path: str, schema: JsonSchema) -> ValueSource:
        place = (tool.name, path)
        if place not in self._sources:
            name = path.rsplit(".", 1)[-1]
            about = self._schemas.plain(tool.arguments, schema, likely=True)
            if self._schemas.kind(about) == "array":
                inner = self._schemas.plain(tool.arguments, cast("JsonSchema", about.get("items") or {}), likely=True)
                about = {**about, **inner, "description": about.get("description", "")}
            self._sources[place] = source_of(tool, name, about, self.shape, self.view, self._environment.tools)
        return self._sources[place]

    def ids(self, source: ValueSource) -> list[Any]:
        known = (
            [value for column in source.columns[:1] for value in self.view.values(column)]
            if source.kind == "id"
            else []
        )
        name = source.name.removesuffix("s") if source.name.endswith("ids") else source.name
        if not known:
            known = [value for tool in source.tools for value in self._shown.get((tool, name), ())]
        return known or list(self._seen.get(name, ()))

    def texts(self, source: ValueSource) -> list[str]:
        found = [value for column in source.columns for value in self.view.values(column)]
        found = found or list(self._seen.get(source.name, ()))
        return [one for one in found if isinstance(one, str)]

    def numbers(
        self, source: ValueSource, schema: JsonSchema, drawn: dict[str, Any], random: Random
    ) -> Sequence[float]:
        """Numbers of the rows that were chosen already, of the same unit; else those of columns of the same name."""
        told = [number for text in self.told_by(values.NUMBER) for number in values.numbers_of(text)]
        if told and random.random() < 0.35:
            return told
        unit = source.name.rsplit("_", 1)[-1]
        found = [one for one in self.related(drawn, unit) if isinstance(one, int | float)]
        if not found or random.random() < 0.3:
            found += [
                one for column in source.columns for one in self.view.values(column) if isinstance(one, int | float)
            ]
        default = schema.get("default")
        return found + ([default] if isinstance(default, int | float) else [])

    def related(self, drawn: dict[str, Any], unit: str | None = None) -> list[Any]:
        """Values of the chosen rows, and of those that reference them."""
        found: list[Any] = []
        for row in self._rows_of(drawn):
            found += [one for name, one in row.items() if unit is None or name.rsplit("_", 1)[-1] == unit]
        return found

    def _rows_of(self, drawn: dict[str, Any]) -> list[ViewRow]:
        found: list[ViewRow] = []
        for name, value in drawn.items():
            source = next((one for (_, path), one in self._sources.items() if path == name and one.kind == "id"), None)
            if source is None or not isinstance(value, str | int):
                continue
            key = source.columns[0]
            places = [key, *(column for column, aim in self.shape.points.items() if aim == key)]
            places += [SqlColumn(view, name) for view in self.shape.views if self.view.rows.get(view)]
            for place in places:
                if self.view.rows.get(place.table) and place.name in self.view.rows[place.table][0]:
                    found += self.view.where(place, value)[:5]
        return found

    def features(self, tool: Tool, path: str, value: Any) -> Features:
        source = self._sources.get((tool.name, path))
        if source is not None and source.kind == "id" and isinstance(value, str | int):
            return features_of(self.view, self.shape, source.columns[0], path, value, self.now[:10])
        if isinstance(value, bool | None):
            return {"": value}
        schema = tool.properties.get(path, {})
        is_choice = "enum" in schema or any("enum" in one for one in schema.get("anyOf", ()))
        return {"": value} if is_choice and isinstance(value, str | int) else {}
