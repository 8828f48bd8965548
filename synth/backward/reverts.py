"""Finds commands that revert an earlier one of the same errand: nobody asks for both in one task."""

from collections.abc import Sequence

from servers.state.rows import RowChange

STANDING = ("status", "state")
ENDED = ("cancel", "reject", "declin", "refus", "withdr", "void", "revok", "discard")
"""How words begin for what has come to nothing."""


def undoes(change: RowChange, before: Sequence[RowChange]) -> bool:
    """Whether a change takes back any of those before it, which are in their order.

    A row that they made is deleted, or ends as something that came to nothing; or a value that they changed is again
    what it was. That a column is empty again is no sign: who was waiting for a copy is let go as soon as it is lent.
    """
    own = [one for one in before if one.table == change.table and one.key == change.key]
    if any(one.operation == "insert" for one in own):
        return change.operation == "delete" or any(_has_ended(change.after.get(name)) for name in STANDING)
    first = {name: value for one in reversed(own) for name, value in one.before.items()}
    return any(value is not None and name in first and first[name] == value for name, value in change.after.items())


def _has_ended(value: object) -> bool:
    return isinstance(value, str) and value.lower().startswith(ENDED)
