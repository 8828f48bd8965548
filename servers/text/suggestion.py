"""What to say to somebody who asked for a name that is not there."""

from collections.abc import Sequence
from difflib import get_close_matches

FEW = 5
"""So many names are listed in a message; of more it says where they are listed."""
LONGEST = 64
SHORTEST = 3
"""Letters of a part of a name by which it is found."""
MOST_COMPARED = 1000


def suggestion(wanted: str, names: Sequence[str], *, lister: str) -> str:
    """The name that was probably meant, else the few that there are, else the command (`lister`) that lists them."""
    close = _closest(wanted[:LONGEST], names[:MOST_COMPARED])
    if close is not None:
        return f"did you mean {close!r}?"
    if not names:
        return "there are none"
    if len(names) <= FEW:
        return f"there are: {', '.join(names)}"
    return f"`{lister}` lists those that there are"


def _closest(wanted: str, names: Sequence[str]) -> str | None:
    """The name that looks most like it, or the first of which it is a part."""
    close = get_close_matches(wanted.lower(), names, n=1)
    parts = [name for name in names if len(wanted) >= SHORTEST and wanted.lower() in name]
    return next(iter([*close, *parts]), None)
