"""Statistics of past calls: which features of the chosen values went with success, and which with refusals."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

from synth.play.row_view import SchemaShape, SqlColumn, View

FEW = 12
"""A column of so few different values, at most, says what kind of row it is."""
PARTICULAR = re.compile(r"['\"].*?['\"]|\S*[\d_@]\S*|\b[A-Z]\w*")
"""What differs between refusals of the same kind: quoted, numbers, ids, names."""
MOST_FOR_A_REFUSAL = 0.5
CAUTION = 2
"""So many calls of the ordinary kind are assumed of every feature before it is seen."""
Features = dict[str, Any]
Progress = Callable[[str, str], float]
"""Of a tool and the text of a refusal: how far the tool had got, from 0 to 1."""


class Experience:
    """What went with each feature, per tool and argument: how much success in how many calls.

    A refusal counts for some of a success: for more, the further the tool had got compared with its refusals before.
    Who cannot tell how far goes by how rare the words of the refusal are.
    """

    def __init__(self, progress: Progress | None = None) -> None:
        self._progress = progress
        self._counts: defaultdict[tuple[str, str, str, Any], list[float]] = defaultdict(lambda: [0.0, 0.0])
        self._overall: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        self._refusals: defaultdict[str, Counter[str | float]] = defaultdict(Counter)

    def worth(self, tool: str, kind: str, text: str) -> float:
        """How much of a success a call was, from 0 to 1."""
        worth = 1.0 if kind == "ok" else MOST_FOR_A_REFUSAL * self._rank(tool, text)
        self._overall[tool][0] += worth
        self._overall[tool][1] += 1
        return worth

    def _rank(self, tool: str, text: str) -> float:
        """Which share of the refusals so far was less of a success."""
        refusals = self._refusals[tool]
        if self._progress is None:
            words = PARTICULAR.sub("", text)
            refusals[words] += 1
            return 1 - refusals[words] / refusals.total()
        reached = self._progress(tool, text)
        refusals[reached] += 1
        return sum(times for other, times in refusals.items() if other < reached) / refusals.total()  # pyright: ignore

    def note(self, tool: str, argument: str, features: Features, worth: float) -> None:
        """Count one call."""
        for name, value in features.items():
            counted = self._counts[tool, argument, name, value]
            counted[0] += worth
            counted[1] += 1

    def chance(self, tool: str, argument: str, features: Features) -> float:
        """How likely a value with such features is to be taken: 0 for an ordinary one, less or more for others."""
        got, calls = self._overall[tool]
        ordinary = (got + 0.1) / (calls + 1)
        found = 0.0
        for name, value in features.items():
            counted = self._counts.get((tool, argument, name, value))
            if counted is not None:
                found += math.log((counted[0] + CAUTION * ordinary) / (counted[1] + CAUTION) / ordinary)
        return found


def features_of(view: View, shape: SchemaShape, key: SqlColumn, argument: str, value: Any, today: str) -> Features:
    """What kind of row a key names: its columns of few values, which are empty, and which dates are over."""
    known = view.kinds.get((key, argument, value))
    if known is None:
        known = view.kinds[key, argument, value] = _features(view, shape, key, argument, value, today)
    return known


def _features(view: View, shape: SchemaShape, key: SqlColumn, argument: str, value: Any, today: str) -> Features:
    found: Features = {}
    places = [key]
    places += [
        SqlColumn(table, name)
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
            column = SqlColumn(place.table, name)
            if column == place or column in shape.points:
                found[f"{place.table}.{name}?"] = cell is None
            elif isinstance(cell, str) and cell[:4].isdigit() and cell[4:5] == "-":
                found[f"{place.table}.{name}<"] = (cell[:10] > today) - (cell[:10] < today)
            elif cell is None or is_kind(view, column):
                found[f"{place.table}.{name}"] = cell
    return found


def is_kind(view: View, column: SqlColumn) -> bool:
    """Whether a column's values are few, so that each says something of many rows."""
    return len(view.values(column)) <= FEW
