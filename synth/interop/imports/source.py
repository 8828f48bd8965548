"""The source of an imported class as text: its methods, with imports replaced by repeatable ones."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from servers.gate.imported_gate import HASHING, REPLACED, imported_by, imported_problems
from servers.gate.parser import NOT_PYTHON, parsed
from synth.interop.imports.dataset import Unreadable

TYPED_DICT = "TypedDict"
DEEPEST_PARENT = 10
MODULES: Mapping[str, str] = dict.fromkeys(REPLACED, "servers.imported")
"""Replaced modules, and the package with the repeatable ones."""
AWM_MODULES: Mapping[str, str] = {
    **MODULES,
    "os": "servers.imported.awm.serving",
    "sqlite3": "servers.imported.awm",
}
"""The same for verifiers of Agent World Model."""


@dataclass(frozen=True)
class ClassSource:
    """A module whose one class is an environment."""

    text: str
    """The module with imports of `servers.imported`."""
    name: str
    classes: tuple[str, ...]
    """The other classes of the module that have instances."""
    typed_dicts: frozenset[str]
    methods: tuple[ast.FunctionDef, ...]
    names: frozenset[str]
    """What is defined at the module's top level."""


def class_source(code: str, class_name: str) -> ClassSource:
    """Read a module.

    Raises:
        Unreadable: it is not Python, has no such class, or is not repeatable.
    """
    try:
        tree = parsed(code)
        text = with_imports(code, tree)
    except NOT_PYTHON as error:
        line = f"line {error.lineno}: " if isinstance(error, SyntaxError) and error.lineno else ""
        raise Unreadable(f"env_class_code: {line}not Python: {getattr(error, 'msg', None) or error}") from None
    problems = imported_problems(text)
    if problems:
        raise Unreadable(f"env_class_code: {problems[0]}")
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    found = next((node for node in classes if node.name == class_name), None)
    if found is None:
        raise Unreadable(f"env_class_code: has no class {class_name!r}")
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
    if functions:
        raise Unreadable(
            f"env_class_code: has functions beside its class, which would be tools: {', '.join(functions)}"
        )
    typed = frozenset(node.name for node in classes if _is_typed_dict(node))
    return ClassSource(
        text=text,
        name=class_name,
        classes=tuple(node.name for node in classes if node.name not in typed and node.name != class_name),
        typed_dicts=typed,
        methods=tuple(_methods(found, {node.name: node for node in classes})),
        names=frozenset(_bound(tree)),
    )


def _is_typed_dict(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base).split(".")[-1] == TYPED_DICT for base in node.bases)


def _methods(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> Iterator[ast.FunctionDef]:
    """The methods that are tools: public ones of the class and its parents in the module."""
    return _methods_of(node, classes, set(), 0)


def _methods_of(
    node: ast.ClassDef, classes: dict[str, ast.ClassDef], seen: set[str], depth: int
) -> Iterator[ast.FunctionDef]:
    """Those of a class that none of `seen` is. A class that is a parent twice is read once."""
    if node.name in seen or depth > DEEPEST_PARENT:
        return
    seen.add(node.name)
    own = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}
    parents = [classes[base.id] for base in node.bases if isinstance(base, ast.Name) and base.id in classes]
    inherited = [one for parent in parents for one in _methods_of(parent, classes, seen, depth + 1)]
    yield from (one for one in inherited if one.name not in own)
    for one in own.values():
        marks = {ast.unparse(mark).split(".")[-1] for mark in one.decorator_list}
        if not one.name.startswith("_") and not marks & {"property", "setter", "deleter", "cached_property"}:
            yield one


def _bound(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            yield node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (alias.asname or alias.name.split(".")[0] for alias in node.names)
        else:
            yield from (inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name))


def with_imports(code: str, tree: ast.Module, modules: Mapping[str, str] = MODULES) -> str:
    """The same text with `import uuid` and the like replaced by `servers.imported`, line for line.

    A text that uses `hash` gets another line, which imports one that repeats.
    """
    lines = [line.encode() for line in code.splitlines(keepends=True)]
    nodes = list(ast.walk(tree))
    found = [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom, ast.Call))]
    for node in sorted(found, key=lambda node: (node.lineno, node.col_offset), reverse=True):
        turned = _turned(node, modules)
        if turned is None:
            continue
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        before, after = lines[first][: node.col_offset], lines[last][node.end_col_offset :]
        lines[first : last + 1] = [before + turned.encode() + after, *[b"\n"] * (last - first)]
    text = b"".join(lines).decode()
    if any(isinstance(node, ast.Name) and node.id == "hash" for node in nodes):
        text = f"{text.rstrip()}\n\nfrom {HASHING} import hash\n"
    return text


def _turned(node: ast.Import | ast.ImportFrom | ast.Call, modules: Mapping[str, str]) -> str | None:
    """The repeatable import that replaces another one."""
    if isinstance(node, ast.Call):
        name = imported_by(node) or ""
        return f'__import__("{modules[name]}.{name}", fromlist=["*"])' if name in modules else None
    if isinstance(node, ast.ImportFrom):
        if node.level or node.module is None or node.module not in modules:
            return None
        names = ", ".join(f"{alias.name} as {alias.asname}" if alias.asname else alias.name for alias in node.names)
        return f"from {modules[node.module]}.{node.module} import {names}"
    if not any(alias.name in modules for alias in node.names):
        return None
    return "; ".join(_one(alias, modules) for alias in node.names)


def _one(alias: ast.alias, modules: Mapping[str, str]) -> str:
    renamed = f" as {alias.asname}" if alias.asname else ""
    source = f"from {modules[alias.name]} " if alias.name in modules else ""
    return f"{source}import {alias.name}{renamed}"
