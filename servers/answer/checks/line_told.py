"""What the last line of an answer tells, where the questions ask for values in words of their own.

Each value has a part of the line: behind the words that say what it is of, or in the order of the questions.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from servers.answer.checks.labels import AskedFact, TextSpan
from servers.answer.checks.names import NameTold
from servers.answer.checks.reply import FoldedReply
from servers.answer.checks.rivals import is_stranger, rivals
from servers.answer.checks.values import ValueTold
from servers.answer.expected_fact import READ_AS, ExpectedFact
from servers.answer.names import named, root, stem
from servers.answer.question import AnswerQuestion, FactVerdict
from servers.answer.shapes.answer_line import (
    AnswerLine,
    is_reason,
    says_none,
    strange_word,
    words_of,
    words_of_task,
)
from servers.answer.stance import UNSURE
from servers.answer.text import Text

LINE_TYPES = frozenset({*READ_AS, "name", "choice", "list"})
"""The types of values that are told by the line. "Yes" and "there is none" are read in the whole answer."""


def asks_for_a_line(questions: Sequence[AnswerQuestion]) -> bool:
    """Whether each value that is asked for has a question in words of its own. A reason is told above the line."""
    asked = [question for question in questions if question.wanted and question.tell == "all"]
    return bool(asked) and all(_has_a_part(question) for question in asked)


def _has_a_part(question: AnswerQuestion) -> bool:
    return question.is_described and len(question.wanted) == 1 and question.wanted[0].fact.type in LINE_TYPES


@dataclass(frozen=True)
class LineTold:
    """The last line of an answer to some questions that ask for one."""

    line: AnswerLine
    reply: FoldedReply
    """The whole answer."""
    questions: Sequence[AnswerQuestion]

    @property
    def now(self) -> datetime:
        """The present moment."""
        return self.reply.now

    @cached_property
    def _asked(self) -> list[AskedFact]:
        return [(question, one) for question in self.questions for one in question.wanted]

    @cached_property
    def _own(self) -> list[AskedFact]:
        """The values that the line has to tell."""
        return [(question, one) for question, one in self._asked if question.tell == "all"]

    def verdict(self, question: AnswerQuestion) -> FactVerdict:
        """Whether the line tells the value of a question, and nothing stands beside or above it in its place."""
        (one,) = question.wanted
        fault = next(self._faults(question, one), "")
        return FactVerdict(not fault, fault and f"{one.fact.name}: {fault}")

    def _faults(self, question: AnswerQuestion, one: ExpectedFact) -> Iterator[str]:
        part = self._parts.get(one.fact.name)
        if part is None:
            yield "it has no part of the answer's last line"
            return
        reply = self._read(part, (one,))
        told = _told(reply, one, question, [(question, one)])
        if isinstance(told, ValueTold):
            right = [found for found in told.there if told.fits(found)]
            values = [beside.place for found in right for beside in found.moment]
        else:
            values = self._named(reply, one)
        is_none = one.fact.type in ("amount", "count") and 0 in one.values
        strange = strange_word(reply.folded, values, self._words(question), is_none=is_none)
        if strange:
            yield f"{strange!r} stands in the answer's last line, which has the value and nothing else"
        if not (is_none and not reply.mentions and says_none(reply.folded)):
            yield from told.faults()
        if UNSURE.search(self.reply.folded):
            yield "it is not sure"
        yield from self._told_beside(question, one)
        yield from self._told_above(question, one)

    def _words(self, question: AnswerQuestion) -> frozenset[str]:
        """The words that may stand beside a value: of its question, and of the task if several values are told."""
        return words_of(question.subject) | words_of_task(question.given if len(self._own) > 1 else ())

    def _named(self, reply: FoldedReply, one: ExpectedFact) -> list[TextSpan]:
        """Where a part names a fact's own values."""
        return [place for name in one.values for place in named(reply.folded, str(name), self._others(one))]

    def _others(self, one: ExpectedFact) -> list[str]:
        """The names that could be taken for a fact's own."""
        return [str(other) for other in one.confusable]

    @cached_property
    def _values(self) -> AnswerLine:
        """The line without its parts that begin with a reason."""
        parts = tuple(part for part in self.line.parts if not is_reason(part))
        return AnswerLine(self.line.above, parts).split(len(self._own))

    @cached_property
    def _left_over(self) -> list[str]:
        """The parts of the line that tell no value of their own and do not begin with a reason."""
        told = Counter(self._parts.values())
        if len(self._own) == 1 and self._own[0][1].fact.type == "list":
            return []
        left: list[str] = []
        for part in self._values.parts:
            if told[part]:
                told[part] -= 1
            else:
                left.append(part)
        return left

    @cached_property
    def _has_reasons(self) -> bool:
        return any(question.tell == "any" for question in self.questions)

    @cached_property
    def _parts(self) -> Mapping[str, str]:
        """The part of the line that tells each fact, by the fact's name."""
        line = self._values
        if len(self._own) == 1 and self._own[0][1].fact.type == "list":
            return {self._own[0][1].fact.name: ", ".join(line.parts)}
        found: dict[str, list[str]] = {}
        free: list[str] = []
        for part in line.parts:
            owner = self._labelled(part)
            if owner is None:
                free.append(part)
            else:
                found.setdefault(owner, []).append(part)
        for question, one in self._own:
            if one.fact.name in found:
                continue
            part = next((part for part in free if self._may_tell(part, one, question)), None)
            if part is not None:
                free.remove(part)
                found[one.fact.name] = [part]
        return {name: parts[0] for name, parts in found.items()}

    def _labelled(self, part: str) -> str | None:
        """The fact whose question alone has a word of a part."""
        if len(self._own) == 1:
            return None
        words = {root(stem(word)) for word in words_of(part)}
        owners = [one.fact.name for question, one in self._own if words & self._distinct(question)]
        return owners[0] if len(owners) == 1 else None

    def _distinct(self, question: AnswerQuestion) -> frozenset[str]:
        """The roots of the words of a question that no other one has."""
        others = frozenset[str]().union(*(other.topic for other, _ in self._own if other is not question))
        return question.topic - others

    def _may_tell(self, part: str, one: ExpectedFact, question: AnswerQuestion) -> bool:
        """Whether a part has a value of a fact's type, or nothing that is a value."""
        reply = self._read(part, (one,))
        if one.fact.type not in READ_AS:
            names = (*one.values, *one.confusable)
            return not reply.mentions or any(named(reply.folded, str(name)) for name in names)
        told = ValueTold(reply, one, question, self._asked)
        return bool(told.there) or not reply.mentions

    def _told_beside(self, question: AnswerQuestion, one: ExpectedFact) -> Iterator[str]:
        """What the other parts of the line tell in a value's place, or take back."""
        reasons = [part for part in self.line.parts if is_reason(part)]
        for part in (*self._left_over, *reasons):
            reply = self._read(part, tuple(other for _, other in self._asked))
            if reply.corrections:
                yield "it takes back what it tells"
            if one.fact.type == "list":
                continue
            told = _told(reply, one, question, self._asked)
            if isinstance(told, ValueTold):
                may_stand = self._has_reasons or part in reasons
                others = (found for found in told.there if not (may_stand and told.may_stand(found)))
                yield from (f"it also tells {reply.said(found)!r}" for found in others)
            else:
                yield from told.others_told([str(value) for value in one.values], self._named(reply, one))

    def _told_above(self, question: AnswerQuestion, one: ExpectedFact) -> Iterator[str]:
        """What the words above the line tell in a value's place: one that it is confused with."""
        reply = self._read(self.line.above, tuple(other for _, other in self._asked))
        told = _told(reply, one, question, self._asked)
        if isinstance(told, ValueTold):
            right = [found for found in told.there if told.fits(found)]
            others = (found for found in rivals(told, right) if told.is_confusable(found) and is_stranger(told, found))
            yield from (f"it also tells {reply.said(found)!r}" for found in others)
        else:
            yield from told.others_told([str(value) for value in one.values], self._named(reply, one))

    def _read(self, text: str, wanted: tuple[ExpectedFact, ...]) -> FoldedReply:
        return FoldedReply(Text.of(text), self.now, wanted)


def _told(
    reply: FoldedReply, one: ExpectedFact, question: AnswerQuestion, asked: Sequence[AskedFact]
) -> ValueTold | NameTold:
    if one.fact.type in READ_AS:
        return ValueTold(reply, one, question, asked)
    return NameTold(reply, one, question, asked)
