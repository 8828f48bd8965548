"""The sources of an argument's values, derived from its name, its schema and its description."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from servers.bundle.description import Tool
from servers.text.json_values import is_list, is_object
from synth.play.row_view import SchemaShape, SqlColumn, View

ColumnKind = Literal["id", "date", "time", "datetime", "email", "text", "number"]
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
DATETIME = re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(:\d{2})?")
TIME = re.compile(r"\d{2}:\d{2}(:\d{2})?")
PATTERNS: tuple[tuple[re.Pattern[str], ColumnKind], ...] = ((DATETIME, "datetime"), (DATE, "date"), (TIME, "time"))
FORMATS: dict[str, ColumnKind] = {"date": "date", "date-time": "datetime", "time": "time", "email": "email"}
MARKS: tuple[tuple[str, ColumnKind], ...] = (
    ("YYYY-MM-DD HH:MM", "datetime"),
    ("YYYY-MM-DDTHH:MM", "datetime"),
    ("YYYY-MM-DD", "date"),
    ("HH:MM", "time"),
)
"""What a description says of a text's form; the first that it says counts."""
WORD = re.compile(r"[a-z]+")
SHOWN = re.compile(r"`\w+` (?:shows?|lists?|gives?)\b|\bshown by\b")
DEEPEST = 8
DATE_NAMES = ("_on", "_date", "date", "_day", "day", "_by", "_until", "_from", "arrival", "departure", "birthday")


@dataclass(frozen=True)
class ValueSource:
    """Where one argument's values come from: what kind they are of, and in which columns such values stand."""

    name: str
    kind: ColumnKind
    columns: tuple[SqlColumn, ...]
    tools: tuple[str, ...] = ()
    """The tools that show such values, as the description says."""


def source_of(
    tool: Tool, name: str, schema: dict[str, Any], shape: SchemaShape, view: View, tools: Mapping[str, Tool]
) -> ValueSource:
    """The source of the values of one argument of a tool; `tools` are all that there are, by name."""
    about = str(schema.get("description", ""))
    shown_by = tuple(one for one in re.findall(r"`(\w+)`", about) if one in tools)
    target = _pointed(tool, name, about, shape)
    if target is None and "enum" not in schema and not any(mark in about for mark, _ in MARKS):
        target = _shown(name, [tools[one] for one in shown_by if SHOWN.search(about)], shape)
    columns = [target] if target is not None else []
    columns += _alike(name, shape, view)
    if target is not None:
        return ValueSource(name, "id", (target,), shown_by)
    kind = _kind(name, schema, about, [value for column in columns for value in view.values(column)[:5]])
    return ValueSource(name, kind, tuple(columns), shown_by)


def singular(word: str) -> str:
    """A table's noun for one of its rows."""
    endings = (("ies", "y"), ("elves", "elf"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"), ("s", ""))
    for ending, instead in endings:
        if word.endswith(ending) and not word.endswith("ss" if ending == "s" else "\0"):
            return word.removesuffix(ending) + instead
    return word


def _pointed(tool: Tool, name: str, about: str, shape: SchemaShape) -> SqlColumn | None:
    """The key that an argument names: the column of a table's rows by which others point to them."""
    name = singular(name) if name.endswith("ids") else name
    own = [key for key in shape.keys.values() if key.name == name and name != "id"]
    if own:
        return next((key for key in own if key not in shape.points), shape.points.get(own[0]))
    stem = name.removesuffix("_id")
    aims = [aim for column, aim in shape.points.items() if column.name == name]
    aims += [aim for column, aim in shape.points.items() if f"{column.name}_".startswith(f"{stem}_") and "_" in stem]
    if aims:
        return aims[0]
    if name.endswith("_id") or name == "id":
        return _by_words(name.removesuffix("id").rstrip("_"), tool, about, shape)
    nouns = {singular(table): table for table in shape.keys}
    return shape.keys[nouns[name]] if name in nouns else None


def _shown(name: str, tools: list[Tool], shape: SchemaShape) -> SqlColumn | None:
    """The key in the results of the tools that show an argument's values: for `requested_by`, that of `find_staff`.

    None where such a result has a field of the argument's own name: then its values are those of that field.
    """
    for tool in tools:
        fields = list(dict.fromkeys(_fields(tool.result, tool.result)))
        if name in fields:
            return None
        nouns = {singular(word) for word in tool.name.split("_")}
        keys = [key for field in fields if field.endswith("id") and (key := _pointed(tool, field, "", shape))]
        own = [key for key in keys if nouns & {singular(word) for word in key.table.split("_")}]
        if keys:
            return (own or keys)[0]
    return None


def _fields(schema: Any, root: dict[str, Any], depth: int = 0) -> Iterator[str]:
    """The names of all fields of a result, the outer ones first."""
    if not is_object(schema) or depth > DEEPEST:
        return
    reference = str(schema.get("$ref", ""))
    if reference:
        yield from _fields(root.get("$defs", {}).get(reference.rsplit("/", 1)[-1]), root, depth + 1)
    properties: dict[str, object] = schema.get("properties", {})
    yield from properties
    for below in (*properties.values(), schema.get("items"), *schema.get("anyOf", ())):
        yield from _fields(below, root, depth + 1)


def _by_words(stem: str, tool: Tool, about: str, shape: SchemaShape) -> SqlColumn | None:
    """The key of the table that the last words of a stem name, or else the description, or the tool."""
    nouns = {singular(table): key for table, key in shape.keys.items()}
    nouns |= {singular(table.split("_")[-1]): key for table, key in shape.keys.items() if "_" in table} | nouns
    parts = stem.split("_") if stem else []
    for at in range(len(parts)):
        words = "_".join(parts[at:])
        if words in nouns:
            return nouns[words]
        named = [key for key in shape.keys.values() if key.name == f"{words}_id"]
        if named:
            return named[0]
    if stem:
        return None
    words = [singular(word) for word in (*WORD.findall(about.lower()), *tool.name.split("_"))]
    return next((nouns[word] for word in words if word in nouns), next(iter(shape.keys.values()), None))


def _alike(name: str, shape: SchemaShape, view: View) -> list[SqlColumn]:
    """Columns of the argument's name; if there are none, those that end as it ends."""
    every = [SqlColumn(table, column) for table, rows in view.rows.items() for column in (rows[0] if rows else ())]
    every += [SqlColumn(table, column) for table, names in shape.columns.items() for column in names]
    every = list(dict.fromkeys(every))
    same = [column for column in every if column.name == name]
    if same:
        return same
    return [
        column
        for column in every
        if column.name.endswith(f"_{name}") or name.endswith(f"_{column.name}") or column.name == singular(name)
        if column.name != "id"
    ]


def _kind(name: str, schema: dict[str, Any], about: str, values: list[Any]) -> ColumnKind:
    """What the schema says, else the description, else the values of such columns, else the name."""
    told: Any = schema.get("type")
    types = cast("list[str]", told) if is_list(told) else [told]
    if "integer" in types or "number" in types:
        return "number"
    if schema.get("format") in FORMATS:
        return FORMATS[schema["format"]]
    for mark, kind in MARKS:
        if mark in about:
            return kind
    texts = [value for value in values if isinstance(value, str)]
    for pattern, kind in PATTERNS:
        if texts and all(pattern.fullmatch(text) for text in texts):
            return kind
    if "email" in name or "e-mail" in about.lower().split(",")[0]:
        return "email"
    return "date" if not texts and name.endswith(DATE_NAMES) else "text"
