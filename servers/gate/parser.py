"""Python's parser for untrusted text: one text at a time, of bounded size.

CPython 3.11 counts the depth of a syntax tree in a place that all threads share. Two concurrent parses may both fail
with `SystemError: AST constructor recursion depth mismatch`.
"""

import ast
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from threading import Lock

LARGEST_SOURCE = 512 * 1024
"""Characters of a text to parse, and bytes of `tools.py`."""
NOT_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError)
"""The parser's errors for text that is not Python, is too large, or is nested too deep."""
_ALONE = Lock()


def parsed(source: str) -> ast.Module:
    """Parse a source text. Raises the errors of `NOT_PYTHON`.

    It takes 700 bytes of memory for each byte of the text, and two seconds for the largest.
    """
    if len(source) > LARGEST_SOURCE:
        raise ValueError(f"longer than {LARGEST_SOURCE // 1024} KiB")
    with _quietly():
        return ast.parse(source)


def parsed_expression(source: str) -> ast.Expression:
    """Parse one expression. Raises the errors of `NOT_PYTHON`."""
    if len(source) > LARGEST_SOURCE:
        raise ValueError(f"longer than {LARGEST_SOURCE // 1024} KiB")
    with _quietly():
        return ast.parse(source, mode="eval")


@contextmanager
def _quietly() -> Generator[None]:
    """Exclusive access without warnings, such as about `"\\d"`, since they depend on Python's version."""
    with _ALONE, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
