"""A scenario's answer in other words: right paraphrases must earn reward 1, wrong ones less.

Whole answers are in the bundle's `paraphrases.json`. A scenario without them gets answers from templates: those for
questions of phrases, else everyday ones for the type of the fact. Where an answer is judged by its last line, a right
one has its words above the line and its values there, and a wrong one has its words in the line.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import NamedTuple

from servers.answer.fact import Cell, Fact
from servers.answer.line.demanded import DemandedAnswer
from servers.bundle.paraphrases import VALUE_HOLE, OtherWords, Paraphrases, read_paraphrases
from servers.bundle.phrases import HOLE, Phrases, Tell
from servers.errors import BundleError
from servers.scenario.checkpoints.answer import AnswerCheckpoint
from servers.text.json_leaves import leaf
from synth.certify.value_forms import ValueForms
from synth.solutions.answer_facts import fact_of, gives
from synth.solutions.call_run import PlayedCall
from synth.solutions.last_line import HEAD, REASON_HEAD, answers_of
from synth.solutions.reference_run import ReferenceRun

EVERYDAY = Path(__file__).with_name("everyday.json")
QUESTION = re.compile(r"Does the answer tell (?P<asked>.+): .+\?")
REASON = "What stands in the way"
NEARBY = (1, -1, 2, -2, 3, 10)
"""Distances of wrong counts, whole amounts, days and hours from the right ones, in order of trial."""


class Paraphrase(NamedTuple):
    """A last message, and whether it is right."""

    text: str
    is_right: bool


@dataclass(frozen=True)
class ParaphrasedFact:
    """One fact that is asked for: its templates, a wrong value, and its subject."""

    fact: Fact
    words: OtherWords
    other: Cell
    asked: str
    is_reason: bool = False

    def filled(self, template: str, forms: ValueForms, *, labelled: bool) -> str:
        """A template with its values. It names its subject if there are other facts."""
        values = {"value": _value(self.fact), "other": self.other}
        text = VALUE_HOLE.sub(lambda hole: forms.written(self.fact.type, values[hole["which"]], hole["form"]), template)
        return f"- {self.asked}: {text}" if labelled else text

    def in_line(self, template: str, forms: ValueForms, *, is_wrong: bool = False) -> str:
        """What the last line says of the fact: its value in the form of a template, or a wrong template's words."""
        found = VALUE_HOLE.search(template)
        form = found["form"] if found else None
        text = forms.written(self.fact.type, _value(self.fact), form)
        if is_wrong:
            text = self.filled(template, forms, labelled=False)
        return f"{REASON_HEAD}{text}" if self.is_reason else text


def judged_answers(reference: ReferenceRun) -> list[AnswerCheckpoint]:
    """The checkpoints of a scenario that judge its answer."""
    return [one for one in reference.scenario.checkpoints if isinstance(one, AnswerCheckpoint)]


def paraphrases_of(reference: ReferenceRun) -> list[Paraphrase]:
    """Right and wrong answers to a scenario. Empty if nobody wrote any.

    Raises:
        BundleError: the bundle's paraphrases cannot be read, or a template has an invalid form.
    """
    problems, written = read_paraphrases(reference.environment.folder)
    if problems:
        raise BundleError(problems[0])
    own = written.scenarios.get(reference.scenario.id)
    words = _with_lines(own, reference) if own else _composed(reference, written)
    return [
        *(Paraphrase(text, is_right=True) for text in words.right),
        *(Paraphrase(text, is_right=False) for text in words.wrong),
    ]


def _with_lines(words: OtherWords, reference: ReferenceRun) -> OtherWords:
    """Whole answers. Where the last line is judged, right ones end with it, and wrong ones are in it.

    One that has a line of its own stays as it is.
    """
    asked = answers_of(reference.scenario)
    if not any(one.last_line for one in asked):
        return words
    _, _, line = reference.answer.rpartition(f"\n{HEAD}")
    return OtherWords(
        right=tuple(text if DemandedAnswer.of(text) else f"{text}\n{HEAD}{line}" for text in words.right),
        wrong=tuple(text if DemandedAnswer.of(text) else f"{HEAD}{text}" for text in words.wrong),
    )


def _composed(reference: ReferenceRun, written: Paraphrases) -> OtherWords:
    """Answers from templates: a right one has each fact right, and a wrong one all but one."""
    checkpoints = judged_answers(reference)
    asked = [_question(one, checkpoints, reference, written) for one in checkpoints]
    questions = [one for one in asked if one is not None]
    if len(questions) < len(asked) or not questions:
        return OtherWords()
    forms = ValueForms(reference.phrases.currency, reference.window.first)
    if any(one.last_line for one in checkpoints):
        return _composed_lines(questions, forms)
    labelled = len(questions) > 1
    right = [
        "\n".join(one.filled(template, forms, labelled=labelled) for one, template in zip(questions, row, strict=True))
        for row in zip(*(one.words.right for one in questions), strict=False)
    ]
    wrong = [
        "\n".join(
            one.filled(_turned(one, at, is_wrong=one is questions[at % len(questions)]), forms, labelled=labelled)
            for one in questions
        )
        for at in range(min(len(one.words.wrong) for one in questions))
    ]
    return OtherWords(right=tuple(dict.fromkeys(right)), wrong=tuple(dict.fromkeys(wrong)))


def _composed_lines(questions: Sequence[ParaphrasedFact], forms: ValueForms) -> OtherWords:
    """The same with last lines: right words above right values, and wrong words in the line of one of the values."""
    labelled = len(questions) > 1
    right: list[str] = []
    for row in zip(*(one.words.right for one in questions), strict=False):
        told = [(one, template) for one, template in zip(questions, row, strict=True)]
        above = "\n".join(one.filled(template, forms, labelled=labelled) for one, template in told)
        line = "; ".join(one.in_line(template, forms) for one, template in told)
        right.append(f"{above}\n{HEAD}{line}")
    wrong = [
        HEAD
        + "; ".join(
            one.in_line(_turned(one, at, is_wrong=is_wrong), forms, is_wrong=is_wrong)
            for one in questions
            for is_wrong in [one is questions[at % len(questions)]]
        )
        for at in range(min(len(one.words.wrong) for one in questions))
    ]
    return OtherWords(right=tuple(dict.fromkeys(right)), wrong=tuple(dict.fromkeys(wrong)))


def _turned(question: ParaphrasedFact, at: int, *, is_wrong: bool) -> str:
    """The template for a fact in a wrong answer: wrong for one fact, right for the others."""
    of = question.words.wrong if is_wrong else question.words.right
    return of[at % len(of)]


def _question(
    checkpoint: AnswerCheckpoint, beside: Sequence[AnswerCheckpoint], reference: ReferenceRun, written: Paraphrases
) -> ParaphrasedFact | None:
    """The question of a checkpoint, if it is one literal value, or one of several reasons."""
    is_reason = checkpoint.tell == "any"
    fact = next(iter(checkpoint.facts), None)
    if fact is None or checkpoint.silent or checkpoint.silent_sql or (checkpoint.facts[1:] and not is_reason):
        return None
    words = _words_for(fact, checkpoint.question, reference, written, is_reason=is_reason)
    other = _wrong_value(fact, [one for each in beside for one in each.facts], checkpoint.given)
    found = QUESTION.fullmatch(checkpoint.question)
    asked = REASON if is_reason else found["asked"].rstrip(".") if found else ""
    if fact.value is None or words is None or other is None or not (asked or len(beside) == 1):
        return None
    return ParaphrasedFact(fact, words, other, f"{asked[:1].upper()}{asked[1:]}", is_reason)


def _words_for(
    fact: Fact, question: str, reference: ReferenceRun, written: Paraphrases, *, is_reason: bool
) -> OtherWords | None:
    tell = None if is_reason else _tell_of(fact, question, reference.made, reference.phrases)
    own = written.tells.get(tell[0], {}).get(tell[1].value) if tell else None
    return own or _everyday().tells["why" if is_reason else "told"].get(fact.type)


def _tell_of(fact: Fact, question: str, made: Sequence[PlayedCall], phrases: Phrases) -> tuple[str, Tell] | None:
    """The phrase that asks for a fact: a call returned its value there, and its words match best."""
    likely = [
        (SequenceMatcher(None, HOLE.sub("", tell.ask), question).ratio(), one.step.tool, tell)
        for one in made
        for tell in phrases.tells.get(one.step.tool, ())
        if _is_value(fact, tell.value, one)
    ]
    return max(likely, key=lambda one: one[0])[1:] if likely else None


def _is_value(fact: Fact, path: str, made: PlayedCall) -> bool:
    given = fact_of(path.rpartition(".")[2], leaf(made.outcome.structured, path))
    return given is not None and (given.type, given.value) == (fact.type, fact.value)


@cache
def _everyday() -> Paraphrases:
    return Paraphrases.model_validate_json(EVERYDAY.read_text(encoding="utf-8"))


def _value(fact: Fact) -> Cell:
    return fact.value if isinstance(fact.value, str | int | float) else None


def _wrong_value(fact: Fact, beside: Sequence[Fact], given: Sequence[str]) -> Cell:
    """A wrong value: one that could be confused with the right one, else one nearby.

    It is no value of another fact, and none that the task gives.
    """
    true = {str(value) for one in beside for value in (one.value, *one.also)}
    for other in (*fact.confusable, *_nearby(fact)):
        wrong = fact.model_copy(update={"value": other})
        if str(other) not in true and not any(gives(text, wrong) for text in given):
            return other
    return None


def _nearby(fact: Fact) -> Iterator[Cell]:
    value = _value(fact)
    for step in NEARBY:
        if fact.type == "date":
            yield (date.fromisoformat(str(value)) + timedelta(days=step)).isoformat()
        elif fact.type == "time":
            yield (datetime.strptime(str(value), "%H:%M") + timedelta(hours=step)).strftime("%H:%M")
        elif fact.type in ("amount", "count") and isinstance(value, int | float) and value + step > 0:
            yield value + step
