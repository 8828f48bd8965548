"""What the words around a value say that it is of: another kind, another row, the time before, another order."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from servers.answer.checks.labels import TextSpan
from servers.answer.checks.reply import BREAK, FoldedReply
from servers.answer.fact import FactType
from servers.answer.kinds import other_kind
from servers.answer.measures import MEASURES
from servers.answer.mention import Mention
from servers.answer.names import root, stem
from servers.answer.question import AnswerQuestion, content_words, letters, topic
from servers.answer.stance import NO_OBSTACLE
from servers.answer.text import folded, plain
from servers.answer.vocabulary import word_set

_PLACES = "section|room|row|zone|gate|block|tier|bin|shelf|group|floor|window|seat|table|platform|line|level|track"
_DESIGNATED = re.compile(rf"\b({_PLACES}) ([a-z]|\d{{1,4}}|[a-z]?\d{{1,4}}[a-z]?)(?![\w'])")
_DESIGNATES = re.compile(rf"\b(?:{_PLACES}|number|no|nr|aisle|rack|box|page|item|step) $")
_HOW_MANY = re.compile(r"\bhow many ((?:\w+ )?\w+)")
_PLURAL = re.compile(
    r"(?!(?:is|was|has|does|needs|makes|waits|counts|goes|comes|fits|holds|stands|stays|remains|plus|minus|thus|less|across|"
    r"besides|times|as|this|thanks|regards|always|units|pieces|items|pcs|ones|others)$)(?:people|[a-z]{3,}(?<![su])s)"
)
_PLACES_TAKEN = word_set("places spots seats slots bookings reservations people persons guests students members covers")
"""Words for places, and for those who take them: as many of the one as of the other."""
_ENGLISH = word_set("the is are was were of has have had been may there with")
_ASKS_A_PLACE = re.compile(r"\b(?:position|place|number|which|line)\b")
_WHICH = re.compile(r",? (?:which|that) ([^.;\n]{1,80})")
_ASKS_AFTER = re.compile(r"\b(?:now|new|then|after|with|so far|would|left)\b")
_ASKS_BEFORE = re.compile(r"\b(?:before|had|was|were|old)\b")
_BEFORE = re.compile(r"\W*(?:(?:and|but|so) )?(?:before|prior to) (?!that\b|then\b)")
_SINCE = re.compile(r"\b(?:now|after|then|since|with (?:it|that|the))\b")
_ONCE = re.compile(r"\b(?:used to|previously|formerly|had been|was before|were before)\b")
_ASKS_IF = re.compile(r"\bwould\b")
_UNTIL_THEN = re.compile(
    r"\b(?:before (?:that|then|this),? |until then,? )(?:it|there|they|we) (?:was|were|had|been)"
    r"(?: \w+)?(?: of| at)? ?$"
    r"|\b(?<!which )(?<!that )would(?: otherwise)? have been(?: on| the| at| due| until)* ?$"
)
"""What stands before a value that is not so any more, or has not come to be."""
_TO_DO = re.compile(r"\b(?:still )?to be (\w+ed)\b")
_IS_OPEN = re.compile(r"\b(?:still|to be|yet|not|left|remain\w*|outstanding|more|missing|open|needs?|need)\b|n't\b")
_VERB = (
    r"(?:(?:alone|itself|already|now|still) )*(?:is|are|was|were|has|have|had|costs?|weighs?|holds?|comes? to|gets?"
    r"|got|pays?|paid|owes?|will|would|ends?|runs?|lasts?|took|takes?)\b"
)
_POSSESSED = re.compile(r"(?:^|[\s(])((?:[A-Z][\w-]+ (?:(?:of|de|van|von|der|the) )?){0,3}[A-Z][\w-]+)(?:'s|')(?= )")
_BY_NAME = re.compile(
    r"\W*(?:(?:and|but|so|the|The|And|But|So) )*(\"[^\"]{1,120}\"|[A-Z][\w-]+(?: [A-Z][\w-]+){1,3}) " + _VERB
)
_LABELLED = re.compile(r"((?:[A-Z][\w-]+ ){0,3}[A-Z][\w-]+)'s [^:,()|\n]{1,60}[:|] ?$")
_WHOSE = re.compile(r"\b(?:for|of|on|by|to|from|[Ff]or|[Oo]n|[Ff]rom) ([A-Z][a-z]+(?: [A-Z][a-z]+){1,2})\b")
_POINTING = re.compile(
    r"\W*(?:(?:and|but|so|as|since|because|for|which|who|where|while|with) )*"
    r"(?:it|its|it's|he|his|she|her|hers|they|their|that|this|which|who|whose|there)\b"
)
_ORDER = re.compile(r"[.?!;](?=\s|$)|\b(?:and|then|before that|after that)\b|,(?= please)")
_ASKING = re.compile(r"\b(?:tell me|let me know|i also need to know|skip it|can't be done|should one of)\b")


def is_said_of_another(reply: FoldedReply, question: AnswerQuestion, mention: Mention, kind: FactType) -> bool:
    """Whether the words around a value say that it is of something else than the question asks for."""
    if question.tell == "any":
        first, last = reply.text.sentence(mention.start)
        is_idle = NO_OBSTACLE.search(reply.folded, first, last) is not None
        return is_idle or is_of_another_order(reply, question, mention.place)
    if not question.is_described:
        return False
    clause = reply.clause(*mention.place, with_head=True)
    before = _chunk_before(reply, mention.start) if _POINTING.match(clause) else ""
    following = _WHICH.match(reply.folded, mention.end)
    whole = f"{clause} {following[1] if following else ''}"
    return (
        other_kind(whole, question.subject, kind, before) != ""
        or _is_elsewhere(clause, question)
        or _is_a_place(reply, mention, question, kind)
        or _is_a_measure(mention, question, kind)
        or _counts_another_thing(reply, mention, question, kind)
        or _is_before(reply, mention, question)
        or _is_done(clause, question)
        or _is_of_named(reply, mention, question)
    )


def _chunk_before(reply: FoldedReply, place: int) -> str:
    """What stands before the clause of a place: what "it" in it points at."""
    first, _ = reply.text.sentence(place)
    start = max((end.start() for end in BREAK.finditer(reply.folded, first, place)), default=first)
    if start == first:
        first, _ = reply.text.sentence(max(0, first - 1))
    return BREAK.split(reply.folded[first:start].rstrip(" .;"))[-1]


def _is_elsewhere(clause: str, question: AnswerQuestion) -> bool:
    """Whether the clause names another room, row or section than the question."""
    asked = _designated(question.subject)
    told = _designated(clause)
    return any(noun in asked and not told[noun] & asked[noun] for noun in told)


def _designated(text: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for place in _DESIGNATED.finditer(text):
        if place[2] not in ("a", "i") or place[0].endswith(f" {place[2]}"):
            found.setdefault(place[1], set()).add(place[2])
    return found


def _is_a_place(reply: FoldedReply, mention: Mention, question: AnswerQuestion, kind: str) -> bool:
    """Whether a number only says which one something is: "shelf 54" counts nothing."""
    before = reply.folded[max(0, mention.start - 12) : mention.start]
    if kind != "count" or mention.type != "number" or stem(mention.unit) in question.words:
        return False
    return _DESIGNATES.search(before) is not None and not _ASKS_A_PLACE.search(question.subject)


def _is_a_measure(mention: Mention, question: AnswerQuestion, kind: str) -> bool:
    """Whether a number measures what was to be counted: 32 kilos are not 32 valves."""
    return (
        kind == "count"
        and len(mention.unit) > 1
        and mention.unit in MEASURES
        and not MEASURES.keys() & set(question.subject.split())
    )


def _counts_another_thing(reply: FoldedReply, mention: Mention, question: AnswerQuestion, kind: str) -> bool:
    """Whether the noun behind a number is another than the question's: six people are not six tickets.

    Only English plurals are known to be nouns. What takes a place is counted as places are.
    """
    asked = _HOW_MANY.search(question.subject)
    noun = mention.unit
    if kind != "count" or mention.type != "number" or not asked or not _PLURAL.fullmatch(noun):
        return False
    own = set(content_words(asked[1]))
    if stem(noun) in question.words or (noun in _PLACES_TAKEN and own & set(map(stem, _PLACES_TAKEN))):
        return False
    sentence = set(letters(reply.folded[slice(*reply.text.sentence(mention.start))]))
    return bool(sentence & _ENGLISH) and not own & set(map(stem, sentence))


def _is_before(reply: FoldedReply, mention: Mention, question: AnswerQuestion) -> bool:
    """Whether a value is told of the time before, and the question asks how things stand now."""
    if _ASKS_BEFORE.search(question.subject):
        return False
    if not _ASKS_IF.search(question.subject) and _UNTIL_THEN.search(
        reply.folded, reply.text.sentence(mention.start)[0], mention.start
    ):
        return True
    if not _ASKS_AFTER.search(question.subject):
        return False
    first, _ = reply.text.sentence(mention.start)
    before = reply.folded[first : mention.start]
    if _BEFORE.match(before) and not _SINCE.search(before.partition(",")[2]):
        return True
    return _ONCE.search(reply.clause(*mention.place)) is not None


def _is_done(clause: str, question: AnswerQuestion) -> bool:
    """Whether that is said to be done which the question asks for as not done yet."""
    asked = _TO_DO.search(question.subject)
    if not asked or not question.subject.count("still"):
        return False
    return re.search(rf"\b{asked[1]}\b", clause) is not None and _IS_OPEN.search(clause) is None


def _is_of_named(reply: FoldedReply, mention: Mention, question: AnswerQuestion) -> bool:
    """Whether a value is told of somebody or something that has a name, and the question does not name."""
    if not (question.own_names or question.quoted_words or question.is_anchored):
        return False
    first, _ = reply.text.sentence(mention.start)
    start = first + max((end.end() for end in BREAK.finditer(reply.folded[first : mention.start])), default=0)
    clause = reply.text.cased[start : mention.start]
    titles = question.quoted_words or (frozenset[str]() if question.own_names else question.own_roots)
    people = frozenset(map(root, question.own_names)) - titles
    behind = BREAK.split(reply.text.cased[mention.end : reply.text.sentence(mention.start)[1]])[0]
    found_names = (_BY_NAME.match(clause), *_POSSESSED.finditer(clause), *_WHOSE.finditer(f"{clause} | {behind}"))
    names = [found[1] for found in found_names if found]
    names += [found[1] for found in _LABELLED.finditer(reply.text.cased[first : mention.start])]
    told = [(name, words) for name in names if (words := topic(folded(name)))]
    by_name = _BY_NAME.match(clause)
    if by_name and question.whose and not topic(folded(by_name[1])) & (question.topic | question.own_roots):
        return not topic(reply.clause(*mention.place, with_head=True)) & question.whose
    if not told or topic(reply.clause(*mention.place, with_head=True)) & (people or titles):
        return False
    if not question.own_names and topic(reply.before(mention.start)) & titles:
        return False
    given = None if question.own_names else _words_of(question.given)  # it may be of whom the task does not name
    return all(
        (given is None or words <= given)
        and not words & (titles if name.startswith('"') else people or titles | question.topic)
        for name, words in told
    )


@lru_cache(maxsize=256)
def _words_of(texts: tuple[str, ...]) -> frozenset[str]:
    return frozenset[str]().union(*(topic(folded(text)) for text in texts))


def is_of_another_order(reply: FoldedReply, question: AnswerQuestion, place: TextSpan) -> bool:
    """Whether a reason is told of another order than the one that was refused.

    The order that was refused is the one that shares the rarest words with the refusal. The parts of the sentence
    before the value are read backwards, up to the first one that names an order.
    """
    own, own_names, names = _refused(question.given, tuple(str(v) for one in question.wanted for v in one.values))
    if not own:
        return False
    for chunk, cased in _chunks(reply, place):
        words = topic(chunk, cased)
        if _POINTING.match(chunk):
            continue
        if words & (own_names or own):
            return False
        if words & names:
            return True
        if words & own:
            return False
    return False


def _chunks(reply: FoldedReply, place: TextSpan) -> Iterator[tuple[str, str]]:
    """The clause of a value, and the parts of the sentence before it, the nearest first."""
    first, last = reply.text.sentence(place[0])
    until = place[1] + len(BREAK.split(reply.folded[place[1] : last])[0])
    for found in reversed([*BREAK.finditer(reply.folded, first, place[0])]):
        yield reply.folded[found.end() : until], reply.text.cased[found.end() : until]
        until = found.start()
    yield reply.folded[first:until], reply.text.cased[first:until]


class Refused(NamedTuple):
    """An order that was refused."""

    words: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    """Those of its words that are names or codes."""
    other_names: frozenset[str] = frozenset()
    """The names and codes of the other orders."""


@lru_cache(maxsize=256)
def _refused(given: tuple[str, ...], values: tuple[str, ...]) -> Refused:
    """The order that a refusal is about; none where that is unclear."""
    reasons = [text for text in given if any(value in text for value in values) and not _ASKING.search(folded(text))]
    orders = [
        order
        for text in given
        if text not in reasons
        for order in _ORDER.split(text)
        if not _ASKING.search(folded(order)) and topic(folded(order))
    ]
    if not reasons or len(orders) < 2:
        return Refused()
    topics = [topic(folded(order), plain(order)) for order in orders]
    reason = frozenset[str]().union(*(topic(folded(text), plain(text)) for text in reasons))
    times = {word: sum(word in words for words in topics) for word in reason}
    shares = [sum(1 / times[word] for word in words & reason) for words in topics]
    best = max(shares)
    if best < LEAST_SHARED or sum(share >= best / 2 for share in shares) > 1:
        return Refused()
    kin = topics[shares.index(best)]
    if len(kin & reason) < ENOUGH_SHARED and not kin & _names_of(reasons):
        return Refused()
    others = frozenset[str]().union(*(words for words in topics if words is not kin)) - kin - reason
    named = frozenset(root(word) for order in orders for word in content_words(_names_in(order)))
    codes = frozenset(word for words in topics for word in words if any(sign.isdigit() for sign in word))
    return Refused(kin | _names_of(reasons), (kin & (named | codes)) | _names_of(reasons), others & (named | codes))


LEAST_SHARED = 1
"""A refusal is about an order if it shares a word with it that no other order has, or so many with few others."""
ENOUGH_SHARED = 2
"""Fewer words that are no names may be shared by chance."""
_NAME = re.compile(r"(?<=[^.?!:;\s] )[A-Z][\w'-]*|\"[^\"]{1,200}\"")


def _names_in(order: str) -> str:
    return " ".join(found[0] for found in _NAME.finditer(plain(order))).casefold().replace("'s", "")


def _names_of(texts: list[str]) -> frozenset[str]:
    return frozenset(root(word) for text in texts for word in content_words(_names_in(text)))
