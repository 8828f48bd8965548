"""The module of a `tools.py`, executed for each call, so that no call sees another's leftovers.

A call gets a new namespace, with the definitions that its tool can reach: functions, classes, constants. Only imports
are shared, as they belong to the standard library.
"""

import ast
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from types import CodeType
from typing import Any

ToolFunction = Callable[..., Any]
IMPORTS = (ast.Import, ast.ImportFrom)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*IMPORTS, *FUNCTIONS, ast.ClassDef, ast.Assign, ast.AnnAssign)
PLAIN = (ast.Constant, ast.Tuple, ast.UnaryOp, ast.BinOp, ast.JoinedStr, ast.operator, ast.unaryop, ast.expr_context)
"""Syntax of immutable literals."""
BY_TEXT = frozenset({"globals", "locals", "vars", "dir", "eval", "exec", "get_type_hints", "__annotations__"})
"""Names by which code finds other names by text, or reads types."""


class ToolModule:
    """A module of tools. `beside` are extra names that it can use."""

    def __init__(self, tree: ast.Module, beside: Mapping[str, Any] | None = None) -> None:
        """Run the module once. Raises its error."""
        whole: dict[str, Any] = {"__name__": "tools", **(beside or {})}
        exec(compile(tree, "tools.py", "exec"), whole)  # noqa: S102 - this process exists to run it
        self.functions: dict[str, ToolFunction] = {
            name: value
            for name, value in whole.items()
            if not name.startswith("_") and callable(value) and getattr(value, "__module__", None) == "tools"
            if not isinstance(value, type)
        }
        self._parts = _Parts(tree)
        imported = {name: whole[name] for name in self._parts.imported if name in whole}
        self._base: dict[str, Any] = {"__name__": "tools", **(beside or {}), **imported}
        self._codes: dict[str, CodeType] = {}

    @contextmanager
    def fresh(self, name: str) -> Generator[ToolFunction]:
        """A tool in a new namespace, which is cleared afterwards."""
        code = self._codes.get(name)
        if code is None:
            code = self._codes[name] = compile(self._parts.reached(name), "tools.py", "exec")
        namespace: dict[str, Any] = self._base.copy()
        try:
            exec(code, namespace)  # noqa: S102 - this process exists to run it
            yield namespace[name]
        finally:
            namespace.clear()


class _Parts:
    """The statements of a module, and the transitive dependencies of each name."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._is_one = _is_one(tree)
        self.imported: set[str] = set()
        self._statements: list[ast.stmt] = []
        for statement in tree.body:
            if isinstance(statement, IMPORTS) and not self._is_one:
                self.imported |= {(alias.asname or alias.name).split(".")[0] for alias in statement.names}
            else:
                self._statements.append(statement if self._is_one else _without_types(statement))
        self._uses = [_names_in(statement) for statement in self._statements]
        self._binders: dict[str, list[int]] = {}
        for number, statement in enumerate(self._statements):
            for name in _bound_by(statement):
                self._binders.setdefault(name, []).append(number)
        calling = [number for number, statement in enumerate(self._statements) if _calls_when_defined(statement)]
        linked = [(name, number) for number in calling for name in self._changeable(number)]
        for name, number in linked:
            self._binders[name].append(number)

    def reached(self, name: str) -> ast.Module:
        """The statements that a name needs, in order."""
        numbers = range(len(self._statements)) if self._is_one else sorted(self._closure({name}))
        return ast.Module([self._statements[number] for number in numbers], self._tree.type_ignores)

    def _closure(self, names: set[str]) -> set[int]:
        """The indexes of the statements that bind these names, and of their dependencies."""
        found: set[int] = set()
        seen: set[str] = set()
        todo = list(names)
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                new = set(self._binders.get(name, ())) - found
                found |= new
                todo += [used for number in new for used in self._uses[number]]
        return found

    def _changeable(self, number: int) -> set[str]:
        """The values that a statement could change while it runs: they are in reach of a call in it."""
        reached = [self._statements[one] for one in self._closure(self._uses[number]) - {number}]
        return {name for one in reached if not _is_fixed(one) for name in _bound_by(one)}


def _is_one(tree: ast.Module) -> bool:
    """True if a module cannot be split: it does more than define, or finds its names by text."""
    defines = all(isinstance(one, DEFINITIONS) or _is_text(one) for one in tree.body)
    stars = any(isinstance(one, ast.ImportFrom) and one.names[0].name == "*" for one in tree.body)
    attributes = {one.attr for one in ast.walk(tree) if isinstance(one, ast.Attribute)}
    return not defines or stars or bool((_names_in(tree) | attributes) & BY_TEXT)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _names_in(node: ast.AST) -> set[str]:
    found: set[str] = set()
    for one in ast.walk(node):
        if isinstance(one, ast.Name):
            found.add(one.id)
        elif isinstance(one, ast.Global):
            found |= set(one.names)
    return found


def _bound_by(statement: ast.stmt) -> set[str]:
    """The names that a statement binds, or whose value it changes: `name.attribute = …`."""
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        return {statement.name}
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    changed = {name for target in targets for name in _names_in(target)}
    return changed | {
        one.id for one in ast.walk(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }


def _is_fixed(statement: ast.stmt) -> bool:
    """True if nothing can change a statement's value: it is a function or an immutable literal."""
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        return statement.value is None or all(isinstance(one, PLAIN) for one in ast.walk(statement.value))
    return isinstance(statement, FUNCTIONS)


def _calls_when_defined(statement: ast.stmt) -> bool:
    """True if a definition calls something of the module, or an import, while it runs."""
    if isinstance(statement, FUNCTIONS):
        at_once: list[ast.AST] = [*statement.decorator_list, *statement.args.defaults]
        at_once += [one for one in statement.args.kw_defaults if one is not None]
        return bool(statement.decorator_list) or any(map(_has_call, at_once))
    if isinstance(statement, ast.ClassDef):
        inside = [one for one in statement.body if not isinstance(one, FUNCTIONS)]
        return any(map(_has_call, [*statement.decorator_list, *statement.bases, *inside]))
    return _has_call(statement)


def _has_call(node: ast.AST) -> bool:
    return any(isinstance(one, ast.Call) for one in ast.walk(node))


class _Untyped(ast.NodeTransformer):
    """Removes annotations of functions and variables: a call does not read them, and they take time."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        given = node.args
        for one in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg):
            if one is not None:
                one.annotation = None
        self.generic_visit(node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.copy_location(ast.Constant(None), node.annotation)
        self.generic_visit(node)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Keep the annotations of a class: they define its fields."""
        node.body = [one if isinstance(one, ast.AnnAssign) else self.visit(one) for one in node.body]
        return node


def _without_types(statement: ast.stmt) -> ast.stmt:
    return _Untyped().visit(statement)
