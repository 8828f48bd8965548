"""Final states with one wrong row, judged directly on the images, without calls.

The database's constraints hold in them. Its triggers do not run.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import apsw

from servers.guest.sqlite.sql_text import quoted
from servers.state.readonly_query import Reader
from servers.state.rows import RowChange
from synth.certify.agents.run_mutants import Tried
from synth.solutions.normalized_diff import made_up
from synth.solutions.plausible_values import moved, near_misses
from synth.solutions.reference_run import ReferenceRun
from synth.solutions.told_values import ArgumentPlace, plain

SMALLEST = 10
"""A smaller number may be in a row by chance, so it does not show that the task told it."""
MOST = 60
"""The most final states for one scenario, sampled by its id."""


@dataclass(frozen=True)
class Damage:
    """One statement that makes a final state wrong."""

    what: str
    sql: str
    values: tuple[Any, ...]
    place: ArgumentPlace | None = None
    """The told argument from which the wrong value comes."""


async def damaged(reference: ReferenceRun) -> list[Tried]:
    """Judge wrong final states. One that the database refuses, or that changes nothing, is left out."""
    draw = random.Random(reference.scenario.id)  # noqa: S311 - a choice that can be repeated, no secret
    must_be_tried = [*_of_changed_rows(reference), *_of_other_rows(reference, draw)]
    of_the_task = [damage for damage in must_be_tried if damage.place]
    others = [damage for damage in must_be_tried if not damage.place]
    must_be_tried = [*of_the_task, *(draw.sample(others, MOST) if len(others) > MOST else others)]
    tried: list[Tried] = []
    for damage in must_be_tried:
        with reference.states.at_end() as reader:
            if not _done(reader, damage):
                continue
            held_by = await reference.failing(reader)
            differs = damage.what.split(":")[0]
            tried.append(Tried(damage.what, True, held_by is not None, differs, damage.place, held_by or ""))
    return tried


def _done(reader: Reader, damage: Damage) -> bool:
    connection = reader.connection
    try:
        before = connection.total_changes()
        connection.execute(damage.sql, damage.values).fetchall()
        return connection.total_changes() > before
    except apsw.Error:
        return False


def _of_changed_rows(reference: ReferenceRun) -> Iterator[Damage]:
    """Rows that should have changed: left unchanged, or changed otherwise."""
    ids = made_up(reference.changes)
    for change in reference.changes:
        table, key = change.table, _key(change.key)
        name = f"{table} {', '.join(str(value) for value in change.key.values())}"
        where, values = key
        if change.operation == "insert":
            yield Damage(f"{name}: not there", f"DELETE FROM main.{quoted(table)} WHERE {where}", values)
        elif change.operation == "delete":
            yield _inserted(f"{name}: still there", table, change.before)
        else:
            columns = ", ".join(f"{quoted(column)} = ?" for column in change.before)
            yield Damage(
                f"{name}: as it was",
                f"UPDATE main.{quoted(table)} SET {columns} WHERE {where}",
                (*change.before.values(), *values),
            )
        if change.operation != "delete":
            yield from _otherwise(reference, change, name, ids)


def _otherwise(reference: ReferenceRun, change: RowChange, name: str, ids: set[str]) -> Iterator[Damage]:
    where, values = _key(change.key)
    for column, value in change.after.items():
        place = _stems_from(reference, value)
        is_now = reference.window.is_now(value) and (place is None or value in reference.of_the_clock)
        if column in change.key or value is None or is_now or value in ids:
            continue
        if value in reference.left_open or _composed(reference, value):
            continue
        for other in _others(reference, change.table, column, value)[: 1 if place is None else 2]:
            yield Damage(
                f"{name}: {column} {other!r} for {value!r}",
                f"UPDATE main.{quoted(change.table)} SET {quoted(column)} = ? WHERE {where}",
                (other, *values),
                place,
            )


def _stems_from(reference: ReferenceRun, value: Any) -> ArgumentPlace | None:
    """The told argument that is the source of a row's value. A small number may be there by chance."""
    if not isinstance(value, str) and (not isinstance(value, int) or abs(value) < SMALLEST):
        return None
    told = (one for one in reference.told if not one.is_row)
    return next((one.place for one in told if has_value(value, one.value)), None)


def has_value(there: Any, value: Any) -> bool:
    """True if a column has a given value, in any spelling."""
    if isinstance(there, str) and isinstance(value, str):
        return plain(there) == plain(value) != ""
    return there == value and there is not None


def _of_other_rows(reference: ReferenceRun, draw: random.Random) -> Iterator[Damage]:
    """Rows that should not have changed: changed, deleted, or duplicated."""
    touched = {(change.table, tuple(change.key.values())) for change in reference.changes}
    tables = sorted({change.table for change in reference.changes})
    others = sorted(table for table in reference.rows.rows if table not in tables and reference.rows.rows[table])
    for table in [*tables, *draw.sample(others, min(3, len(others)))]:
        keys = reference.rows.keys[table]
        rows = [row for row in reference.rows.rows[table] if (table, tuple(row[key] for key in keys)) not in touched]
        for row in draw.sample(rows, min(2, len(rows))):
            where, values = _key({key: row[key] for key in keys})
            name = f"{table} {', '.join(str(row[key]) for key in keys)}"
            yield from _spoilt(reference, table, row, name, draw)
            yield Damage(f"{name}: deleted", f"DELETE FROM main.{quoted(table)} WHERE {where}", values)
        for row in draw.sample(rows, min(1, len(rows))):
            yield _inserted(f"{table}: one row too many", table, _copied(reference, table, row))


def _spoilt(
    reference: ReferenceRun, table: str, row: dict[str, Any], name: str, draw: random.Random
) -> Iterator[Damage]:
    keys = reference.rows.keys[table]
    where, values = _key({key: row[key] for key in keys})
    columns = [column for column, value in row.items() if column not in keys and value is not None]
    for column in draw.sample(columns, len(columns)):
        for other in _others(reference, table, column, row[column])[:1]:
            yield Damage(
                f"{name}: {column} {other!r} for {row[column]!r}, which nobody asked for",
                f"UPDATE main.{quoted(table)} SET {quoted(column)} = ? WHERE {where}",
                (other, *values),
            )
            return


def _inserted(what: str, table: str, row: dict[str, Any]) -> Damage:
    columns = ", ".join(map(quoted, row))
    places = ", ".join("?" * len(row))
    return Damage(what, f"INSERT INTO main.{quoted(table)} ({columns}) VALUES ({places})", tuple(row.values()))


def _copied(reference: ReferenceRun, table: str, row: dict[str, Any]) -> dict[str, Any]:
    """A copy of a row under a new key."""
    copy = dict(row)
    for key in reference.rows.keys[table]:
        if isinstance(copy[key], str):
            copy[key] += "_again"
        elif isinstance(copy[key], int):
            copy[key] = max(other[key] for other in reference.rows.rows[table]) + 1000
    return copy


def _others(reference: ReferenceRun, table: str, column: str, value: Any) -> list[Any]:
    if isinstance(value, str):
        if value in reference.of_the_clock:
            return [other for other in moved(value) if other[:10] != value[:10]]
        neighbours = reference.rows.others(table, column, value)
        return neighbours if value in reference.rows.tables_of else near_misses(value, neighbours)
    if isinstance(value, int) and value in (0, 1):
        flags = {row[column] for row in reference.rows.rows[table]} <= {0, 1, None}
        return [1 - value] if flags else [value + 1]
    return near_misses(value) if isinstance(value, int | float) else []


def _composed(reference: ReferenceRun, value: Any) -> bool:
    """True if a tool composed a text, so that no agent can change it."""
    if not isinstance(value, str) or value.count(" ") < 2:
        return False
    given = {plain(str(argument)) for one in reference.made for argument in one.arguments.values()}
    return plain(value) not in given


def _key(key: dict[str, Any]) -> tuple[str, tuple[Any, ...]]:
    return " AND ".join(f"{quoted(name)} IS ?" for name in key), tuple(key.values())
