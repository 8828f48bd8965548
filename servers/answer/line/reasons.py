"""A reason in the last line: the date, the time or the amount that stood in the way, in the refusal's own words."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cached_property

from servers.answer.expected_fact import ExpectedFact, wanted
from servers.answer.extraction import mentions
from servers.answer.fact import Fact
from servers.answer.line.grammar import WantedValue, moment
from servers.answer.mention import Day, Mention
from servers.answer.names import root, stem
from servers.answer.question import AnswerQuestion
from servers.answer.text import folded, words
from servers.answer.vocabulary import word_set

_SIDE = re.compile(
    r"(?:(?P<start>not before|not until|not earlier than|no earlier than|only from|only after|from|since|after|as of"
    r"|earliest|starting)|(?P<end>until|till|up to|through|by|at the latest by|no later than|latest|overdue since)"
    r"|before|on|at) "
)
_OF_A_START = re.compile(
    r"\b(?:from|since|before|after|earlier|early|begins?|begun|starts?|started|planned|not until|open(?:ed|s)?)\b"
)
_OF_AN_END = re.compile(r"\b(?:until|till|by|ends?|ended|deadline|due|expire[sd]?|over|latest|last|late|had to)\b")
_SMALL = word_set(
    "it is was the a an be been has have had to already that this there of on at in for not no yet only can could may "
    "must cannot can't couldn't start started come came due back overdue late early too still planned"
)
"""Words that say nothing but that something is early, late or not possible."""
_ITEMS = re.compile(r", (?!\d{4}\b)| on (?=\d)| and ")
_CLAUSE = re.compile(r"[,;:.(] ?")
MOST_WORDS = 40
"""A reason has at most so many."""
REACH = 60
"""So many characters before a value of a refusal say whether something starts or ends there."""


@dataclass(frozen=True)
class ReasonGrammar:
    """The parts of an answer's line that are reasons, and the questions that ask for one."""

    told: tuple[str, ...]
    questions: Sequence[AnswerQuestion]
    given: tuple[str, ...]
    now: datetime

    def faults(self, question: AnswerQuestion) -> list[str]:
        """Why no reason of a question is told, if none is."""
        if any(self._is_of(part, question) for part in self.told):
            return []
        return ["no reason stands in the answer's last line that stood in the way"]

    def is_known(self, part: str) -> bool:
        """Whether a part is a reason that is asked for, or another value of a refusal."""
        if not self.questions and not self._facts_given:
            return False  # nothing stood in the way
        return all(self._is_known(piece) or self._may_lead(piece) for piece in self._pieces(part))

    def may_stand(self, part: str) -> bool:
        """Whether a part behind the values is a reason that is asked for, though it does not say so."""
        return any(self._is_of(part, question) for question in self.questions)

    def _pieces(self, part: str) -> list[str]:
        """The values of a part that tells several: "revoked on 1 December, no permit until 31 May"."""
        return [part] if self._is_known(part) else _ITEMS.split(part)

    def _is_known(self, piece: str) -> bool:
        wanted_ones = [one for question in self.questions for one in question.wanted]
        return any(self._reads(piece, one) for one in (*wanted_ones, *self._facts_given))

    def _is_of(self, part: str, question: AnswerQuestion) -> bool:
        return any(self._reads(piece, one) for piece in self._pieces(part) for one in question.wanted)

    @cached_property
    def _facts_given(self) -> list[ExpectedFact]:
        """The values of the refusals."""
        told = [found for text in self.given[1:] for found in mentions(folded(text), self.now)]
        return [one for found in told for one in _facts_of(found, self.now)]

    def _reads(self, part: str, one: ExpectedFact) -> bool:
        """Whether a part is a value: alone, with its side, with its hour, or behind words of the refusal."""
        return any(self._is_value(core, one) for core in self._cores(part))

    def _cores(self, part: str) -> list[str]:
        """What is left of a part when its side and the words of the refusal before it are taken away."""
        pieces = [found.span() for found in re.finditer(r"\S+", part)][:MOST_WORDS]
        cores: list[str] = []
        for at, (start, _) in enumerate(pieces):
            lead = part[:start]
            side = next((one for one in reversed(list(_SIDE.finditer(lead))) if one.end() == len(lead)), None)
            if self._may_lead(lead[: side.start()] if side else lead):
                ends = [end for _, end in pieces[at:] if self._may_follow(part[end:])]
                told = [part[start:end].rstrip(",") for end in ends]
                cores += [core for core in told if side is None or self._has_side(side, core)]
        return cores

    def _may_follow(self, text: str) -> bool:
        """Whether the words behind a reason stand so in a refusal: "110 EUR too much"."""
        told = " ".join(words(text))
        return not text or (bool(told) and any(f" {told} " in f" {one} " for one in self._refusals))

    @cached_property
    def _refusals(self) -> list[str]:
        return [" ".join(words(folded(text))) for text in self.given[1:]]

    def _may_lead(self, text: str) -> bool:
        """Whether words before a reason are the refusal's, or say nothing."""
        if re.sub(r"[^\W_]+(?:'[^\W_]+)?", "", text).strip(" \"',.():-"):
            return False
        return all(root(stem(word)) in self._known or word in _SMALL for word in words(text))

    @cached_property
    def _known(self) -> frozenset[str]:
        """The roots of the words of the task and of the refusals, and no numbers."""
        return frozenset(root(stem(word)) for text in self.given for word in words(folded(text)) if word.isalpha())

    def _has_side(self, side: re.Match[str], core: str) -> bool:
        """Whether the refusals speak of the start or the end that a reason is told as."""
        refusals = [folded(text) for text in self.given[1:]]
        if not refusals or not (side["start"] or side["end"]):
            return True
        own, other = (_OF_A_START, _OF_AN_END) if side["start"] else (_OF_AN_END, _OF_A_START)
        places = [(text, found.start) for text in refusals for found in self._found(text, core)]
        near = [_CLAUSE.split(text[max(0, start - REACH) : start])[-1] for text, start in places]
        if any(other.search(text) for text in near) and not any(own.search(text) for text in near):
            return False
        return any(own.search(text) for text in refusals)

    def _found(self, text: str, core: str) -> list[Mention]:
        """Where a refusal has a value that is told."""
        told = {value for found in mentions(core, self.now) for value in _plain(found)}
        return [found for found in mentions(text, self.now) if told & _plain(found)]

    def _is_value(self, text: str, one: ExpectedFact) -> bool:
        grammar = WantedValue(one, self.now, _currency(one))
        if grammar.reads(text):
            return True
        both = moment(text, self.now) if one.fact.type in ("date", "time") else None
        if both is None:
            return False
        days, minutes = both
        if one.fact.type == "time":
            told = {f"{value // 60:02d}:{value % 60:02d}" for value in minutes}
            return any(grammar.reads(time) for time in told) and self._has_day(days)
        return any(_day_fits(one, day, self.now) for day in days) and self._has_minutes(minutes)

    def _has_minutes(self, minutes: frozenset[int]) -> bool:
        """Whether a text that is given has a time of day."""
        return any(found.type == "time" and found.values & minutes for found in self._mentions)

    def _has_day(self, days: Sequence[Day]) -> bool:
        """Whether a text that is given has a day, or it is today."""
        whole = [value for found in self._mentions if found.type == "date" for value in found.values]
        return any(
            day.may_be(self.now.date(), self.now.date())
            or any(isinstance(other, Day) and (other.month, other.day) == (day.month, day.day) for other in whole)
            for day in days
        )

    @cached_property
    def _mentions(self) -> list[Mention]:
        return [found for text in self.given for found in mentions(folded(text), self.now)]


def _currency(one: ExpectedFact) -> frozenset[str]:
    return frozenset({one.fact.currency}) if one.fact.currency else frozenset()


def _plain(found: Mention) -> frozenset[object]:
    """The values of a mention, without the years of its days."""
    return frozenset((value.month, value.day) if isinstance(value, Day) else value for value in found.values)


def _facts_of(found: Mention, now: datetime) -> list[ExpectedFact]:
    """A value of a text as the value of a fact."""
    if found.is_weak:
        return []
    facts: list[Fact] = []
    for value in found.values:
        if isinstance(value, Day) and value.month and value.day:
            day = f"{value.year or now.year}-{value.month:02d}-{value.day:02d}"
            facts.append(Fact(name="given", type="date", value=day))
        elif found.type == "time" and isinstance(value, int):
            facts.append(Fact(name="given", type="time", value=f"{value // 60 % 24:02d}:{value % 60:02d}"))
        elif isinstance(value, Decimal):
            facts.append(Fact(name="given", type="amount", value=float(value)))
    return [wanted(fact) for fact in facts]


def _day_fits(one: ExpectedFact, day: Day, now: datetime) -> bool:
    found = Mention("date", frozenset({day}), 0, 0)
    return one.fits_any(found, now)
