"""Rows as values: the result of a query, and the difference of one row between two states."""

from dataclasses import dataclass
from typing import Any, Literal

from servers.records import Record

Row = tuple[Any, ...]
"""One row: str, int, float, bytes or None in each column."""

RowOperation = Literal["insert", "update", "delete"]
LARGEST_ANSWER = 4_000_000
"""Bytes of the rows in one answer, and in one difference."""
NUMBER_BYTES = 8
"""The bytes that count for a value that is not text."""


@dataclass(frozen=True)
class QueryResult:
    """The result of a query: column names and a bounded number of rows."""

    columns: tuple[str, ...]
    rows: list[Row]
    more: bool


class RowChange(Record):
    """A row that differs: its primary key, and the changed columns before and after."""

    table: str
    operation: RowOperation
    key: dict[str, Any]
    before: dict[str, Any]
    after: dict[str, Any]

    def columns(self) -> set[str]:
        """The columns whose values differ."""
        return set(self.before) | set(self.after)


def cell(value: Any) -> Any:
    """A value of a row for JSON."""
    return f"<{len(value)} bytes>" if isinstance(value, bytes) else value
