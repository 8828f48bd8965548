"""Answers in JSON, right and wrong, made of the values of a scenario's facts: for the figures of the JSON form."""

import itertools
import json
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from servers.answer.expected_fact import ExpectedFact
from servers.answer.question import AnswerQuestion
from servers.answer.vocabulary import TENS, UNITS

_UNIT_WORDS = {value: word for word, value in reversed(UNITS.items())}
_TEN_WORDS = {value: word for word, value in reversed(TENS.items())}
KINDS_OF_MONEY = {
    "EUR": ("€ {}", "€{}", "{} €", "{}€", "{} EUR", "EUR {}", "{} euros"),
    "USD": ("${}", "{} USD", "USD {}", "{} dollars"),
}
Keyed = dict[str, tuple[AnswerQuestion, ExpectedFact]]


class JsonAnswer(NamedTuple):
    """An answer, and what makes it right or wrong."""

    form: str
    text: str


def in_words(number: int) -> str | None:
    """A small number in English words."""
    if number in _UNIT_WORDS and number > 1:
        return _UNIT_WORDS[number]
    tens, ones = number - number % 10, number % 10
    if tens in _TEN_WORDS and number < 100:
        return _TEN_WORDS[tens] + (f"-{_UNIT_WORDS[ones]}" if ones else "")
    return None


def forms(question: AnswerQuestion, one: ExpectedFact) -> Iterator[tuple[str, Any]]:
    """The value of a fact in the forms in which a model writes it into JSON."""
    value = plain_value(one)
    match one.fact.type:
        case "amount":
            yield from _amounts(Decimal(str(value)), one.fact.currency or min(question.currencies, default=None))
        case "count":
            yield from (("number", int(value)), ("text", f"{int(value)}"), ("thousands", f"{int(value):,}"))
            yield from (("words", words) for words in (in_words(int(value)),) if words)
        case "date":
            yield from _days(date.fromisoformat(str(value)[:10]))
        case "time":
            yield from _times(time.fromisoformat(str(value)[-5:]))
        case "list":
            yield from (("list", list(one.values)), ("text", ", ".join(map(str, one.values))))
        case "yes_no":
            yield from (("bool", value), ("word", "yes" if value else "no"))
        case _:
            yield from (("as it is", value), ("in capitals", str(value).upper()))


def _amounts(number: Decimal, currency: str | None) -> Iterator[tuple[str, Any]]:
    yield from (("number", float(number)), ("two places", f"{number:.2f}"), ("thousands", f"{number:,.2f}"))
    is_whole = number == number.to_integral_value()
    for pattern in KINDS_OF_MONEY.get(currency or "EUR", ("{} {c}", "{c} {}")):
        yield pattern, pattern.format(f"{number:,.0f}" if is_whole else f"{number:,.2f}", c=currency)
    words = in_words(int(number)) if is_whole else None
    if words and currency in (None, "EUR"):
        yield "words", f"{words} euros"


def _days(day: date) -> Iterator[tuple[str, Any]]:
    yield from (("ISO", day.isoformat()), ("ISO with a time", f"{day.isoformat()}T00:00:00"))
    yield from (("day and month", f"{day.day} {day:%B}"), ("with dots", f"{day:%d.%m.%Y}"))
    yield "with weekday", f"{day:%A}, {day.day} {day:%B} {day.year}"
    yield "American", f"{day:%B} {day.day}, {day.year}"


def _times(clock: time) -> Iterator[tuple[str, Any]]:
    twelve = f"{clock:%I:%M %p}".lstrip("0").lower()
    yield from (("24 h", f"{clock:%H:%M}"), ("with seconds", f"{clock:%H:%M:%S}"), ("12 h", twelve))
    if clock.minute == 0:
        yield from (("12 h short", twelve.replace(":00", "")), ("12 h joined", twelve.replace(":00 ", "")))


def right_answers(keyed: Keyed) -> Iterator[JsonAnswer]:
    """All values under their keys, each in each of its forms."""
    plain = {name: plain_value(one) for name, (_, one) in keyed.items()}
    yield JsonAnswer("plain", json.dumps(plain))
    yield JsonAnswer("fenced", f"```json\n{json.dumps(plain, indent=2)}\n```")
    yield JsonAnswer("with a message", json.dumps({**plain, "message": "All of it is done."}))
    for name, (question, one) in keyed.items():
        for form, value in forms(question, one):
            yield JsonAnswer(f"{one.fact.type}: {form}", json.dumps({**plain, name: value}, ensure_ascii=False))


def wrong_answers(keyed: Keyed, now: datetime, others: Sequence[Any]) -> Iterator[JsonAnswer]:
    """Wrong values under the keys: near misses, neighbours' values, several, none, hedged and pasted ones."""
    plain = {name: plain_value(one) for name, (_, one) in keyed.items()}
    for name, (question, one) in keyed.items():
        true = plain[name]
        misses = [*one.confusable, *_near(one, true), *others]
        for other in dict.fromkeys(str(miss) for miss in misses if not is_true(one, miss, now)):
            yield JsonAnswer("another value", json.dumps({**plain, name: other}))
            if one.fact.type != "list" and not is_given(question, other):
                yield JsonAnswer("two values", json.dumps({**plain, name: [true, other]}))
                yield JsonAnswer("hedged", json.dumps({**plain, name: f"{true} or {other}"}))
                yield JsonAnswer("in a row", json.dumps({**plain, name: {"value": true, "before": other}}))
        for form, value in _empty(true):
            if value in (None, []) and true == 0 and one.fact.type in ("amount", "count"):
                continue  # nothing is 0
            yield JsonAnswer(form, json.dumps({**plain, name: value}))
        yield JsonAnswer("left out", json.dumps({**{k: v for k, v in plain.items() if k != name}, "message": "Done."}))
    names = list(plain)
    for first, second in itertools.pairwise(names):
        if not is_true(keyed[first][1], plain[second], now):
            yield JsonAnswer("swapped", json.dumps({**plain, first: plain[second], second: plain[first]}))
    yield JsonAnswer("an array", json.dumps([{"id": f"row_{n}", **plain} for n in range(3)]))
    rows = [{"id": f"row_{n}", "status": "open", "cents": n} for n in range(30)]
    yield JsonAnswer("pasted rows", json.dumps({**plain, "message": json.dumps(rows)}))


def _empty(true: Any) -> Iterator[tuple[str, Any]]:
    yield "null", None
    yield "empty", ""
    yield "empty list", []
    yield "unknown", "unknown"
    yield "doubted", f"perhaps {true}"
    yield "not sure", f"{true}, but I am not sure"
    yield "denied", f"not {true}"
    yield "asked", f"Is it {true}?"


def _near(one: ExpectedFact, true: Any) -> Iterator[Any]:
    match one.fact.type:
        case "amount":
            yield from (float(true) + 1, float(true) * 10, float(true) + 0.01)
        case "count":
            yield from (int(true) + 1, int(true) + 10)
        case "date":
            day = date.fromisoformat(str(true)[:10])
            yield from ((day + timedelta(days=1)).isoformat(), (day + timedelta(days=365)).isoformat())
        case "time":
            yield f"{(int(str(true)[-5:-3]) + 1) % 24:02d}{str(true)[-3:]}"
        case "yes_no":
            yield "no" if true else "yes"
        case _:
            pass


def plain_value(one: ExpectedFact) -> Any:
    return list(one.values) if one.fact.type == "list" else one.values[0]


def is_true(one: ExpectedFact, other: Any, now: datetime) -> bool:
    """Whether another value is one of the fact's own, in whatever form."""
    texts = {str(value).casefold() for value in one.values}
    if str(other).casefold() in texts or one.fact.type == "list":
        return True
    try:
        return any(Decimal(str(other)) == Decimal(str(value)) for value in one.values)
    except ArithmeticError:
        return False


def is_given(question: AnswerQuestion, other: str) -> bool:
    """Whether the task gives a value, so that it may stand beside the true one."""
    return any(other.casefold() in text.casefold() for text in question.given) or other == question.asked
