"""Whether an answer tells what was asked, and nothing that could be taken for it.

Telling is exclusive. An answer that also tells another value of the type, lists candidates, hedges, takes back
what it told or is longer than a person would write does not tell the fact, whatever else it holds.

Where an answer ends with a line "Answer: 42 euros", the values that were asked for are told there and nowhere else.
Questions may demand that line. An answer without it then tells nothing, and free text is not judged at all.
"""

import re
from collections.abc import Sequence
from datetime import datetime

from servers.answer.checks.labels import Asked
from servers.answer.checks.line_told import LineTold, asks_for_a_line, demands_a_line, stranger_in_reason
from servers.answer.checks.names import NameTold
from servers.answer.checks.question import AnswerQuestion, FactVerdict
from servers.answer.checks.reply import FoldedReply
from servers.answer.checks.rivals import strangers
from servers.answer.checks.roles import has_no_such_side
from servers.answer.checks.values import ValueTold
from servers.answer.checks.yes_no import tells_none, tells_side
from servers.answer.expected_fact import READ_AS, ExpectedFact
from servers.answer.names import occurrences
from servers.answer.shapes.answer_line import read_line
from servers.answer.shapes.form import LONGEST_SENTENCE, REASON, Form, read_form, unreadable
from servers.answer.stance import UNDECIDED
from servers.answer.text import Text, folded

NO_LINE = "the answer has no last line that begins with 'Answer:', where its values stand"
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
    reply = FoldedReply(Text.of(form.text), now, tuple(one for _, one in asked))
    if reply.longest_sentence > LONGEST_SENTENCE:
        problem = f"a sentence has {reply.longest_sentence} characters; a person would write {LONGEST_SENTENCE} at most"
        return [FactVerdict(False, problem) for _ in questions]
    line = read_line(answer) if form.submitted is None and (is_demanded or asks_for_a_line(questions)) else None
    told = None if line is None else LineTold(line, reply, questions)
    return [
        FactVerdict(False, f"it tells {word!r}, which nobody may be told")
        if (word := _secret(question, text))
        else _demanded(question, told, reply, form, asked)
        if is_demanded and question.wanted
        else told.verdict(question)
        if told and question.wanted and question.tell == "all"
        else _verdict(question, reply, form, asked)
        for question in questions
    ]


def _demanded(
    question: AnswerQuestion, told: LineTold | None, reply: FoldedReply, form: Form, asked: Sequence[Asked]
) -> FactVerdict:
    """Whether an answer tells what is asked where the question demands it: in its last line, or under its key."""
    keys = form.submitted or {}
    missing = next((one.fact.name for one in question.wanted if one.fact.name not in keys), "")
    if form.submitted is None and told is None:
        verdict = FactVerdict(False, NO_LINE)
    elif question.tell == "any":
        verdict = _reason(question, told.reason if told else keys.get(REASON, ""), reply, asked)
    elif told:
        verdict = told.verdict(question)
    else:
        verdict = FactVerdict(False, f"{missing}: no key") if missing else _verdict(question, reply, form, asked)
    return verdict


def _reason(question: AnswerQuestion, text: str, reply: FoldedReply, asked: Sequence[Asked]) -> FactVerdict:
    """Whether a part of the last line, or what stands under its key, tells one of several reasons."""
    if not text:
        return FactVerdict(False, "no reason stands where the values stand")
    part = FoldedReply(Text.of(text), reply.now, reply.wanted)
    strange = stranger_in_reason(part, question, asked)
    if strange:
        return FactVerdict(False, f"{strange!r} stands beside the reason, which is a value and what it is of")
    if has_no_such_side(part, question):
        return FactVerdict(False, "the reason is told as a start or an end, which it is not")
    return _verdict(question, part, Form(text), asked)


def _secret(question: AnswerQuestion, text: str) -> str:
    """A word that nobody may be told, and that a text has."""
    return next((word for word in question.silent if any(True for _ in occurrences(text, word))), "")


def _verdict(question: AnswerQuestion, reply: FoldedReply, form: Form, asked: Sequence[Asked]) -> FactVerdict:
    if not question.wanted:
        return FactVerdict(True)
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
    reply: FoldedReply, question: AnswerQuestion, seen: Sequence[FactVerdict], asked: Sequence[Asked]
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


def _tells(reply: FoldedReply, one: ExpectedFact, question: AnswerQuestion, asked: Sequence[Asked]) -> FactVerdict:
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
