"""Tool schemas from the signatures and docstrings of `tools.py`."""

import ast
import inspect
import json
import types
from collections.abc import Callable
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from docstring_parser import parse_from_object

PLAIN: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


class DescribeError(Exception):
    """No schema follows from a signature or docstring."""


def describe(source: str, tools: dict[str, Callable[..., Any]]) -> tuple[list[dict[str, Any]], list[str]]:
    """The schemas of the tools in source order, and the faults of the others."""
    writers = _writers(source)
    described: list[dict[str, Any]] = []
    findings: list[str] = []
    for name, function in tools.items():
        try:
            described.append({**_tool(name, function), "writes": name in writers})
        except DescribeError as error:
            findings.append(f"tools.py: {name}: {error}")
    return described, findings


def _tool(name: str, function: Callable[..., Any]) -> dict[str, Any]:
    document = parse_from_object(function)
    text = "\n\n".join(part for part in (document.short_description, document.long_description) if part)
    if not text:
        raise DescribeError("has no docstring; its text becomes the tool's description")
    told = {param.arg_name: " ".join((param.description or "").split()) for param in document.params}
    hints = _hints(function)
    properties: dict[str, Any] = {}
    required: list[str] = []
    signed = list(inspect.signature(function).parameters.values())
    by_keyword = all(parameter.kind is parameter.KEYWORD_ONLY for parameter in signed[1:])
    if not signed or signed[0].name != "db" or not by_keyword:
        raise DescribeError(f"takes `db` first and its arguments by keyword: def {name}(db: Database, *, ...)")
    for parameter in signed[1:]:
        if parameter.name not in hints:
            raise DescribeError(f"argument {parameter.name!r} has no type")
        if not told.get(parameter.name):
            raise DescribeError(f"argument {parameter.name!r} has no line under Args:")
        properties[parameter.name] = {**schema(hints[parameter.name]), "description": told[parameter.name]}
        if parameter.default is parameter.empty:
            required.append(parameter.name)
        elif parameter.default is not None:
            properties[parameter.name]["default"] = _default(parameter)
    arguments = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    result = schema(hints.get("return", dict))
    if result.get("type") != "object":
        raise DescribeError("returns what is not an object; a tool returns a dict or a TypedDict")
    return {"name": name, "description": text, "arguments": arguments, "result": result}


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(function)
    except (NameError, AttributeError, TypeError, SyntaxError) as error:
        raise DescribeError(str(error)) from None


def _default(parameter: inspect.Parameter) -> Any:
    try:
        json.dumps(parameter.default, allow_nan=False)
    except (TypeError, ValueError):
        raise DescribeError(f"argument {parameter.name!r} has a default that is not JSON") from None
    return parameter.default


def schema(hint: Any) -> dict[str, Any]:
    """The JSON Schema of a type."""
    if hint in PLAIN:
        return {"type": PLAIN[hint]}
    if is_typeddict(hint):
        return _object_schema(hint)
    origin, parts = get_origin(hint), get_args(hint)
    if hint is dict or origin is dict:
        values = {} if len(parts) < 2 or parts[1] is Any else {"additionalProperties": schema(parts[1])}
        return {"type": "object", **values}
    if hint is list or origin is list:
        return {"type": "array", **({"items": schema(parts[0])} if parts and parts[0] is not Any else {})}
    if origin is Literal and all(type(value) in PLAIN for value in parts):
        kinds = sorted({PLAIN[type(value)] for value in parts})
        return {"type": kinds[0] if len(kinds) == 1 else kinds, "enum": list(parts)}
    if origin in (types.UnionType, Union):
        return _union_schema([schema(part) for part in parts])
    raise DescribeError(f"the type {hint!r} has no schema; use str, int, float, bool, Literal, list, dict, TypedDict")


def _object_schema(hint: Any) -> dict[str, Any]:
    hints = get_type_hints(hint)  # this also takes NotRequired[...] off
    return {
        "type": "object",
        "properties": {name: schema(part) for name, part in hints.items()},
        "required": [name for name in hints if name in hint.__required_keys__],
        "additionalProperties": False,
    }


def _union_schema(options: list[dict[str, Any]]) -> dict[str, Any]:
    """`X | None` of a plain X as a list of types, which models read best. Other unions as anyOf."""
    plain = [option for option in options if set(option) == {"type"} and isinstance(option["type"], str)]
    if len(plain) == len(options):
        return {"type": [option["type"] for option in options]}
    return {"anyOf": options}


def _writers(source: str) -> set[str]:
    """The functions that use `db.run`, directly or through other functions."""
    uses: dict[str, set[str]] = {}
    direct: set[str] = set()
    for node in ast.parse(source).body:
        if not isinstance(node, ast.FunctionDef):
            continue
        calls = [inner.func for inner in ast.walk(node) if isinstance(inner, ast.Call)]
        uses[node.name] = {call.id for call in calls if isinstance(call, ast.Name)}
        if any(isinstance(call, ast.Attribute) and call.attr == "run" for call in calls):
            direct.add(node.name)
    writers = direct
    while True:
        wider = writers | {name for name, called in uses.items() if called & writers}
        if wider == writers:
            return writers
        writers = wider
