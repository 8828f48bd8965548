"""Whether an answer says that there is nothing of what was asked for."""

import itertools
import re

from servers.answer.checks.fact_values import FactValues
from servers.answer.fact import MEASURES
from servers.answer.mention import Mention
from servers.answer.names import stem
from servers.answer.question import content_words, topic

_NOTHING = re.compile(r"\b(?:nothing|none)((?: \w+| 's){1,3})")
_THERE_IS_NO = re.compile(
    r"\bthere (?:is|are|was|were|will be) no (?:(?:new|more|other|further|such|last) )?((?:\w+ )?[^\W\d_]+)"
)
_HOW_MANY = re.compile(r"\bhow many\b")
_NONE_OF_IT = re.compile(r"\b(?:nothing|none|empty|no (?:more |further )?([^\W\d_]+))\b")
_NOTHING_AT_ALL = re.compile(r"\b(?:nothing|none)(?: (?:yet|now|so far|any ?more))?(?=$|[.,;!)])")
_NO_SUCH = re.compile(
    r"\bno ((?:\w+ ){1,3})(?:is|are|was|were|will be|has|have)\b|\b(?:has|have|for|takes?) no ((?:\w+ ){0,2}\w+)"
)


def is_nothing_such(values: FactValues, mention: Mention) -> bool:
    """Whether the sentence says that there is nothing of what was asked for: "nothing is open, the 12 are paid"."""
    first, last = values.reply.text.sentence(mention.start)
    beside = {values.reply.text.sentence(max(0, first - 1)), values.reply.text.sentence(last)}
    starts = [*values.reply.text.starts, len(values.reply.folded)]
    return _has_nothing(values.reply.folded[first:last], values.question.words) or any(
        _is_there_none(values, values.reply.folded[start:end])
        for start, end in itertools.pairwise(starts)
        if start == first or _speaks_of_it(values, start, end, is_near=(start, end) in beside)
    )


def tells_zero(values: FactValues) -> bool:
    """Whether an amount or a count of 0 is told in words: "nothing is still open", "no seats are left"."""
    is_zero = any(isinstance(one, int | float) and one == 0 for one in values.one.values)
    if values.one.fact.type not in MEASURES or not is_zero:
        return False
    for found in _NONE_OF_IT.finditer(values.reply.folded):
        words = set(content_words(" ".join(values.reply.windows(*found.span())[:-1])))
        is_of_it = (
            bool(words & values.question.plain_words) and not topic(" ".join(words)) & values.question.other_names
        )
        is_thing = found[1] is None or not _HOW_MANY.search(values.question.subject)
        is_thing = is_thing or stem(found[1]) in values.question.words
        if is_of_it and is_thing and values.reply.stance(*found.span(), is_name=False) == "told":
            return True
    return False


def _has_nothing(sentence: str, words: frozenset[str]) -> bool:
    """Whether a sentence has one of some words behind "nothing"."""
    return any(set(content_words(found[1])) & words for found in _NOTHING.finditer(sentence))


def _speaks_of_it(values: FactValues, start: int, end: int, *, is_near: bool) -> bool:
    """Whether a sentence without a value can be about what was asked for: it stands near, or names it."""
    names = set(content_words(values.reply.folded[start:end])) & values.question.own_names
    return (is_near or bool(names)) and not any(start <= other.start < end for other in values.there)


def _is_there_none(values: FactValues, sentence: str) -> bool:
    """Whether a sentence says in the words of the question that there is no such thing."""
    words, asked = set(content_words(sentence)), values.question.words
    if values.question.tell == "any" or topic(sentence) & values.question.other_names:
        return False
    is_about_it = 2 * len(asked & words) > len(asked)
    is_nothing = _has_nothing(sentence, values.question.plain_words)  # and not "nothing for Selma"
    if (is_about_it and is_nothing) or _ends_in_nothing(values, sentence):
        return True
    others = {word for other, _ in values.asked if other is not values.question for word in other.words}
    things = {stem(word) for one in _THERE_IS_NO.finditer(sentence) for word in one[1].split()}
    if things & (values.question.plain_words - others):
        return True
    found = _NO_SUCH.finditer(sentence) if values.one.fact.type in MEASURES else ()
    nouns = {stem(word) for one in found for word in (one[1] or one[2]).split()}
    return is_about_it and bool(nouns & values.question.plain_words)


def _ends_in_nothing(values: FactValues, sentence: str) -> bool:
    """Whether a sentence about what the question is about ends in nothing: "for Chen Wen, nothing yet"."""
    is_about_it = values.question.other_topics and topic(sentence) & values.question.own_roots
    return bool(is_about_it) and _NOTHING_AT_ALL.search(sentence) is not None
