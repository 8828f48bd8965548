"""Finds commands that revert an earlier one of the same errand: nobody asks for both in one task."""

from collections.abc import Sequence

from servers.state.rows import RowChange

STANDING = ("status", "state")
ENDED = ("cancel", "reject", "declin", "refus", "withdr", "void", "revok", "discard")
"""Prefixes of words for a cancelled state."""


def undoes(change: RowChange, before: Sequence[RowChange]) -> bool:
    """True if a change reverts an earlier one.

    A row that they made is deleted or cancelled, or a value that they changed is restored. An empty column is no sign:
    a waiting list entry ends as soon as the copy is lent.
    """
    own = [one for one in before if one.table == change.table and one.key == change.key]
    if any(one.operation == "insert" for one in own):
        return change.operation == "delete" or any(_has_ended(change.after.get(name)) for name in STANDING)
    first = {name: value for one in reversed(own) for name, value in one.before.items()}
    return any(value is not None and name in first and first[name] == value for name, value in change.after.items())


def _has_ended(value: object) -> bool:
    return isinstance(value, str) and value.lower().startswith(ENDED)
