"""What a person wants to be told: a typed fact, its value, and the values that must not be told instead."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from servers.records import Name, Record

LONGEST_VALUE = 2_000
"""Characters of a value or a word of a fact: a longer one stands in no answer that is read."""
LONGEST_GIVEN = 10_000
"""Characters of a text whose values may be told."""
Word = Annotated[str, Field(max_length=LONGEST_VALUE)]
Cell = Word | int | float | None
FactType = Literal["amount", "count", "date", "time", "duration", "name", "choice", "yes_no", "list", "none"]
MEASURES = ("amount", "count", "duration")
MOST_FACTS = 24
"""The answer checkpoints of a scenario ask for at most so many facts."""
MOST_WORDS = 200
"""A fact, and a checkpoint, has at most so many values or words of a kind."""


class Fact(Record):
    """One thing to be told. Its value stands here, or a SELECT over `main` and `start` gives it at judging time.

    Amounts are in units of their currency, durations in minutes, dates `2026-04-05`, times `14:30`.
    """

    name: Name
    type: FactType
    value: bool | Cell | tuple[Cell, ...] = None
    sql: str | None = None
    also: tuple[Cell, ...] = Field(default=(), max_length=MOST_WORDS)
    """Other values that are as right, or other words for a name."""
    confusable: tuple[Cell, ...] = Field(default=(), max_length=MOST_WORDS)
    """Values that must not be told instead, or beside it."""
    confusable_sql: str | None = None
    about: tuple[Word, ...] = Field(default=(), max_length=MOST_WORDS)
    """Words that name what the value is of; they tell it from another fact of the same type."""
    not_about: tuple[Word, ...] = Field(default=(), max_length=MOST_WORDS)
    """Words that name what the value is not of."""
    currency: str | None = None

    @model_validator(mode="after")
    def one_source(self) -> "Fact":
        has_value = self.value is not None or self.type == "none"
        if has_value == (self.sql is not None):
            raise ValueError(f"fact {self.name!r}: give either a value or a SELECT that gives it")
        if self.type == "list" and has_value and not isinstance(self.value, tuple):
            raise ValueError(f"fact {self.name!r}: the value of a list is a list")
        if self.type == "yes_no" and has_value and not isinstance(self.value, bool):
            raise ValueError(f"fact {self.name!r}: the value is true or false")
        if self.type in MEASURES and has_value and not isinstance(self.value, int | float):
            raise ValueError(f"fact {self.name!r}: the value of a {self.type} is a number")
        return self
