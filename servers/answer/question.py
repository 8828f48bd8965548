"""The facts of one checkpoint as a question, and the words that name what each fact is of."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from servers.answer.expected_fact import ExpectedFact
from servers.answer.measures import unit_in
from servers.answer.names import root, stem
from servers.answer.text import folded, plain
from servers.answer.vocabulary import CURRENCY_OF, EMPTY, LABELS, MONTHS, NO_TOPIC, TENS, UNITS, WEEKDAYS

_VALUES = frozenset(map(stem, (*MONTHS, *UNITS, *TENS, *CURRENCY_OF)))
MOST_SHARED = 0.75
"""An order that shares so much of the question's rarest words as the order that shares most is about the same thing."""
FEW_WORDS = 2
"""A name of more words is known by its first one alone."""
_EVERYDAY = _VALUES | frozenset(
    stem(word)
    for words in (WEEKDAYS, *({*labels, *frozenset[str]().union(*labels.values())} for labels in LABELS.values()))
    for word in words
)
"""Words that name nothing, though they may have a capital."""
_LETTERS = re.compile(r"(?<![^\W_])[^\W\d_]+(?![^\W_])")
_CODE = re.compile(r"(?<![^\W_])[a-z]{1,4}[ -]?\d+(?:[ -]\d+)*(?:[ -]?[a-z]{1,2}(?![^\W_]))?(?![^\W_])")
_CASED_CODE = re.compile(r"(?<![^\W_])[A-Z]{1,4}[ -]?\d+(?:[ -]\d+)*(?:[ -]?[A-Z]{1,2}(?![^\W_]))?(?![^\W_])")
_MONEY_WORD = re.compile(r"[^\W\d_]+|[^\w\s.,?]")
_PART = re.compile(r"\d+|[^\W\d_]+")
_SENTENCE = re.compile(r"[.?!;](?=\s|$)")
_ORDER = re.compile(r"\b(?:and|then|before that|after that)\b")
"""What stands between two orders of a sentence."""
_NAME = re.compile(
    r"(?P<head>(?:\A|(?<=[.?!:;] )))?(?<![^\W_])[A-Z][\w'’-]+"
    r"(?P<more>(?: (?:(?:of|de|van|von|der|the) )*[A-Z][\w'’-]+)*)"
)
_ASKER = re.compile(r"\b(?:[Tt]his is|I'm|I am|[Mm]y name is|[Hh]ello from) (?=[A-Z])|\bhere\b")
_ASKING = re.compile(r"\b(?:tell me|let me know|need to know|want to know|would like to know)\b")
_HOW_MANY = re.compile(r"\bhow many ((?:\w+ )?\w+)")
_QUOTED = re.compile(r'"[^"]{1,200}"')
_POINTS = re.compile(r"\b(?:that|this|it|there)\b")
_NO_TOPIC = _VALUES | frozenset(map(stem, NO_TOPIC))
"""Words that tell nothing of what a text is about, though they mean something."""
_DESCRIBES = re.compile(r"does the answer tell (?!that\b|of\b|\d)")
_WHOSE = re.compile(r"([A-Z][\w-]+ [A-Z][\w-]+)'s\b|\bof ([A-Z][\w-]+ [A-Z][\w-]+)\b")
_FRAME = re.compile(r"^does the answer (?:tell|name|say|give|state|mention)\b(?: that\b)?")


class FactVerdict(NamedTuple):
    """Whether a fact is told, and if not, why."""

    holds: bool
    why: str = ""


@dataclass(frozen=True)
class AnswerQuestion:
    """The facts of one checkpoint, and the texts whose values may be told beside them."""

    wanted: tuple[ExpectedFact, ...]
    asked: str = ""
    """The question in words: what its values are of."""
    tell: str = "all"
    given: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    last_line: bool = False
    """Whether its values are told in the answer's last line and nowhere else."""

    @cached_property
    def subject(self) -> str:
        """What is asked for: the question without its frame and without the value that it names at its end."""
        text = folded(self.asked)
        return _FRAME.sub("", text.rpartition(": ")[0] or text)

    @cached_property
    def currencies(self) -> frozenset[str]:
        """The currencies that the value in the question can be of: the dollars of "what it costs: $640". Empty if none.

        A sign or a word of several currencies stands for all of them.
        """
        words = _MONEY_WORD.findall(folded(self.asked).rpartition(": ")[2])
        return frozenset(code for word in words for code in CURRENCY_OF.get(word, ()))

    @cached_property
    def is_described(self) -> bool:
        """Whether it is asked for in the words of the value's subject: "how much the refund comes to: 42 euros"."""
        text = folded(self.asked)
        return _DESCRIBES.match(text) is not None and ": " in text

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the question that mean something."""
        return frozenset(content_words(self.subject)) - _VALUES

    @cached_property
    def unit(self) -> str:
        """The unit that is asked for: grams, of "how many grams it weighs"."""
        return unit_in(self.subject.split())

    @cached_property
    def plain_words(self) -> frozenset[str]:
        """The same without names: a name tells whom a value is of, and not which of their values it is."""
        return self.words - self.names

    @cached_property
    def own_names(self) -> frozenset[str]:
        """The words of the names and codes in the question: what its values are of."""
        return frozenset(_name_words(self.asked)) & frozenset(label_words(self.subject))

    @cached_property
    def topic(self) -> frozenset[str]:
        """The roots of the words that tell what the question is about."""
        return topic(self.subject)

    @cached_property
    def other_topics(self) -> frozenset[str]:
        """The roots of the words of other things in the texts that are given: of orders that are about something else.

        An order is about what the question is about if it has a name of it, or what it counts, or else if it shares
        its rarest words. What the asker says of himself is about nothing else. None are known where the question only
        points at something: "that fill".
        """
        kin = frozenset[str]().union(*(words for words, is_kin in self._orders if is_kin))
        return frozenset[str]().union(*(words for words, _ in self._orders)) - kin - self.topic if kin else frozenset()

    @cached_property
    def _orders(self) -> list[tuple[frozenset[str], bool]]:
        """What each order of the texts that are given is about, and whether that is what the question is about."""
        key = frozenset(map(root, self.own_names))
        if not key and _POINTS.search(self.subject):
            return []
        counted = _HOW_MANY.search(self.subject)
        orders = [one for text in self.given for one in _orders_of(text) if not _ASKER.search(one.text)]
        topics = [topic(folded(one.text), plain(one.text)) for one in orders]
        is_asking = [one.is_asking for one in orders]
        if not key and len(self.topic) > FEW_WORDS and self.topic & self._ordered:
            return list(zip(topics, self._kin_without_a_name(topics, is_asking), strict=True))
        key = key or topic(counted[1] if counted else "")
        if not key and len(self.topic) <= FEW_WORDS:
            return []
        times = Counter(word for words in topics for word in words)
        shared = [sum(1 / times[word] for word in words & (key or self.topic)) for words in topics]
        least = 0 if key else MOST_SHARED * max((one for one in shared if one < max(shared)), default=0)
        return [(words, 0 < share >= least) for words, share in zip(topics, shared, strict=True)]

    def _kin_without_a_name(self, topics: Sequence[frozenset[str]], is_asking: Sequence[bool]) -> Iterator[bool]:
        """Which orders are about what the question is about, by the rarest words that it has of an order.

        An order to tell something is if it has most words of the question.
        """
        times = Counter(word for words, asks in zip(topics, is_asking, strict=True) if not asks for word in words)
        shared = [sum(1 / times[word] for word in words & self.topic if times[word]) for words in topics]
        best = max(share for share, asks in zip(shared, is_asking, strict=True) if not asks)
        for words, share, asks in zip(topics, shared, is_asking, strict=True):
            yield 2 * len(words & self.topic) > len(self.topic) if asks else 0 < share >= MOST_SHARED * best

    @cached_property
    def own_roots(self) -> frozenset[str]:
        """The roots of the words of the names in the question, or of its words that no order about others has.

        Of these, those that an order itself has say whom or what the value is of: "units" of "how many units the lot
        of jam holds" does not.
        """
        if self.own_names:
            return frozenset(map(root, self.own_names))
        others = frozenset[str]().union(*(words for words, is_kin in self._orders if not is_kin))
        own = self.topic - others
        return own & self._ordered or own

    @cached_property
    def is_anchored(self) -> bool:
        """Whether an order of the texts that are given has words of the question."""
        return bool(self.topic & self._ordered)

    @cached_property
    def _ordered(self) -> frozenset[str]:
        """The roots of the words of all orders that ask for nothing to be told."""
        orders = (one.text for text in self.given for one in _orders_of(text) if not one.is_asking)
        return frozenset[str]().union(*(topic(folded(order), plain(order)) for order in orders))

    @cached_property
    def quoted_words(self) -> frozenset[str]:
        """The roots of the words of the titles in the question."""
        return frozenset[str]().union(*(topic(title) for title in _QUOTED.findall(folded(self.asked))))

    @cached_property
    def whose(self) -> frozenset[str]:
        """The roots of the name of somebody in the question whose something is asked for."""
        found = _WHOSE.search(plain(self.asked))
        return topic(folded(found[1] or found[2])) if found else frozenset()

    @cached_property
    def other_names(self) -> frozenset[str]:
        """The roots of the names of other things."""
        return frozenset(root(word) for text in self.given for word in _name_words(text)) & self.other_topics

    @cached_property
    def names(self) -> frozenset[str]:
        """The words of the question that are names: of people, titles, things."""
        names = {folded(word) for word in re.findall(r"(?<=[ “\"])[A-Z][\w'’-]*", self.asked)}
        return self.words & {stem(word) for name in names for word in letters(name)}


def demands_a_line(questions: Sequence[AnswerQuestion]) -> bool:
    """Whether an answer without a last line tells nothing."""
    return any(question.last_line for question in questions)


class TaskOrder(NamedTuple):
    """One of the things that a text asks for: to be done, or to be told."""

    text: str
    is_asking: bool


def _orders_of(text: str) -> Iterator[TaskOrder]:
    """The orders of a text. What stands in a sentence behind "tell me" is to be told."""
    for sentence in _SENTENCE.split(text):
        is_asking = False
        for order in _ORDER.split(sentence):
            is_asking = is_asking or _ASKING.search(folded(order)) is not None
            yield TaskOrder(order, is_asking)


def _name_words(text: str) -> Iterator[str]:
    """The words of the names in a text, and its codes. A capital at the head of a sentence makes no name.

    Of a long name only the first word counts: the others are often those of a sort, as in "Museum of Ceramics".
    """
    plain_text = plain(text)
    for name in _NAME.finditer(plain_text):
        if name["head"] is not None and not name["more"]:
            continue
        words = [word for word in content_words(name[0].casefold()) if word not in _EVERYDAY]
        yield from words if len(words) <= FEW_WORDS else words[:1]
    yield from _cased_codes(plain_text)


def topic(text: str, cased: str = "") -> frozenset[str]:
    """The roots of the words of a folded text that can tell what it is about, and its codes, or those with capitals."""
    words = (*content_words(text), *(_cased_codes(cased) if cased else codes(text)))
    return frozenset(root(word) for word in words if word not in _NO_TOPIC)


def _cased_codes(text: str) -> Iterator[str]:
    """The codes of a text that have capitals: "MRSU9903311", and not "to 26"."""
    return ("".join(_PART.findall(code)).casefold() for code in _CASED_CODE.findall(text))


def label_words(text: str) -> Iterator[str]:
    """The words of a folded text that can say what a value is of, and its codes."""
    yield from content_words(text)
    yield from codes(text)


def codes(text: str) -> list[str]:
    """The codes of a folded text, without their spaces: plates, numbers of flights. What follows may belong to one."""
    found: list[str] = []
    for code in _CODE.finditer(text):
        parts = _PART.findall(code[0])
        found += ["".join(parts[:length]) for length in range(2, len(parts) + 1)]
    return found


def letters(text: str) -> list[str]:
    """The words of a folded text."""
    return _LETTERS.findall(text)


def content_words(text: str) -> Iterator[str]:
    """The words of a folded text that mean something, without their endings."""
    return (stem(word) for word in letters(text) if len(word) > 2 and stem(word) not in EMPTY and word not in EMPTY)
