"""What two writings of the same words have in common: the SQL function `plain_text(x)` of checkpoints.

It is written into exported checks too, so it imports the standard library alone.
"""

import unicodedata
from typing import Any

PLAIN_TEXT = "plain_text"
LONGEST_PLAIN_TEXT = 20_000
"""Characters of a text that is compared so; of a longer one the function gives NULL."""
MOST_MARKS = 30
"""Combining marks behind one letter that are read, as in the Stream-Safe Text Format of UAX 15."""
APART = ("P", "Z", "C", "Sk")
"""The categories of signs that only set words apart: punctuation, quotes, spaces, control signs, lone accents."""


def with_few_marks(text: str) -> str:
    """A text without the marks on a letter beyond the first `MOST_MARKS`: sorting them takes their number squared."""
    if text.isascii():
        return text
    marks = 0
    kept: list[str] = []
    for sign in text:
        marks = marks + 1 if unicodedata.combining(sign) else 0
        if marks <= MOST_MARKS:
            kept.append(sign)
    return "".join(kept)


def plain_text(value: Any) -> str | None:
    """A text in small letters and composed signs (NFC), each run of spaces and punctuation as one space."""
    if value is None:
        return None
    text = str(value)
    if len(text) > LONGEST_PLAIN_TEXT:
        return None
    small = unicodedata.normalize("NFC", unicodedata.normalize("NFC", with_few_marks(text)).casefold())
    if small.isascii():
        return " ".join("".join(sign if sign.isalnum() or sign in "$+<=>|~" else " " for sign in small).split())
    return " ".join("".join(" " if unicodedata.category(sign).startswith(APART) else sign for sign in small).split())
