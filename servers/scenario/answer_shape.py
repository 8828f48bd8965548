"""The shape of an answer, in words for the agent: its last line, or JSON with a key for each fact that is asked for."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from servers.answer.checks.verdict import verdicts
from servers.answer.expected_fact import ExpectedFact
from servers.answer.fact import Fact
from servers.answer.question import AnswerQuestion, demands_a_line
from servers.answer.shapes.form import MESSAGE, REASON
from servers.records import AnswerFormat
from servers.scenario.checkpoints.answer import AnswerCheckpoint
from servers.scenario.scenario import Scenario

_KINDS = {
    "amount": "an amount",
    "count": "a number",
    "date": "a date",
    "time": "a time of day",
    "duration": "a duration",
    "name": "a name",
    "choice": "a name",
    "list": "names with commas between, or none",
    "none": "names with commas between, or none",
    "yes_no": "yes or no",
}
"""The form of each value. That there is nothing such is asked for as a list is, which gives nothing away."""
_ITEMS = {
    r"\d{4}-\d\d-\d\d": "dates with commas between, or none",
    r"\d\d:\d\d": "times of day with commas between, or none",
}
"""The form of a list, by what its items are."""
_FRAME = re.compile(r"^Does the (?:answer|report) (?:tell|name|say|give|state|mention) ")
_HEAD = "Answer in your last message with one JSON object and nothing else. Its keys:"
_VALUES = "End your last message with this line, with each value in place of its brackets and nothing else:"
_WHY = re.compile(r"\bwhy\b", re.IGNORECASE)
_PROPOSED = "forward"
"""The tag of tasks whose reasons no checkpoint holds, though some ask why."""
_REASON = (
    "If a date, a time or an amount stood in the way of something, and you were asked why, it stands there too: "
    "`; reason: 3 April`. Otherwise no reason stands there."
)
_REASON_ABOVE = "A reason stands above that line, and not in it."
_REASON_ALONE = (
    "If a date, a time or an amount stood in the way of something, end your last message with a line that has it and "
    "nothing else: `Answer: reason: 3 April`."
)
_ALONE = (
    "Each value stands alone, without words around it: `3 April`, and not `due on 3 April`; `5`, and not `5 tickets`."
)
_ONLY_THERE = (
    "Values are read from that line alone, and each of them whole. A date has its day and its month, and a name is the "
    "one that it has here."
)
_UNDESCRIBED = "what was asked for"


def task_asking(scenario: Scenario, clock: str, answers: AnswerFormat = "text") -> str:
    """The task as an agent is told it: behind it the form of its last line, or the keys of a submitted answer.

    `clock` is the scenario's time as ISO 8601. In a conversation the user ends the episode, so the task stays as it is.
    """
    checkpoints = [one for one in scenario.checkpoints if isinstance(one, AnswerCheckpoint)]
    asked = [one.written() for one in checkpoints]
    now = datetime.fromisoformat(scenario.clock or clock)
    if scenario.persona or (answers == "text" and not demands_a_line(asked)):
        return scenario.task
    asks_why = _WHY.search(scenario.task) is not None and _PROPOSED not in scenario.tags
    has_reason = asks_why or any(one.tell == "any" for one in checkpoints)
    if answers == "text":
        return f"{scenario.task}\n\n{last_line(checkpoints, now, has_reason=has_reason)}"
    return f"{scenario.task}\n\n{answer_shape(asked, now, has_reason=has_reason)}"


def last_line(checkpoints: Sequence[AnswerCheckpoint], now: datetime, *, has_reason: bool) -> str:
    """The form of the last line of an answer: what stands in it, in which order.

    It names no value. `has_reason`: a reason may stand there. That is said wherever a task asks why, whether or not
    something is refused, so it does not give away that something will be.
    """
    own = [one for one in checkpoints if one.facts and one.tell == "all"]
    if not own:
        return f"{_REASON_ALONE} {_ONLY_THERE}"
    reason = _REASON if has_reason else _REASON_ABOVE
    return f"{_VALUES}\nAnswer: {'; '.join(_place(one, now) for one in own)}\n{_ALONE} {reason} {_ONLY_THERE}"


def _place(checkpoint: AnswerCheckpoint, now: datetime) -> str:
    """What stands in the place of a value: its type, and the question in words."""
    (fact,) = checkpoint.facts
    question = checkpoint.written()
    described = next((_described(question, one, now) for one in question.wanted), "") or _subject(checkpoint)
    return f"[{_kind(fact)}: {described or _UNDESCRIBED}]"


def _kind(fact: Fact) -> str:
    """The form of a fact's value. A list has dates, times or names."""
    items = [str(value) for value in fact.value] if isinstance(fact.value, tuple) else []
    for form, words in _ITEMS.items():
        if items and all(re.fullmatch(form, item) for item in items):
            return words
    return _KINDS.get(fact.type, "a value")


def _subject(checkpoint: AnswerCheckpoint) -> str:
    """The words of a question whose value a SELECT gives: they cannot have it."""
    return _words(checkpoint.question) if checkpoint.facts[0].sql is not None else ""


def answer_shape(questions: Sequence[AnswerQuestion], now: datetime, *, has_reason: bool) -> str:
    """The keys of a submitted answer, in words for the agent.

    A fact has a key of its own if its question describes it without its value. All else goes into the message, so
    that the keys give away neither a value nor that something will be refused. `has_reason` is as in `last_line`.
    """
    asked = (
        (one, _described(question, one, now) or (_UNDESCRIBED if _has_a_key(question) else ""))
        for question in questions
        for one in question.wanted
    )
    keys = [f'- "{one.fact.name}": {_kind(one.fact)}: {words}' for one, words in asked if words]
    reason = [f'- "{REASON}": a date, a time or an amount, if one stood in the way of something']
    message = f'- "{MESSAGE}": what else is to be told, in words'
    return "\n".join((_HEAD, *keys, *(reason if has_reason and demands_a_line(questions) else ()), message))


def _has_a_key(question: AnswerQuestion) -> bool:
    """Whether the value of a question must stand under a key of its own, whatever its words give away."""
    return question.last_line and question.tell == "all"


def _described(question: AnswerQuestion, one: ExpectedFact, now: datetime) -> str:
    """The question of a fact without its value, or nothing if that gives the value away."""
    if question.tell == "any" or len(question.wanted) > 1 or one.fact.type not in _KINDS:
        return ""
    words = _words(question.asked)
    return "" if not words or any(_tells(one, part, now) for part in _parts(words)) else words


def _words(asked: str) -> str:
    return _FRAME.sub("", asked.rpartition(": ")[0]).strip(" .?")


def _parts(words: str) -> Iterator[str]:
    yield words
    yield from re.findall(r"[\w’'.-]+", words)


def _tells(one: ExpectedFact, text: str, now: datetime) -> bool:
    return verdicts([AnswerQuestion((one,))], text, now)[0].holds
