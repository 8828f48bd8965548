"""The words of an error that untrusted code raised.

Such an error may hold a number of 5,000 digits, a list that is nested 100,000 times or a text of 900 MB: Python cannot
tell it, and raises another error instead. No error of a tool or checkpoint may end the guest that reports it.
"""

import re
from collections.abc import Iterator
from types import TracebackType
from typing import Any

LONGEST_WORDS = 2000
"""Characters of an error that an author is shown."""

ADDRESS = re.compile(rb" at 0x[0-9a-f]{8,16}(?=>)")
"""Where an object is in memory, as Python writes it: `<function find at 0x7f44be66f360>`. It differs between runs."""


def without_addresses(text: bytes) -> bytes:
    """A text without the places of objects in memory."""
    return ADDRESS.sub(b"", text) if b" at 0x" in text else text


def words_of(said: Any, most: int = LONGEST_WORDS) -> str:
    """What `str()` makes of an error or value, in at most `most` characters that UTF-8 can hold."""
    try:
        text = str(said)[:most]
    except BaseException as trouble:
        text = f"what it says cannot be told: {type(trouble).__name__}"
    return without_addresses(text.encode("utf-8", "replace")).decode()


def named(error: BaseException) -> str:
    """The kind of an error, and its words."""
    return f"{type(error).__name__}: {words_of(error)}"


def fault_text(error: BaseException) -> str:
    """The error and the line of tools.py, for the history and the author, never for the agent."""
    lines = [trace.tb_lineno for trace in _traces(error) if trace.tb_frame.f_code.co_filename == "tools.py"]
    return f"{f'tools.py, line {lines[-1]}' if lines else 'tools.py'}: {named(error)}"


def _traces(error: BaseException) -> Iterator[TracebackType]:
    """The places that an error came through, from the outermost inwards."""
    trace = error.__traceback__
    while trace is not None:
        yield trace
        trace = trace.tb_next
