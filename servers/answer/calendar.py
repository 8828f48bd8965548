"""Dates in a text: as digits, with month names, and relative to now."""

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import date, timedelta

from servers.answer.mention import Day, Mention
from servers.answer.vocabulary import MONTHS, ORDINALS, UNITS, WEEKDAYS, alternatives

_MONTH = alternatives(MONTHS)
_NTH = rf"(?:(?:\d{{1,2}})(?:st|nd|rd|th|er|\.|o|a)?|{alternatives(ORDINALS)})"
_NUMBERED = re.compile(
    r"(?<![\d.,-])(?<!\d/)(?:(?P<iso>\d{4}[-/.]\d{1,2}[-/.]\d{1,2})|(?P<ymd>\d{4}年\d{1,2}月\d{1,2}日)|(?P<md>\d{1,2}月\d{1,2}日)"
    r"|(?P<full>\d{1,2}(?P<sep>[./-]) ?\d{1,2}(?P=sep) ?(?:\d{4}|\d{2}))|(?P<short>\d{1,2}\. ?\d{1,2}\."
    r"|\d{1,2}/\d{1,2}))"
    r"(?![\d]|[.,/:-]\d)"
)
_DAY_MONTH = re.compile(
    rf"(?<![\d.,:-])\b(?P<day>{_NTH}),? ?(?:day )?(?:of |de |di |do |van )?-?(?P<month>{_MONTH})\b\.?"
    r"(?:,? ?(?:of |in |de |del |do )?-?(?P<year>\d{4}|'\d\d)(?![\d:]|-\d))?"
)
_MONTH_DAY = re.compile(
    rf"(?<!\d )(?<!\d\. )(?<!\dth )(?<!(?:th|st|nd|rd|\d[.]) of )(?<!\d of )"
    rf"\b(?P<month>{_MONTH})\b\.?,? (?:the |el |le |den )?(?P<day>{_NTH})(?![\d:]"
    rf"|[.,]\d)(?:,? (?P<year>\d{{4}})(?![\d:]|-\d))?"
)
_SPAN = re.compile(
    r"(?<![\w.,:/-])(?P<day>\d{1,2})\.(?: ?(?P<month>\d{1,2})\.(?P<year>\d{4})?)? ?(?:-|bis|to|until|al?) ?"
    r"(?P<end>(?P<day2>\d{1,2})\. ?(?P<month2>\d{1,2})(?:\.(?P<year2>\d{4}|\d{2}(?!\d))?)?)(?![\w/:-])"
)
_SPAN_OF_MONTH = re.compile(
    rf"(?<![\w.,:/-])(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)? ?- ?(?P<end>(?P<day2>\d{{1,2}})(?:st|nd|rd|th|\.)?"
    rf" ?(?:of )?(?P<month>{_MONTH})\b\.?(?:,? (?P<year>\d{{4}})(?![\d:]|-\d))?)"
)
_OF_A_MONTH = re.compile(
    rf"(?P<day>{_NTH})(?: day)? of (?P<which>this|the current|next|the next|last|the last) month\b"
)
_OTHER_DAYS = re.compile(
    rf"(?<![\w.:-])(?:{_NTH} ?(?:,|and|&|or|to|-|until|till|through|bis|und|et|y|oder|ou) ?(?:the )?)+$"
)
_LAST_DAY = re.compile(
    rf"\b(?:(?:the )?(?:last|final) day|(?:the )?(?:very )?end|ultimo dia|(?:der )?letzten? tag) (?:of |de "
    rf"|im )?(?P<month>{_MONTH})\b"
    r"\.?(?: (?P<year>\d{4})|(?! \d))|\b(?:ende|fin) (?P<month2>" + _MONTH + r")\b"
)
_LATER_DAYS = re.compile(rf"^(?: ?(?:,|and|&|or|to|-|until) ?(?:the )?{_NTH}(?![\w:]|[.,]\d))+")
_WEEKDAY = re.compile(
    rf"\b(?:(?P<which>next|this|coming|last|on|past) )?(?P<day>{alternatives(WEEKDAYS)})\b(?P<later> next week"
    rf"| week)?"
)
_NAMED = re.compile(
    r"\b(?P<after>the day after tomorrow|day after tomorrow|ubermorgen|overmorgen|apres-demain"
    r"|pasado manana|dopodomani)\b"
    r"|\b(?P<today>today|tonight|heute|aujourd'hui|hoy|oggi|hoje|this (?:morning|afternoon|evening)|vandaag)\b"
    r"|\b(?P<tomorrow>tomorrow|(?<!guten )(?<!am )morgen(?! (?:um|fruh))|demain|manana|domani|amanha)\b"
    r"|\b(?P<before>the day before yesterday|vorgestern|avant-hier|anteayer)\b"
    r"|\b(?P<yesterday>yesterday|gestern|hier soir|ayer|ieri)\b"
)
_COUNTED = re.compile(
    rf"\b(?:in|dans|en|tra|within|over) (?P<n>\d{{1,3}}|an?|one|{alternatives(UNITS)}|einer|einem|une?"
    rf"|una) (?P<unit>days?|weeks?|tagen?|wochen?|jours?|semaines?|dias?|semanas?)(?:' time)?\b(?! ago)"
    rf"|\b(?P<n2>\d{{1,3}}|a|{alternatives(UNITS)}) (?P<unit2>days?|weeks?)"
    r" (?:from (?:now|today)|ago(?: today)?|hence)\b"
    r"|\b(?P<week>a week (?:from )?today|today week|heute in einer woche)\b"
)
_BARE = re.compile(
    rf"\b(?:the|der|den|dem|am|le|el|am|il) (?P<day>\d{{1,2}}(?:st|nd|rd|th|\.)"
    rf"|{alternatives(ORDINALS)})(?=$|[ ]?[.,;:!?()\n-]|'s\b|[ ](?:and|or|at|could|can|may|has|had|will|would"
    r"|of (?:this|next|the) month"
    rf"|instead|not|but|to|until|as|rather|is|was|um|y|et|by|for|in|from|already|now|too|because)\b)"
    r"(?:,? (?P<year>\d{4})(?![\d:]|-\d))?"
    rf"|(?<=on )(?P<digits>\d{{1,2}})(?:st|nd|rd|th)\b|\bel (?P<es>\d{{1,2}})\b(?![.:,]?\d)"
)


def dates(text: str, now: date) -> Iterator[Mention]:
    """Every date of a folded text."""
    for found in _NUMBERED.finditer(text):
        values = frozenset(_numbered(found))
        if values:
            yield Mention("date", values, found.start(), found.end())
    for found in (*_DAY_MONTH.finditer(text), *_MONTH_DAY.finditer(text)):
        yield from _written(text, found)
    for found in (*_SPAN.finditer(text), *_SPAN_OF_MONTH.finditer(text)):
        yield from _both_ends(found)
    for found in _OF_A_MONTH.finditer(text):
        shift = 0 if "this" in found["which"] or "current" in found["which"] else -1 if "last" in found["which"] else 1
        month = 12 * now.year + now.month - 1 + shift
        days = _valid(month // 12, month % 12 + 1, _nth(found["day"]))
        yield from (Mention("date", frozenset({day}), found.start(), found.end()) for day in days)
    for found in _LAST_DAY.finditer(text):
        month, year = MONTHS[found["month"] or found["month2"]], int(found["year"]) if found["year"] else None
        last = monthrange(year or now.year, month)[1]
        yield Mention("date", frozenset({Day(year, month, last)}), found.start(), found.end())
    yield from _relative(text, now)
    for found in _BARE.finditer(text):
        day = _nth(found["day"] or found["digits"] or found["es"])
        if 1 <= day <= 31:
            year = int(found["year"]) if found["year"] else None
            read = Day(year, day=day, near=None if year else 45)
            yield Mention("date", frozenset({read}), found.start(), found.end(), is_weak=True)


def _numbered(found: re.Match[str]) -> Iterator[Day]:
    parts = [int(part) for part in re.findall(r"\d+", found[0])]
    if found["iso"] or found["ymd"]:
        year, month, day = parts
        yield from _valid(year, month, day)
        return
    if found["md"]:
        yield from _valid(None, *parts)
        return
    year = None
    if found["full"]:
        year = parts[2] if parts[2] > 99 else 2000 + parts[2]
    first, second = parts[:2]
    yield from _valid(year, second, first)
    if "." not in found[0]:
        yield from _valid(year, first, second)


def _both_ends(found: re.Match[str]) -> Iterator[Mention]:
    """The two days of a span whose month or year stands at its end."""
    parts = found.groupdict()
    month = MONTHS[parts["month"]] if "month2" not in parts else int(parts["month2"])
    written = parts["year"] if "month2" not in parts else parts["year2"]
    year = None if not written else int(written) if len(written) == 4 else 2000 + int(written)
    first_year = int(parts["year"]) if "month2" in parts and parts["year"] else year
    first_month = int(parts["month"]) if "month2" in parts and parts["month"] else month
    for day in _valid(first_year, first_month, int(parts["day"])):
        yield Mention("date", frozenset({day}), found.start(), found.start("end"))
    for day in _valid(year, month, int(parts["day2"])):
        yield Mention("date", frozenset({day}), found.start("end"), found.end())


def _valid(year: int | None, month: int, day: int) -> Iterator[Day]:
    if 1 <= month <= 12 and 1 <= day <= 31:
        yield Day(year, month, day)


def _written(text: str, found: re.Match[str]) -> Iterator[Mention]:
    month, day = MONTHS[found["month"]], _nth(found["day"])
    year = int(found["year"].replace("'", "20")) if found["year"] else None
    if not 1 <= day <= 31:
        return
    yield Mention("date", frozenset({Day(year, month, day)}), found.start(), found.end())
    if found.start("day") < found.start("month"):
        begin = max(0, found.start() - 60)
        others = _OTHER_DAYS.search(text[begin : found.start()])
        offset = begin
    else:
        others, offset = _LATER_DAYS.search(text[found.end() : found.end() + 60]), found.end()
    for other in re.finditer(_NTH, others[0]) if others else ():
        if 1 <= _nth(other[0]) <= 31 and others:
            start = offset + others.start() + other.start()
            yield Mention("date", frozenset({Day(year, month, _nth(other[0]))}), start, start + len(other[0]))


def _nth(text: str) -> int:
    digits = re.match(r"\d+", text)
    return int(digits[0]) if digits else ORDINALS.get(text, 0)


def _relative(text: str, now: date) -> Iterator[Mention]:
    for found in _NAMED.finditer(text):
        shift = {"after": 2, "today": 0, "tomorrow": 1, "before": -2, "yesterday": -1}[found.lastgroup or "today"]
        yield _on(now + timedelta(days=shift), found)
    for found in _COUNTED.finditer(text):
        if found["week"]:
            yield _on(now + timedelta(days=7), found)
            continue
        number, unit = found["n"] or found["n2"], found["unit"] or found["unit2"]
        count = int(number) if number.isdigit() else UNITS.get(number, 1)
        days = count * (7 if unit[0] in "ws" else 1)
        yield _on(now + timedelta(days=-days if " ago" in found[0] else days), found)
    for found in _WEEKDAY.finditer(text):
        near = 14 if found["which"] == "next" or found["later"] else 8
        yield Mention("date", frozenset({Day(weekday=WEEKDAYS[found["day"]], near=near)}), found.start(), found.end())


def _on(day: date, found: re.Match[str]) -> Mention:
    return Mention("date", frozenset({Day(day.year, day.month, day.day)}), found.start(), found.end())
