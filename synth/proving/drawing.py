"""Arguments for a tool, drawn from the schema of its arguments, from the state, and from what earlier calls showed.

Everything is drawn from one `random.Random`, so the same seed, state and answers give the same arguments. Whoever draws
also tells what came of it, so what succeeds is drawn more often.
"""

import re
from collections import defaultdict, deque
from collections.abc import Sequence
from random import Random
from typing import Any, Literal, cast

from servers.bundle import Environment
from servers.environment import Tool
from servers.instance import Outcome
from synth.proving import values
from synth.proving.experience import Experience, Features, Progress, features_of
from synth.proving.sources import DATE, Source, source_of
from synth.proving.view import Column, Row, Shape, View

Mode = Literal["plausible", "near_miss", "wild"]
"""Meant to succeed; one value a little wrong; anything that the schema permits."""
Schema = dict[str, Any]
About = dict[Column, Any]
TRIES = 5
SEEN = 300
TOLD = 3
"""So many refusals are remembered for what they say: amounts, dates and tools."""
COMPARED = 12
"""Of so many values the likeliest is taken."""
IN_FOCUS = 0.35
"""How often a likely call is about the row that was written last."""


class Drawer:
    """Draws arguments. It is told the state before (`look`) and the outcome after (`learn`)."""

    def __init__(
        self, environment: Environment, shape: Shape, random: Random, *, progress: Progress | None = None
    ) -> None:
        self.environment = environment
        self.experience = Experience(progress)
        self._shape = shape
        self._random = random
        self._view = View({})
        self._now = environment.description.clock
        self._about: About = {}
        self._sources: dict[tuple[str, str], Source] = {}
        self._pairs: dict[str, list[tuple[str, dict[str, str]]]] = {}
        self.begin()

    def begin(self) -> None:
        """Forget what the calls of a walk have shown: a new one begins at the start. What was learnt stays."""
        self._seen: defaultdict[str, deque[Any]] = defaultdict(lambda: deque(maxlen=SEEN))
        self._shown: defaultdict[tuple[str, str], deque[Any]] = defaultdict(lambda: deque(maxlen=SEEN))
        self._focus: dict[Column, Any] = {}
        self._told: deque[str] = deque(maxlen=TOLD)

    def look(self, view: View, now: str) -> None:
        """See the state as it is now."""
        self._view, self._now = view, now

    def draw(self, tool: str, mode: Mode = "plausible", *, about: About | None = None) -> dict[str, Any]:
        """Arguments for one call, `about` certain rows if so wished. They keep to the schema as far as they can."""
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

    def about(self, tool: str, arguments: dict[str, Any]) -> "About":
        """Which rows a call is about: the keys that it names, and those that their rows point to."""
        named = {path: value for path, value in arguments.items() if isinstance(value, str | int)}
        sources = {path: self._sources.get((tool, path)) for path in named}
        found = {
            source.columns[0]: named[path]
            for path, source in sources.items()
            if source is not None and source.kind == "id"
        }
        for key, value in list(found.items()):
            for row in self._view.where(key, value):
                aims = {
                    aim: row[column.name] for column, aim in self._shape.points.items() if column.table == key.table
                }
                found = {aim: one for aim, one in aims.items() if one is not None} | found
        return found

    def kin(self, about: "About") -> list[str]:
        """The tools that write and can be told about one of some rows."""
        return [
            tool.name
            for tool in self.environment.description.tools
            for sources in [[self._source(tool, name, one) for name, one in tool.properties.items()]]
            if tool.writes and any(one.kind == "id" and one.columns[0] in about for one in sources)
        ]

    def learn(self, tool: str, arguments: dict[str, Any], outcome: Outcome) -> None:
        """Take in what a call came to, while the state is still the one that was looked at before it."""
        if outcome.kind in ("ok", "refused"):
            worth = self.experience.worth(tool, outcome.kind, outcome.text)
            for name, value in arguments.items():
                features = self._features(self.environment.tools[tool], name, value)
                self.experience.note(tool, name, features, worth)
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

    def _keep_in_focus(self, tool: str, name: str, value: Any, outcome: Outcome) -> None:
        """Keep which row was written last: the calls that follow are more often about it, as a person's are."""
        source = self._sources.get((tool, name))
        if outcome.changes and source is not None and source.kind == "id" and isinstance(value, str | int):
            self._focus[source.columns[0]] = value

    def _focus_on_new(self, result: dict[str, Any]) -> None:
        """Keep which rows the result of a call that wrote is about."""
        for source in list(self._sources.values()):
            value = result.get(source.name)
            if source.kind == "id" and isinstance(value, str | int):
                self._focus[source.columns[0]] = value

    def chance(self, tool: str, arguments: dict[str, Any]) -> float:
        """How likely a call is to be taken, by what was learnt: 0 for an ordinary one."""
        found = self.environment.tools[tool]
        chances = [
            self.experience.chance(tool, name, self._features(found, name, one)) for name, one in arguments.items()
        ]
        return sum(chances)

    # whole calls

    def _likely(self, tool: Tool) -> dict[str, Any]:
        together = self._together(tool)
        properties, required = tool.properties, tool.required
        drawn: dict[str, Any] = {}
        ids = [name for name in properties if self._source(tool, name, properties[name]).kind == "id"]
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
                drawn[name] = self._value(tool, name, schema, drawn) if known else self._strange(schema)
        return drawn

    def _spoil(self, tool: Tool, drawn: dict[str, Any]) -> None:
        """Make one value of a likely call a little wrong."""
        properties = tool.properties
        if not properties:
            return
        name = self._random.choice(list(drawn) or list(properties))
        drawn[name] = self._wrong(tool, name, self._plain(tool, properties[name]), drawn)

    def _is_valid(self, tool: str, drawn: dict[str, Any]) -> bool:
        try:
            return bool(self.environment.validators[tool].is_valid(drawn))
        except ValueError:
            return False

    def _together(self, tool: Tool) -> dict[str, Any]:
        """Now and then: values for several arguments that stand together in one row."""
        if self._about or self._random.random() < 0.6:
            return {}
        if tool.name not in self._pairs:
            self._pairs[tool.name] = self._pairs_of(tool)
        pairs = [(table, names) for table, names in self._pairs[tool.name] if self._view.rows.get(table)]
        if not pairs:
            return {}
        table, names = self._random.choice(pairs)
        row = self._random.choice(self._view.rows[table])
        return {name: row[column] for name, column in names.items() if row.get(column) is not None}

    def _pairs_of(self, tool: Tool) -> list[tuple[str, dict[str, str]]]:
        """The tables and views that have columns for at least two arguments."""
        properties = tool.properties
        sources = {name: self._source(tool, name, schema) for name, schema in properties.items()}
        found: list[tuple[str, dict[str, str]]] = []
        for table, rows in self._view.rows.items():
            names: dict[str, str] = {}
            for column in rows[0] if rows else ():
                for name, source in sources.items():
                    place = Column(table, column)
                    aims = {place, self._shape.points.get(place)}
                    if column == name or (source.kind == "id" and source.columns[0] in aims):
                        names[name] = column
            if len(names) > 1:
                found.append((table, names))
        return found

    def _put_in_order(self, tool: Tool, drawn: dict[str, Any]) -> None:
        """Let moments of one kind follow each other as the arguments do: an arrival before its departure."""
        properties = tool.properties
        for kind in ("date", "datetime", "time"):
            names = [name for name in properties if self._source(tool, name, properties[name]).kind == kind]
            names = [name for name in names if isinstance(drawn.get(name), str)]
            if len(names) < 2 or self._random.random() < 0.1:
                continue
            drawn |= dict(zip(names, sorted(drawn[name] for name in names), strict=True))
            together = len({drawn[name][:10] for name in names}) < len(names)
            apart = drawn[names[-1]][:10] > values.moment(self._now, "date", 60, self._random)
            if kind != "time" and (together or apart or self._random.random() < 0.4):
                stay = self._random.choice((1, 1, 2, 3, 5, 7))
                begin = drawn[names[0]] if DATE.match(drawn[names[0]]) else self._now
                drawn[names[-1]] = values.moment(begin, kind, stay, self._random)

    # single values

    def _value(self, tool: Tool, path: str, schema: Schema, drawn: dict[str, Any]) -> Any:
        """A likely value."""
        schema = self._plain(tool, schema)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self._best(tool, path, schema["enum"])
        kind = self._type(schema)
        if kind == "object":
            return self._object(tool, path, schema, drawn)
        if kind == "array":
            return self._array(tool, path, schema, drawn)
        return self._single(tool, path, schema, kind, drawn)

    def _single(self, tool: Tool, path: str, schema: Schema, kind: str, drawn: dict[str, Any]) -> Any:
        """A likely value that is neither an object nor an array."""
        if kind == "null":
            return None
        if kind == "boolean":
            return self._random.random() < 0.5
        source = self._source(tool, path, schema)
        if source.kind == "id" or (source.tools and self._random.random() < 0.5):
            known = self._known_ids(source)
            if source.columns and source.columns[0] in self._about:
                return self._about[source.columns[0]]
            if known:
                focus = self._focus.get(source.columns[0]) if source.columns else None
                in_focus = focus in known and self._random.random() < IN_FOCUS
                return focus if in_focus else self._best(tool, path, known)
        if kind in ("integer", "number"):
            number = values.likely_number(self._numbers(source, schema, drawn), self._random)
            return values.within(number, schema, whole=kind == "integer")
        return self._text(tool, source, schema, drawn)

    def _text(self, tool: Tool, source: Source, schema: Schema, drawn: dict[str, Any]) -> str:
        if source.kind in ("date", "datetime", "time"):
            known = [*self._texts(source), *(one for one in self._related(drawn) if isinstance(one, str))]
            known = [one for one in known if DATE.match(one) or source.kind == "time"]
            if source.kind != "time":
                known += self._told_by(DATE)
            if self._random.random() < 0.8:
                known = [one for one in known if one[:10] >= self._now[:10]]
            return values.likely_moment(self._now, source.kind, known, self._random)
        if source.kind == "email" and (tool.writes or self._random.random() < 0.5):
            return values.fresh_email(self._random)
        whole = 0.35 if tool.writes else 0.6
        return values.fitted(values.likely_text(self._texts(source), self._random, whole=whole), schema)

    def _object(self, tool: Tool, path: str, schema: Schema, drawn: dict[str, Any]) -> dict[str, Any]:
        required = set(schema.get("required", ()))
        return {
            name: self._value(tool, f"{path}.{name}", inner, drawn)
            for name, inner in _properties(schema).items()
            if name in required or self._random.random() < 0.6
        }

    def _array(self, tool: Tool, path: str, schema: Schema, drawn: dict[str, Any]) -> list[Any]:
        least, most = int(schema.get("minItems", 0)), int(schema.get("maxItems", 3))
        count = self._random.randint(max(least, min(1, most)), max(least, most))
        inner = cast("Schema", schema.get("items") or {"type": "string"})
        inner = {"description": schema.get("description", ""), **inner}
        found: list[Any] = []
        for _ in range(count):
            one = self._value(tool, path, inner, drawn)
            if one not in found:
                found.append(one)
        return found

    def _wrong(self, tool: Tool, path: str, schema: Schema, drawn: dict[str, Any]) -> Any:
        """A value that should most likely be refused."""
        kind = self._type(schema)
        if "enum" in schema:
            return self._worst(tool, path, schema["enum"])
        if kind == "array":
            whole = self._array(tool, path, schema, drawn)
            spoilt = [*whole[1:], *(values.changed(one, self._random) for one in whole[:1])]
            return self._random.choice(([], whole + whole, spoilt))
        if kind == "object":
            whole = self._object(tool, path, schema, drawn)
            for name in self._random.sample(list(whole), min(1, len(whole))):
                inner = self._plain(tool, _properties(schema)[name])
                whole[name] = self._wrong(tool, f"{path}.{name}", inner, whole)
            return whole
        return self._wrong_single(tool, path, schema, kind, drawn)

    def _wrong_single(self, tool: Tool, path: str, schema: Schema, kind: str, drawn: dict[str, Any]) -> Any:
        if kind == "boolean":
            return not drawn.get(path, False)
        source = self._source(tool, path, schema)
        if source.kind == "id":
            known = self._known_ids(source) or ["unknown"]
            if self._random.random() < 0.35:
                return values.changed(self._random.choice(known), self._random)
            return self._worst(tool, path, known)
        if kind in ("integer", "number"):
            number = values.wrong_number(self._numbers(source, schema, drawn), self._random)
            return values.within(number, schema, whole=kind == "integer")
        if source.kind in ("date", "datetime", "time"):
            return values.wrong_moment(self._now, source.kind, self._random)
        known = self._texts(source)
        return self._random.choice(("", " ", "x" * 300, *(self._random.sample(known, 1) if known else ("?",))))

    def _strange(self, schema: Schema) -> Any:
        """Anything that a schema permits."""
        branches = schema.get("anyOf") or schema.get("oneOf")
        if branches:
            return self._strange(self._random.choice(branches))
        if "const" in schema or "enum" in schema:
            return schema["const"] if "const" in schema else self._random.choice(schema["enum"])
        kind = self._type(schema)
        if kind == "object":
            required = set(schema.get("required", ()))
            names = [one for one in _properties(schema) if one in required or self._random.random() < 0.5]
            return {name: self._strange(_properties(schema)[name]) for name in names}
        if kind == "array":
            return [self._strange(schema.get("items") or {}) for _ in range(self._random.choice((0, 1, 2, 5)))]
        return self._strange_single(schema, kind)

    def _strange_single(self, schema: Schema, kind: str) -> Any:
        if kind in ("integer", "number"):
            number = self._random.choice(values.NUMBERS if kind == "integer" else (*values.NUMBERS, *values.FLOATS))
            return values.within(number, schema, whole=kind == "integer")
        if kind == "boolean":
            return self._random.random() < 0.5
        return None if kind == "null" else values.fitted(self._random.choice(values.STRANGE), schema)

    # choosing

    def _best(self, tool: Tool, path: str, among: Sequence[Any]) -> Any:
        """One of a few values: most often the one that is likeliest to be taken."""
        some = [self._random.choice(among) for _ in range(min(COMPARED, len(among)))]
        if len(some) == 1 or self._random.random() < 0.25:
            return some[0]
        return max(some, key=lambda one: self.experience.chance(tool.name, path, self._features(tool, path, one)))

    def _worst(self, tool: Tool, path: str, among: Sequence[Any]) -> Any:
        some = [self._random.choice(among) for _ in range(min(3, len(among)))]
        return min(some, key=lambda one: self.experience.chance(tool.name, path, self._features(tool, path, one)))

    def _told_by(self, pattern: re.Pattern[str]) -> list[str]:
        return [one for text in self._told for one in pattern.findall(text)]

    def named_by_refusals(self) -> list[str]:
        """The tools that the last refusals name."""
        return [word for word in self._told_by(values.WORD) if word in self.environment.tools]

    def _features(self, tool: Tool, path: str, value: Any) -> Features:
        source = self._sources.get((tool.name, path))
        if source is not None and source.kind == "id" and isinstance(value, str | int):
            return features_of(self._view, self._shape, source.columns[0], path, value, self._now[:10])
        if isinstance(value, bool | None):
            return {"": value}
        schema = tool.properties.get(path, {})
        is_choice = "enum" in schema or any("enum" in one for one in schema.get("anyOf", ()))
        return {"": value} if is_choice and isinstance(value, str | int) else {}

    # what is known

    def _known_ids(self, source: Source) -> list[Any]:
        known = (
            [value for column in source.columns[:1] for value in self._view.values(column)]
            if source.kind == "id"
            else []
        )
        name = source.name.removesuffix("s") if source.name.endswith("ids") else source.name
        if not known:
            known = [value for tool in source.tools for value in self._shown.get((tool, name), ())]
        return known or list(self._seen.get(name, ()))

    def _texts(self, source: Source) -> list[str]:
        found = [value for column in source.columns for value in self._view.values(column)]
        found = found or list(self._seen.get(source.name, ()))
        return [one for one in found if isinstance(one, str)]

    def _numbers(self, source: Source, schema: Schema, drawn: dict[str, Any]) -> Sequence[float]:
        """Numbers of the rows that were chosen already, of the same unit; else those of columns of the same name."""
        told = [number for text in self._told_by(values.NUMBER) for number in values.numbers_of(text)]
        if told and self._random.random() < 0.35:
            return told
        unit = source.name.rsplit("_", 1)[-1]
        found = [one for one in self._related(drawn, unit) if isinstance(one, int | float)]
        if not found or self._random.random() < 0.3:
            found += [
                one for column in source.columns for one in self._view.values(column) if isinstance(one, int | float)
            ]
        default = schema.get("default")
        return found + ([default] if isinstance(default, int | float) else [])

    def _related(self, drawn: dict[str, Any], unit: str | None = None) -> list[Any]:
        """What stands in the rows that the chosen ids name, and in those that point to them."""
        found: list[Any] = []
        for row in self._rows_of(drawn):
            found += [one for name, one in row.items() if unit is None or name.rsplit("_", 1)[-1] == unit]
        return found

    def _rows_of(self, drawn: dict[str, Any]) -> list[Row]:
        found: list[Row] = []
        for name, value in drawn.items():
            source = next((one for (_, path), one in self._sources.items() if path == name and one.kind == "id"), None)
            if source is None or not isinstance(value, str | int):
                continue
            key = source.columns[0]
            places = [key, *(column for column, aim in self._shape.points.items() if aim == key)]
            places += [Column(view, name) for view in self._shape.views if self._view.rows.get(view)]
            for place in places:
                if self._view.rows.get(place.table) and place.name in self._view.rows[place.table][0]:
                    found += self._view.where(place, value)[:5]
        return found

    # schemas

    def _source(self, tool: Tool, path: str, schema: Schema) -> Source:
        place = (tool.name, path)
        if place not in self._sources:
            name = path.rsplit(".", 1)[-1]
            about = self._plain(tool, schema, likely=True)
            if self._type(about) == "array":
                inner = self._plain(tool, cast("Schema", about.get("items") or {}), likely=True)
                about = {**about, **inner, "description": about.get("description", "")}
            self._sources[place] = source_of(tool, name, about, self._shape, self._view, self.environment.tools)
        return self._sources[place]

    def _plain(self, tool: Tool, schema: Schema, *, likely: bool = False) -> Schema:
        """A schema without references and alternatives: one of them is chosen, null more rarely."""
        for _ in range(TRIES):
            reference = schema.get("$ref")
            branches = schema.get("anyOf") or schema.get("oneOf")
            if isinstance(reference, str):
                schema = {**schema, **_found(tool.arguments, reference)}
                schema.pop("$ref")
            elif branches:
                real = [one for one in branches if one.get("type") != "null"] or branches
                null = len(real) < len(branches) and not likely and self._random.random() < 0.2
                outer = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")}
                chosen = {"type": "null"} if null else real[0] if likely else self._random.choice(real)
                schema = {**outer, **chosen}
            else:
                return schema
        return schema

    def _type(self, schema: Schema) -> str:
        told = schema.get("type", "object" if "properties" in schema else "string")
        if isinstance(told, list):
            kinds = cast("list[str]", told)
            real = [one for one in kinds if one != "null"]
            if "null" in kinds and (not real or self._random.random() < 0.15):
                return "null"
            return self._random.choice(real)
        return str(told)


def _properties(schema: Schema) -> dict[str, Schema]:
    found = schema.get("properties")
    return cast("dict[str, Schema]", found) if isinstance(found, dict) else {}


def _found(root: Schema, reference: str) -> Schema:
    """What a reference within a schema refers to."""
    found: Any = root
    for part in reference.removeprefix("#/").split("/"):
        found = cast("dict[str, Any]", found).get(part, {}) if isinstance(found, dict) else {}
    return cast("Schema", found) if isinstance(found, dict) else {}
