"""An object's attributes as rows: a table per container, keyed rows as JSON, and one table, `attributes`, for the rest.

Each row says its place, so that dicts and lists come back in their order. Only rows that differ are written.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from servers.imported.finding import Finder
from servers.imported.keeping import Keeper
from servers.imported.marks import MARK, Classes, is_list, text_of
from servers.toolkit import Database, Value

MARKED = f'{{"{MARK}"'
ATTRIBUTES = "attributes"
BoundStatement = tuple[str, dict[str, Value]]
NONE_LIVE: Mapping[str, Any] = MappingProxyType({})


class Attribute(NamedTuple):
    """One attribute: as a `value`, or as a `dict` or a `list` that has a table."""

    place: int
    kept: str
    value: str | None


class EntryRow(NamedTuple):
    """One entry of a container."""

    place: int
    value: str


@dataclass
class Kept:
    """All rows of one object. `containers` are the attributes that have a table, and its name, in their order."""

    containers: dict[str, str] = field(default_factory=dict[str, str])
    attributes: dict[str, Attribute] = field(default_factory=dict[str, Attribute])
    tables: dict[str, dict[str, EntryRow]] = field(default_factory=dict[str, dict[str, EntryRow]])


def read(db: Database) -> Kept:
    """The rows as the database holds them."""
    containers = db.all("SELECT attribute, name FROM containers ORDER BY place")
    kept = Kept({row["attribute"]: row["name"] for row in containers})
    for row in db.all(f"SELECT name, place, kept, value FROM {ATTRIBUTES} ORDER BY place"):
        kept.attributes[row["name"]] = Attribute(row["place"], row["kept"], row["value"])
    for table in kept.containers.values():
        found = db.all(f'SELECT key, place, value FROM "{table}" ORDER BY place, key')
        kept.tables[table] = {row["key"]: EntryRow(row["place"], row["value"]) for row in found}
    return kept


def is_marked(kept: Kept) -> bool:
    """True if some value is more than JSON."""
    texts = [attribute.value or "" for attribute in kept.attributes.values()]
    texts += [text for rows in kept.tables.values() for key, row in rows.items() for text in (key, row.value)]
    return any(MARK in text for text in texts)


def attributes_of(kept: Kept, classes: Classes, live: Mapping[str, Any] = NONE_LIVE) -> dict[str, Any]:
    """What the rows say, as attributes in their order. Those that are `live` are there already, and are not read."""
    finder = Finder(classes)
    found: dict[str, Any] = {}
    for name in _in_order(kept.attributes, kept.containers):
        attribute = kept.attributes[name]
        if name in live:
            found[name] = finder.remember(live[name], (name,))
        elif attribute.kept == "value":
            found[name] = finder.find(json.loads(attribute.value or "null"), (name,))
        else:
            rows = kept.tables[kept.containers[name]]
            found[name] = finder.find([] if attribute.kept == "list" else {}, (name,))
            for key, value in _entries(rows, finder, name, is_list=attribute.kept == "list"):
                if attribute.kept == "list":
                    found[name].append(value)
                else:
                    found[name][key] = value
    return {name: found[name] for name in kept.attributes}


def _entries(rows: dict[str, EntryRow], finder: Finder, name: str, *, is_list: bool) -> Iterator[tuple[Any, Any]]:
    for number, (text, row) in enumerate(rows.items()):
        key = number if is_list else (json.loads(text) if text.startswith(MARKED) else text)
        yield (key if is_list else finder.key(key)), finder.find(json.loads(row.value), (name, key))


def kept_of(attributes: Mapping[str, Any], classes: Classes, before: Kept, live: Mapping[str, Any] = NONE_LIVE) -> Kept:
    """Attributes as rows; those that were there before keep their places where they can. `live` ones give no rows.

    Raises:
        NotKept: one holds what no row can hold.
    """
    keeper = Keeper(classes)
    containers = before.containers
    kept = Kept(containers, tables={table: {} for name, table in containers.items() if name not in live})
    made: dict[str, tuple[str, str | None]] = {}
    held: set[int] = set()
    for name in _in_order(attributes, containers):
        value = attributes[name]
        if name in containers and type(value) in (dict, list) and id(value) not in held:
            held.add(id(value))
            made[name] = (type(value).__name__, None)
            if name in live:
                keeper.own(value, (name,))
                continue
            entries = _kept_entries(value, name, keeper)
            kept.tables[containers[name]] = _placed(entries, before.tables.get(containers[name], {}))
        else:
            made[name] = ("value", text_of(keeper.keep(value, (name,))))
    places = places_of(list(attributes), {name: old.place for name, old in before.attributes.items()})
    kept.attributes = {name: Attribute(places[name], *made[name]) for name in attributes}
    return kept


def _in_order(names: Iterable[str], containers: Mapping[str, str]) -> list[str]:
    """Containers first: what another attribute shares with them is theirs."""
    there = list(names)
    return [*(name for name in containers if name in there), *(name for name in there if name not in containers)]


def _kept_entries(value: Any, name: str, keeper: Keeper) -> dict[str, str]:
    keeper.own(value, (name,))
    if is_list(value):
        return {str(number): text_of(keeper.keep(part, (name, number))) for number, part in enumerate(value)}
    entries: dict[str, str] = {}
    for key, part in value.items():
        told = keeper.key(key)
        if isinstance(told, str) and told.startswith(MARKED):
            told = {MARK: "key", "value": told}
        entries[told if isinstance(told, str) else text_of(told)] = text_of(keeper.keep(part, (name, told)))
    return entries


def _placed(entries: dict[str, str], before: dict[str, EntryRow]) -> dict[str, EntryRow]:
    places = places_of(list(entries), {key: row.place for key, row in before.items()})
    return {key: EntryRow(places[key], value) for key, value in entries.items()}


def places_of(keys: list[str], before: dict[str, int]) -> dict[str, int]:
    """A place for each key, rising; a key keeps the one that it had unless its neighbours have changed."""
    places: dict[str, int] = {}
    last, most = 0, max(before.values(), default=0)
    for key in keys:
        old = before.get(key, 0)
        if old <= last:
            old = most = most + 1
        places[key] = last = old
    return places


def changes(before: Kept, after: Kept, of_live: Mapping[str, list[BoundStatement]] = NONE_LIVE) -> list[BoundStatement]:
    """The statements that turn one into the other. `of_live` are those of the tables that `after` leaves out."""
    found = list(row_changes(ATTRIBUTES, "name", before.attributes, after.attributes))
    for table in before.containers.values():
        if table in of_live:
            found += of_live[table]
        else:
            found += row_changes(table, "key", before.tables.get(table, {}), after.tables[table])
    return found


def row_changes(
    table: str, key: str, before: Mapping[str, Attribute | EntryRow], after: Mapping[str, Attribute | EntryRow]
) -> Iterator[BoundStatement]:
    for name in before:
        if name not in after:
            yield f'DELETE FROM "{table}" WHERE {key} = :key', {"key": name}
    for name, row in after.items():
        if name not in before:
            columns = ", ".join(row._fields)
            holes = ", ".join(f":{column}" for column in row._fields)
            yield f'INSERT INTO "{table}" ({key}, {columns}) VALUES (:key, {holes})', {"key": name, **row._asdict()}
        elif before[name] != row:
            sets = ", ".join(f"{column} = :{column}" for column in row._fields)
            yield f'UPDATE "{table}" SET {sets} WHERE {key} = :key', {"key": name, **row._asdict()}
