"""Rows as they are told: what a query gave, and how one row differs between two states."""

from dataclasses import dataclass
from typing import Any, Literal

from servers.records import Record

Row = tuple[Any, ...]
"""One row: str, int, float, bytes or None in each column."""

Operation = Literal["insert", "update", "delete"]
LARGEST_ANSWER = 4_000_000
"""Bytes of the rows of one answer, and of one difference."""
NUMBER_BYTES = 8
"""Bytes that a value counts for which is no text: each takes time and memory to tell."""


@dataclass(frozen=True)
class QueryResult:
    """What a query gave: the columns' names and at most so many rows."""

    columns: tuple[str, ...]
    rows: list[Row]
    more: bool


class RowChange(Record):
    """One row that differs: its primary key, and the columns that differ, before and after."""

    table: str
    operation: Operation
    key: dict[str, Any]
    before: dict[str, Any]
    after: dict[str, Any]

    def columns(self) -> set[str]:
        """The columns whose values differ."""
        return set(self.before) | set(self.after)


def cell(value: Any) -> Any:
    """A value of a row as JSON can hold it."""
    return f"<{len(value)} bytes>" if isinstance(value, bytes) else value
