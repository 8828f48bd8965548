"""Whether a value plays the part in an answer that it plays in a text that is given: a start, an end, what is owed."""

import re
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from servers.answer.checks.reply import BREAK, FoldedReply
from servers.answer.mention import Mention
from servers.answer.question import AnswerQuestion, content_words
from servers.answer.text import Text

_DAY = r"(?: (?:the|on|and including|including|at|\w+day,?))* ?$"
_START = re.compile(
    r"\b(?:nobody (?:need|has to|must)[^.;,]{1,50} before|from|since|as of|starting|starts|begins"
    r"|opens|not before|not until|not earlier than|ab|seit|desde|depuis"
    rf"|a partir (?:de|del|du)){_DAY}"
)
_END = re.compile(rf"\b(?:until|till|through|up to|ends|ended|expires|expired|bis|hasta|jusqu'au|fino al){_DAY}")
_ASKED_START = re.compile(r"\b(?:(?:from|since) (?:when|which)|first day)\b")
_ASKED_END = re.compile(r"\b(?:(?:until|till|up to|by) (?:when|which)|last day)\b")
_NOT = re.compile(r"\bnot\b|n't\b|\bnever\b|\bno\b|\bcannot\b|\b(?:must|has to|have to) wait\b")
_END_OF_IT = re.compile(r"\b(?:ends?|over|expired?|expires|lapses?|run out|stop|finish(?:ed)?|closed?)\b")
"""Of what does not end until then, then is the end; of anything else that is not until then, it is the start."""
REACH = 60
"""So many characters before a date or a time say whether something starts or ends there."""


def plays_another_part(reply: FoldedReply, question: AnswerQuestion, mention: Mention) -> bool:
    """Whether the question, or a text that is given, has the value otherwise: as an end and no start, of another."""
    told = _side(reply, mention)
    if mention.type in ("date", "time") and _is_other_side(question, told):
        return True
    for text in question.given:
        given = _reply_of(text, reply.now)
        same = [other for other in given.mentions if _are_alike(other, mention) and other.values & mention.values]
        if same and _is_turned(reply, given, mention, same):
            return True
        if same and _is_exchanged(reply, given, mention, same, is_reason=question.tell == "any"):
            return True
    return False


def _is_turned(reply: FoldedReply, given: FoldedReply, mention: Mention, same: Sequence[Mention]) -> bool:
    """Whether something ends in an answer on the day on which it starts in a text, or the other way round."""
    told, true = _side(reply, mention), {_side(given, other) for other in same}
    return told in ("start", "end") and len(true) == 1 and true <= {"start", "end"} and told not in true


def _side(reply: FoldedReply, mention: Mention) -> str:
    first, _ = reply.text.sentence(mention.start)
    before = BREAK.split(reply.folded[max(first, mention.start - REACH) : mention.start])[-1]
    if _START.search(before):
        return "start"
    if _END.search(before):
        return "not until" if _NOT.search(before) and not _END_OF_IT.search(before) else "end"
    return ""


def _is_other_side(question: AnswerQuestion, told: str) -> bool:
    """Whether the question asks for an end and a start is told, or the other way round."""
    if question.tell == "any" or not told:
        return False
    if _ASKED_END.search(question.subject):
        return told != "end"
    return _ASKED_START.search(question.subject) is not None and told == "end"


def _is_exchanged(
    reply: FoldedReply, given: FoldedReply, mention: Mention, same: Sequence[Mention], *, is_reason: bool
) -> bool:
    """Whether the words beside two values of a text stand beside each other's in an answer."""
    own = {word for other in same for word in _beside(given, other)}
    for rival in given.mentions:
        if not _are_alike(rival, mention) or rival in same or rival.is_weak:
            continue
        theirs = _beside(given, rival)
        mine, others = own - theirs, theirs - own
        there = [one for one in reply.mentions if _are_alike(one, rival) and one.values & rival.values]
        if there and _leans(reply, mention, others, mine) and all(_leans(reply, one, mine, others) for one in there):
            return True
        near = [one for one in there if reply.text.sentence(one.start) == reply.text.sentence(mention.start)]
        if (
            is_reason
            and near
            and all(
                _has_more(reply, one, mention, mine, others) or _has_more(reply, mention, one, others, mine)
                for one in near
            )
        ):
            return True
    return False


def _are_alike(one: Mention, other: Mention) -> bool:
    """Whether two values are of one type. An amount may go without its currency."""
    return one.type == other.type or {one.type, other.type} == {"amount", "number"}


def _leans(reply: FoldedReply, mention: Mention, to: set[str], away: set[str]) -> bool:
    """Whether more words beside a value are of the one set than of the other."""
    beside = _beside(reply, mention)
    return len(beside & to) > len(beside & away)


def _has_more(reply: FoldedReply, rival: Mention, mention: Mention, mine: set[str], others: set[str]) -> bool:
    """Whether a rival has more of a value's own words beside it than the value has, and no more of its own."""
    theirs, own = _beside(reply, rival), _beside(reply, mention)
    return len(theirs & mine) > len(own & mine) and len(own & others) >= len(theirs & others)


def _beside(reply: FoldedReply, mention: Mention) -> set[str]:
    return set(content_words(reply.clause(mention.start, mention.end)))


@lru_cache(maxsize=256)
def _reply_of(text: str, now: datetime) -> FoldedReply:
    return FoldedReply(Text.of(text), now)
