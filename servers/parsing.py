"""Python's parser, one text at a time.

CPython 3.11 counts the depth of a syntax tree in a place that all threads share: two that parse at once may both fail
with `SystemError: AST constructor recursion depth mismatch`.
"""

import ast
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from threading import Lock

_ALONE = Lock()


def parsed(source: str) -> ast.Module:
    """The tree of a source text. Raises SyntaxError and ValueError, as `ast.parse` does."""
    with _quietly():
        return ast.parse(source)


def parsed_expression(source: str) -> ast.Expression:
    """The tree of one expression. Raises SyntaxError and ValueError, as `ast.parse` does."""
    with _quietly():
        return ast.parse(source, mode="eval")


@contextmanager
def _quietly() -> Generator[None]:
    """Alone, and without a word of what is only odd, such as `"\\d"`: how odd that is depends on the Python."""
    with _ALONE, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "invalid escape sequence|invalid octal escape|.* is with a literal")
        yield
