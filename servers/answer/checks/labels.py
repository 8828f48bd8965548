"""Whether a value is told of what was asked, as far as the words beside it show."""

import re
from collections.abc import Iterator, Sequence

from servers.answer.checks.reply import FoldedReply
from servers.answer.expected_fact import READ_AS, ExpectedFact
from servers.answer.names import occurrences, root, stem
from servers.answer.question import (
    AnswerQuestion,
    codes,
    content_words,
    label_words,
    letters,
    topic,
)
from servers.answer.text import folded
from servers.answer.vocabulary import LABELS

_PER = re.compile(
    r"^ ?(?:(?:for )?(?:an?|per|every|each|/) ?(day|week|month|year|hour|night|person|piece|credit)\b"
    r"|(?:for )?each\b)"
)
_SUBJECT = re.compile(
    r"\W*(?:(?:and|but|so) )?(?:the|your|my|our|his|her|their|its|this|that) "
    r"((?:[\w'-]+ ){0,2}[\w'-]+(?: (?:of|in|on|for|at|to) (?:[\w'-]+ ){0,3}[\w'-]+)?)"
    r" (?:is|are|was|were|has|had|will|would|costs|keeps|runs|lasts|ends|comes|weighs|holds)\b"
)
_HEAD = re.compile(r"[^:|\n]{1,80}(?:: |\|)")
"""A label at the head of a sentence or a row."""
_PRONOUN = re.compile(r"\W{0,3}(?:hers?|his|it|its|he|she|they|theirs?)\b")
"""What begins a sentence about what the sentence before it is about."""
_ASIDE = re.compile(r" - [^\n-]{1,80} - |\([^()\n]{1,80}\)")
_NO_NAMES = frozenset({"told", "fact", "reason", "asked", "value"})
"""Words in the names of facts that say nothing of what they are of."""
TextSpan = tuple[int, int]
AskedFact = tuple[AnswerQuestion, ExpectedFact]


def is_of_another(
    reply: FoldedReply, one: ExpectedFact, question: AnswerQuestion, place: TextSpan, asked: Sequence[AskedFact]
) -> bool:
    """Whether a value is swapped with another fact's: beside each stand the words that ask for the other."""
    own = _words(one, question)
    not_own = frozenset(word for text in one.fact.not_about for word in _tokens(folded(text)))
    for other_question, other in asked if question.tell == "all" else ():
        if other is one or set(map(str, one.values)) & set(map(str, other.values)):
            continue
        if _is_under(reply, place, _subjects(one, question), _subjects(other, other_question)):
            return True
        theirs = _words(other, other_question)
        if not _are_alike(one, other):  # values of two types are only told of each other's people and things
            mine, others = question.names - theirs, other_question.names - own
        else:
            mine, others = own - theirs, theirs - own
        if not (mine and others and _is_nearer(reply, place, mine, others, other)):
            continue
        places = list(reply.places(other))
        if places and all(_is_nearer(reply, there, others, mine, one) for there in places):
            return True
    if one.about:
        own = frozenset(word for text in one.about for word in _tokens(text))
    return bool(not_own - own) and _is_nearer(reply, place, own - not_own, not_own - own, None)


def _subjects(one: ExpectedFact, question: AnswerQuestion) -> frozenset[str]:
    """The names of what a value is of: given with its fact, or else those in its question."""
    names = [text for text in one.fact.about if not text.islower()]
    return frozenset(word for text in names for word in label_words(folded(text))) or question.own_names


def _is_under(reply: FoldedReply, place: TextSpan, own: frozenset[str], theirs: frozenset[str]) -> bool:
    """Whether a value stands under a label and behind the name of what another value is of, far from its own."""
    mine, others = own - theirs, theirs - own
    first, last = reply.text.sentence(place[0])
    head = _HEAD.match(reply.folded, first, place[0])
    if not (mine and others and head):
        return False
    before = set(label_words(reply.folded[first : place[0]]))
    return bool(before & others) and not mine & set(label_words(reply.folded[first:last]))


def is_of_a_stranger(reply: FoldedReply, question: AnswerQuestion, place: TextSpan) -> bool:
    """Whether a value is told of something else that is in the task.

    Its names stand nearer than those of the question, or the clause is about it, and has no word of the question.
    """
    if question.tell == "any" or not question.other_topics:
        return False
    windows = [topic(window) for window in (reply.clause(*place, with_head=True), *reply.windows(*place)[1:-1])]
    own, others = question.own_roots, question.other_names
    nearest = next((words for words in windows if words & (own | others)), frozenset[str]())
    if nearest:
        return not nearest & own and (bool(question.own_names) or not topic(reply.before(place[0])) & own)
    about = _SUBJECT.match(reply.clause(*place))
    of_it = topic(about[1]) if about else frozenset[str]()
    named = frozenset(map(root, question.own_names)) or question.topic
    if of_it & question.other_topics and not of_it & question.topic and not named & frozenset[str]().union(*windows):
        return True
    first, last = reply.text.sentence(place[0])
    if _PRONOUN.match(reply.folded, first):
        first, _ = reply.text.sentence(max(0, first - 1))
    before = _ASIDE.sub(" ", reply.folded[first : place[0]])
    is_behind = bool(question.own_names and topic(before) & others)
    return is_behind and not topic(reply.folded[first:last]) & (own | question.quoted_words)


def _words(one: ExpectedFact, question: AnswerQuestion) -> frozenset[str]:
    about = frozenset(word for text in one.about for word in label_words(text))
    if about or len(question.wanted) == 1:
        return about or question.words
    return frozenset(content_words(one.fact.name.replace("_", " "))) - _NO_NAMES


def _are_alike(one: ExpectedFact, other: ExpectedFact) -> bool:
    """Whether the values of two facts are of one type."""
    of_names = ("name", "choice", "list")
    return (one.fact.type in of_names and other.fact.type in of_names) or bool(
        set(READ_AS.get(one.fact.type, ())[:1]) & set(READ_AS.get(other.fact.type, ())[:1])
    )


def _is_nearer(
    reply: FoldedReply,
    place: TextSpan,
    own: frozenset[str],
    theirs: frozenset[str],
    other: ExpectedFact | None,
) -> bool:
    """Whether the nearest words that tell the one from the other are those of the other.

    A sentence that begins with a value that is asked for has its labels behind the values.
    """
    *near, sentence = reply.windows(*place)
    for window in near:
        words = set(_tokens(window))
        mine, others = len(words & own), len(words & theirs)
        if others > mine and other is not None and _names_it(window, other):
            break
        if mine != others:
            return others > mine
        if mine:
            break
    if own and not own & set(_tokens(sentence)):
        return False
    first, last = reply.text.sentence(place[0])
    labels = sorted(
        (at, is_own)
        for words, is_own in ((own, True), (theirs, False))
        for word in words
        for at, _ in occurrences(reply.folded, word)
        if first <= at < last
    )
    if not any(not is_own for _, is_own in labels):
        return False
    before = [is_own for at, is_own in labels if at < place[0]]
    starts_with_value = labels[0][0] > min(
        (at for at in reply.wanted_starts if first <= at < last), default=labels[0][0]
    )
    after = [is_own for at, is_own in labels if at > place[0]]
    if starts_with_value and after:
        return not after[0]
    return not before[-1] if before else not labels[0][1]


def _tokens(text: str) -> Iterator[str]:
    """All words of a folded text without their endings, and its codes."""
    yield from (stem(word) for word in letters(text))
    yield from codes(text)


def _names_it(window: str, other: ExpectedFact) -> bool:
    """Whether another fact's own name stands beside its words, so that they are not about this one."""
    return any(isinstance(value, str) and any(True for _ in occurrences(window, value)) for value in other.values)


def is_labelled(
    reply: FoldedReply, one: ExpectedFact, question: AnswerQuestion, place: TextSpan, asked: Sequence[AskedFact]
) -> bool:
    """Whether the words beside a value say that it is of something that was not asked for."""
    if question.tell == "any" or not (question.words or one.about):
        return False
    labels = LABELS.get(one.fact.type, {})
    words = set(letters(" ".join((*(other.subject for other, _ in asked), *one.about))))
    per = _PER.match(reply.folded[place[1] :])
    if per and one.fact.type == "amount" and not words & {per[1] or "each", "rate", "daily", "monthly", "per"}:
        return True
    known = {word for label, group in labels.items() for word in (label, *group)}
    if one.fact.type != "amount" and not words & known:
        return False
    for window in reply.windows(*place)[:-1]:
        beside = [labels[word] for word in letters(window) if word in labels]
        if beside:
            return not any(words & group for group in beside)
        if question.plain_words.intersection(content_words(window)):
            return False
    return False
