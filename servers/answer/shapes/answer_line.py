"""The last line of an answer, with the values and nothing else: "Answer: 42 euros", "Answer: fee: 2; due: 3 April".

It is read by what may stand in it, and not by what may not. A word that is neither a part of the value, nor in the
question, nor one that stands around any value says that the value is of something else, doubted or denied.
"""

import re
from collections.abc import Collection, Iterable, Iterator
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
_REASON_HEAD = re.compile(r"(?:the )?(?:\w+ ){0,2}?(?:reasons?|because|why|in the way)\b")
"""How a part of the line begins that has a reason: "reason: 3 April", "not done because of 3 April"."""
_HEDGES = word_set("or about around roughly maybe perhaps nearly almost either")
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
) -> str:
    """The first word of a folded part of the line that has no place beside its values, or an empty text.

    `asked` are the words of the question. `is_none`: that there is nothing is a right value.
    """
    known = _known(asked)
    known = known | _NONE if is_none else known
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
