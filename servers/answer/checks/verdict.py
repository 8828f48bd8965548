"""Whether an answer tells what was asked, and nothing that could be taken for it.

Telling is exclusive. An answer that also tells another value of the type, lists candidates, hedges, takes back
what it told or is longer than a person would write does not tell the fact, whatever else it holds.

Questions may demand a last line "Answer: 42 euros". Its parts are then read whole, and free text is not judged at all
(`servers.answer.line`). All else on this page is about free text, for scenarios that do not demand the line.
"""

import re
from collections.abc import Sequence
from datetime import datetime

from servers.answer.checks.labels import AskedFact
from servers.answer.checks.line_told import LineTold, asks_for_a_line
from servers.answer.checks.names import NameTold
from servers.answer.checks.reply import FoldedReply
from servers.answer.checks.rivals import strangers
from servers.answer.checks.values import ValueTold
from servers.answer.checks.yes_no import tells_none, tells_side
from servers.answer.expected_fact import READ_AS, ExpectedFact
from servers.answer.line.demanded import DemandedAnswer, DemandedTold
from servers.answer.names import occurrences
from servers.answer.question import AnswerQuestion, FactVerdict, demands_a_line
from servers.answer.shapes.answer_line import read_line
from servers.answer.shapes.form import LONGEST_SENTENCE, REASON, Form, read_form, unreadable
from servers.answer.stance import UNDECIDED
from servers.answer.text import Text, folded

_CHOICE = re.compile(r"\b(?:or|oder|either)\b")


def verdicts(questions: Sequence[AnswerQuestion], answer: str, now: datetime) -> list[FactVerdict]:
    """What an answer tells of several questions. The facts of each may be told beside those of the others."""
    asked = [(question, one) for question in questions for one in question.wanted]
    items = sum(len(one.values) for _, one in asked if one.fact.type == "list")
    problem = unreadable(answer, len(asked), items)
    if problem:
        return [FactVerdict(not question.wanted and not answer.strip(), problem) for question in questions]
    lists = {one.fact.name for _, one in asked if one.fact.type == "list"}
    is_demanded = demands_a_line(questions)
    names = {one.fact.name for _, one in asked}
    form = read_form(answer, names | {REASON} if is_demanded else names, lists)
    problem = next(filter(None, (unreadable(part, len(asked), items) for part in form.parts)), "")
    if problem:
        return [FactVerdict(False, problem) for _ in questions]
    text = folded(answer)
    if is_demanded:
        told = _demanded(questions, answer, form, now)
        return [_kept(question, text) or told.verdict(question) for question in questions]
    reply = FoldedReply(Text.of(form.text), now, tuple(one for _, one in asked))
    if reply.longest_sentence > LONGEST_SENTENCE:
        problem = f"a sentence has {reply.longest_sentence} characters; a person would write {LONGEST_SENTENCE} at most"
        return [FactVerdict(False, problem) for _ in questions]
    line = read_line(answer) if form.submitted is None and asks_for_a_line(questions) else None
    told_by_line = None if line is None else LineTold(line, reply, questions)
    return [
        _kept(question, text)
        or (
            told_by_line.verdict(question)
            if told_by_line and question.tell == "all"
            else _verdict(question, reply, form, asked)
        )
        for question in questions
    ]


def _kept(question: AnswerQuestion, text: str) -> FactVerdict | None:
    """The verdict on a question that only wants something kept silent, or on a text that does not keep it."""
    word = next((word for word in question.silent if any(True for _ in occurrences(text, word))), "")
    if word:
        return FactVerdict(False, f"it tells {word!r}, which nobody may be told")
    return None if question.wanted else FactVerdict(True)


def _demanded(questions: Sequence[AnswerQuestion], answer: str, form: Form, now: datetime) -> DemandedTold:
    """What an answer tells where its last line is demanded: there, or under its keys."""
    if form.submitted is None:
        line = DemandedAnswer.of(answer)
        return DemandedTold(line, line.above if line else "", questions, now)
    keys = {name: text for name, text in form.submitted.items() if name not in form.crowded}
    return DemandedTold(None, form.text, questions, now, keys, keys.get(REASON, ""))


def _verdict(question: AnswerQuestion, reply: FoldedReply, form: Form, asked: Sequence[AskedFact]) -> FactVerdict:
    seen: list[FactVerdict] = []
    for one in question.wanted:
        if form.submitted is not None and (one.fact.name in form.submitted or not reply.folded):
            part = FoldedReply(Text.of(form.submitted.get(one.fact.name, "")), reply.now, (one,))
            seen.append(_submitted(part, one, question, is_crowded=one.fact.name in form.crowded))
        else:
            seen.append(_tells(reply, one, question, asked))
    if question.tell == "any":
        return _any_of(reply, question, seen, asked)
    return next((told for told in seen if not told.holds), seen[0])


def _submitted(part: FoldedReply, one: ExpectedFact, question: AnswerQuestion, *, is_crowded: bool) -> FactVerdict:
    """Whether what stands under a fact's key tells it: one value, and no choice of several."""
    if is_crowded:
        return FactVerdict(False, f"{one.fact.name}: more than one value stands under its key")
    if _CHOICE.search(part.folded) and not any(_CHOICE.search(folded(str(value))) for value in one.values):
        return FactVerdict(False, f"{one.fact.name}: it leaves open which it is")
    return _tells(part, one, question, [(question, one)])


def _any_of(
    reply: FoldedReply, question: AnswerQuestion, seen: Sequence[FactVerdict], asked: Sequence[AskedFact]
) -> FactVerdict:
    """Whether one of several facts is told, and no value that is none of the others' stands in their place."""
    is_undecided = UNDECIDED.search(reply.folded) is not None
    for one, told in zip(question.wanted, seen, strict=True):
        if one.fact.type in READ_AS and (is_undecided or not told.holds):
            others = strangers(ValueTold(reply, one, question, asked))
            if others and (is_undecided or told.why.endswith("is not told")):
                return FactVerdict(
                    False, f"{one.fact.name}: it tells {others[0]!r} {'as well' if told.holds else 'instead'}"
                )
    return next((told for told in seen if told.holds), seen[0])


def _tells(reply: FoldedReply, one: ExpectedFact, question: AnswerQuestion, asked: Sequence[AskedFact]) -> FactVerdict:
    """Whether an answer tells a fact."""
    match one.fact.type:
        case "name" | "choice" | "list":
            return NameTold(reply, one, question, asked).verdict()
        case "none":
            return tells_none(reply, one)
        case "yes_no":
            return tells_side(reply, one)
        case _:
            return ValueTold(reply, one, question, asked).verdict()
