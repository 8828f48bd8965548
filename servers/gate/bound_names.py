"""The names that a piece of Python binds in its own scope, by its syntax tree."""

import ast
from collections.abc import Iterable, Iterator

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def bound(body: Iterable[ast.AST]) -> set[str]:
    """The names that statements, or an expression, bind in their scope. Never more, or a built-in could pass."""
    names: set[str] = set()
    todo = list(body)
    while todo:
        node = todo.pop()
        names.update(_binds(node))
        if isinstance(node, Comprehension):
            names.update(_walruses(node))
        elif not isinstance(node, _INNER):
            todo += ast.iter_child_nodes(node)
    return names


def targets(node: ast.expr) -> set[str]:
    """The names that the target of a comprehension binds."""
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)}


def _binds(node: ast.AST) -> Iterator[str]:
    """The names that a node itself binds."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name.split(".")[0] for alias in node.names)
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest


def _walruses(comprehension: ast.AST) -> Iterator[str]:
    """What `:=` binds inside a comprehension: names of the function around it, unless a lambda stands between."""
    todo = [comprehension]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.NamedExpr):
            yield node.target.id
        if not isinstance(node, ast.Lambda):
            todo += ast.iter_child_nodes(node)
