"""The last line of an answer, with the values and nothing else: "Answer: 42 euros", "Answer: fee: 2; due: 3 April".

It is read by what may stand in it, and not by what may not. A word that is neither a part of the value, nor in the
question, nor one that stands around any value says that the value is of something else, doubted or denied.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from servers.answer.measures import MEASURES
from servers.answer.names import root, stem
from servers.answer.text import folded, plain
from servers.answer.vocabulary import CURRENCY_OF, MONTHS, WEEKDAYS, word_set

Span = tuple[int, int]
_HEAD = re.compile(r"(?:^|\n|[.!?;:)\"] )[ \"'-]*(?:(?:the|my|final) ){0,2}answer ?: ?", re.IGNORECASE)
_SEPARATOR = re.compile(r";|\n")
_INNER_SEPARATOR = re.compile(r", (?!\d{4}\b)| and ", re.IGNORECASE)
_BULLET = re.compile(r"^ *(?:- )?(?:\(?\d{1,2}[.)] (?=\S))?")
_SIGN = re.compile(r"[~<>?+±≈≤≥…/\\%]|\.{2}|(?<![\w.])-$")
"""What makes another value of it, or doubts it. A dash right before a value is a minus."""
_TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_AROUND = word_set(
    "the a an it it's is are was were be been there that this these in on at by to of for and so now then total "
    "altogether exactly until till as will would has have had s date time comes come makes amounts mr mrs ms dr prof"
)
_SAME = (
    (word_set("weight"), word_set("weighs weigh")),
    (word_set("first"), word_set("begins begin starts start")),
    (word_set("last until"), word_set("ends end runs")),
    (word_set("price cost costs"), word_set("price cost costs")),
)
"""Words of questions, and others that say the same of a value."""
_NONE = word_set("no none nothing zero nil")
_SIDES = word_set("yes no not yet")
_REASON = word_set(
    "reason reasons because why not no before until till from after since earliest latest first last possible can "
    "could cannot can't couldn't may must only already yet due overdue early late still way stands stood required "
    "allowed"
)
"""Words that may stand beside a reason: it says until when, or from when, something cannot be done."""
_REASON_HEAD = re.compile(r"(?:the )?(?:\w+ ){0,2}?(?:reasons?|because|why|in the way)\b")
"""How a part of the line begins that has a reason: "reason: 3 April", "not done because of 3 April"."""
_HEDGES = word_set("or about around roughly maybe perhaps nearly almost either")
_VALUE = "\0"
_ARTICLES = word_set("the a an")
_PREPOSITIONS = word_set("in at on for to of by with from since after before until till through under over without")
_AT_VALUE = {True: word_set("on at in of"), False: word_set("at to of for")}
"""The prepositions that may stand right before a time, and before another value, whatever the question."""
_END = "how long|last day|last until|until|up to|ends?|expires|run out|kept|valid|good|due"
_START = "first day|begins?|starts?"
_ASKS_FOR = {"until": _END, "till": _END, "through": _END, "by": "due|back|deadline|latest", "from": _START}
"""Other words of a question that ask for a time with a preposition."""
_QUALIFIERS = word_set("before after least most too much more less up over under above below only not never some if")
"""Words that may stand beside a value if its question has them, and not because the task has them."""
_OF_THE_US = re.compile(r"\bus(?= ?\$?$)")
"""What may stand before the sign of a dollar: "US$640"."""
_MIDNIGHT = re.compile(r"^t00:00(?::00)?(?![\d:])")
"""What stands behind a day that was a moment: 2026-04-28T00:00:00."""


class AnswerLine(NamedTuple):
    """The parts of the last line of an answer, folded, and the words above it as they were written."""

    above: str
    parts: tuple[str, ...]

    def split(self, wanted: int) -> "AnswerLine":
        """The line with its parts cut at commas too, if it has fewer than are wanted."""
        if len(self.parts) >= wanted:
            return self
        inner = [part for one in self.parts for part in _INNER_SEPARATOR.split(one)]
        return AnswerLine(self.above, tuple(part for part in inner if _TOKEN.search(part)))


def read_line(answer: str) -> AnswerLine | None:
    """The last line of an answer with what stands behind "Answer:", or None if it has none."""
    text = plain(answer)
    found = _HEAD.search(text)
    if found is None:
        return None
    parts = (_BULLET.sub("", part).strip() for part in _SEPARATOR.split(text[found.end() :]))
    kept = tuple(part for part in parts if _TOKEN.search(part))
    return AnswerLine(text[: found.start()], kept) if kept else None


def is_reason(part: str) -> bool:
    """Whether a part of the line says that it has a reason."""
    return _REASON_HEAD.match(folded(part)) is not None


def strange_word(
    part: str,
    values: Iterable[Span],
    asked: Collection[str],
    *,
    is_none: bool = False,
    is_side: bool = False,
    is_why: bool = False,
) -> str:
    """The first word of a folded part of the line that has no place beside its values, or an empty text.

    `asked` are the words of the question. `is_none`: that there is nothing is a right value. `is_side`: the value is
    yes or no. `is_why`: the value is a reason.
    """
    known = _known(asked)
    for words, is_so in ((_NONE, is_none), (_SIDES, is_side), (_REASON, is_why)):
        known = known | words if is_so else known
    roots = {root(stem(word)) for word in known}
    for text in _outside(part, values):
        sign = _SIGN.search(text)
        if sign:
            return sign[0].strip()
        for word in _TOKEN.findall(_MIDNIGHT.sub("", text)):
            is_form = word.isalpha() and not word.endswith("ed") and root(stem(word)) in roots
            if word in _HEDGES or not (word in known or is_form):
                return word
    return ""


def misplaced_word(part: str, values: Iterable[Span], subject: str, *, is_time: bool) -> str:
    """The first preposition of a part of the line that the question does not have at such a place, or an empty text.

    "16 in Zagreb" is something else than what is left after the parcel to Zagreb, and "after 15 May" no 15 May.
    `subject` is the question without its value. `is_time`: the value is a date or a time.
    """
    asked = set(_in_pairs(subject))
    for first, second in _in_pairs(_VALUE.join(_outside(part, values))):
        if second == _VALUE:
            if first in _AT_VALUE[is_time] or (is_time and _is_asked_by(first, subject)):
                continue
        elif (first, second) in asked or first not in _PREPOSITIONS:
            continue
        if first in _PREPOSITIONS:
            return first
    return ""


def _in_pairs(text: str) -> list[tuple[str, str]]:
    """Each word of a text with the next one, articles left out."""
    words = [word for word in re.findall(rf"{_VALUE}|{_TOKEN.pattern}", text) if word not in _ARTICLES]
    return list(pairwise(words))


def _is_asked_by(preposition: str, subject: str) -> bool:
    """Whether a question asks for a time with a preposition: "until when", or "how long" for "until"."""
    words = _ASKS_FOR.get(preposition, "(?!)")
    return re.search(rf"\b(?:{preposition} (?:and including )?(?:when|which|what)|{words})\b", subject) is not None


def _known(asked: Collection[str]) -> frozenset[str]:
    """The words that may stand beside a value: those of the question, and those around any value."""
    others = [word for those, words in _SAME if those.intersection(asked) for word in words]
    units = list(MEASURES) if any(word in MEASURES and len(word) > 2 for word in asked) else []
    return frozenset((*_AROUND, *asked, *CURRENCY_OF, *WEEKDAYS, *MONTHS, *units, *others))


def says_none(part: str) -> bool:
    """Whether a folded part of the line has a word for nothing."""
    return not _NONE.isdisjoint(_TOKEN.findall(part))


def words_of_task(texts: Iterable[str]) -> frozenset[str]:
    """The words of a task that may say what a value is of."""
    return words_of(*texts) - _QUALIFIERS


def words_of(*texts: str) -> frozenset[str]:
    """All words of some texts, folded, and the codes that have digits."""
    return frozenset(word for text in texts for word in _TOKEN.findall(folded(text)))


def _outside(part: str, values: Iterable[Span]) -> Iterator[str]:
    """What stands of a text outside some spans of it."""
    at = 0
    for start, end in sorted(values):
        before = part[at:start]
        yield _OF_THE_US.sub("", before) if "$" in part[max(0, start - 1) : start + 1] else before
        at = max(at, end)
    yield part[at:]
