"""Python's parser, one text of bounded size at a time.

CPython 3.11 counts the depth of a syntax tree in a place that all threads share: two that parse at once may both fail
with `SystemError: AST constructor recursion depth mismatch`.
"""

import ast
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from threading import Lock

LARGEST_SOURCE = 512 * 1024
"""Characters of a text that is parsed; bytes of `tools.py`."""
NOT_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What the parser raises at text that is not Python, that is too large, or nested deeper than it follows."""
_ALONE = Lock()


def parsed(source: str) -> ast.Module:
    """The tree of a source text. Raises what is in `NOT_PYTHON`.

    It takes 700 bytes of memory for each byte of the text, and two seconds for the largest.
    """
    if len(source) > LARGEST_SOURCE:
        raise ValueError(f"longer than {LARGEST_SOURCE // 1024} KiB")
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
