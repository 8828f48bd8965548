"""The constants that a check function, or a class, compares with, and their names, from the source alone."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from servers.gate.parser import parsed

MOST = 40


def hints_of(source: str) -> dict[str, Any]:
    """`named`: the constants beside a name. `loose`: all of them, the likelier ones first."""
    tree = parsed(source)
    values = {name: value for node in ast.walk(tree) for name, value in _assigned(node)}
    named: defaultdict[str, list[Any]] = defaultdict(list)
    for name, value in values.items():
        _add(named[name.lower()], value)
        for prefix in ("target_", "expected_", "required_", "new_", "correct_"):
            _add(named[name.lower().removeprefix(prefix)], value)
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and len(node.comparators) == 1:
            for one, other in ((node.left, node.comparators[0]), (node.comparators[0], node.left)):
                for key in _keys(one):
                    for value in _values(other, values):
                        _add(named[key], value)
    return {"named": dict(named), "loose": _loose(tree, values)}


def known_in(source: str) -> dict[str, Any]:
    """Of a class. `values`: the constants that it compares with, beside a name. `keys`: those read from an argument."""
    keys: defaultdict[str, list[Any]] = defaultdict(list)
    for method in (node for node in ast.walk(parsed(source)) if isinstance(node, ast.FunctionDef)):
        names = {argument.arg for argument in (*method.args.args, *method.args.kwonlyargs)}
        for node in ast.walk(method):
            name, key = _read_key(node)
            if name in names and key:
                _add(keys[name], key)
    return {"values": hints_of(source)["named"], "keys": dict(keys)}


def _read_key(node: ast.AST) -> tuple[str, str]:
    """The name and the key of `name["key"]`, `name.get("key")` or `"key" in name`, or nothing."""
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str(key))):
            return name, key
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="get"), args=[ast.Constant(value=str(key)), *_]):
            return name, key
        case ast.Compare(
            left=ast.Constant(value=str(key)), ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(id=name)]
        ):
            return name, key
        case _:
            return "", ""


def _loose(tree: ast.Module, names: dict[str, Any]) -> list[Any]:
    loose: list[Any] = []
    for node in ast.walk(tree):
        for value in _values(node, names):
            if value not in ("", None) and not isinstance(value, bool):
                _add(loose, value)
    return loose


def _add(values: list[Any], value: Any) -> None:
    if len(values) < MOST and value not in values:
        values.append(value)


def _assigned(node: ast.AST) -> Iterator[tuple[str, Any]]:
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        for value in _values(node.value, {}):
            yield node.targets[0].id, value


def _keys(node: ast.expr) -> Iterator[str]:
    """The keys that read a value from a row: `row["status"]`, `row.get("status")`, or a name's own."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Subscript) and isinstance(inner.slice, ast.Constant):
            yield str(inner.slice.value)
        elif isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr == "get":
            yield from (str(one.value) for one in inner.args[:1] if isinstance(one, ast.Constant))
        elif isinstance(inner, ast.Name):
            yield inner.id.lower()


def _values(node: ast.AST, names: dict[str, Any]) -> Iterator[Any]:
    """The constants that an expression is, or may be."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (str, int, float, bool)):
        yield node.value
    elif isinstance(node, ast.Name) and node.id in names:
        yield names[node.id]
    elif isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        parts = [value for part in node.elts for value in _values(part, names)]
        if parts and all(isinstance(part, str) for part in parts):
            yield parts
        yield from parts
