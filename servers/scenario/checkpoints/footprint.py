"""Checkpoints of kind `footprint`: may every row that differs between start and end differ?

Rows are processed in batches, with one query for each allowance and batch. The judgement's processor time is the bound.
An agent that changes more rows than can be checked has changed too many.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import ClassVar, Literal

from pydantic import Field

from servers.answer.fact import Cell
from servers.errors import QueryError
from servers.guest.sqlite.sql_text import quoted, sql_literal
from servers.limits.processor_budget import MOST_STEPS, ProcessorBudget
from servers.records import Name, Record
from servers.scenario.checkpoints.checkpoint import CheckpointResult, JudgedRun, RowCheckpoint, StateReader
from servers.state.rows import RowChange, RowOperation

MOST_ALLOWANCES = 100
ROWS_AT_ONCE = 500
KEYS_AT_ONCE = 1_000_000
"""Bytes of the keys in one batch."""


class Allowance(Record):
    """Rows that may change: in which table, how, which columns, which rows, and how many."""

    table: Name
    operation: RowOperation
    columns: tuple[str, ...] | None = None
    where: str | None = None
    rows: int | None = Field(default=None, ge=0)

    def findings(self, start: StateReader) -> Iterator[str]:
        """The names in it that the rows do not have."""
        if self.table not in start.tables():
            return  # that has been found by its text
        columns, _ = start.columns(self.table)
        for name in self.columns or ():
            if name not in columns:
                yield f"columns: {self.table} has no column {name!r}"
        if self.where is not None:
            why = start.finding(f"SELECT 1 FROM main.{quoted(self.table)} WHERE 1 AND ({self.where})")
            if why:
                yield f"where: {why}"


class FootprintCheckpoint(RowCheckpoint):
    """Holds when every row that differs between start and end is covered by an allowance."""

    role: Literal["guard"]  # pyright: ignore[reportIncompatibleVariableOverride] - narrower, and records do not change
    kind: Literal["footprint"]
    allow: tuple[Allowance, ...] = Field(max_length=MOST_ALLOWANCES)

    cost: ClassVar[int] = 1

    def asked(self, case: JudgedRun) -> CheckpointResult:
        """Every changed row needs a place in an allowance that covers it, and no allowance may be exceeded."""
        change = uncovered(self.allow, case.reader)
        if change is None:
            return CheckpointResult(holds=True)
        key = json.dumps(change.key, ensure_ascii=False)
        return CheckpointResult(holds=False, seen=f"{change.operation} in {change.table}: {key}")

    def unknown_names(self, tables: frozenset[str]) -> Iterator[str]:
        for allowance in self.allow:
            if allowance.table not in tables:
                yield f"no table named {allowance.table!r}"

    def state_findings(self, start: StateReader) -> Iterator[str]:
        for number, allowance in enumerate(self.allow, start=1):
            yield from (f"allow.{number}.{why}" for why in allowance.findings(start))


def uncovered(allow: Sequence[Allowance], reader: StateReader) -> RowChange | None:
    """The first changed row without a place in any allowance. None if all have one.

    Raises:
        QueryError: a `where` fails on these rows, or the processor time does not suffice.
    """
    with reader.budget.charging_this_thread():
        placing = _Placing(allow, reader.budget)
        for portion in _portions(reader.differences()):
            covering = _covering(allow, portion, reader)
            for change, numbers in zip(portion, covering, strict=True):
                if not placing.place(numbers):
                    return change
    return None


def _portions(changes: Iterable[RowChange]) -> Iterator[list[RowChange]]:
    """Batches of rows of one table with the same operation."""
    for _, alike in groupby(changes, key=lambda change: (change.table, change.operation)):
        portion: list[RowChange] = []
        room = KEYS_AT_ONCE
        for change in alike:
            portion.append(change)
            room -= sum(len(value) for value in change.key.values() if isinstance(value, str))
            if len(portion) == ROWS_AT_ONCE or room < 0:
                yield portion
                portion, room = [], KEYS_AT_ONCE
        if portion:
            yield portion


def _covering(allow: Sequence[Allowance], portion: Sequence[RowChange], reader: StateReader) -> list[tuple[int, ...]]:
    """For each row of a batch, the indexes of the allowances that cover it."""
    covering: list[list[int]] = [[] for _ in portion]
    keys = {tuple(change.key.values()): place for place, change in enumerate(portion)}
    for number, allowance in enumerate(allow):
        if (allowance.table, allowance.operation) != (portion[0].table, portion[0].operation):
            continue
        may = _that_may_change(allowance, portion)
        if may and allowance.where is not None:
            found = _found(allowance.where, [portion[place] for place in may], reader)
            may = [keys[key] for key in found if key in keys]
        for place in may:
            covering[place].append(number)
    return [tuple(numbers) for numbers in covering]


def _that_may_change(allowance: Allowance, portion: Sequence[RowChange]) -> Sequence[int]:
    """The indexes of the rows whose changed columns are all allowed."""
    if allowance.columns is None or allowance.operation != "update":
        return range(len(portion))
    columns = set(allowance.columns)
    return [place for place, change in enumerate(portion) if change.columns() <= columns]


def _found(where: str, portion: Sequence[RowChange], reader: StateReader) -> list[tuple[Cell, ...]]:
    """The keys of a batch's rows that meet a condition: at the end, or at the start for deleted ones."""
    one = portion[0]
    database = "start" if one.operation == "delete" else "main"
    names = ", ".join(map(quoted, one.key))
    keys = ", ".join(f"({', '.join(map(sql_literal, change.key.values()))})" for change in portion)
    among = f"{names} IN ({keys})" if len(one.key) == 1 else f"({names}) IN (VALUES {keys})"
    sql = f"SELECT {names} FROM {database}.{quoted(one.table)} WHERE {among} AND ({where})"
    return reader.select(sql, rows=len(portion), steps=MOST_STEPS * len(portion)).rows


class _Placing:
    """Assigns rows to allowances, and moves earlier rows if needed (a bipartite matching).

    Rows that the same allowances cover are interchangeable, so they are counted.
    """

    def __init__(self, allow: Sequence[Allowance], budget: ProcessorBudget) -> None:
        self._budget = budget
        self._room = [allowance.rows for allowance in allow]
        self._placed: list[Counter[tuple[int, ...]]] = [Counter() for _ in allow]

    def place(self, covering: tuple[int, ...]) -> bool:
        """Assign a row to one of the allowances that cover it.

        Raises:
            QueryError: the processor time is used up.
        """
        if self._budget.is_used_up:
            raise QueryError(f"more rows differ than {self._budget.seconds:g} s of processor time suffice for")
        return self._place(covering, set())

    def _place(self, covering: tuple[int, ...], tried: set[int]) -> bool:
        for number in covering:
            if number in tried:
                continue
            tried.add(number)
            room, placed = self._room[number], self._placed[number]
            if room is None:
                return True
            if room > 0:
                self._room[number] = room - 1
                placed[covering] += 1
                return True
            for other in placed:
                if self._place(other, tried):
                    self._exchange(placed, other, covering)
                    return True
        return False

    def _exchange(self, placed: Counter[tuple[int, ...]], out: tuple[int, ...], into: tuple[int, ...]) -> None:
        placed[out] -= 1
        if not placed[out]:
            del placed[out]
        placed[into] += 1
