"""Words of a question beside its value: "the deposit is 120 euros", "10 pulleys are left", "until 3 April".

A value may stand alone. What stands beside it must be the question's own words in their own order, from where they
begin or to where they end, or words of its main clause and such as change no value: "it is", "the date". Anything else
could say that the value is of something else, or doubt it.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from servers.answer.names import root, stem
from servers.answer.text import words
from servers.answer.vocabulary import MONTHS, UNITS, WEEKDAYS, word_set

_ASKS = re.compile(
    r"(?:(?:until|till|up to|by|from|since|on|at|in|for|to|through|with) )?"
    r"(?:how (?:many|much|often|long|high|far|large|heavy|old)|what|which|whose|whom|who|when|where|whether)\b"
    r"(?: of (?:the |those |these )?(?=[^\W\d_])| (?=[^\W\d_]))?"
)
"""How a question asks: "until when", "how many"."""
_NUMBER_OF = re.compile(r"^the number of ")
_ARTICLES = word_set("the a an")
_VERBS = word_set(
    "is are was were be been has have had will would can could may might must shall should do does did comes come "
    "came goes go makes make takes take stands stand costs cost runs run ends end begins begin gets get"
)
_COPULAS = word_set("is are was were")
_PREPOSITIONS = word_set(
    "in at on for to of by with from since after before until till through under over without into about between "
    "as than that who which whose where when while and or"
)
MOST_LITTLE = 20
"""A question said again in whole has at most so many words more that say nothing."""
_IN_ALL = (("in", "all"), ("in", "total"))
_SUBORDINATE = word_set(
    "that which who whose whom where when while if after before because since than as and or not no without unless"
)
"""Where the main clause of a question ends."""
_NEUTRAL = word_set(
    "it its it's that's they their you your his her there this is are was were be been will exactly precisely "
    "altogether"
)
"""Words that change no value that they stand beside."""
_PRESENT = word_set("now still currently")
_PAST = word_set("was were before had did been")
_LABELS = {
    "amount": word_set("amount sum"),
    "count": word_set("number count"),
    "date": word_set("day date"),
    "time": word_set("time hour"),
    "duration": word_set("duration"),
    "name": word_set("name"),
}
"""What any value of a type may be called."""
_TOTAL = word_set("total all altogether together overall whole")
_AMOUNTS_TO = re.compile(r"(?:\b(?:comes?|came|amounts?|amounted) to)$")
_ENDS = (
    r"\b(?:how long|last day|last until|until|up to|ends?|expires?|run out|kept|valid|good|due|latest|deadline|back)\b"
)
_STARTS = r"\b(?:first day|begins?|starts?|from|since|earliest)\b"
_SIDES = {
    "until": _ENDS,
    "till": _ENDS,
    "up to": _ENDS,
    "through": _ENDS,
    "by": r"\b(?:by|due|back|deadline|latest|last day)\b",
    "from": _STARTS,
    "since": r"\bsince\b",
}
"""Words of a question that asks for the end or the start of something, by what may stand before its value."""
_PLAIN_SIDES = {"date": ("on", "on the"), "time": ("at",)}


@dataclass(frozen=True)
class QuestionWords:
    """The words of a question without its value, folded."""

    subject: str
    type: str

    def allows(self, before: str, after: str) -> bool:
        """Whether the words around a value are the question's own."""
        return self._leads(before) and self._follows(after)

    @cached_property
    def _ask(self) -> re.Match[str] | None:
        return _ASKS.match(self.subject)

    @cached_property
    def _rest(self) -> tuple[str, ...]:
        """The roots of the words behind "how many" or "which of", without articles."""
        return _roots(_NUMBER_OF.sub("", self.subject[self._ask.end() :] if self._ask else self.subject))

    @cached_property
    def _asking_preposition(self) -> str:
        """The preposition with which a question begins: "in" of "in which block it stands"."""
        first = self._ask[0].split()[0] if self._ask else ""
        return first if first in _PREPOSITIONS and first not in _SUBORDINATE else ""

    @cached_property
    def _main(self) -> frozenset[str]:
        """The roots of the words of the question's main clause, without what stands behind its prepositions.

        The first verb belongs to it: "kept", of "until when the tablet with the number 4 is kept for her".
        """
        first = self._first_preposition
        main = [*self._rest[:first]]
        end = next((at for at, word in enumerate(self._rest) if word in _SUBORDINATE), len(self._rest))
        verb = next((at for at in range(first, end) if self._is_finite(at)), end)
        for word in self._rest[verb : min(end, verb + 3)]:
            if word in _PREPOSITIONS:
                break
            main.append(word)
        return frozenset(main)

    def _is_finite(self, at: int) -> bool:
        """Whether a verb stands at a place, and not "to be": what is still to be done is not done."""
        return self._rest[at] in _ROOTS_OF_VERBS and (at == 0 or self._rest[at - 1] != "to")

    @cached_property
    def _beside(self) -> frozenset[str]:
        """The roots of the words that may stand beside its value, in any order."""
        asked = frozenset(words(self.subject))
        more = [*_NEUTRAL, *_LABELS.get(self.type, ())]
        more += [] if asked & _PAST else _PRESENT
        more += _TOTAL if asked & _TOTAL else ()
        return (self._main | frozenset(map(_root, more))) - _VALUES

    def is_whole(self, before: str, after: str) -> bool:
        """Whether the words around a value are all that the question has, in any order: they leave nothing open."""
        asked = self._all
        if not asked or not asked.total() <= before.count(" ") + after.count(" ") + 1 <= asked.total() + MOST_LITTLE:
            return False
        told = Counter(word for word in _roots(f"{before} {after}") if word not in _LITTLE)
        return told == asked and not _strange_sign(before) and not _strange_sign(after)

    @cached_property
    def _all(self) -> Counter[str]:
        """The roots of its words that say something."""
        return Counter(word for word in self._rest if word not in _LITTLE)

    @cached_property
    def _first_preposition(self) -> int:
        return next((at for at, word in enumerate(self._rest) if word in _PREPOSITIONS), len(self._rest))

    def _leads(self, before: str) -> bool:
        text = before.strip().rstrip(":").strip()
        if not text:
            return not before.strip()
        if text == self.subject:
            return True
        text = _AMOUNTS_TO.sub("is", text)
        asking = self._asking_preposition
        if asking and self.type != "date":
            text = re.sub(rf"^{asking}\b|\b{asking}$", "", text).strip()
            if not text:
                return True
        side = next((one for one in (*_SIDES, *_plain(self.type)) if text == one or text.endswith(f" {one}")), "")
        if side and self._is_side(side):
            text = text.removesuffix(side).strip()
        return not text or self._is_quote(text, is_before=True)

    def _is_side(self, side: str) -> bool:
        if self.type not in ("date", "time"):
            return False
        if side in _plain(self.type):
            return True
        return re.search(_SIDES[side], self.subject) is not None

    def _follows(self, after: str) -> bool:
        text = after.strip()
        return not text or self._is_quote(text, is_before=False)

    def _is_quote(self, text: str, *, is_before: bool) -> bool:
        if _strange_sign(text):
            return False
        told = _roots(text)
        if is_before and len(told) > 1 and told[0] in ("it", "that"):
            told = told[1:]
        if tuple(words(text)) in _IN_ALL:
            return True
        if not told:
            return is_before and len(words(text)) == 1  # an article
        if is_before and len(told) > 1 and told[-1] in _COPULAS and self._is_run(told[:-1]):
            return True
        return self._is_run(told) or self._beside.issuperset(told)

    def _is_run(self, told: tuple[str, ...]) -> bool:
        """Whether words are of the question's head, or its beginning, its end, or both with the middle left out."""
        rest = self._rest
        if not Counter(told) - Counter(rest[: self._first_preposition]):
            return True
        if told == _without_copulas(rest)[: len(told)]:
            return True
        shared = _shared(told, rest)
        return any(self._is_end(told[cut:]) for cut in range(shared + 1))

    def _is_end(self, told: tuple[str, ...]) -> bool:
        """Whether words end the question from a place where a thought begins: its verb, or its first preposition."""
        at = len(self._rest) - len(told)
        if not told:
            return True
        if at < 0 or self._rest[at:] != told:
            return False
        return at <= self._first_preposition or told[0] in _ROOTS_OF_VERBS


def _plain(type_: str) -> tuple[str, ...]:
    return _PLAIN_SIDES.get(type_, ())


def _roots(text: str) -> tuple[str, ...]:
    return tuple(_root(word) for word in words(text) if word not in _ARTICLES)


@lru_cache(maxsize=4096)
def _root(word: str) -> str:
    return word if word in _COPULAS else root(stem(word))


def _strange_sign(text: str) -> bool:
    """Whether a text has a sign that stands in no words: of a question, of more, of an alternative."""
    return bool(re.sub(r"[^\W_]+(?:'[^\W_]+)?", "", text).strip(" \"',.()&/:-“”"))


def _without_copulas(told: Sequence[str]) -> tuple[str, ...]:
    return tuple(word for word in told if word not in _COPULAS)


def _shared(told: Sequence[str], rest: Sequence[str]) -> int:
    """How many words two texts have in common at their beginning."""
    pairs = enumerate(zip(told, rest, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(told), len(rest)))


_ROOTS_OF_VERBS = frozenset(map(_root, _VERBS))
_VALUES = frozenset(map(_root, (*MONTHS, *WEEKDAYS, *UNITS)))
"""Words that may be a value themselves: "may" of "when the lorry may pass"."""
_LITTLE = frozenset(map(_root, (*_NEUTRAL, *_COPULAS, "that", "to", "comes", "amounts")))
"""Words that a question said in other words may lack or have."""
