"""The ways to fill a recipe: the values that its SQL chooses from the first rows."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from servers.errors import QueryError
from servers.guest.sqlite.sql_text import sql_literal
from servers.state.readonly_query import Reader
from synth.recipes.recipe_file import Recipe

VALUE = re.compile(r"(?<![:\w]):([a-z_]\w*)")
RANK = "rank"
BoundValues = dict[str, Any]


@dataclass(frozen=True)
class Binding:
    """One way to fill a recipe: single values, the rows of each set, and the values that are as right as the chosen."""

    values: BoundValues
    sets: Mapping[str, list[BoundValues]]
    also_right: Mapping[str, tuple[Any, ...]]


class RecipeReader:
    """Chooses values for recipes from the first rows of a bundle.

    SQL sees the values chosen before as `:name`, and the start of the clock as `:now` and `:today`.
    """

    def __init__(self, reader: Reader, clock: str) -> None:
        self._reader = reader
        self._first = {"now": clock, "today": clock[:10]}

    def values(self, recipe: Recipe) -> list[BoundValues]:
        """The values of every way to fill a recipe, before its picks and sets.

        Raises:
            BrokenQuery, QueryError: its SQL cannot be run.
        """
        return self._rows(recipe.bind, {})

    def bindings(self, recipe: Recipe) -> list[Binding]:
        """Every way to fill a recipe.

        Raises:
            BrokenQuery, QueryError: its SQL cannot be run.
        """
        found = [self.bound(recipe, values, {}) for values in self.values(recipe)]
        return [one for one in found if one is not None]

    def bound(self, recipe: Recipe, values: BoundValues, others: Mapping[str, str]) -> Binding | None:
        """One way to fill a recipe, with `others` in place of some of its picks and sets. None if nothing fits."""
        known = dict(values)
        for name, sql in recipe.picks.items():
            rows = self._rows(others.get(name, sql), known)
            if not rows or (len(rows) > 1 and RANK in rows[0] and rows[0][RANK] == rows[1][RANK]):
                return None
            known |= {column: value for column, value in rows[0].items() if column != RANK}
        sets = {name: self._rows(others.get(name, sql), known) for name, sql in recipe.sets.items()}
        if not others and any(len(rows) < recipe.least for rows in sets.values()):
            return None
        for name, rows in sets.items():
            known.setdefault(f"{name}_count", len(rows))
        also = {
            name: tuple(next(iter(row.values())) for row in self._rows(sql, known))
            for name, sql in recipe.open_choices.items()
        }
        return Binding(known, sets, also)

    def with_values(self, sql: str, values: BoundValues) -> str:
        """SQL with literals in place of `:name`.

        Raises:
            QueryError: a value is not there.
        """
        known = {**self._first, **values}

        def as_sql(found: re.Match[str]) -> str:
            if found[1] not in known:
                raise QueryError(f"no value named :{found[1]} in {sql!r}")
            return sql_literal(known[found[1]])

        return VALUE.sub(as_sql, sql)

    def _rows(self, sql: str, values: BoundValues) -> list[BoundValues]:
        result = self._reader.select(self.with_values(sql, values))
        return [dict(zip(result.columns, row, strict=True)) for row in result.rows]
