"""Static inspection of Python source in a guest, which parses it and runs nothing."""

import ast
from typing import Any

from servers.gate.imported_gate import imported_problems
from servers.gate.parser import NOT_PYTHON, parsed
from servers.gate.static_gate import checkpoint_problems, tool_problems

GATES = {"tools": tool_problems, "checkpoint": checkpoint_problems, "imported": imported_problems}
MOST_PROBLEMS = 100


def inspect(source: str, gate: str) -> dict[str, Any]:
    """The functions of a module and the gate's findings. `not_python` says why it cannot be parsed."""
    try:
        tree = parsed(source)
    except NOT_PYTHON as error:
        number = error.lineno if isinstance(error, SyntaxError) else None
        where = f"line {number}" if number else "the whole"
        why = error.msg if isinstance(error, SyntaxError) else str(error)
        return {"not_python": f"{where}: not Python: {why or 'nested too deep'}"[:500]}
    functions = [_signature(node) for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    problems = [problem[:500] for problem in GATES[gate](source)]
    more = len(problems) - MOST_PROBLEMS
    return {
        "functions": functions,
        "problems": [*problems[:MOST_PROBLEMS], *([f"and {more} more of this kind"] if more > 0 else [])],
    }


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, Any]:
    given = node.args
    return {
        "name": node.name,
        "is_async": isinstance(node, ast.AsyncFunctionDef),
        "positional": [one.arg for one in (*given.posonlyargs, *given.args)],
        "by_keyword": [one.arg for one in given.kwonlyargs],
        "has_more": given.vararg is not None or given.kwarg is not None,
    }
