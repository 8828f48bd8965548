"""Amounts, counts, dates, times and durations: the value is told, for certain, of what was asked, and no other one."""

import re
from collections.abc import Iterator

from servers.answer.checks.acts import is_another_act
from servers.answer.checks.disputes import disputes
from servers.answer.checks.fact_values import TODAY, FactValues, given_mentions
from servers.answer.checks.labels import TextSpan, is_labelled, is_of_a_stranger
from servers.answer.checks.nothing import is_nothing_such, tells_zero
from servers.answer.checks.reply import parts
from servers.answer.checks.rivals import ONE
from servers.answer.checks.roles import plays_another_part
from servers.answer.checks.subjects import is_said_of_another
from servers.answer.expected_fact import READ_AS
from servers.answer.mention import Mention
from servers.answer.names import occurrences, root, stem
from servers.answer.question import content_words, label_words, topic

_ONLY = re.compile(r"\b(?:just|only|number|nur|solo) $")
_UNTIL = re.compile(
    r"\b(?:until|till|to|ends?|clos\w+|latest|last|through|by when|window|slot|long|land\w*|arriv\w*)\b"
)
_TO = re.compile(r" ?(?:-|to|until|till|bis) ?")
_NEXT = re.compile(r"[,:;(]| - | but | so | because | since | while ")
_NOT_DONE = re.compile(r"(?:\bnot|n't|\bnever) (?:be |been |to be )?(\w+)")
_IS_TO_DO = re.compile(r"\b(?:still|to be|unpaid|missing|outstanding|open)\b")
"""What is asked is itself what was not done."""
MOST_WORDS_OF_A_VALUE = 4
"""An answer of so few words may be the mere value: "just one"."""


class ValueTold(FactValues):
    """What an answer says of one fact with a value."""

    def faults(self) -> Iterator[str]:
        """Why the answer does not tell the value, if it does not."""
        right = [mention for mention in self.there if self.fits(mention)]
        if any(self.reply.stands(mention) in ("doubted", "asked") for mention in right if not mention.is_weak):
            yield "it hedges"
        told = [mention for mention in right if self._is_surely_told(mention)]
        if not told and tells_zero(self):
            yield from disputes(self, told, right)
            return
        if not told:
            yield "it is not told"
            return
        own = [mention for mention in told if not self._is_of_something_else(mention)]
        told = self._plainest(own)
        if not told:
            yield "the value is told of something else"
            return
        yield from self.doubts([mention.place for mention in told])
        if all(self._is_on_another_day(mention) for mention in told):
            yield "it is told of another day"
        if not tells_zero(self) and any(is_nothing_such(self, mention) for mention in told):
            yield "it says that there is nothing such"
        yield from disputes(self, told, right)

    def _is_surely_told(self, mention: Mention) -> bool:
        """Whether a value is told, and is no mere "one" or "both" in a sentence about something else."""
        is_reason = self.question.tell == "any"
        if self.reply.stands(mention, is_reason=is_reason) != "told" or self._is_denied_behind(mention):
            return False
        if self.one.fact.type != "count" or self.reply.said(mention) not in ONE:
            return True
        is_all = len(self.reply.folded.split()) <= MOST_WORDS_OF_A_VALUE or self.reply.folded[mention.end :][:1] == ","
        if is_all or self.reply.said(mention) == "both":
            return is_all or stem(mention.unit) in self.question.words
        words = set(content_words(" ".join(self.reply.windows(mention.start, mention.end)[:-1])))
        before = self.reply.folded[max(0, mention.start - 8) : mention.start]
        return bool(words & self.question.words) or _ONLY.search(before) is not None

    def _is_on_another_day(self, mention: Mention) -> bool:
        """Whether a time of today, which is a reason, is told beside the date of another day."""
        if self.one.fact.type != "time" or self.question.tell != "any":
            return False
        day = mention.beside
        return day is not None and not self.is_about_now(day) and not self.may_stand(day)

    def _is_denied_behind(self, mention: Mention) -> bool:
        """Whether what is asked for is denied of it behind: "the 1280 for the course are not refunded"."""
        if self.question.tell == "any" or _IS_TO_DO.search(self.question.subject):
            return False
        _, last = self.reply.text.sentence(mention.start)
        clause = _NEXT.split(self.reply.folded[mention.end : last])[0]
        asked = set(map(root, self.question.words))
        return any(root(stem(found[1])) in asked for found in _NOT_DONE.finditer(clause))

    def _plainest(self, told: list[Mention]) -> list[Mention]:
        """The mentions that are surely of the type, where there are any."""
        first = READ_AS[self.one.fact.type][0]
        return [mention for mention in told if mention.type == first and not mention.is_weak] or told

    def _is_of_something_else(self, mention: Mention) -> bool:
        place = mention.place
        return (
            self.is_of_another(place)
            or (not self._is_named(place) and is_of_a_stranger(self.reply, self.question, place))
            or plays_another_part(self.reply, self.question, mention)
            or is_labelled(self.reply, self.one, self.question, place, self.asked)
            or self._is_swapped(mention)
            or self._ends_a_span(mention)
            or self._counts_others(mention)
            or self._has_another_act(mention)
            or is_said_of_another(self.reply, self.question, mention, self.one.fact.type)
        )

    def _has_another_act(self, mention: Mention) -> bool:
        """Whether something else is said to have happened to it than what the question asks for."""
        if self.question.tell == "any":
            return False
        first, last = self.reply.text.sentence(mention.start)
        before, behind = self.reply.folded[first : mention.start], self.reply.folded[mention.end : last]
        return is_another_act(parts(before)[-1], parts(behind)[0], self.question.subject)

    def _is_named(self, place: TextSpan) -> bool:
        """Whether the words that the fact itself is about stand in its clause."""
        clause = self.reply.clause(*place)
        return any(True for word in self.one.about for _ in occurrences(clause, word))

    def _counts_others(self, mention: Mention) -> bool:
        """Whether it counts things that the task names for something else."""
        return (
            self.one.fact.type == "count"
            and self.question.tell == "all"
            and bool(topic(mention.unit) & self.question.other_topics)
        )

    def _ends_a_span(self, mention: Mention) -> bool:
        """Whether something only ends then, and nobody asked when it does: "08:00-09:00" does not tell nine."""
        if self.question.tell == "any" or self.one.fact.type != "time" or _UNTIL.search(self.question.subject):
            return False
        return any(
            other.type == "time"
            and other.end <= mention.start
            and not self.fits(other)
            and _TO.fullmatch(self.reply.folded[other.end : mention.start]) is not None
            for other in self.there
        )

    def _is_swapped(self, mention: Mention) -> bool:
        """Whether the question's words stand beside a value that the task gives, and hardly beside this one."""
        if self.question.tell == "any" or self.one.fact.type not in ("amount", "count", "date"):
            return False
        rivals = [m for m in self.there if m.type == mention.type and self._may_be_taken(m, mention)]
        told = [rival for rival in rivals if self.reply.stands(rival) == "told"]
        first, last = self.reply.text.sentence(mention.start)
        own = len(self._asked_beside(mention))
        beside = [rival for rival in told if first <= rival.start < last or self.one.fact.type == "count"]
        if any(len(self._asked_beside(rival)) > 1 + (max(1, own) if self.is_asked(rival) else own) for rival in beside):
            return True
        if self.one.fact.type == "count":
            return False
        named = set(label_words(self.reply.folded[first:last]))
        there = len(named & (self.question.words | self.question.own_names))
        for rival in told:
            *near, _ = self.reply.windows(rival.start, rival.end)
            words = set(content_words(" ".join(near))) & self.question.words
            if self.is_asked(rival) and len(words) > there + 1:
                return True
            if len(words) > there + 2 and len(words & self.question.plain_words) > 1:
                return True
        return False

    def _may_be_taken(self, rival: Mention, mention: Mention) -> bool:
        """Whether a value could be meant in place of one: of the same unit, if it is a count."""
        if rival.is_weak or self.fits(rival) or self.reply.said(rival) in TODAY:
            return False
        if any(one.values & rival.values for one in given_mentions(self.question.subject, self.reply.now)):
            return False
        return self.one.fact.type != "count" or (mention.unit != "" and stem(rival.unit) == stem(mention.unit))

    def _asked_beside(self, mention: Mention) -> set[str]:
        """The words of the question, apart from names, that stand beside a value."""
        clause = set(content_words(self.reply.clause(mention.start, mention.end))) & self.question.plain_words
        first, last = self.reply.text.sentence(mention.start)
        if self.one.fact.type == "count":
            return clause
        return clause or set(content_words(self.reply.folded[first:last])) & self.question.plain_words
