"""Facts for checkpoints of kind `answer`, from values of results, and whether a text mentions one."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal

from servers.answer.expected_fact import READ_AS, wanted
from servers.answer.extraction import mentions
from servers.answer.fact import Cell, Fact, FactType
from servers.answer.mention import Mention
from servers.answer.names import occurrences
from servers.answer.text import folded
from servers.scenario.checkpoints.answer import AnswerCheckpoint
from synth.solutions.value_texts import kind_of

_TYPES: dict[str, FactType] = {"date": "date", "money": "amount", "count": "count", "text": "name"}
MOST_CONFUSABLE = 8
NO_CLOCK = "2000-01-01 00:00:00"
_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d")
"""A time of day in a column of its own. In other forms it is a text like any other."""
_CODE = re.compile(r"[A-Z]{3}")


def fact_of(
    column: str,
    value: Any,
    *,
    name: str = "fact",
    confusable: Iterable[Any] = (),
    currency: str = "{}",
    about: tuple[str, ...] = (),
) -> Fact | None:
    """A value of a column as a fact. None if it is not worth telling."""
    kind = kind_of(column, value)
    if kind is None:
        return None
    others = [_cell(kind, other) for other in confusable if kind_of(column, other) == kind and other != value]
    code = _CODE.search(currency)
    return Fact(
        name=name,
        type=type_of(kind, value),
        value=_cell(kind, value),
        confusable=tuple(dict.fromkeys(others))[:MOST_CONFUSABLE],
        about=about,
        currency=code[0] if kind == "money" and code else None,
    )


def type_of(kind: str, value: Any) -> FactType:
    """The type of a fact, by the kind of its value."""
    return "time" if _TIME.fullmatch(str(value)) else _TYPES[kind]


def _cell(kind: str, value: Any) -> Cell:
    return value / 100 if kind == "money" else value


def gives(text: str, fact: Fact, clock: str = NO_CLOCK) -> bool:
    """Whether a text mentions the value of a fact, in any form that people use. Relative dates need a clock."""
    if fact.type == "name":
        return any(True for _ in occurrences(folded(text), str(fact.value)))
    one, now = wanted(fact), datetime.fromisoformat(clock)
    return any(
        mention.type in READ_AS[fact.type]
        and not (mention.is_weak and mention.type == "date")
        and one.fits(mention, value, now)
        for mention in _mentions(text, clock)
        for value in one.values
    )


@lru_cache(maxsize=64)
def _mentions(text: str, clock: str) -> Sequence[Mention]:
    return tuple(mentions(folded(text), datetime.fromisoformat(clock)))


def answer_goal(
    name: str, question: str, facts: Sequence[Fact], *, tell: Literal["all", "any"] = "all", given: Sequence[str] = ()
) -> AnswerCheckpoint:
    """A goal over the agent's last words."""
    return AnswerCheckpoint(
        id=name, role="goal", question=question, kind="answer", facts=tuple(facts), tell=tell, given=tuple(given)
    )
