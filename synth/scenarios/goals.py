"""Checkpoints from what a reference changed: relations over the rows, never ids and times that were made up."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from servers.guest.tables import quoted
from servers.orders import RowChange
from servers.scenario import Allowance, FootprintCheckpoint, SqlCheckpoint
from synth.scenarios.essence import MADE_ID, Window, made_up
from synth.scenarios.facts import literal

DEEPEST = 3


@dataclass(frozen=True)
class Changed:
    """What a whole run changed, with what is needed to speak of it."""

    changes: Sequence[RowChange]
    window: Window
    left_open: frozenset[str]
    given: frozenset[str] = frozenset()
    """The texts among the arguments of its commands."""

    def is_of_the_run(self, value: str) -> bool:
        """Whether a value is a time of the run, or was counted from one."""
        return self.window.holds(value) or (value not in self.given and self.window.hours_from_now(value) is not None)

    def made_in(self, value: Any) -> RowChange | None:
        """The added row whose key a value is."""
        return next(
            (one for one in self.changes if one.operation == "insert" and list(one.key.values()) == [value]), None
        )


def is_there(change: RowChange, whole: Changed, depth: int = 0) -> str:
    """What must hold for a row that was added or changed, as an SQL condition."""
    if change.operation == "delete":
        return " AND ".join(f"{quoted(name)} IS {literal(value)}" for name, value in change.key.items())
    parts: list[str] = []
    if change.operation == "update":
        parts += [_is(name, value) for name, value in change.key.items()]
    ids = made_up(whole.changes)
    for name, value in change.after.items():
        if name in change.key and (value in ids or isinstance(value, int)):
            continue
        if name in change.key and change.operation == "update":
            continue
        parts.append(_holds(name, value, whole, depth))
    return " AND ".join(parts) or "1"


def goal(name: str, question: str, changes: Sequence[RowChange], whole: Changed) -> SqlCheckpoint:
    """One goal over the rows that a command changed, as they are in the end."""
    wanted: dict[str, tuple[str, int]] = {}
    for change in changes:
        condition = f"SELECT count(*) FROM {quoted(change.table)} WHERE {is_there(change, whole)}"
        before = wanted.get(condition, (condition, 0))[1]
        wanted[condition] = (condition, 0 if change.operation == "delete" else before + 1)
    parts = ", ".join(f"({condition})" for condition, _ in wanted.values())
    return SqlCheckpoint(
        id=name,
        role="goal",
        question=question,
        kind="sql",
        sql=f"SELECT {parts}",
        expect=[[count for _, count in wanted.values()]],
    )


def footprint(whole: Changed) -> FootprintCheckpoint:
    """Nothing but these rows may differ, and in them nothing but these columns."""
    allowed: dict[str, Allowance] = {}
    for change in whole.changes:
        columns = tuple(sorted(change.after)) if change.operation == "update" else None
        where = is_there(change, whole)
        name = f"{change.table} {change.operation} {columns} {where}"
        rows = (allowed[name].rows or 0) if name in allowed else 0
        allowed[name] = Allowance(
            table=change.table, operation=change.operation, columns=columns, where=where, rows=rows + 1
        )
    return FootprintCheckpoint(
        id="nothing_else",
        role="guard",
        question="Has nothing else changed?",
        kind="footprint",
        allow=tuple(allowed.values()),
    )


def _is(name: str, value: Any) -> str:
    return f"{quoted(name)} IS {literal(value)}"


def _holds(name: str, value: Any, whole: Changed, depth: int) -> str:
    column = quoted(name)
    if not isinstance(value, str):
        return _is(name, value)
    if value in whole.left_open:
        return f"trim({column}) <> ''"
    if whole.is_of_the_run(value):
        return f"date({column}) = {literal(value[:10])}"
    parent = whole.made_in(value)
    if parent is not None and depth < DEEPEST:
        [key] = parent.key
        return (
            f"{column} IN (SELECT {quoted(key)} FROM {quoted(parent.table)} WHERE {is_there(parent, whole, depth + 1)})"
        )
    if MADE_ID.search(value) and any(one in value for one in made_up(whole.changes)):
        return f"{column} IS NOT NULL"
    return _is(name, value)
