"""Grammars of values: each reads a text as a whole, every sign of it, and says whether it is a right value.

A text that is no value of the type tells nothing. Parts that contradict each other make it no value either: a weekday
that the date is not on, two currencies.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from servers.answer.calendar import dates
from servers.answer.clock import durations, times
from servers.answer.expected_fact import ExpectedFact
from servers.answer.extraction import as_date, as_minutes
from servers.answer.line.names import is_name, is_side, says_none
from servers.answer.line.numerals import BELOW_100, number, ordinal
from servers.answer.measures import MEASURES, factor_between
from servers.answer.mention import Day, Mention
from servers.answer.names import root
from servers.answer.vocabulary import CURRENCY_OF, WEEKDAYS, alternatives

_SIGNS = "€$£¥"
_WORDS_OF_MONEY = alternatives(word for word in CURRENCY_OF if word.isalpha())
_NATION = r"(?:(?:us|american|british|norwegian|swedish|danish|swiss|polish|czech) )?"
_CURRENCY = rf"(?:us ?\$|[{_SIGNS}]|{_NATION}(?:{_WORDS_OF_MONEY})(?![a-z])\.?)"
_NUMBER = r"(?P<minus>-)?(?P<number>\d[\d.,' ]*?|[a-z][a-z -]*?)"
_AMOUNT = re.compile(rf"(?:(?P<before>{_CURRENCY}) ?)?{_NUMBER}(?:[.,]-{{1,2}})?(?:[ -]?(?P<after>{_CURRENCY}))?")
_WITH_SMALL = re.compile(
    rf"(?:(?P<before>{_CURRENCY}) ?)?{_NUMBER}[ -]?(?P<after>{_CURRENCY})?,? (?:(?:and|und|et|con|y|e) )?"
    rf"(?P<small>\d{{1,2}}|{BELOW_100})"
    r"(?: ?(?P<cents>euro-?cents?|cents?|ct|cts|centimes|centimos|pence|p))?"
)
_CENTS = re.compile(r"(?P<number>.+?) ?(?:euro-?cents?|cents?|ct|cts|centimes|centimos|pence)")
_MEASURED = re.compile(rf"(?P<number>.+?) ?(?P<unit>{alternatives(MEASURES)})")
_TIMES = {"once": 1, "twice": 2, "thrice": 3, "einmal": 1, "zweimal": 2, "dreimal": 3}
_OFTEN = re.compile(r"(?P<number>.+) (?:times|time|mal|fois|veces)")
_WEEKDAYS = {**WEEKDAYS, "sat": 5, "sun": 6}
_WEEKDAY = rf"(?:{alternatives(_WEEKDAYS)})\.?"
_DATED = re.compile(
    rf"(?:(?P<before>{_WEEKDAY})(?:,? (?:the |den |le |el )?|, ))?(?P<date>.+?)(?:,? \(?(?P<after>{_WEEKDAY})\)?)?"
)
_NOT_WHOLE = re.compile(r"(?:the |der |den |am |le |el )?\d{1,2}(?:st|nd|rd|th|\.)?")
_MIDNIGHT = re.compile(r"[t ]00:00(?::00)?(?:\.0+)?z?$")
_WITHOUT_A_DAY = re.compile(
    r"\b(?:ago|day|days|week|weeks|fortnight|end|today|tomorrow|yesterday|tonight)\b(?<!last day)"
)
"""Words of dates that have no day and month of their own."""
_NOUN = re.compile(r"(?P<number>.+) (?P<noun>[a-z]{3,})")
_ANY_NOUN = frozenset(("piece", "pieces", "item", "items", "unit", "units", "person", "persons", "people"))
_SHORT = {"min": "minutes", "mins": "minutes", "hrs": "hours"}
_TIME_ENDS = re.compile(r" (?:sharp|exactly)$")
_JOINTS = re.compile(r"(?<=\d)t(?=\d)|,? (?:at |um |on |am |of |a las )?")
"""What may stand between a date and a time of day."""


@dataclass(frozen=True)
class WantedValue:
    """What a value is held against: the fact, the currencies and the unit of its question, the present moment."""

    one: ExpectedFact
    now: datetime
    currencies: frozenset[str] = frozenset()
    unit: str = ""
    nouns: frozenset[str] = frozenset()
    """The words of the question and of its task: a number may have one of them behind it."""
    rivals: tuple[str, ...] = ()
    """The names that the other questions ask for: a short form that fits one of them too is no name."""
    counts: bool = True
    """Whether the question asks how many there are: a place in a row is then no number."""

    def reads(self, text: str) -> bool | None:
        """Whether a folded text is a right value of the fact. None if it is no value of its type as a whole."""
        return _GRAMMARS[self.one.fact.type](self, text)

    @property
    def numbers(self) -> list[Decimal]:
        """The right values of an amount, a count or a duration."""
        return [Decimal(str(value)) for value in self.one.values if value is not None]


def _amount(wanted: WantedValue, text: str) -> bool | None:
    if text == "nothing" or says_none(text):
        return 0 in wanted.numbers
    for form in (_AMOUNT, _WITH_SMALL):
        found = form.fullmatch(text)
        values = _value_of(found) if found else frozenset[Decimal]()
        if found and values:
            codes = [_codes(found[place]) for place in ("before", "after") if found[place]]
            told = codes[0] & codes[-1] if codes else frozenset[str]()
            if codes and not told:
                return None
            if told and wanted.currencies and not told & wanted.currencies:
                return False
            return any(value in wanted.numbers for value in values)
    cents = _CENTS.fullmatch(text)
    parts = number(cents["number"]) if cents else frozenset[Decimal]()
    return any(part / 100 in wanted.numbers for part in parts) if parts else None


def _value_of(found: re.Match[str]) -> frozenset[Decimal]:
    """The number of an amount, with its cents if it has some of its own."""
    values = number(found["number"].strip())
    parts = found.groupdict()
    if parts.get("small"):
        small = {value for value in number(parts["small"]) if value < 100 and value == value.to_integral_value()}
        is_told = parts["cents"] or (found["after"] and not (parts["small"].isdigit() and len(parts["small"]) < 2))
        whole = {value for value in values if value == value.to_integral_value()}
        if not (is_told and (found["before"] or found["after"])):
            return frozenset()
        values = frozenset(one + other / 100 for one in whole for other in small)
    return frozenset(-value for value in values) if found["minus"] else values


def _codes(currency: str) -> frozenset[str]:
    """The currencies that a word or a sign may mean."""
    *nation, word = currency.rstrip(".").split()
    bare = "$" if "$" in word else word
    codes = frozenset(CURRENCY_OF.get(bare, ()))
    named = _OF_NATIONS.get(nation[0] if nation and nation[0] in _OF_NATIONS else "", codes)
    return codes & named


_OF_NATIONS: Mapping[str, frozenset[str]] = {
    "us": frozenset({"USD"}),
    "american": frozenset({"USD"}),
    "british": frozenset({"GBP"}),
    "norwegian": frozenset({"NOK"}),
    "swedish": frozenset({"SEK"}),
    "danish": frozenset({"DKK"}),
    "swiss": frozenset({"CHF"}),
    "polish": frozenset({"PLN"}),
    "czech": frozenset({"CZK"}),
}


def _count(wanted: WantedValue, text: str) -> bool | None:
    if says_none(text):
        return 0 in wanted.numbers
    if text in _TIMES:
        return _TIMES[text] in wanted.numbers
    often = _OFTEN.fullmatch(text)
    measured = _MEASURED.fullmatch(text) if wanted.unit else None
    if measured and (values := number(measured["number"])):
        factor = factor_between(measured["unit"], wanted.unit)
        return any(value * factor in wanted.numbers for value in values)
    values = number(often["number"] if often else text) or _of_things(wanted, text)
    if not values and not wanted.counts:
        place = ordinal(text)
        values = frozenset[Decimal]() if place is None else frozenset({Decimal(place)})
    return any(value in wanted.numbers for value in values) if values else None


def _of_things(wanted: WantedValue, text: str) -> frozenset[Decimal]:
    """The number of a text that has a noun of the task behind it: "5 containers"."""
    found = _NOUN.fullmatch(text)
    noun = _SHORT.get(found["noun"], found["noun"]) if found else ""
    values = number(found["number"]) if found else frozenset[Decimal]()
    is_one = list(values) == [1] and not noun.endswith("s")
    is_known = root(noun) in map(root, _ANY_NOUN | (_plurals(wanted.nouns) if is_one else wanted.nouns))
    is_noun = is_one or noun.endswith("s") or noun == "people"
    return values if is_noun and is_known and noun not in MEASURES else frozenset[Decimal]()


def _plurals(words: Iterable[str]) -> frozenset[str]:
    """The words that are plurals: one of what they say has a noun, and no other word, behind it."""
    return frozenset(word for word in words if word.endswith("s"))


def _date(wanted: WantedValue, text: str) -> bool | None:
    days = days_of(text, wanted.now.date())
    if days is None:
        return None
    return any(day.may_be(as_date(str(value)), wanted.now.date()) for day in days for value in wanted.one.values)


def days_of(text: str, now: date) -> list[Day] | None:
    """What a text means that is one date as a whole, with its weekday if it has one. None if it is none."""
    found = _DATED.fullmatch(_MIDNIGHT.sub("", text))
    if found is None or _NOT_WHOLE.fullmatch(found["date"]) or (found["before"] and found["after"]):
        return None
    if _WITHOUT_A_DAY.search(text):
        return None
    told = _whole(found["date"], dates(found["date"], now)) or _whole(
        f"{found['date']}.", dates(f"{found['date']}.", now)
    )
    if told is None:
        return None
    days = [day for day in told.values if isinstance(day, Day) and day.day is not None and day.month is not None]
    weekday = found["before"] or found["after"]
    if weekday and days:
        number_of_day = _WEEKDAYS[weekday.rstrip(".")]
        days = [Day(day.year, day.month, day.day, number_of_day, day.near) for day in days]
    return [day for day in days if _exists(day)] or None


def _exists(day: Day) -> bool:
    try:
        date(day.year or 2024, day.month or 1, day.day or 1)
    except ValueError:
        return False
    return True


def _time(wanted: WantedValue, text: str) -> bool | None:
    minutes = minutes_of_day(text)
    if minutes is None:
        return None
    right = {as_minutes(str(value)) for value in wanted.one.values}
    return bool(right & minutes) or (0 in right and 1440 in minutes)


def minutes_of_day(text: str) -> frozenset[int] | None:
    plain = _TIME_ENDS.sub("", text)
    told = _whole(plain, times(plain))
    return None if told is None else frozenset(value for value in told.values if isinstance(value, int))


def moment(text: str, now: datetime) -> tuple[list[Day], frozenset[int]] | None:
    """The day and the minutes of a folded text that is a date and a time of day: `3 April, 09:30`."""
    for joint in _JOINTS.finditer(text):
        first, second = text[: joint.start()], text[joint.end() :]
        for day, time in ((first, second), (second, first)):
            days, minutes = days_of(day, now.date()), minutes_of_day(time)
            if days and minutes:
                return days, minutes
    return None


def _duration(wanted: WantedValue, text: str) -> bool | None:
    told = _whole(text, durations(text))
    if told is None:
        values = number(text)
        return any(value in wanted.numbers for value in values) if values else None
    return any(wanted.one.fits(told, value, wanted.now) for value in wanted.one.values)


def _whole(text: str, mentions: Iterable[Mention]) -> Mention | None:
    """The value that a text is as a whole."""
    return next((one for one in mentions if (one.start, one.end) == (0, len(text))), None)


def _name(wanted: WantedValue, text: str) -> bool | None:
    names, others = ([str(one) for one in ones] for ones in (wanted.one.values, wanted.one.confusable))
    return is_name(text, names, others, [rival for rival in wanted.rivals if rival not in names])


def _side(wanted: WantedValue, text: str) -> bool | None:
    said = is_side(text)
    return None if said is None else said == bool(wanted.one.values[0])


def _none(wanted: WantedValue, text: str) -> bool | None:
    return says_none(text) or None


_GRAMMARS: Mapping[str, Callable[[WantedValue, str], bool | None]] = {
    "amount": _amount,
    "count": _count,
    "date": _date,
    "time": _time,
    "duration": _duration,
    "name": _name,
    "choice": _name,
    "yes_no": _side,
    "none": _none,
}
