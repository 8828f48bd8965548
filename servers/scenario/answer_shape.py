"""The JSON shape in which an answer may be submitted: a key for each fact that the task asks for, and a message."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from servers.answer.checks.question import AnswerQuestion
from servers.answer.checks.verdict import verdicts
from servers.answer.expected_fact import ExpectedFact
from servers.answer.shapes.form import MESSAGE
from servers.records import AnswerFormat
from servers.scenario.checkpoints.answer import AnswerCheckpoint
from servers.scenario.scenario import Scenario

_KINDS = {
    "amount": "an amount",
    "count": "a number",
    "date": "a date",
    "time": "a time",
    "duration": "a duration",
    "name": "a name",
    "choice": "a choice",
    "list": "a list",
    "yes_no": "yes or no",
}
_FRAME = re.compile(r"^Does the (?:answer|report) (?:tell|name|say|give|state|mention) ")
_HEAD = "Answer in your last message with one JSON object and nothing else. Its keys:"


def task_asking(scenario: Scenario, clock: str, answers: AnswerFormat) -> str:
    """The task of a scenario, and behind it the keys of a submitted answer where JSON is wanted.

    `clock` is the scenario's time as ISO 8601. In a conversation the user ends the episode, so the task stays as it is.
    """
    if answers == "text" or scenario.persona:
        return scenario.task
    asked = [one.written() for one in scenario.checkpoints if isinstance(one, AnswerCheckpoint)]
    return f"{scenario.task}\n\n{answer_shape(asked, datetime.fromisoformat(clock))}"


def answer_shape(questions: Sequence[AnswerQuestion], now: datetime) -> str:
    """The keys of a submitted answer, in words for the agent.

    A fact has a key of its own if its question describes it without its value. All else goes into the message, so
    that the keys give away neither a value nor that something will be refused.
    """
    asked = ((one, _described(question, one, now)) for question in questions for one in question.wanted)
    keys = [f'- "{one.fact.name}": {_KINDS[one.fact.type]}: {words}' for one, words in asked if words]
    return "\n".join((_HEAD, *keys, f'- "{MESSAGE}": what else is to be told, in words'))


def _described(question: AnswerQuestion, one: ExpectedFact, now: datetime) -> str:
    """The question of a fact without its value, or nothing if that gives the value away."""
    if question.tell == "any" or len(question.wanted) > 1 or one.fact.type not in _KINDS:
        return ""
    words = _FRAME.sub("", question.asked.rpartition(": ")[0]).strip(" .?")
    return "" if not words or any(_tells(one, part, now) for part in _parts(words)) else words


def _parts(words: str) -> Iterator[str]:
    yield words
    yield from re.findall(r"[\w’'.-]+", words)


def _tells(one: ExpectedFact, text: str, now: datetime) -> bool:
    return verdicts([AnswerQuestion((one,))], text, now)[0].holds
