"""The facts of one checkpoint as a question, and the words that name what each fact is of."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from servers.answer.names import stem
from servers.answer.text import folded
from servers.answer.vocabulary import CURRENCY_OF, EMPTY, MONTHS, TENS, UNITS
from servers.answer.wanted import Wanted

_VALUES = frozenset(map(stem, (*MONTHS, *UNITS, *TENS, *CURRENCY_OF)))
_LETTERS = re.compile(r"[^\W\d_]+")
_FRAME = re.compile(r"^does the answer (?:tell|name|say|give|state|mention)\b(?: that\b)?")


class Told(NamedTuple):
    """Whether a fact is told, and if not, why."""

    holds: bool
    why: str = ""


@dataclass(frozen=True)
class Question:
    """The facts of one checkpoint, and the texts whose values may be told beside them."""

    wanted: tuple[Wanted, ...]
    asked: str = ""
    """The question in words: what its values are of."""
    tell: str = "all"
    given: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()

    @cached_property
    def subject(self) -> str:
        """What is asked for: the question without its frame and without the value that it names at its end."""
        text = folded(self.asked)
        return _FRAME.sub("", text.rpartition(": ")[0] or text)

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the question that mean something."""
        return frozenset(content_words(self.subject)) - _VALUES

    @cached_property
    def plain_words(self) -> frozenset[str]:
        """The same without names: a name tells whom a value is of, and not which of their values it is."""
        return self.words - self.names

    @cached_property
    def names(self) -> frozenset[str]:
        """The words of the question that are names: of people, titles, things."""
        names = {folded(word) for word in re.findall(r"(?<=[ “\"])[A-Z][\w'’-]*", self.asked)}
        return self.words & {stem(word) for name in names for word in letters(name)}


def letters(text: str) -> list[str]:
    """The words of a folded text."""
    return _LETTERS.findall(text)


def content_words(text: str) -> Iterator[str]:
    """The words of a folded text that mean something, without their endings."""
    return (stem(word) for word in letters(text) if len(word) > 2 and stem(word) not in EMPTY and word not in EMPTY)
