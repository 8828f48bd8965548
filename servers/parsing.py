"""Python's parser, one text at a time.

CPython 3.11 counts the depth of a syntax tree in a place that all threads share: two that parse at once may both fail
with `SystemError: AST constructor recursion depth mismatch`.
"""

import ast
from threading import Lock

_ALONE = Lock()


def parsed(source: str) -> ast.Module:
    """The tree of a source text. Raises SyntaxError and ValueError, as `ast.parse` does."""
    with _ALONE:
        return ast.parse(source)


def parsed_expression(source: str) -> ast.Expression:
    """The tree of one expression. Raises SyntaxError and ValueError, as `ast.parse` does."""
    with _ALONE:
        return ast.parse(source, mode="eval")
