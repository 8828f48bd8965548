"""What of a difference between two states an agent brought about: not the ids and times that the instance made up."""

import json
import re
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from servers.state.rows import RowChange

MADE_ID = re.compile(r"\b[a-z][a-z0-9_]*_[0-9a-f]{8}\b")
MINUTES_OF_A_RUN = 600
MINUTES_OF_CALLS = 30
"""A run's calls take so many minutes, about; a time that is whole hours from one of them was counted from it."""
DiffColumn = tuple[str, str, str]
"""A table, what is done to its rows, and a column of it."""
MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")


class Window:
    """The times that an instance can have told during a run."""

    def __init__(self, clock: str) -> None:
        begin = datetime.fromisoformat(clock)
        self.first = clock
        self.last = (begin + timedelta(minutes=MINUTES_OF_A_RUN)).isoformat(sep=" ")
        self.today = clock[:10]
        self._begin = begin

    def holds(self, value: Any) -> bool:
        """Whether a value is a time of the run."""
        return isinstance(value, str) and len(value) == len(self.first) and self.first <= value <= self.last

    def hours_from_now(self, value: Any) -> int | None:
        """How many whole hours from the calls a time lies, if it was counted from one of them, as deadlines are."""
        if not isinstance(value, str) or self.holds(value) or not MOMENT.fullmatch(value):
            return None
        try:
            hours, seconds = divmod((datetime.fromisoformat(value) - self._begin).total_seconds(), 3600)
        except ValueError:
            return None
        return int(hours) if seconds % 60 == 0 and seconds <= 60 * MINUTES_OF_CALLS else None

    def is_now(self, value: Any) -> bool:
        """Whether a value is a time of the run, or its day."""
        return value == self.today or self.holds(value)


def made_up(changes: Iterable[RowChange]) -> set[str]:
    """The ids that the instance made for the rows that were added."""
    return {
        value
        for change in changes
        if change.operation == "insert"
        for value in change.key.values()
        if isinstance(value, str) and MADE_ID.fullmatch(value)
    }


def essence(changes: Sequence[RowChange], window: Window, fixed: Collection[DiffColumn] = ()) -> str:
    """Changes as one text that is equal where two runs did the same, though at other times and with other ids.

    In `fixed` columns stand times that do not hang on when a run was.
    """
    ids = made_up(changes)

    def plain(value: Any, place: DiffColumn) -> Any:
        if place in fixed and isinstance(value, str) and MOMENT.fullmatch(value):
            return value
        if window.holds(value):
            return "<now>"
        if window.hours_from_now(value) is not None:
            return f"<now + {window.hours_from_now(value)} h>"
        if isinstance(value, str) and ids:
            return MADE_ID.sub(lambda found: "<new>" if found[0] in ids else found[0], value)
        return value

    lines: list[str] = []
    for change in changes:
        key = {name: plain(value, (change.table, change.operation, name)) for name, value in change.key.items()}
        if change.operation == "insert":
            key = {name: "<new>" if isinstance(value, int) and len(key) == 1 else value for name, value in key.items()}
        before, after = (
            {
                name: plain(value, (change.table, change.operation, name))
                for name, value in row.items()
                if name not in change.key
            }
            for row in (change.before, change.after)
        )
        lines.append(json.dumps([change.table, change.operation, key, before, after], sort_keys=True))
    return "\n".join(sorted(lines))


def exactly(changes: Sequence[RowChange]) -> str:
    """Changes as one text, to the byte."""
    return json.dumps([change.model_dump() for change in changes], sort_keys=True)
