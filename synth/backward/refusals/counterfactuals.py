"""Counterfactuals of a refused call: another time, other rows, or another argument."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from servers.errors import BundleError
from servers.guest.sqlite.sql_text import quoted, sql_literal
from synth.play.experience import PARTICULAR
from synth.play.playground import Playground
from synth.play.row_view import shape_of, view_of
from synth.solutions.row_relations import RowPlace, RowRelations
from synth.solutions.value_texts import is_money

MOST_TRIALS = 120


@dataclass(frozen=True)
class RefusedCall:
    """A refused call: its start state, and the tool's text."""

    tool: str
    arguments: Mapping[str, Any]
    text: str
    clock: str
    setup: str = ""

    @property
    def now(self) -> datetime:
        """The start time of its run."""
        return datetime.fromisoformat(self.clock)


class RowCell(NamedTuple):
    """A column's value in a row."""

    place: RowPlace
    column: str
    value: Any


@dataclass
class Otherwise:
    """One refused call and its rows. After a maximum of trials every further one counts as refused."""

    stage: Playground
    refusal: RefusedCall
    world: RowRelations
    _known: dict[str, str] = field(default_factory=dict[str, str])

    @classmethod
    async def of(cls, stage: Playground, refusal: RefusedCall) -> "Otherwise":
        """Read the rows of the call."""
        scene = await stage.launch(setup=refusal.setup, clock=refusal.clock)
        async with scene.reading() as reader:
            shape = shape_of(reader)
            world = RowRelations(shape, view_of(reader, shape))
        await scene.close()
        return cls(stage, refusal, world)

    async def at(self, moment: datetime) -> str:
        """The result at another time: `ok`, `same` for the same refusal, else `other`."""
        return await self._made(clock=moment.isoformat(sep=" ", timespec="seconds"))

    async def with_cell(self, cell: RowCell, value: Any) -> str:
        """The result with another value in a column."""
        where = f"{quoted(self._key(cell.place))} = {sql_literal(cell.place[1])}"
        return await self._made(
            change=f"UPDATE {quoted(cell.place[0])} SET {quoted(cell.column)} = {sql_literal(value)} WHERE {where};"
        )

    async def with_argument(self, name: str, value: Any) -> str:
        """The result with another argument."""
        return await self._made(arguments={**self.refusal.arguments, name: value})

    async def without(self, place: RowPlace) -> str:
        """The result without a row, and without those that reference it."""
        gone = [*self.world.children(place), place]
        return await self._made(
            change="".join(
                f"DELETE FROM {quoted(one[0])} WHERE {quoted(self._key(one))} = {sql_literal(one[1])};" for one in gone
            )
        )

    def cells_with(self, *values: str | int) -> list[RowCell]:
        """The columns that hold one of some values."""
        return [
            RowCell(place, column, value)
            for place, row in self.world.rows.items()
            for column, value in row.items()
            if value in values and place[1] != value
        ]

    def amounts(self) -> list[RowCell]:
        """The amounts of the rows that the call names, and of related rows, the nearest first."""
        named = self.named()
        parents = [parent for one in named for parent in self.world.parents(one)]
        near = [*named, *(child for one in named for child in self.world.children(one)), *parents]
        near += [child for one in parents for child in self.world.children(one)]
        return [
            RowCell(place, column, value)
            for place in dict.fromkeys(near)
            for column, value in self.world.rows[place].items()
            if is_money(column) and isinstance(value, int)
        ]

    def named(self) -> list[RowPlace]:
        """The rows that the call names."""
        given = {str(value) for value in self.refusal.arguments.values() if value is not None}
        return [place for place in self.world.rows if str(place[1]) in given]

    def standing(self) -> set[str]:
        """The state of the rows that the call names, in words."""
        rows = [self.world.rows[place] for place in self.named()]
        told = [row.get(name) for row in rows for name in ("status", "state")]
        return {one.replace("_", " ") for one in told if isinstance(one, str) and one}

    def needed(self) -> set[RowPlace]:
        """The rows without which the call has no meaning."""
        named = self.named()
        return {*named, *(one for place in named for one in self.world.ancestors(place))}

    def _key(self, place: RowPlace) -> str:
        return self.world.shape.keys[place[0]].name

    async def _made(self, *, clock: str = "", change: str = "", arguments: Mapping[str, Any] | None = None) -> str:
        given = dict(self.refusal.arguments if arguments is None else arguments)
        name = f"{clock} {change} {given}"
        if name not in self._known:
            self._known[name] = await self._tried(clock, change, given) if len(self._known) < MOST_TRIALS else "same"
        return self._known[name]

    async def _tried(self, clock: str, change: str, arguments: dict[str, Any]) -> str:
        outcome = None
        with suppress(BundleError):  # the schema forbids such rows
            setup = f"{self.refusal.setup}\n{change}" if change else self.refusal.setup
            scene = await self.stage.launch(setup=setup, clock=clock or self.refusal.clock)
            outcome = await scene.call(self.refusal.tool, arguments)
            await scene.close()
        if outcome is None:
            return "other"
        if outcome.kind == "refused" and says(outcome.text) == says(self.refusal.text):
            return "same"
        return "ok" if outcome.kind == "ok" else "other"


def says(refusal: str) -> str:
    """The text of a refusal without its particulars."""
    return PARTICULAR.sub("", refusal)
