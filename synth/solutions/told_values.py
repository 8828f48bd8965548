"""Which values of a solution's calls its task tells, in whatever form people write them.

A value that is found is told. One that is not may be told all the same, in words that nobody thought of here: so what
is not found is still changed by mutants, unless the call leaves it open.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

from agent_client.references import REFERENCE
from servers.guest.sqlite.plain_text import plain_text
from servers.text.json_values import is_list, is_object
from synth.play.value_sources import DATE
from synth.solutions.call_run import PlayedCall
from synth.solutions.value_texts import DATETIME, MONTHS, NUMBERS, in_words, is_money, money

DAY_OF = re.compile(rf"\b(\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{'|'.join(MONTHS).lower()})|\d\d:\d\d)\b", re.IGNORECASE)
"""Digits of a task that are no number of their own: days and times."""
DAYS = [date(2024, 1, number).strftime("%A").lower() for number in range(1, 8)]


class ArgumentPlace(NamedTuple):
    """An argument of a call, which is named by its number in the solution."""

    call: int
    argument: str

    def __str__(self) -> str:
        return f"{self.call}.{self.argument}"


class ToldValue(NamedTuple):
    """A value that the task tells and a call passes on, or a row that it speaks of."""

    place: ArgumentPlace
    tool: str
    value: Any
    is_row: bool
    """Whether it was looked up: the task tells by which words."""


class TaskWords:
    """A task's words, for finding values in them."""

    def __init__(self, task: str, *, clock: str, choices: Mapping[str, str] | None = None) -> None:
        self._text = f" {plain(task)} "
        self._numbers = f" {plain(DAY_OF.sub(' ', task))} "
        self._today = date.fromisoformat(clock[:10])
        self._choices = choices or {}

    def tell(self, name: str, value: Any) -> bool:
        """Whether they tell the value of an argument."""
        if value is None or isinstance(value, bool):
            return False
        if is_list(value):
            return any(self.tell(name, one) for one in value)
        if is_object(value):
            return any(self.tell(key, one) for key, one in value.items())
        if isinstance(value, int | float):
            return any(f" {form} " in self._numbers for form in _numbers(name, value))
        text = str(value)
        if DATETIME.fullmatch(text):
            return self._has(self._days(text[:10])) and self._has(_times(text[11:16]))
        return self._has(self._days(text) if DATE.fullmatch(text) else self._texts(text))

    def _has(self, forms: Iterable[str]) -> bool:
        return any(f" {form} " in self._text for form in forms if form)

    def _texts(self, text: str) -> Iterator[str]:
        yield plain(text)
        yield plain(text.replace("_", " "))
        if text in self._choices:
            yield plain(self._choices[text])

    def _days(self, text: str) -> Iterator[str]:
        try:
            day = date.fromisoformat(text)
        except ValueError:
            return
        month, number = MONTHS[day.month - 1].lower(), day.day
        ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
        yield plain(text)
        for form in (f"{number}", f"{number:02d}", f"{number}{ending}"):
            yield from (f"{form} {month}", f"{form} of {month}", f"{month} {form}", f"{form} {month[:3]}")
            yield f"{month[:3]} {form}"
        yield f"the {number}{ending}"
        yield from (f"{number:02d} {day.month:02d}", f"{day.month:02d} {number:02d}", f"{number} {day.month}")
        ahead = day - self._today
        if ahead in (timedelta(0), timedelta(1), timedelta(-1)):
            yield ("today", "tomorrow", "yesterday")[ahead.days]
        if timedelta(0) <= ahead <= timedelta(14):
            yield DAYS[day.weekday()]


def plain(text: str) -> str:
    """A text as `plain_text` has it; one too long for that has no words."""
    return plain_text(text) or ""


def told_values(made: Sequence[PlayedCall], writing: Sequence[int], words: TaskWords) -> list[ToldValue]:
    """What the commands of a solution pass on and do not leave open: what the task tells, and rows that it means."""
    found: list[ToldValue] = []
    for index in writing:
        one = made[index]
        for name, value in one.arguments.items():
            is_row = REFERENCE.search(str(one.step.arguments.get(name))) is not None
            if words.tell(name, value) or (is_row and name not in one.step.free):
                found.append(ToldValue(ArgumentPlace(index + 1, name), one.step.tool, value, is_row))
    return found


def _numbers(name: str, value: float) -> Iterator[str]:
    """A number as people write it, in plain text; cents also as an amount."""
    for form in (f"{value}", f"{value:g}", f"{value:,}"):
        yield plain(form)
    if isinstance(value, float):
        yield plain(f"{value:.2f}")
        return
    if is_money(name):
        yield plain(money(value))
        yield plain(f"{abs(value) / 100:,.2f}")
        yield plain(f"{abs(value) // 100:,}" if value % 100 == 0 else "")
    for number in {value, *([value // 100] if is_money(name) and value % 100 == 0 else [])}:
        yield plain(in_words(number)) if 0 < number < 100 else ""


def _times(text: str) -> Iterator[str]:
    """A time of day as people write it, in plain text."""
    hour, minute = int(text[:2]), int(text[3:5])
    half = "am" if hour < 12 else "pm"
    twelve = hour % 12 or 12
    yield from (f"{hour:02d} {minute:02d}", f"{hour} {minute:02d}", f"{twelve} {minute:02d}")
    yield from (f"{twelve} {minute:02d} {half}", f"{twelve} {minute:02d}{half}")
    if minute == 0:
        yield from (f"{twelve} {half}", f"{twelve}{half}", f"{hour} o clock", f"{twelve} o clock", f"{hour}h")
        yield {0: "midnight", 12: "noon"}.get(hour, "")
    if minute == 30:
        yield f"half past {NUMBERS[twelve]}"
