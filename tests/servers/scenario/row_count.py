"""Checkpoints of kind `row_count`: how many rows a table has at the end. A test adds this kind to the farm."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field

from servers.guest.sqlite.sql_text import quoted
from servers.records import Name
from servers.scenario.checkpoints.checkpoint import CheckpointResult, JudgedRun, RowCheckpoint


class RowCountCheckpoint(RowCheckpoint):
    """Holds when a table has so many rows."""

    kind: Literal["row_count"]
    table: Name
    rows: int = Field(ge=0)

    cost: ClassVar[int] = 0

    def asked(self, case: JudgedRun) -> CheckpointResult:
        [[found]] = case.reader.select(f"SELECT count(*) FROM main.{quoted(self.table)}").rows
        return CheckpointResult(holds=found == self.rows, seen=f"{found} rows")

    def unknown_names(self, tables: frozenset[str]) -> Iterator[str]:
        if self.table not in tables:
            yield f"no table named {self.table!r}"
