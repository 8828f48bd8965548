"""Words for people: nouns that agree with their number, and suggestions for a name that does not exist."""

from collections.abc import Sequence
from difflib import get_close_matches

FEW = 5
"""The most names in a message. Beyond, it names the command that lists them."""
LONGEST = 64
SHORTEST = 3
"""Letters of a name's part by which it is found."""
MOST_COMPARED = 1000


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun. `many` is the plural form, by default the noun with an s."""
    return f"{number:,} {noun(number, one, many)}"


def noun(number: int, one: str, many: str = "") -> str:
    """The form of a noun (or a verb) that goes with a number."""
    return one if number == 1 else many or f"{one}s"


def suggestion(wanted: str, names: Sequence[str], *, lister: str) -> str:
    """The name that was likely meant, else all names if they are few, else the command (`lister`) that lists them."""
    close = _closest(wanted[:LONGEST], names[:MOST_COMPARED])
    if close is not None:
        return f"did you mean {close!r}?"
    if not names:
        return "there are none"
    if len(names) <= FEW:
        return f"there are: {', '.join(names)}"
    return f"`{lister}` lists those that there are"


def _closest(wanted: str, names: Sequence[str]) -> str | None:
    """The most similar name, or the first that contains the text."""
    close = get_close_matches(wanted.lower(), names, n=1)
    parts = [name for name in names if len(wanted) >= SHORTEST and wanted.lower() in name]
    return next(iter([*close, *parts]), None)


def without_middle(text: str, longest: int) -> str:
    """The text, or its two ends if it has more than `longest` characters."""
    return text if len(text) <= longest else f"{text[: longest // 2]} … {text[-(longest // 2) :]}"
