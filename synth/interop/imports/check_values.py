"""The constants that a check function compares with, and their names, from its source alone."""

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
    told = {name: found[:MOST] for name, found in named.items()}
    return {"named": told, "loose": _loose(tree, values)[:MOST]}


def _loose(tree: ast.Module, names: dict[str, Any]) -> list[Any]:
    loose: list[Any] = []
    for node in ast.walk(tree):
        for value in _values(node, names):
            if value not in ("", None) and not isinstance(value, bool):
                _add(loose, value)
    return loose


def _add(values: list[Any], value: Any) -> None:
    if value not in values:
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
