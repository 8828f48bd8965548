"""The parameters of a method as a tool's arguments: types, defaults and descriptions, from its source alone.

EnvScaler's own schemas require every parameter without `Optional`, show a union as an object, and describe no
parameter. Here a default makes an argument optional, and the descriptions come from the docstring.
"""

import ast
import math
from dataclasses import dataclass
from typing import Any

from servers.gate.parser import parsed_expression
from synth.interop.imports.docstrings import words_of

ANYTHING = "str | int | float | bool | list | dict | None"
PLAIN = {
    "str": "str", "int": "int", "float": "float", "bool": "bool", "None": "None", "dict": "dict", "list": "list",
    "Dict": "dict", "List": "list", "Mapping": "dict", "MutableMapping": "dict", "Sequence": "list", "Iterable": "list",
    "Collection": "list", "Set": "list", "set": "list", "FrozenSet": "list", "frozenset": "list", "Tuple": "list",
    "tuple": "list", "datetime": "str", "date": "str", "time": "str", "Decimal": "float", "UUID": "str",
}  # fmt: skip


class NoTool(Exception):
    """A method cannot be a tool. The message says why."""


@dataclass(frozen=True)
class Parameter:
    """One argument of a tool."""

    name: str
    kind: str
    """Its type, as `tools.py` writes it."""
    words: str
    default: str | None
    """Its default as source; None when the argument must be given."""
    drop_none: bool = False
    """True if the method has a default that JSON cannot express: None represents it, and is not passed on."""


def parameters(method: ast.FunctionDef, typed_dicts: frozenset[str]) -> list[Parameter]:
    """The arguments of a method, without `self`.

    Raises:
        NoTool: it takes arguments without names.
    """
    told = method.args
    if told.vararg or told.kwarg:
        raise NoTool(f"{method.name}: takes arguments without names (*args or **kwargs)")
    if len(told.posonlyargs) > 1:
        raise NoTool(f"{method.name}: takes arguments by place alone")
    positional = [*told.posonlyargs, *told.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(told.defaults))
    pairs = list(zip(positional, [*defaults, *told.defaults], strict=True))
    if not _is_static(method):
        pairs = pairs[1:]
    pairs += list(zip(told.kwonlyargs, told.kw_defaults, strict=True))
    words = words_of(method).of
    return [_parameter(argument, default, words, typed_dicts) for argument, default in pairs]


def _is_static(method: ast.FunctionDef) -> bool:
    return any(isinstance(mark, ast.Name) and mark.id == "staticmethod" for mark in method.decorator_list)


def _parameter(argument: ast.arg, default: ast.expr | None, words: dict[str, str], typed: frozenset[str]) -> Parameter:
    name = argument.arg
    if name == "db":
        raise NoTool("takes an argument named 'db', which is the database here")
    kind = type_of(argument.annotation, typed)
    told = words.get(name) or f"The {name.strip('_').replace('_', ' ')}."
    if default is None:
        return Parameter(name, kind, told, None)
    try:
        value: Any = ast.literal_eval(default)
        literal = repr(value) if _is_json(value) else None
    except (ValueError, TypeError, SyntaxError, RecursionError):
        literal = None
    if literal is None or literal == "None":
        kind = kind if "None" in kind.split(" | ") else f"{kind} | None"
        return Parameter(name, kind, told, "None", drop_none=literal is None)
    return Parameter(name, kind, told, literal)


def _is_json(value: Any) -> bool:
    if isinstance(value, (list, dict)):
        return not value
    return value is None or isinstance(value, (str, int, bool)) or (isinstance(value, float) and math.isfinite(value))


def type_of(annotation: ast.expr | None, typed_dicts: frozenset[str] = frozenset()) -> str:
    """An annotation as a type with a JSON Schema. Without one, anything is allowed."""
    options = _options(annotation, typed_dicts)
    return ANYTHING if options is None else " | ".join(dict.fromkeys(options))


def _options(node: ast.expr | None, typed: frozenset[str]) -> list[str] | None:
    """The types of a union, or None for anything."""
    if isinstance(node, ast.Constant):
        if node.value is None:
            return ["None"]
        return _options(_parsed(node.value), typed) if isinstance(node.value, str) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union([node.left, node.right], typed)
    if isinstance(node, ast.Subscript):
        return _subscript(node, typed)
    name = _name(node)
    if name in typed:
        return ["dict"]
    return [PLAIN[name]] if name in PLAIN else None


def _subscript(node: ast.Subscript, typed: frozenset[str]) -> list[str] | None:
    name = _name(node.value)
    parts = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name == "Optional":
        return _union([*parts, ast.Constant(None)], typed)
    if name == "Union":
        return _union(parts, typed)
    if name == "Literal" and all(isinstance(part, ast.Constant) for part in parts):
        return [f"_Literal[{', '.join(ast.unparse(part) for part in parts)}]"]
    kind = PLAIN.get(name)
    if kind == "list" and len(parts) == 1:
        inner = _options(parts[0], typed)
        return ["list" if inner is None else f"list[{' | '.join(dict.fromkeys(inner))}]"]
    if kind == "dict" and len(parts) == 2:
        inner = _options(parts[1], typed)
        return ["dict" if inner is None else f"dict[str, {' | '.join(dict.fromkeys(inner))}]"]
    return None if kind is None else [kind]


def _union(parts: list[ast.expr], typed: frozenset[str]) -> list[str] | None:
    found: list[str] = []
    for part in parts:
        options = _options(part, typed)
        if options is None:
            return None
        found += options
    return sorted(found, key=lambda option: option == "None")


def _name(node: ast.expr | None) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _parsed(text: str) -> ast.expr | None:
    try:
        return parsed_expression(text).body
    except (SyntaxError, ValueError, RecursionError):
        return None
