"""The static gate for code from elsewhere: it must be repeatable and leave nothing behind.

Such code consists of classes and set attributes. Its effects on its object end with the call, and the guest's walls
bound everything else.
"""

import ast
from collections.abc import Iterator
from typing import TypeGuard

from servers.gate.allowed_modules import IMPORTED_NAMES
from servers.gate.allowed_names import FRAMES, INSTEAD
from servers.gate.parser import NOT_PYTHON, parsed

REPLACED = frozenset({"datetime", "time", "uuid", "secrets"})
"""Modules for time and randomness. Imported code gets those of `servers.imported` instead."""
HASHING = "servers.imported.moment"
"""The module with the `hash` that repeats."""
# fmt: off
REFUSED = frozenset({
    "__import__", "breakpoint", "compile", "eval", "exec", "exit", "globals", "hash", "help", "id", "input", "locals",
    "memoryview", "open", "quit",
})
# fmt: on
OWN = frozenset(
    {"__class__", "__dict__", "__doc__", "__init__", "__name__", "__qualname__", "__len__", "__eq__", "__str__"}
)
MEMBERS_REFUSED = {
    ("random", "SystemRandom"): "it does not repeat",
    ("random", "seed"): "the seed is the call's",
    ("contextlib", "redirect_stdout"): "it changes the process",
    ("logging", "FileHandler"): "there are no files",
}


def imported_problems(source: str) -> list[str]:
    """Everything forbidden in imported code, by line."""
    try:
        tree = parsed(source)
        nodes = list(ast.walk(tree))
        fine = {id(node.func) for node in nodes if isinstance(node, ast.Call) and _is_fine_import(node)}
        names = {alias.asname or alias.name for node in nodes if _is_hashing(node) for alias in node.names}
        found = sorted(
            {
                (getattr(node, "lineno", 1), reason)
                for node in nodes
                if id(node) not in fine and not (isinstance(node, ast.Name) and node.id in names)
                for reason in _problems(node)
            }
        )
    except NOT_PYTHON as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        return [f"line {line or 1}: not Python: {error or 'nested too deep'}"]
    return [f"line {line}: {reason}" for line, reason in found]


def imported_by(call: ast.Call) -> str | None:
    """The module of `__import__("name")`, if a constant names it."""
    if not (isinstance(call.func, ast.Name) and call.func.id == "__import__" and call.args):
        return None
    name = call.args[0]
    return name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else None


def _is_fine_import(call: ast.Call) -> bool:
    name = imported_by(call)
    return name is not None and not list(_module_problems(name))


def _is_hashing(node: ast.AST) -> TypeGuard[ast.ImportFrom]:
    """True for the import of a `hash` that repeats."""
    return isinstance(node, ast.ImportFrom) and node.module == HASHING and not node.level


def _problems(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield from _module_problems(alias.name)
    elif isinstance(node, ast.ImportFrom):
        yield from _from_problems(node)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in REFUSED:
        yield f"{node.id}: may not be used; {INSTEAD.get(node.id, 'it reaches out of the language')}"
    elif isinstance(node, ast.Attribute):
        if node.attr in FRAMES or (node.attr.startswith("__") and node.attr not in OWN):
            yield f".{node.attr}: leads into the interpreter"
        elif isinstance(node.value, ast.Name) and (node.value.id, node.attr) in MEMBERS_REFUSED:
            yield f"{node.value.id}.{node.attr}: {MEMBERS_REFUSED[node.value.id, node.attr]}"
    elif isinstance(node, ast.Global):
        yield f"global {', '.join(node.names)}: it keeps state beyond a call, which no row holds"
    elif isinstance(node, ast.AsyncFunctionDef):
        yield f"async {node.name}: a tool is a plain function"


def _module_problems(name: str) -> Iterator[str]:
    if name in REPLACED:
        yield f"import {name}: import it from servers.imported, where it repeats"
    elif name not in IMPORTED_NAMES:
        yield f"import {name}: may not be imported"


def _from_problems(node: ast.ImportFrom) -> Iterator[str]:
    module = node.module or ""
    if node.level:
        yield f"from .{module} import: may not be imported"
        return
    for alias in node.names:
        whole = f"{module}.{alias.name}"
        if whole in IMPORTED_NAMES:
            continue
        yield from _module_problems(module)
        if (module, alias.name) in MEMBERS_REFUSED:
            yield f"{whole}: {MEMBERS_REFUSED[module, alias.name]}"
        if alias.name == "*":
            yield f"from {module} import *: name what is used"
