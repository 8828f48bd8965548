"""What has worked so far: which features of the chosen values went with success, and which with refusals."""

from collections import defaultdict
from typing import Any

from synth.proving.view import Column, Shape, View

FEW = 12
"""A column of so few different values, at most, says what kind of row it is."""
Features = dict[str, Any]


class Experience:
    """Counts, per tool and argument, how often each feature went with success and with refusal."""

    def __init__(self) -> None:
        self._counts: defaultdict[tuple[str, str, str, Any], list[int]] = defaultdict(lambda: [0, 0])

    def note(self, tool: str, argument: str, features: Features, *, succeeded: bool) -> None:
        """Count one call."""
        for name, value in features.items():
            self._counts[tool, argument, name, value][0 if succeeded else 1] += 1

    def chance(self, tool: str, argument: str, features: Features) -> float:
        """How likely a value with such features is to be taken: as its worst feature says."""
        worst = 1.0
        for name, value in features.items():
            counted = self._counts.get((tool, argument, name, value))
            if counted is not None:
                worst = min(worst, (counted[0] + 1) / (counted[0] + counted[1] + 1))
        return worst


def features_of(view: View, shape: Shape, key: Column, argument: str, value: Any, today: str) -> Features:
    """What kind of row a key names: its columns of few values, which are empty, and which dates are over."""
    found: Features = {}
    places = [key]
    places += [
        Column(table, name)
        for table in shape.views
        if view.rows.get(table)
        for name in (argument, key.name)
        if name in view.rows[table][0] and name != "id"
    ]
    for place in places:
        rows = view.where(place, value)
        if len(rows) != 1:
            found[f"{place.table}#"] = min(len(rows), 3)
            continue
        for name, cell in rows[0].items():
            column = Column(place.table, name)
            if column == place or column in shape.points:
                found[f"{place.table}.{name}?"] = cell is None
            elif isinstance(cell, str) and cell[:4].isdigit() and cell[4:5] == "-":
                found[f"{place.table}.{name}<"] = (cell[:10] > today) - (cell[:10] < today)
            elif cell is None or is_kind(view, column):
                found[f"{place.table}.{name}"] = cell
    return found


def is_kind(view: View, column: Column) -> bool:
    """Whether a column's values are few, so that each says something of many rows."""
    return len(view.values(column)) <= FEW
