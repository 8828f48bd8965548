"""Wrong last words: nothing, a bare claim, a refusal, and the right words with other numbers and names."""

import re
from datetime import date
from typing import Any

from synth.play.values import day_in, later
from synth.solutions.plausible_values import RowSample
from synth.solutions.value_texts import MONTHS

IDLE = ""
CLAIM = "All done, as you asked."
REFUSAL = "I'm sorry, I cannot do that."
ASKS = re.compile(
    r"\b(tell|telling|inform|need to know|let (me|us|her|him|them) know)\b"
    r"|\b(who|what|when|how|which|where|why)\b[^.?!]*\?",
    re.IGNORECASE,
)
ISO = re.compile(r"\b\d{4}-\d\d-\d\d\b")
LATE_DAY = re.compile(rf"\b(?:2[89]|3[01])(?= (?:{'|'.join(MONTHS)})\b)")
TIME = r"\b\d\d:\d\d(?::\d\d)?\b"
NUMBER = re.compile(rf"{TIME}|\d+")
LONE_NUMBER = re.compile(rf"{TIME}|(?<![\d-])\d+(?![\d-])")


def asks(task: str) -> bool:
    """True if the words of a task ask to be told something."""
    return ASKS.search(task) is not None


def altered(answer: str, task: str, rows: RowSample) -> str:
    """The same words with every number, date and name changed that the task did not give."""
    text = counted_on(answer)
    for value, other in _names(answer, task, rows):
        text = text.replace(value, other)
    return text


def counted_on(answer: str) -> str:
    """The same words with each number one higher and each date a day later."""
    text = ISO.sub(lambda found: _later(found[0]), answer)
    if text != answer:
        return LONE_NUMBER.sub(lambda found: _higher(found[0]), text)
    text = LATE_DAY.sub(lambda found: str(int(found[0]) - 2), answer)  # so that it stays a day of its month
    return NUMBER.sub(lambda found: _higher(found[0]).zfill(len(found[0])), text)


def reworded(answer: str) -> list[str]:
    """The same answer with its dates and amounts in other forms."""
    found: list[str] = []
    days = ISO.findall(answer)
    if days:
        found.append(ISO.sub(lambda one: _written(one[0], "{day} {month} {year}"), answer))
        found.append(ISO.sub(lambda one: _written(one[0], "{month} {day}, {year}"), answer))
    comma = re.sub(r"(?<=\d)\.(?=\d\d\b)", ",", answer)
    if comma != answer:
        found.append(comma)
    return found


def _names(answer: str, task: str, rows: RowSample) -> list[tuple[str, str]]:
    """The rows' texts in an answer but not in the task, each with another of its column."""
    found: dict[str, str] = {}
    for table, lines in rows.rows.items():
        for column in rows.columns[table]:
            values: list[Any] = sorted({row[column] for row in lines if isinstance(row[column], str)})
            for index, value in enumerate(values):
                if len(value) > 3 and value in answer and value not in task and len(values) > 1:
                    found.setdefault(value, values[index - 1])
    return sorted(found.items(), key=lambda pair: -len(pair[0]))


def _higher(number: str) -> str:
    """A number one higher, or a time an hour later, so that it stays a time."""
    hour, colon, minutes = number.partition(":")
    return f"{(int(hour) + 1) % 24:02d}:{minutes}" if colon else str(int(number) + 1)


def _later(day: str) -> str:
    known = day_in(day)
    return day if known is None else later(known, 1).isoformat()


def _written(day: str, form: str) -> str:
    try:
        read = date.fromisoformat(day)
    except ValueError:
        return day
    return form.format(day=read.day, month=MONTHS[read.month - 1], year=read.year)
