"""A grammar of lists: each item once, with commas, "and" or line ends between, and nothing else."""

import re
from collections.abc import Collection, Sequence
from datetime import date

from servers.answer.extraction import as_minutes
from servers.answer.line.grammar import WantedValue, days_of, minutes_of_day
from servers.answer.line.names import is_name, is_part
from servers.answer.vocabulary import MONTHS, alternatives

ListItem = str | int | float
_SEPARATOR = re.compile(r" *(?:[,;\n&]| and )[ ,;\n]*(?:and )?")
_DAY = re.compile(r"(?:the )?\d{1,2}(?:st|nd|rd|th|\.)?")
_MONTH = re.compile(rf"\b(?:{alternatives(MONTHS)})\b\.?(?: \d{{4}})?")
_ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_ISO_TIME = re.compile(r"\d\d:\d\d")


def is_list(part: str, wanted: WantedValue) -> bool | None:
    """Whether a folded part has all items of a list and no other. None if it is no list of them as a whole."""
    left = [value for value in wanted.one.values if value is not None and not isinstance(value, bool)]
    pieces = _pieces(part)
    at = 0
    while at < len(pieces):
        found = _item_at(part, pieces, at, left, wanted)
        if found is None:
            return None
        item, at = found
        left.remove(item)
    return not left


def _pieces(part: str) -> list[tuple[int, int]]:
    """The places between the separators of a list."""
    ends = [(0, 0), *(found.span() for found in _SEPARATOR.finditer(part)), (len(part), len(part))]
    places = [(ends[at][1], ends[at + 1][0]) for at in range(len(ends) - 1)]
    return [(first, last) for first, last in places if first < last]


def _item_at(
    part: str, pieces: Sequence[tuple[int, int]], at: int, left: Collection[ListItem], wanted: WantedValue
) -> tuple[ListItem, int] | None:
    """The item that some pieces of a list are, and where the next one begins. An item may have a comma or "and"."""
    for end in range(len(pieces), at, -1):
        text = part[pieces[at][0] : pieces[end - 1][1]].strip(" \"'")
        if end == at + 1 and _DAY.fullmatch(text):
            text = f"{text} {_month_for(part, pieces[at][0])}"
        fits = [item for item in left if _is_item(text, str(item), wanted)]
        if len(fits) == 1:
            return fits[0], end
    return None


def _month_for(part: str, place: int) -> str:
    """The month of a day that stands without one: of "13 and 20 March", of "March 13 and 20"."""
    found = _MONTH.search(part, place) or next(iter(_MONTH.finditer(part)), None)
    return found[0] if found else ""


def _is_item(text: str, item: str, wanted: WantedValue) -> bool:
    """Whether a text is an item of a list, which is a date, a time or a name."""
    now = wanted.now.date()
    if _ISO_DAY.fullmatch(item):
        return any(day.may_be(date.fromisoformat(item), now) for day in days_of(text, now) or ())
    if _ISO_TIME.fullmatch(item):
        return as_minutes(item) in (minutes_of_day(text) or ())
    others = [str(one) for one in (*wanted.one.confusable, *wanted.one.values) if one != item]
    names = [item, *(str(name) for name in wanted.one.fact.also if is_part(item, str(name)))]
    return is_name(text, names, others, [rival for rival in wanted.rivals if rival != item]) is True
