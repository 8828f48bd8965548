"""Tables of an instance as pages show them: some rows of one, with changed cells marked and references as links."""

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from registry.workers.instance_door import InstanceDoor
from servers.doors.operations import DIFF, QUERY, TABLE, TABLES, InstanceOrder, QueryOrder, TableOrder
from servers.errors import QueryError
from servers.guest.sqlite.sql_text import quoted, sql_literal
from servers.messages import Page, QueryRows, StartTable, TableRows
from servers.state.rows import RowChange

ROWS_SHOWN = 25
FURTHER_SHOWN = 10
"""Changed rows beyond those, which are shown first."""
KEYS_SHOWN = 300
"""Keys that are offered for an argument."""
LABELS = ("name", "title", "label", "subject", "description", "email", "code")
"""Columns that tell a person which row it is."""
CHANGES = TypeAdapter(tuple[RowChange, ...])


class ShownCell(NamedTuple):
    """A value. `was` is its value at the start, if it has changed. `to` is the table that it refers to."""

    value: Any
    changed: bool
    was: str
    to: str


class ShownRow(NamedTuple):
    """A row. `state` is one of: same, fresh, changed."""

    cells: list[ShownCell]
    state: str


class TableView(NamedTuple):
    """One table of a state, and the names of all."""

    name: str
    names: dict[str, int]
    """All tables, with their numbers of rows."""
    changed: Mapping[str, int]
    """The number of changed rows by table."""
    columns: list[tuple[str, bool, str]]
    """Name, whether it is of the key, and what it refers to."""
    rows: list[ShownRow]
    gone: list[RowChange]
    total: int
    offset: int
    step: int
    trouble: str
    own: Sequence[RowChange]
    further: int = 0
    """The number of rows, of the first, that stand further on in the table and are shown since they have changed."""

    def of(self, found: QueryRows, total: int) -> "TableView":
        """The same table with other rows, which a query found."""
        rows = _rows(found.columns, found.rows, self.columns, self.own)
        return self._replace(rows=rows, gone=[], total=total)


async def table_view(
    door: InstanceDoor,
    instance: str,
    starts: Sequence[StartTable],
    *,
    wanted: str,
    offset: int = 0,
    most: int = ROWS_SHOWN,
) -> TableView:
    """A page of one table, by default of one with changes, else of the largest."""
    tables = await door.ask(TABLES, InstanceOrder(instance=instance))
    names = {table.name: table.total for table in tables}
    changes, trouble = await changes_of(door, instance)
    changed = Counter(change.table for change in changes)
    if not names:
        return TableView("", {}, {}, [], [], [], 0, 0, most, trouble, ())
    likely = max(names, key=lambda name: (changed[name], names[name]))
    name = wanted if wanted in names else likely
    found = await door.ask(TABLE, TableOrder(instance=instance, name=name, page=Page(offset=offset, limit=most)))
    if found.total and offset >= found.total:  # it is beyond the last page
        offset = (found.total - 1) // most * most
        found = await door.ask(TABLE, TableOrder(instance=instance, name=name, page=Page(offset=offset, limit=most)))
    start = next((one for one in starts if one.name == name), None)
    own = [change for change in changes if change.table == name]
    view = _view(found, start, own, names=names, changed=changed, offset=offset, most=most, trouble=trouble)
    return view if offset or found.total <= most else await _with_further(door, instance, view, found)


async def _with_further(door: InstanceDoor, instance: str, view: TableView, found: TableRows) -> TableView:
    """The first page of a table, with changed rows of other pages before its own."""
    keys = _keys(view.columns, view.own)
    if not set(keys) <= set(found.columns):
        return view
    places = [found.columns.index(name) for name in keys]
    here = {_key(row[place] for place in places) for row in found.rows}
    missing = [one for one in view.own if one.operation != "delete" and _key(one.key.values()) not in here]
    if not missing:
        return view
    alike = (
        " AND ".join(f"{quoted(name)} IS {sql_literal(value)}" for name, value in one.key.items()) for one in missing
    )
    where = " OR ".join(f"({one})" for _, one in zip(range(FURTHER_SHOWN), alike, strict=False))
    columns = ", ".join(quoted(name) for name in found.columns)
    sql = f"SELECT {columns} FROM main.{quoted(view.name)} WHERE {where} ORDER BY {', '.join(map(quoted, keys))}"
    try:
        told = await door.ask(QUERY, QueryOrder(instance=instance, sql=sql, limit=FURTHER_SHOWN))
    except QueryError:
        return view
    rows = _rows(told.columns, told.rows, view.columns, view.own)
    return view._replace(rows=[*rows, *view.rows], further=len(rows))


async def keys_of(door: InstanceDoor, instance: str, table: str) -> list[tuple[str, str]]:
    """The first keys of a table, each with what tells a person which row it is."""
    found = await door.ask(TABLE, TableOrder(instance=instance, name=table, page=Page(limit=KEYS_SHOWN)))
    return [(str(row[0]), _label(dict(zip(found.columns, row, strict=False)))) for row in found.rows if row]


async def changes_of(door: InstanceDoor, instance: str) -> tuple[Sequence[RowChange], str]:
    """The rows that differ from the start, or none and why."""
    try:
        told = await door.ask(DIFF, InstanceOrder(instance=instance))
    except QueryError as error:
        return (), str(error)
    return await asyncio.to_thread(CHANGES.validate_json, told), ""


def _view(
    found: TableRows,
    start: StartTable | None,
    own: Sequence[RowChange],
    *,
    names: dict[str, int],
    changed: Mapping[str, int],
    offset: int,
    most: int,
    trouble: str,
) -> TableView:
    described = {column.name: column for column in start.columns} if start else {}
    columns = [
        (
            name,
            name in described and described[name].key,
            (described[name].references or "") if name in described else "",
        )
        for name in found.columns
    ]
    rows = _rows(found.columns, found.rows, columns, own)
    gone = [change for change in own if change.operation == "delete"]
    return TableView(found.name, names, changed, columns, rows, gone, found.total, offset, most, trouble, own)


def _rows(
    names: Sequence[str],
    rows: Sequence[Sequence[Any]],
    columns: Sequence[tuple[str, bool, str]],
    own: Sequence[RowChange],
) -> list[ShownRow]:
    keys = _keys(columns, own)
    by_key = {_key(change.key.values()): change for change in own}
    return [_row(dict(zip(names, row, strict=False)), columns, keys, by_key) for row in rows]


def _keys(columns: Sequence[tuple[str, bool, str]], own: Sequence[RowChange]) -> list[str]:
    """The columns of a table's key, as its schema or a changed row tells them."""
    return [name for name, is_key, _ in columns if is_key] or list(own[0].key if own else ())


def _row(
    row: dict[str, Any], columns: Sequence[tuple[str, bool, str]], keys: Sequence[str], changes: Mapping[str, RowChange]
) -> ShownRow:
    change = changes.get(_key(row.get(name) for name in keys)) if keys else None
    is_fresh = change is not None and change.operation == "insert"
    cells: list[ShownCell] = []
    for name, _, reference in columns:
        differs = change is not None and change.operation == "update" and name in change.after
        was = json.dumps(change.before.get(name), ensure_ascii=False) if change is not None and differs else ""
        to = reference.rpartition(".")[0] if row.get(name) is not None else ""
        cells.append(ShownCell(row.get(name), differs, was, to))
    return ShownRow(cells, "fresh" if is_fresh else "changed" if change else "same")


def _label(row: Mapping[str, Any]) -> str:
    return next((str(row[name]) for name in LABELS if row.get(name)), "")


def _key(values: Any) -> str:
    return json.dumps(list(values), default=str)
