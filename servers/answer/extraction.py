"""Everything that a text tells, typed: its dates, times, durations, amounts and numbers, each once."""

import itertools
import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import date, datetime

from servers.answer.amounts import amounts
from servers.answer.calendar import dates
from servers.answer.clock import durations, times
from servers.answer.mention import Day, Mention
from servers.answer.numbers import numbers

_LIST_MARK = re.compile(r" ?\(?\d{1,2}[.)] \S")
_UNIT = re.compile(r"^[ -]?(?:more |further |other |free |open |full )?([^\W\d_]{2,}|[gmlh](?!\w))")
_BESIDE = re.compile(
    r"(?: (?:of )?next week)?,? ?\(?(?:a |the |den |der |dem |le |el |il |it's a |that's a |which is a )?"
)
_AT = re.compile(r",? ?\(?(?:at|from|on|of|until|um|ab|am|a las|le|el|a)? ?")
"""What stands between the date and the time of a moment."""
_PERCENT = re.compile(r"^ ?(?:%|percent|prozent|per cent|pour cent)")


def mentions(text: str, now: datetime) -> list[Mention]:
    """The values of a folded text, in order. A number within a date or a time is no number of its own."""
    days = _whole(text, _longest(dates(text, now.date())))
    hours = _longest(times(text))
    money = list(amounts(text))
    lasting = _longest(durations(text))
    spans = [one for one in lasting if not one.is_weak]
    hours = [
        one
        for one in hours
        if not _inside(
            one, [*days, *money, *(o for o in spans if o.end > one.end and ":" not in text[o.start : o.end])]
        )
    ]
    days = [one for one in days if not _inside(one, [*money, *(hour for hour in hours if not hour.is_weak)])]
    taken = [
        *days,
        *(hour for hour in hours if not hour.is_weak),
        *(one for one in lasting if not one.unit and not one.is_weak),
    ]
    plain = [one for one in _plain(text) if not _covered(one, taken, text)]
    counted = [one for one in plain if not _inside(one, money)]
    return sorted([*_moments(text, days, hours), *money, *lasting, *counted], key=lambda one: (one.start, -one.end))


def _moments(text: str, days: list[Mention], hours: list[Mention]) -> list[Mention]:
    """Dates and times, each with the one that stands beside it: "on 17 September at 20:15"."""
    told = sorted([*days, *hours], key=lambda one: one.start)
    for at, (one, other) in enumerate(itertools.pairwise(told)):
        if one.type != other.type and _AT.fullmatch(text[one.end : other.start]) and one.beside is None:
            told[at : at + 2] = replace(one, beside=other), replace(other, beside=one)
    return told


def _plain(text: str) -> list[Mention]:
    found: list[Mention] = []
    for number in numbers(text):
        after = text[number.end : number.end + 30]
        if _PERCENT.match(after) or _is_list_mark(text, number.start):
            continue
        unit = _UNIT.match(after)
        weak = number.is_ordinal or text[number.start : number.end] in (
            "one",
            "both",
            "once",
            "single",
            "ein",
            "eine",
            "einen",
            "un",
            "une",
            "una",
        )
        found.append(
            Mention("number", number.values, number.start, number.end, unit=unit[1] if unit else "", is_weak=weak)
        )
    return found


def _is_list_mark(text: str, place: int) -> bool:
    """Whether a number begins a line and only numbers it: "2. The fee is paid"."""
    line = text.rfind("\n", 0, place) + 1
    return text[line:place].strip(" (") == "" and _LIST_MARK.match(text, line) is not None


def _longest(found: Iterable[Mention]) -> list[Mention]:
    kept: list[Mention] = []
    every = list(found)
    sure = [one for one in every if not one.is_weak]
    every = [one for one in every if not one.is_weak or not any(a.start < one.end and one.start < a.end for a in sure)]
    for one in sorted(every, key=lambda one: (one.start, -(one.end - one.start))):
        if kept and one.start < kept[-1].end:
            if one.end - one.start > kept[-1].end - kept[-1].start:
                kept[-1] = one
            continue
        kept.append(one)
    return kept


def _inside(one: Mention, others: list[Mention]) -> bool:
    return any(other.start <= one.start and one.end <= other.end for other in others)


def _covered(one: Mention, taken: list[Mention], text: str) -> bool:
    """Whether a number is a part of a date or a time, and not an ordinal that may be a place in a line as well."""
    return any(
        other.start < one.end and one.start < other.end and not (other.is_weak and one.is_weak) for other in taken
    )


def as_date(value: str) -> date:
    """A date of a fact."""
    return date.fromisoformat(value[:10])


def as_minutes(value: str) -> int:
    """A time of a fact, in minutes since midnight."""
    hour, minute = value.strip()[-8:].split(":")[:2] if value.count(":") == 2 else value.strip()[-5:].split(":")
    return int(hour) * 60 + int(minute)


def _whole(text: str, days: list[Mention]) -> list[Mention]:
    """Dates without the weekdays that only stand beside them: "Friday, 13 February"."""
    kept: list[Mention] = []
    for one in days:
        before = kept[-1] if kept else None
        beside = before is not None and _BESIDE.fullmatch(text[before.end : one.start]) is not None
        if before is not None and beside and _is_weekday(before) != _is_weekday(one):
            kept[-1] = one if _is_weekday(before) else before
        else:
            kept.append(one)
    return kept


def _is_weekday(mention: Mention) -> bool:
    return all(isinstance(value, Day) and value.day is None for value in mention.values)
