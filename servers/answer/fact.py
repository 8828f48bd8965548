"""What a person wants to be told: a typed fact, its value, and the values that must not be told instead."""

from typing import Literal

from pydantic import Field, model_validator

from servers.records import Name, Record

Cell = str | int | float | None
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
    about: tuple[str, ...] = Field(default=(), max_length=MOST_WORDS)
    """Words that name what the value is of; they tell it from another fact of the same type."""
    not_about: tuple[str, ...] = Field(default=(), max_length=MOST_WORDS)
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


class AnswerCheckpoint(Record):
    """Holds when the agent's last words tell the facts and nothing that could be taken for them."""

    id: Name
    role: Literal["goal", "guard"]
    question: str = Field(min_length=1)
    weight: float = Field(default=1.0, gt=0, le=1000)
    kind: Literal["answer"]
    facts: tuple[Fact, ...] = Field(default=(), max_length=MOST_FACTS)
    tell: Literal["all", "any"] = "all"
    """Whether each fact must be told, or one of them."""
    given: tuple[str, ...] = Field(default=(), max_length=MOST_WORDS)
    """Texts whose values may be told beside the facts: the task gives them, or they are true and related."""
    silent: tuple[str, ...] = Field(default=(), max_length=MOST_WORDS)
    """Words that the answer must not contain."""
    silent_sql: str | None = None
    only_if: str | None = None
    """A SELECT over the final state whose single value must be true, or nothing was worth telling."""

    @model_validator(mode="after")
    def something_to_see(self) -> "AnswerCheckpoint":
        if not self.facts and not self.silent and self.silent_sql is None:
            raise ValueError("an answer checkpoint without facts to tell or words to keep silent about sees nothing")
        names = [fact.name for fact in self.facts]
        if len(set(names)) < len(names):
            raise ValueError("two facts of one name")
        return self
