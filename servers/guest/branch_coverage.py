"""Branch coverage of a `tools.py`, for proofs: its branches, and an instrumented form that records them.

A branch is one way that a statement can continue: a condition that holds or does not, a loop with or without items, a
case, an `except`, or a function's entry. The parts of `a and b` are not counted apart.
"""

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

TAKEN, EACH = "__taken__", "__each__"
T = TypeVar("T")


@dataclass(frozen=True)
class Branch:
    """One branch, at a line of `tools.py`."""

    line: int
    way: str


def branches(source: str) -> list[Branch]:
    """The branches of a module, by number. The module is parsed, not run."""
    return _noting(source)[1]


def noting(source: str) -> ast.Module:
    """The instrumented module: it reports the numbers of its branches to `TAKEN` and `EACH`."""
    return _noting(source)[0]


def notes(taken: set[int]) -> dict[str, Callable[..., Any]]:
    """The functions that an instrumented module calls. They add the numbers to a set."""

    def note(number: int, value: T) -> T:
        taken.add(number if value else number + 1)
        return value

    def each(number: int, items: Iterable[T]) -> Iterator[T]:
        empty = True
        for item in items:
            if empty:
                taken.add(number)
                empty = False
            yield item
        if empty:
            taken.add(number + 1)

    return {TAKEN: note, EACH: each}


def _noting(source: str) -> tuple[ast.Module, list[Branch]]:
    noted = _Noting()
    tree: ast.Module = noted.visit(ast.parse(source))
    return ast.fix_missing_locations(tree), noted.found


class _Noting(ast.NodeTransformer):
    """Instruments every branch. Numbers follow the order of the source."""

    def __init__(self) -> None:
        self.found: list[Branch] = []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        entered = self._entered(node, f"{node.name} is called")
        self.generic_visit(node)
        after = 1 if ast.get_docstring(node) is not None else 0
        node.body.insert(after, entered)
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        return self._conditional(node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        return self._conditional(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        return self._conditional(node)

    def visit_For(self, node: ast.For) -> ast.AST:
        number = self._new(node.iter, "there is something to go through", "there is nothing to go through")
        self.generic_visit(node)
        node.iter = self._told(EACH, number, node.iter)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        numbers = [self._new(test, "the condition holds", "the condition does not hold") for test in node.ifs]
        self.generic_visit(node)
        node.ifs = [self._told(TAKEN, number, test) for number, test in zip(numbers, node.ifs, strict=True)]
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        entered = self._entered(node, "the exception is caught")
        self.generic_visit(node)
        node.body.insert(0, entered)
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.AST:
        entered = self._entered(node.body[0], "the case matches")
        self.generic_visit(node)
        node.body.insert(0, entered)
        return node

    def _conditional(self, node: ast.If | ast.IfExp | ast.While) -> ast.AST:
        if isinstance(node.test, ast.Constant):
            return self.generic_visit(node)
        number = self._new(node.test, "the condition holds", "the condition does not hold")
        self.generic_visit(node)
        node.test = self._told(TAKEN, number, node.test)
        return node

    def _new(self, node: ast.expr | ast.stmt | ast.ExceptHandler, *ways: str) -> int:
        self.found += [Branch(node.lineno, way) for way in ways]
        return len(self.found) - len(ways)

    def _entered(self, node: ast.stmt | ast.ExceptHandler, way: str) -> ast.stmt:
        told = self._told(TAKEN, self._new(node, way), ast.Constant(value=True))
        return ast.copy_location(ast.Expr(value=told), node)

    def _told(self, name: str, number: int, value: ast.expr) -> ast.expr:
        call = ast.Call(func=ast.Name(id=name, ctx=ast.Load()), args=[ast.Constant(value=number), value], keywords=[])
        return ast.copy_location(call, value) if hasattr(value, "lineno") else call
