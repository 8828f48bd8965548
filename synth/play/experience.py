"""Statistics of past calls: the features of values that succeeded, and of those that were refused."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

from synth.play.row_view import SchemaShape, SqlColumn, View

FEW = 12
"""The most different values of a column that counts as a kind."""
PARTICULAR = re.compile(r"['\"].*?['\"]|\S*[\d_@]\S*|\b[A-Z]\w*")
"""The particulars of a refusal: quoted text, numbers, ids, names."""
MOST_FOR_A_REFUSAL = 0.5
CAUTION = 2
"""Assumed ordinary calls of every new feature (a prior)."""
Features = dict[str, Any]
ProgressMeasure = Callable[[str, str], float]
"""The progress of a tool at the text of a refusal, from 0 to 1."""


class Experience:
    """The success rate of each feature, by tool and argument.

    A refusal counts as a partial success: the more, the further the tool had got compared with its earlier refusals.
    Without that information, the rarity of the refusal's words counts.
    """

    def __init__(self, progress: ProgressMeasure | None = None) -> None:
        self._progress = progress
        self._counts: defaultdict[tuple[str, str, str, Any], list[float]] = defaultdict(lambda: [0.0, 0.0])
        self._overall: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        self._refusals: defaultdict[str, Counter[str | float]] = defaultdict(Counter)

    def worth(self, tool: str, kind: str, text: str) -> float:
        """The value of an outcome, from 0 to 1."""
        worth = 1.0 if kind == "ok" else MOST_FOR_A_REFUSAL * self._rank(tool, text)
        self._overall[tool][0] += worth
        self._overall[tool][1] += 1
        return worth

    def _rank(self, tool: str, text: str) -> float:
        """The share of earlier refusals that were less of a success."""
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
        """The likelihood of success with such features: 0 for an ordinary one."""
        got, calls = self._overall[tool]
        ordinary = (got + 0.1) / (calls + 1)
        found = 0.0
        for name, value in features.items():
            counted = self._counts.get((tool, argument, name, value))
            if counted is not None:
                found += math.log((counted[0] + CAUTION * ordinary) / (counted[1] + CAUTION) / ordinary)
        return found


def features_of(view: View, shape: SchemaShape, key: SqlColumn, argument: str, value: Any, today: str) -> Features:
    """The features of a key's row: its values in columns of few values, empty columns, and past dates."""
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
    """True if a column has few different values."""
    return len(view.values(column)) <= FEW
