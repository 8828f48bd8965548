"""The rows of a moment and how they belong together: whose they are, and what hangs on what."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from synth.play.row_view import (
    SchemaShape,
    SqlColumn,
    View,
    ViewRow,
)

RowPlace = tuple[str, Any]
"""One row: its table and its key."""
LABELS = ("name", "full_name", "title", "label", "subject", "number", "code", "email", "description", "note")


@dataclass(frozen=True)
class RowRelations:
    """The rows of a moment."""

    shape: SchemaShape
    view: View

    @cached_property
    def rows(self) -> dict[RowPlace, ViewRow]:
        """Every row of a table with a key of one column."""
        return {
            (table, row[key.name]): row
            for table, key in self.shape.keys.items()
            for row in self.view.rows.get(table, ())
        }

    @cached_property
    def _points(self) -> dict[str, list[tuple[str, SqlColumn]]]:
        found: dict[str, list[tuple[str, SqlColumn]]] = {}
        for column, aim in self.shape.points.items():
            found.setdefault(column.table, []).append((column.name, aim))
        return found

    @cached_property
    def _pointed(self) -> dict[RowPlace, list[RowPlace]]:
        found: dict[RowPlace, list[RowPlace]] = {}
        for place in self.rows:
            for parent in self.parents(place):
                found.setdefault(parent, []).append(place)
        return found

    def places(self, table: str) -> list[RowPlace]:
        """The rows of a table."""
        key = self.shape.keys.get(table)
        return [] if key is None else [(table, row[key.name]) for row in self.view.rows.get(table, ())]

    def parents(self, place: RowPlace) -> list[RowPlace]:
        """The rows that a row points to."""
        row = self.rows.get(place, {})
        found: list[RowPlace] = []
        for name, aim in self._points.get(place[0], ()):
            if row.get(name) is not None and (aim.table, row[name]) in self.rows and (aim.table, row[name]) != place:
                found.append((aim.table, row[name]))
        return found

    def children(self, place: RowPlace) -> list[RowPlace]:
        """The rows that point to a row."""
        return self._pointed.get(place, [])

    def ancestors(self, place: RowPlace, depth: int = 3) -> set[RowPlace]:
        """The rows that a row points to, and those that these point to."""
        found: set[RowPlace] = set()
        level = {place}
        for _ in range(depth):
            level = {parent for one in level for parent in self.parents(one)} - found
            found |= level
        return found

    def own(self, person: RowPlace) -> set[RowPlace]:
        """What belongs to a person: the rows that point to them, directly or by one that does."""
        direct = {child for child in self.children(person) if child[0] != person[0]}
        return direct | {child for one in direct for child in self.children(one)}

    def around(self, person: RowPlace) -> set[RowPlace]:
        """What a person has to do with: what belongs to them, and what that is about."""
        own = self.own(person)
        return own | {parent for one in own for parent in self.parents(one)} - {person}

    def texts(self, place: RowPlace) -> list[str]:
        """The words by which a row may be looked for: its labels, and those of what it points to."""
        found: list[str] = []
        for one in (place, *self.parents(place)):
            row = self.rows.get(one, {})
            found += [row[name] for name in LABELS if isinstance(row.get(name), str)]
        return list(dict.fromkeys(found))


def label_of(item: ViewRow) -> str | None:
    """The property by which people would call a thing: its own name, or that of what it belongs to."""
    given = [name for name, value in item.items() if value not in (None, "")]
    own = [name for name in LABELS if name in given]
    others = [name for name in given if name.endswith(("_name", "_title"))]
    return next(iter([*own, *others]), None)
