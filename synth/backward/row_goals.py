"""Checkpoints from the changes of a reference run: relations over rows, never generated ids and times."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from servers.guest.sqlite.plain_text import PLAIN_TEXT
from servers.guest.sqlite.sql_text import quoted, sql_literal
from servers.scenario.checkpoints.footprint import Allowance, FootprintCheckpoint
from servers.scenario.checkpoints.sql import SqlCheckpoint
from servers.state.readonly_query import Reader
from servers.state.rows import RowChange
from servers.text.json_leaves import texts_in
from synth.solutions.call_run import PlayedCall
from synth.solutions.normalized_diff import MADE_ID, MOMENT, made_up
from synth.solutions.told_values import ArgumentPlace, plain

DEEPEST = 3
TO_THE_MINUTE = "strftime('%Y-%m-%d %H:%M', {})"


@dataclass(frozen=True)
class Changed:
    """The changes of a whole run, with the context to describe them."""

    changes: Sequence[RowChange]
    of_the_clock: frozenset[str] = frozenset()
    """Times that differ if the same calls are made later."""
    left_open: frozenset[str] = frozenset()
    """Texts of its commands that the task leaves open."""
    prose: frozenset[str] = frozenset()
    """Texts of several words in the task, as plain text."""
    choices: Mapping[Any, tuple[Any, ...]] = field(default_factory=dict[Any, tuple[Any, ...]])
    """For a value that the task leaves open within bounds, all that are right."""

    def is_prose(self, value: str) -> bool:
        """True if a value is, or consists of, words of the task."""
        words = f" {plain(value)} "
        return " " in value.strip() and any(f" {one} " in words for one in self.prose)

    def made_in(self, value: Any) -> RowChange | None:
        """The added row that has a value as its key."""
        return next(
            (one for one in self.changes if one.operation == "insert" and list(one.key.values()) == [value]), None
        )


def changed(
    changes: Sequence[RowChange],
    made: Sequence[PlayedCall],
    left_open: Collection[ArgumentPlace],
    of_the_clock: frozenset[str],
) -> Changed:
    """The changes of a run. Arguments of several words are prose, except those that are left open."""
    given = {
        (ArgumentPlace(one.step.number, name) in left_open, text)
        for one in made
        for name, value in one.arguments.items()
        for text in texts_in(value)
    }
    prose = {text for is_open, text in given if not is_open}
    return Changed(
        changes,
        of_the_clock,
        left_open=frozenset(text for is_open, text in given if is_open and text not in prose),
        prose=frozenset(plain(text) for text in prose if " " in text.strip()),
    )


def is_there(change: RowChange, whole: Changed, depth: int = 0) -> str:
    """An SQL condition for an added or changed row."""
    if change.operation == "delete":
        return " AND ".join(f"{quoted(name)} IS {sql_literal(value)}" for name, value in change.key.items())
    parts: list[str] = []
    if change.operation == "update":
        parts += [_is(name, value) for name, value in change.key.items()]
    ids = made_up(whole.changes)
    for name, value in change.after.items():
        if name in change.key and (isinstance(value, int) or (value in ids and len(change.key) == 1)):
            continue
        if name in change.key and change.operation == "update":
            continue
        parts.append(_holds(name, value, whole, depth))
    return " AND ".join(parts) or "1"


def goal(name: str, question: str, changes: Sequence[RowChange], whole: Changed) -> SqlCheckpoint:
    """One goal over the rows that a command changed, in their final form."""
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


def goals_of_rows(questions: Mapping[int, str], made: Sequence[PlayedCall], whole: Changed) -> list[SqlCheckpoint]:
    """One goal for each command, by its number in the solution, over the rows that it changed last."""
    last = {(change.table, str(change.key)): one.step.number for one in made for change in one.changes}
    goals: list[SqlCheckpoint] = []
    for at, (number, question) in enumerate(questions.items(), start=1):
        rows = [one for one in whole.changes if last.get((one.table, str(one.key))) == number]
        if rows:
            goals.append(goal(f"done_{at}", question, rows, whole))
    return goals


def counted(goals: Sequence[SqlCheckpoint], reader: Reader) -> list[SqlCheckpoint]:
    """Goals with counts, so that earlier rows of the same content count too."""
    return [goal.model_copy(update={"expect": [list(row) for row in reader.select(goal.sql).rows]}) for goal in goals]


def footprint(whole: Changed) -> FootprintCheckpoint:
    """A footprint: only these rows may differ, and only in these columns."""
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
    return f"{quoted(name)} IS {sql_literal(value)}"


def _holds(name: str, value: Any, whole: Changed, depth: int) -> str:
    column = quoted(name)
    if value in whole.choices:
        return f"{column} IN ({', '.join(sql_literal(one) for one in whole.choices[value])})"
    if not isinstance(value, str):
        return _is(name, value)
    if value in whole.left_open or value in whole.of_the_clock:
        return f"trim({column}) <> ''" if value in whole.left_open else f"date({column}) = {sql_literal(value[:10])}"
    parent = whole.made_in(value)
    if parent is not None and depth < DEEPEST:
        [key] = parent.key
        table, made = quoted(parent.table), is_there(parent, whole, depth + 1)
        fresh = f"{quoted(key)} NOT IN (SELECT {quoted(key)} FROM start.{table})"
        return f"{column} IN (SELECT {quoted(key)} FROM {table} WHERE {fresh} AND {made})"
    if MADE_ID.search(value) and any(one in value for one in made_up(whole.changes)):
        return f"{column} IS NOT NULL"
    return _is_text(name, value, whole)


def _is_text(name: str, value: str, whole: Changed) -> str:
    """A literal text, a time to the minute, or words of the task in any spelling."""
    if MOMENT.fullmatch(value):
        return f"{TO_THE_MINUTE.format(quoted(name))} = {sql_literal(value[:16])}"
    if whole.is_prose(value):
        return f"{PLAIN_TEXT}({quoted(name)}) = {sql_literal(plain(value))}"
    return _is(name, value)
