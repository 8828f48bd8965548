"""Samples arguments for a tool: from its JSON Schema, the state, and the results of earlier calls.

All randomness is one `random.Random`, so equal seeds, states and results give equal arguments. The caller reports
outcomes, so that successful kinds of values become more frequent.
"""

from collections.abc import Sequence
from random import Random
from typing import Any, Literal, cast

from servers.bundle.description import Tool
from servers.bundle.environment import Environment
from servers.text.json_values import JsonSchema
from servers.worker.instance import CallOutcome
from synth.play import values
from synth.play.experience import Experience, ProgressMeasure
from synth.play.json_schema import Schemas, properties_of
from synth.play.knowledge import About, Known
from synth.play.row_view import SchemaShape, SqlColumn, View
from synth.play.value_sources import DATE, ValueSource

Mode = Literal["plausible", "near_miss", "wild"]
"""Meant to succeed, with one slightly wrong value, or anything that the schema permits."""
TRIES = 5
COMPARED = 12
"""The number of candidates from which the likeliest is taken."""
IN_FOCUS = 0.35
"""The frequency of likely calls about the row that was written last."""


class ArgumentSampler:
    """Samples arguments. It needs the state before a call (`look`) and the outcome after it (`learn`)."""

    def __init__(
        self, environment: Environment, shape: SchemaShape, random: Random, *, progress: ProgressMeasure | None = None
    ) -> None:
        self.environment = environment
        self.experience = Experience(progress)
        self._random = random
        self._schemas = Schemas(random)
        self._known = Known(environment, shape, self._schemas)
        self._about: About = {}
        self._pairs: dict[str, list[tuple[str, dict[str, str]]]] = {}

    def begin(self) -> None:
        """Begin a new walk: forget the results of calls, and keep the statistics."""
        self._known.begin()

    def look(self, view: View, now: str) -> None:
        """Read the current state."""
        self._known.view, self._known.now = view, now

    def about(self, tool: str, arguments: dict[str, Any]) -> About:
        """The rows of a call: the keys that it names, and those that their rows reference."""
        return self._known.about(tool, arguments)

    def kin(self, about: About) -> list[str]:
        """The writing tools with an argument for one of some rows."""
        return self._known.kin(about)

    def draw(self, tool: str, mode: Mode = "plausible", *, about: About | None = None) -> dict[str, Any]:
        """Arguments for one call, optionally about certain rows. They match the schema as far as possible."""
        found = self.environment.tools[tool]
        self._about = about or {}
        drawn: dict[str, Any] = {}
        for _ in range(TRIES):
            drawn = self._wild(found) if mode == "wild" else self._likely(found)
            if mode == "near_miss":
                self._spoil(found, drawn)
            if self._is_valid(tool, drawn):
                return drawn
        return drawn

    def learn(self, tool: str, arguments: dict[str, Any], outcome: CallOutcome) -> None:
        """Learn from a call's outcome, while the last look is still the state before it."""
        if outcome.kind in ("ok", "refused"):
            worth = self.experience.worth(tool, outcome.kind, outcome.text)
            for name, value in arguments.items():
                features = self._known.features(self.environment.tools[tool], name, value)
                self.experience.note(tool, name, features, worth)
        self._known.learn(tool, arguments, outcome)

    def chance(self, tool: str, arguments: dict[str, Any]) -> float:
        """The learned log ratio of success: 0 for an ordinary call."""
        found = self.environment.tools[tool]
        chances = [
            self.experience.chance(tool, name, self._known.features(found, name, one))
            for name, one in arguments.items()
        ]
        return sum(chances)

    # whole calls

    def _likely(self, tool: Tool) -> dict[str, Any]:
        together = self._together(tool)
        properties, required = tool.properties, tool.required
        drawn: dict[str, Any] = {}
        ids = [name for name in properties if self._known.source(tool, name, properties[name]).kind == "id"]
        for name in sorted(properties, key=lambda name: name not in ids):
            if name not in required and self._random.random() < (0.3 if name in together else 0.55):
                continue
            if name in together and self._random.random() < 0.9:
                drawn[name] = together[name]
            else:
                drawn[name] = self._value(tool, name, properties[name], drawn)
        self._put_in_order(tool, drawn)
        return {name: drawn[name] for name in properties if name in drawn}

    def _wild(self, tool: Tool) -> dict[str, Any]:
        properties, required = tool.properties, tool.required
        drawn: dict[str, Any] = {}
        for name, schema in properties.items():
            if name in required or self._random.random() < 0.6:
                known = self._random.random() < 0.4
                drawn[name] = self._value(tool, name, schema, drawn) if known else self._schemas.strange(schema)
        return drawn

    def _spoil(self, tool: Tool, drawn: dict[str, Any]) -> None:
        """Make one value of a likely call slightly wrong."""
        properties = tool.properties
        if not properties:
            return
        name = self._random.choice(list(drawn) or list(properties))
        drawn[name] = self._wrong(tool, name, self._schemas.plain(tool.arguments, properties[name]), drawn)

    def _is_valid(self, tool: str, drawn: dict[str, Any]) -> bool:
        try:
            return bool(self.environment.checks[tool].validator.is_valid(drawn))
        except ValueError:
            return False

    def _together(self, tool: Tool) -> dict[str, Any]:
        """Occasionally: values of one row for several arguments."""
        if self._about or self._random.random() < 0.6:
            return {}
        if tool.name not in self._pairs:
            self._pairs[tool.name] = self._pairs_of(tool)
        pairs = [(table, names) for table, names in self._pairs[tool.name] if self._known.view.rows.get(table)]
        if not pairs:
            return {}
        table, names = self._random.choice(pairs)
        row = self._random.choice(self._known.view.rows[table])
        return {name: row[column] for name, column in names.items() if row.get(column) is not None}

    def _pairs_of(self, tool: Tool) -> list[tuple[str, dict[str, str]]]:
        """The tables and views with columns for at least two arguments."""
        properties = tool.properties
        sources = {name: self._known.source(tool, name, schema) for name, schema in properties.items()}
        found: list[tuple[str, dict[str, str]]] = []
        for table, rows in self._known.view.rows.items():
            names: dict[str, str] = {}
            for column in rows[0] if rows else ():
                for name, source in sources.items():
                    place = SqlColumn(table, column)
                    aims = {place, self._known.shape.points.get(place)}
                    if column == name or (source.kind == "id" and source.columns[0] in aims):
                        names[name] = column
            if len(names) > 1:
                found.append((table, names))
        return found

    def _put_in_order(self, tool: Tool, drawn: dict[str, Any]) -> None:
        """Put times of one kind in the order of the arguments: arrival before departure."""
        properties = tool.properties
        for kind in ("date", "datetime", "time"):
            names = [name for name in properties if self._known.source(tool, name, properties[name]).kind == kind]
            names = [name for name in names if isinstance(drawn.get(name), str)]
            if len(names) < 2 or self._random.random() < 0.1:
                continue
            drawn |= dict(zip(names, sorted(drawn[name] for name in names), strict=True))
            together = len({drawn[name][:10] for name in names}) < len(names)
            apart = drawn[names[-1]][:10] > values.moment(self._known.now, "date", 60, self._random)
            if kind != "time" and (together or apart or self._random.random() < 0.4):
                stay = self._random.choice((1, 1, 2, 3, 5, 7))
                begin = drawn[names[0]] if DATE.match(drawn[names[0]]) else self._known.now
                drawn[names[-1]] = values.moment(begin, kind, stay, self._random)

    # single values

    def _value(self, tool: Tool, path: str, schema: JsonSchema, drawn: dict[str, Any]) -> Any:
        """A likely value."""
        schema = self._schemas.plain(tool.arguments, schema)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self._best(tool, path, schema["enum"])
        kind = self._schemas.kind(schema)
        if kind == "object":
            return self._object(tool, path, schema, drawn)
        if kind == "array":
            return self._array(tool, path, schema, drawn)
        return self._single(tool, path, schema, kind, drawn)

    def _single(self, tool: Tool, path: str, schema: JsonSchema, kind: str, drawn: dict[str, Any]) -> Any:
        """A likely value that is neither an object nor an array."""
        if kind == "null":
            return None
        if kind == "boolean":
            return self._random.random() < 0.5
        source = self._known.source(tool, path, schema)
        if source.kind == "id" or (source.tools and self._random.random() < 0.5):
            known = self._known.ids(source)
            if source.columns and source.columns[0] in self._about:
                return self._about[source.columns[0]]
            if known:
                focus = self._known.focus.get(source.columns[0]) if source.columns else None
                in_focus = focus in known and self._random.random() < IN_FOCUS
                return focus if in_focus else self._best(tool, path, known)
        if kind in ("integer", "number"):
            number = values.likely_number(self._known.numbers(source, schema, drawn, self._random), self._random)
            return values.within(number, schema, whole=kind == "integer")
        return self._text(tool, source, schema, drawn)

    def _text(self, tool: Tool, source: ValueSource, schema: JsonSchema, drawn: dict[str, Any]) -> str:
        if source.kind in ("date", "datetime", "time"):
            known = [*self._known.texts(source), *(one for one in self._known.related(drawn) if isinstance(one, str))]
            known = [one for one in known if DATE.match(one) or source.kind == "time"]
            if source.kind != "time":
                known += self._known.told_by(DATE)
            if self._random.random() < 0.8:
                known = [one for one in known if one[:10] >= self._known.now[:10]]
            return values.likely_moment(self._known.now, source.kind, known, self._random)
        if source.kind == "email" and (tool.writes or self._random.random() < 0.5):
            return values.fresh_email(self._random)
        whole = 0.35 if tool.writes else 0.6
        return values.fitted(values.likely_text(self._known.texts(source), self._random, whole=whole), schema)

    def _object(self, tool: Tool, path: str, schema: JsonSchema, drawn: dict[str, Any]) -> dict[str, Any]:
        required = set(schema.get("required", ()))
        return {
            name: self._value(tool, f"{path}.{name}", inner, drawn)
            for name, inner in properties_of(schema).items()
            if name in required or self._random.random() < 0.6
        }

    def _array(self, tool: Tool, path: str, schema: JsonSchema, drawn: dict[str, Any]) -> list[Any]:
        least, most = int(schema.get("minItems", 0)), int(schema.get("maxItems", 3))
        count = self._random.randint(max(least, min(1, most)), max(least, most))
        inner = cast("JsonSchema", schema.get("items") or {"type": "string"})
        inner = {"description": schema.get("description", ""), **inner}
        found: list[Any] = []
        for _ in range(count):
            one = self._value(tool, path, inner, drawn)
            if one not in found:
                found.append(one)
        return found

    def _wrong(self, tool: Tool, path: str, schema: JsonSchema, drawn: dict[str, Any]) -> Any:
        """A value that should most likely be refused."""
        kind = self._schemas.kind(schema)
        if "enum" in schema:
            return self._worst(tool, path, schema["enum"])
        if kind == "array":
            whole = self._array(tool, path, schema, drawn)
            spoilt = [*whole[1:], *(values.changed(one, self._random) for one in whole[:1])]
            return self._random.choice(([], whole + whole, spoilt))
        if kind == "object":
            whole = self._object(tool, path, schema, drawn)
            for name in self._random.sample(list(whole), min(1, len(whole))):
                inner = self._schemas.plain(tool.arguments, properties_of(schema)[name])
                whole[name] = self._wrong(tool, f"{path}.{name}", inner, whole)
            return whole
        return self._wrong_single(tool, path, schema, kind, drawn)

    def _wrong_single(self, tool: Tool, path: str, schema: JsonSchema, kind: str, drawn: dict[str, Any]) -> Any:
        if kind == "boolean":
            return not drawn.get(path, False)
        source = self._known.source(tool, path, schema)
        if source.kind == "id":
            known = self._known.ids(source) or ["unknown"]
            if self._random.random() < 0.35:
                return values.changed(self._random.choice(known), self._random)
            return self._worst(tool, path, known)
        if kind in ("integer", "number"):
            number = values.wrong_number(self._known.numbers(source, schema, drawn, self._random), self._random)
            return values.within(number, schema, whole=kind == "integer")
        if source.kind in ("date", "datetime", "time"):
            return values.wrong_moment(self._known.now, source.kind, self._random)
        known = self._known.texts(source)
        return self._random.choice(("", " ", "x" * 300, *(self._random.sample(known, 1) if known else ("?",))))

    # choosing

    def _best(self, tool: Tool, path: str, among: Sequence[Any]) -> Any:
        """One of a few candidates: mostly the likeliest to succeed."""
        some = [self._random.choice(among) for _ in range(min(COMPARED, len(among)))]
        if len(some) == 1 or self._random.random() < 0.25:
            return some[0]
        return max(some, key=lambda one: self.experience.chance(tool.name, path, self._known.features(tool, path, one)))

    def _worst(self, tool: Tool, path: str, among: Sequence[Any]) -> Any:
        some = [self._random.choice(among) for _ in range(min(3, len(among)))]
        return min(some, key=lambda one: self.experience.chance(tool.name, path, self._known.features(tool, path, one)))

    def named_by_refusals(self) -> list[str]:
        """The tools that the last refusals name."""
        return [word for word in self._known.told_by(values.WORD) if word in self.environment.tools]
