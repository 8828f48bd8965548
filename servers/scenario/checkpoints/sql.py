"""Checkpoints of kind `sql`: one SELECT over the final state (`main`) and the first one (`start`)."""

import json
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from servers.answer.fact import Cell
from servers.errors import LongQuery, QueryError
from servers.records import Record
from servers.scenario.checkpoints.checkpoint import CheckpointResult, JudgedRun, RowCheckpoint, StateReader
from servers.state.rows import cell
from servers.text.wording import counted, noun

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
ANSWER = frozenset({"answer"})
_READS_ANSWER = re.compile(r":answer\b")


class Comparison(Record):
    """What the single value of a checkpoint's SELECT is compared with."""

    op: Literal["==", "!=", "<", "<=", ">", ">="]
    value: Cell

    def holds(self, value: Any) -> bool:
        """True if the comparison holds. Values that cannot be compared do not."""
        try:
            return bool(COMPARISONS[self.op](value, self.value))
        except TypeError:
            return False


class SqlCheckpoint(RowCheckpoint):
    """Holds when a SELECT over the final state (`main`) and the first one (`start`) gives what is expected."""

    kind: Literal["sql"]
    sql: str = Field(min_length=1)
    expect: list[list[Cell]] | Comparison

    cost: ClassVar[int] = 0

    def asked(self, case: JudgedRun) -> CheckpointResult:
        found = case.reader.select(self.sql, answer=case.answer)
        rows = [[cell(value) for value in row] for row in found.rows]
        seen = json.dumps(rows[:20], ensure_ascii=False)
        if not isinstance(self.expect, Comparison):
            return CheckpointResult(holds=not found.more and rows == self.expect, seen=seen)
        is_one = len(rows) == 1 and len(rows[0]) == 1
        return CheckpointResult(holds=is_one and self.expect.holds(rows[0][0]), seen=seen)

    def state_findings(self, start: StateReader) -> Iterator[str]:
        why = start.finding(self.sql, ANSWER) or self._never_expected(start) or self._endless(start)
        if why:
            yield f"sql: {why}"

    def _never_expected(self, start: StateReader) -> str | None:
        """Why the SELECT can never give the expected rows: the number of columns differs."""
        given = start.width(self.sql)
        expected = {1} if isinstance(self.expect, Comparison) else {len(row) for row in self.expect}
        wrong = sorted(expected - {given})
        if not wrong:
            return None
        values = f"{counted(wrong[0], 'value')} a row {noun(wrong[0], 'is', 'are')}"
        return f"gives {counted(given, 'column')}, and {values} expected"

    def _endless(self, start: StateReader) -> str | None:
        """Why the SELECT cannot be run to its end on the first state. Other errors may depend on the rows."""
        try:
            start.select(self.sql, answer="")
        except LongQuery as error:
            return f"on the first state {error}"
        except QueryError:
            return None
        return None

    def looks_for_words(self) -> bool:
        return _READS_ANSWER.search(self.sql) is not None

    def hidden_texts(self) -> Sequence[str]:
        return (self.sql,)
