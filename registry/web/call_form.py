"""Forms for tool calls, made from JSON Schemas, and the arguments that a filled form means.

A form need not know every schema. What is no plain value is written as JSON. The tool's own check has the last word.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from registry.web.wording import kind_of
from servers.bundle.description import Tool
from servers.errors import RequestError
from servers.messages import StartTable
from servers.text.json_values import as_list, as_object, is_object

PREFIX = "arg."
"""Before the name of an argument, in the name of its field."""
MOST_CHOICES = 200
NUMBERS = {"integer": "1", "number": "any"}
LONG = re.compile(r"text|note|reason|comment|message|description|body|answer", re.IGNORECASE)


class CallField(NamedTuple):
    """One argument's field. `widget`: choice, number, date, text, lines, long or json."""

    name: str
    widget: str
    needed: bool
    kind: str
    hint: str
    choices: tuple[str, ...]
    value: str
    step: str
    table: str
    """The table whose keys are offered, if the argument refers to one."""


def fields(
    tool: Tool, filled: Mapping[str, str], tables: Sequence[StartTable] = (), given: Mapping[str, Any] | None = None
) -> list[CallField]:
    """The fields of a tool. `filled` is a form that was sent, `given` are arguments that were made elsewhere."""
    told = dict(filled)
    for name, value in (given or {}).items():
        told.setdefault(PREFIX + name, _as_text(value, _plain(tool.properties.get(name, {}))))
    names = sorted(tool.properties, key=lambda name: name not in tool.required)
    return [_field(tool, name, told.get(PREFIX + name, ""), tables) for name in names]


def _field(tool: Tool, name: str, value: str, tables: Sequence[StartTable]) -> CallField:
    whole = tool.properties[name]
    schema = _plain(whole)
    kind = schema.get("type")
    choices: tuple[str, ...] = ()
    if "enum" in schema:
        widget, choices = "choice", tuple(_choice(one) for one in as_list(schema["enum"])[:MOST_CHOICES])
    elif kind == "boolean":
        widget, choices = "choice", ("true", "false")
    elif isinstance(kind, str) and kind in NUMBERS:
        widget = "number"
    elif kind == "array" and as_object(_plain(as_object(schema.get("items")))).get("type") == "string":
        widget = "lines"
    elif kind == "string":
        widget = "long" if LONG.search(name) and not name.endswith("_id") else "text"
        widget = "date" if schema.get("format") == "date" or name.endswith(("_on", "_date")) else widget
    else:
        widget = "json"
    return CallField(
        name=name,
        widget=widget,
        needed=name in tool.required,
        kind=kind_of(whole),
        hint=str(whole.get("description", "")),
        choices=choices,
        value=value,
        step=NUMBERS.get(kind, "") if isinstance(kind, str) else "",
        table=_table_of(name, tables) if widget in ("text", "lines") else "",
    )


def _plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The one schema of a value that may also be null, else the schema itself."""
    for choice in ("anyOf", "oneOf"):
        others = [one for one in as_list(schema.get(choice)) if is_object(one) and one.get("type") != "null"]
        if len(others) == 1:
            return {**schema, **others[0]}
    kinds = schema.get("type")
    others = [kind for kind in as_list(kinds) if kind != "null"]
    return {**schema, "type": others[0]} if len(others) == 1 else dict(schema)


def _table_of(name: str, tables: Sequence[StartTable]) -> str:
    """The table that an argument such as `member_id` refers to: by a foreign key of that name, else by its noun."""
    for table in tables:
        for column in table.columns:
            if column.name == name and column.references:
                return column.references.rpartition(".")[0]
    noun = re.sub(r"_ids?$", "", name)
    if noun == name:
        return ""
    plurals = {noun, f"{noun}s", f"{noun}es", f"{noun[:-1]}ies"}
    return next((table.name for table in tables if table.name in plurals), "")


def arguments_of(tool: Tool, form: Mapping[str, str]) -> dict[str, Any]:
    """The arguments that a filled form means. A field that is left empty is left out, if it may be.

    Raises:
        RequestError: a field holds no JSON where it should.
    """
    found: dict[str, Any] = {}
    for name, schema in tool.properties.items():
        text = form.get(PREFIX + name, "")
        plain = _plain(schema)
        if not text.strip() and name not in tool.required:
            continue
        found[name] = _value(name, text, plain)
    return found


def _value(name: str, text: str, schema: Mapping[str, Any]) -> Any:
    kind = schema.get("type")
    if "enum" in schema:
        return next((one for one in as_list(schema["enum"]) if _choice(one) == text), text)
    if kind == "string":
        return text.replace("\r\n", "\n")
    if kind == "array" and as_object(_plain(as_object(schema.get("items")))).get("type") == "string":
        if text.lstrip().startswith("["):
            return _json(name, text)
        return [line.strip() for line in text.splitlines() if line.strip()]
    if kind in ("boolean", *NUMBERS):
        return _number(text)
    return _json(name, text)


def _number(text: str) -> Any:
    """A number or a truth value, or the text itself, which the tool's check then refuses in its own words."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    is_number = isinstance(value, int | float)  # true and false are numbers to Python
    return value if is_number and math.isfinite(value) else text


def _json(name: str, text: str) -> Any:
    try:
        return json.loads(text, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"{name}: is not JSON: {error}") from None


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is no finite number")
    return value


def _choice(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _as_text(value: Any, schema: Mapping[str, Any]) -> str:
    """A value as its field shows it."""
    if isinstance(value, str):
        return value
    items = as_list(value)
    if items and schema.get("type") == "array" and all(isinstance(one, str) for one in items):
        return "\n".join(items)
    return json.dumps(value, ensure_ascii=False)
