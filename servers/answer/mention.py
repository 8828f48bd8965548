"""A value that a text tells, of a type, at a place."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal

MentionType = Literal["amount", "number", "date", "time", "duration"]


@dataclass(frozen=True)
class Day:
    """What a text says of a date; parts that it leaves out are None. `near`: it speaks of the days around now."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None
    near: int | None = None

    @property
    def whole(self) -> date | None:
        """The date, where year, month and day are told."""
        if self.year is None or self.month is None or self.day is None:
            return None
        return date(self.year, self.month, self.day)

    def may_be(self, other: date, now: date) -> bool:
        """Whether this can mean a date, seen from now."""
        if self.near is not None and abs((other - now).days) > self.near:
            return False
        return all(
            told is None or told == true
            for told, true in (
                (self.year, other.year),
                (self.month, other.month),
                (self.day, other.day),
                (self.weekday, other.weekday()),
            )
        )


MentionValue = Decimal | Day | int
"""A number or amount; a date; minutes: of a duration, or since midnight."""


@dataclass(frozen=True)
class Mention:
    """One value in a text. It may be read in several ways: `06/04` is a day in April or in June."""

    type: MentionType
    values: frozenset[MentionValue]
    start: int
    end: int
    unit: str = ""
    """The word after a number, or its currency."""
    is_weak: bool = False
    """A word that need not mean a value: "one", "the second"."""
    beside: "Mention | None" = None
    """Of a time the date that stands beside it, and of a date the time: together they are one moment."""

    @property
    def place(self) -> tuple[int, int]:
        """Where it stands in the text."""
        return (self.start, self.end)

    @property
    def moment(self) -> tuple["Mention", ...]:
        """The parts of the moment that this is a part of, in order."""
        parts = (self, self.beside) if self.beside else (self,)
        return tuple(sorted(parts, key=lambda one: one.start))
