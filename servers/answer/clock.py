"""Times of day and durations in a text."""

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

from servers.answer.mention import Mention
from servers.answer.numbers import in_words
from servers.answer.vocabulary import MINUTES_OF, TENS, UNITS, alternatives

_HOURS = alternatives([word for word, value in UNITS.items() if 1 <= value <= 12])
_HALF = r"(?P<half>[ap]) ?\.? ?m\b\.?"
_PART = (
    r"(?P<part>(?: o'?clock)?,? (?:in the |at |this |tomorrow |on \w+ |\w+day )?(?:morning|afternoon"
    r"|evening|night|de la tarde|de la manana|du matin|de l'apres-midi|du soir|nachmittags|abends"
    r"|vormittags|morgens|fruh|della sera))"
)
_DIGITAL = re.compile(
    rf"(?<![\d.,:/€$£])(?P<hour>[01]?\d|2[0-4])(?P<mark>[:.]| ?h ?"
    rf"| uhr )(?P<minute>[0-5]\d)(?::[0-5]\d)?(?![\d]|[.,:/]\d| ?(?:%|€|eur\b|euros?\b|nok\b|kr\b))"
    rf"(?: ?(?:{_HALF}|{_PART}|(?P<uhr>uhr|h\b|hrs\b|o'?clock)))?"
)
_HOUR = re.compile(
    rf"(?<![\d.,:/])(?<!\d-)(?P<hour>[01]?\d|2[0-4]|\b(?:{_HOURS}))(?: ?{_HALF}| ?(?P<clock>o'?clock|uhr"
    rf"|heures|h(?= ?[.,;!?)-]| a \d|$))(?:{_PART})?|{_PART.replace('part>', 'part2>')})"
)
_AT = re.compile(
    rf"\b(?:at|by|from|until|till|um|a las|alle|ab|a la|op)(?: around)? (?P<hour>[01]?\d|2[0-3]"
    rf"|{_HOURS})(?![\w:.,]*\d|\w| ?(?:euros?|€|nok|kr|%|hours?|days?|min|weeks?|of|percent|places?"
    rf"|times|people|packs?|h\b|[ap]\.?m))"
)
_SPOKEN = re.compile(
    rf"(?<![\d:.])\b(?P<how>half past|half|quarter past|quarter to|a quarter past|a quarter to"
    rf"|halb|viertel nach"
    rf"|viertel vor|(?:\d{{1,2}}|{alternatives({*UNITS, *TENS})}|twenty[- ]five) (?:minutes )?(?:past|nach)"
    rf"|(?<!from )(?<!von )(?:5|20|25|\d{{1,2}}(?= minutes| vor)|{alternatives({*UNITS, *TENS})}|twenty[- ]five)"
    rf" (?:minutes )?(?:to|vor))"
    rf" (?P<hour>\d{{1,2}}|{_HOURS})\b(?! (?:hours?|days?|minutes?|weeks?|people|packs?))(?: ?{_HALF}|{_PART})?"
    rf"|\b(?P<hour2>{_HOURS}) (?P<minute>thirty|fifteen|forty-five|forty five|twenty|ten|(?:twenty"
    rf"|thirty|forty|fifty)[- ]?(?:five)?)\b(?! (?:euros?|cents?|packs?|people"
    rf"|percent))(?: ?{_HALF.replace('half>', 'half2>')}|{_PART.replace('part>', 'part3>')})?"
    rf"|\b(?P<hour3>{_HOURS}|\d{{1,2}}) y (?P<y>media|cuarto)\b(?P<es> de la tarde| de la manana)?"
)
_NOON = re.compile(
    r"\b(?:(?:12|twelve)(?::00|\.00)? )?(?P<noon>noon|midday|mittags?|midi|mediodia|mezzogiorno)\b"
    r"|\b(?:12(?::00)? )?(?P<night>midnight|mitternacht|minuit|medianoche|mezzanotte)\b"
)
_RANGE = re.compile(
    rf"(?<![\w.,:/-])(?P<first>[01]?\d|2[0-4]|{_HOURS})(?: ?- ?| to | bis | until | and )(?P<second>[01]?\d"
    rf"|2[0-4]|{_HOURS})"
    rf"(?![\w.,:/-]*\d)(?! ?(?:euros?|€|nok|kr|%|days?|min|weeks?|packs?|people|of))(?P<suffix> ?(?:{_HALF}"
    rf"|uhr\b|h\b|hrs\b|o'?clock))?"
)
_TIMELY = re.compile(
    r"(?:\b(?:from|between|von|zwischen|window|today|tomorrow|heute|morgen|slot)|\d{4},?|[a-z]{3,9},) ?$"
)
_UNIT = alternatives(MINUTES_OF)
_DIGITS = alternatives([word for word, value in UNITS.items() if value < 10])
_HUNDREDS = r"(?:(?:an?|one|two|three) hundred(?: and)? )?"
_QUANTITY = (
    r"\d+(?:[.,]\d+)?|half an?"
    rf"|{_HUNDREDS}(?:{alternatives({*UNITS, *TENS})})(?:[- ](?:{_DIGITS}))?"
    r"|(?:an?|one|two|three) hundred|an?|one|eine?|einer|une?|una?"
)
_DURATION = re.compile(
    rf"(?<![\w.,:/-])(?P<n>{_QUANTITY})(?: |-)?(?: ?(?:full|whole|more|further|calendar|working"
    rf"|entire) )?(?P<unit>{_UNIT})\b(?P<half>,? (?:and a half|und eine halbe|et demie|y media))?"
)
_HALVES = re.compile(
    rf"\b(?P<n>\d{{1,3}}|an?|one|{alternatives(UNITS)}) and a half (?P<unit>{_UNIT})\b"
    rf"|(?P<n2>\d{{1,3}}) ?1/2 ?(?P<unit2>{_UNIT})\b"
    rf"|\b(?P<half>half an|half a|eine? halbe?|halbe|une demi-?|media) ?(?P<unit3>{_UNIT})\b"
    rf"|\b(?P<quarters>three quarters of an|three-quarters of an|dreiviertel"
    rf"|(?:a )?quarter of an) ?(?P<unit4>hour|stunde)\b"
    rf"|\b(?P<anderthalb>anderthalb|eineinhalb) (?P<unit5>{_UNIT})\b|\b(?P<zweieinhalb>zweieinhalb"
    rf"|dreieinhalb) (?P<unit6>{_UNIT})\b"
)
_CLOCKED = re.compile(
    r"(?<![\d.,:])(?P<h>\d{1,3})(?::| ?h ?)(?P<m>[0-5]\d)(?: ?(?P<unit>hours?|hrs?|h|std|stunden|min"
    r"|hh:mm))?(?![\w:])"
)
_JOIN = re.compile(r"^(?:,? (?:and|und|et|y|e)|,)? ?$")
_EVENING = re.compile(r"afternoon|evening|night|tarde|soir|apres|nachmittag|abend|sera")


def times(text: str) -> Iterator[Mention]:
    """Every time of day of a folded text, in minutes since midnight."""
    for found in _RANGE.finditer(text):
        yield from _ends_of_range(found)
    for found in _DIGITAL.finditer(text):
        hour, minute = int(found["hour"]), int(found["minute"])
        is_spoken = found["half"] or found["part"]
        sure = len(found["hour"]) == 2 or hour == 0 or hour > 12
        weak = found["mark"] == "." and not (is_spoken or found["uhr"])
        values = _read(hour, minute, found["half"], found["part"], sure=sure)
        yield Mention("time", values, found.start(), found.end(), is_weak=weak)
    for found in _HOUR.finditer(text):
        part = found["part"] or found["part2"]
        if part and part.strip() in ("night", "morning") and not found["clock"]:
            continue
        values = _read(_hour(found["hour"]), 0, found["half"], part)
        yield Mention("time", values, found.start(), found.end(), is_weak=(found["clock"] or "") == "h")
    for found in _AT.finditer(text):
        yield Mention(
            "time", _read(_hour(found["hour"]), 0, None, None), found.start("hour"), found.end(), is_weak=True
        )
    for found in _SPOKEN.finditer(text):
        yield _spoken(found)
    for found in _NOON.finditer(text):
        yield Mention("time", frozenset({720} if found["noon"] else {0, 1440}), found.start(), found.end())


def _ends_of_range(found: re.Match[str]) -> Iterator[Mention]:
    """The two hours of "10-11 h", "from ten to eleven", "9-10 am"."""
    sure = found["suffix"] is not None or not found["first"].isdigit()
    if not sure and not _TIMELY.search(found.string[max(0, found.start() - 24) : found.start("first")]):
        return
    for name in ("first", "second"):
        values = _read(_hour(found[name]), 0, found["half"], None)
        yield Mention("time", values, found.start(name), found.end(name), is_weak=not sure)


def _hour(text: str) -> int:
    return int(text) if text.isdigit() else UNITS[text]


def _read(hour: int, minute: int, half: str | None, part: str | None, *, sure: bool = False) -> frozenset[int]:
    """The minutes since midnight that an hour may mean."""
    base = hour % 12 * 60 + minute
    if half:
        return frozenset({base + (720 if half == "p" else 0)} if hour <= 12 else {hour * 60 + minute})
    if hour > 12 or hour == 0:
        return frozenset({hour % 24 * 60 + minute})
    if part:
        return frozenset({base + 720} if _EVENING.search(part) else {base})
    if sure:
        return frozenset({hour * 60 + minute})
    return frozenset({base, base + 720})


def _spoken(found: re.Match[str]) -> Mention:
    half, part = found["half"] or found["half2"], found["part"] or found["part3"] or found["es"]
    hour = _hour(found["hour"] or found["hour2"] or found["hour3"])
    minute, how = 0, found["how"] or ""
    if found["minute"]:
        minute = in_words(found["minute"])
    elif found["y"]:
        minute = 30 if found["y"] == "media" else 15
    elif how in ("half past", "half"):
        minute = 30
    elif how == "halb":
        hour, minute = hour - 1, 30
    else:
        size = 15 if "quarter" in how or "viertel" in how else _size(how)
        back = how.endswith((" to", " vor"))
        hour, minute = (hour - 1, 60 - size) if back else (hour, size)
    return Mention("time", _read(hour or 12, minute, half, part), found.start(), found.end())


def _size(how: str) -> int:
    digits = re.match(r"\d+", how)
    return int(digits[0]) if digits else in_words(how)


_QUARTER = re.compile(
    rf"\b(?P<n>\d{{1,3}}|an?|one|{alternatives(UNITS)}) (?:(?P<unit>{_UNIT}) and a quarter"
    rf"|and a quarter (?P<unit2>{_UNIT})"
    rf"|(?P<part>[13])/4 ?(?P<unit3>{_UNIT})|(?P<unit4>{_UNIT}) and a half)\b"
)


def durations(text: str) -> Iterator[Mention]:
    """Every duration of a folded text, in minutes; neighbours such as "1 h 30 min" are one."""
    parts: list[Mention] = []
    for found in _DURATION.finditer(text):
        minutes = _quantity(found["n"])
        if minutes is not None:
            size = MINUTES_OF[found["unit"]]
            parts.append(_lasting(minutes * size + (size // 2 if found["half"] else 0), found, found["unit"]))
    parts += [_halves(found) for found in _HALVES.finditer(text)]
    parts += [_quarters(found) for found in _QUARTER.finditer(text)]
    for found in _CLOCKED.finditer(text):
        weak = not found["unit"] and "h" not in found[0]
        parts.append(
            Mention(
                "duration",
                frozenset({int(found["h"]) * 60 + int(found["m"])}),
                found.start(),
                found.end(),
                is_weak=weak,
            )
        )
    yield from _joined(text, sorted(parts, key=lambda part: (part.start, -part.end)))


def _joined(text: str, parts: list[Mention]) -> Iterator[Mention]:
    whole: Mention | None = None
    for part in parts:
        if whole is not None and part.start < whole.end:
            continue
        if whole is not None and _JOIN.match(text[whole.end : part.start]) and _smaller(part, whole):
            whole = Mention("duration", frozenset({_minutes(whole) + _minutes(part)}), whole.start, part.end)
            continue
        if whole is not None:
            yield whole
        whole = part
    if whole is not None:
        yield whole


def _smaller(part: Mention, whole: Mention) -> bool:
    larger, smaller = (MINUTES_OF.get(one.unit, 0) for one in (whole, part))
    return larger > smaller > 0


def _minutes(mention: Mention) -> int:
    return sum(value for value in mention.values if isinstance(value, int))


def _lasting(minutes: Decimal | int, found: re.Match[str], unit: str = "") -> Mention:
    return Mention("duration", frozenset({int(minutes)}), found.start(), found.end(), unit=unit)


def _quantity(text: str) -> Decimal | None:
    try:
        return Decimal(text.replace(",", "."))
    except InvalidOperation:
        if text.startswith("half"):
            return Decimal("0.5")
        return Decimal(in_words(text)) if in_words(text) else Decimal(1)


def _halves(found: re.Match[str]) -> Mention:
    unit = next(found[name] for name in ("unit", "unit2", "unit3", "unit4", "unit5", "unit6") if found[name])
    size = Decimal(MINUTES_OF[unit])
    if found["n"] or found["n2"]:
        count = _quantity(found["n"] or found["n2"]) or Decimal(1)
        return _lasting((count + Decimal("0.5")) * size, found, unit)
    if found["half"]:
        return _lasting(size / 2, found, unit)
    if found["quarters"]:
        return _lasting(size * (1 if "three" not in found[0] and "drei" not in found[0] else 3) / 4, found, unit)
    count = Decimal("1.5") if found["anderthalb"] else Decimal("2.5" if found[0].startswith("zwei") else "3.5")
    return _lasting(count * size, found, unit)


def _quarters(found: re.Match[str]) -> Mention:
    unit = found["unit"] or found["unit2"] or found["unit3"] or found["unit4"]
    part = Decimal("0.5") if found["unit4"] else Decimal(found["part"] or 1) / 4
    return _lasting(((_quantity(found["n"]) or Decimal(1)) + part) * MINUTES_OF[unit], found, unit)
