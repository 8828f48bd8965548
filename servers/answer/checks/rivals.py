"""Which other values of an answer somebody could take for the one that was asked for."""

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import date, timedelta
from decimal import Decimal

from servers.answer.checks.fact_values import FactValues, given_mentions
from servers.answer.extraction import as_date
from servers.answer.mention import Day, Mention
from servers.answer.names import occurrences, stem
from servers.answer.vocabulary import UNITS, alternatives, word_set

LARGE = 20
"""A confusable amount from here on is one whatever stands after it; below, it may count something."""
ONE = frozenset(["one", "both", "once", "single", "ein", "eine", "einen", "un", "une", "una"])
_YEAR_BEFORE = re.compile(r"\b(?:in|of|since|until|year|for|end) $|[a-z]{3,9}\.? $")
_PRICE_BEFORE = re.compile(
    r"(?:\b(?:paid|pays?|costs?|comes? to|makes|total|balance|deposit|refund|fee|price)|[€$£=])(?: is| of| was|:)? ?$"
)
_PART_OF = re.compile(rf" of (?:(?:the|your|these|those|my) )?(?:\d{{1,2}}|{alternatives(UNITS)})\b")
"""What makes a number a part of all that was to be done: "three of the four"."""
_ALL_OF = re.compile(r"\b(?:all|these|those|the other|the first|the last) $")
_RANGE = re.compile(r" ?\(?(?:-|to|until|till|bis|a|and|und) ?")
_CODE_BEFORE = re.compile(r"\b(?:room|row|seat|table|gate|section|number|no|nr|tier|floor|step|item|question|flight) $")
NO_UNITS = frozenset(["", "are", "is", "were", "was", "have", "has", "of", "in"])
"""Words behind a number that are no unit of it."""
PARTICLES = word_set("in is was are were at for and or but as on to by so all altogether now the of und fur")


def strangers(values: FactValues) -> list[str]:
    """The values of the type that are told and are neither this fact's nor anybody's: of "any", none may be."""
    found = rivals(values, [mention for mention in values.there if values.fits(mention)])
    return [values.reply.said(one) for one in found if is_stranger(values, one) and not is_range(values, one)]


def rivals(values: FactValues, right: Sequence[Mention]) -> Iterator[Mention]:
    """Other values that somebody could take for the one that was asked for."""
    for mention in values.there:
        if mention in right or any(o.start < mention.end and mention.start < o.end for o in right):
            continue
        if values.one.fact.type == "duration" and (mention.type != "duration" or _is_rate(values, mention)):
            continue
        if mention.is_weak and mention.type == "time" and _is_within(values, mention, "duration"):
            continue
        if mention.is_weak and not _is_one_of_them(values, mention, right):
            continue
        if mention.type == "number" and not _is_of_the_kind(values, mention, right):
            continue
        if mention.type == "date" and _is_weekday_of_it(values, mention):
            continue
        yield mention


def is_stranger(values: FactValues, rival: Mention) -> bool:
    """Whether a value is told that nobody gives and nobody asks for."""
    return not values.may_stand(rival) and values.reply.stands(rival, is_rival=True) != "denied"


def is_counted(values: FactValues, rival: Mention) -> bool:
    """Whether a reason's instant is counted from one that may be told, by a span of the refusal: "2 days after"."""
    if values.question.tell != "any" or values.one.fact.type not in ("date", "time") or values.is_confusable(rival):
        return False
    given = [one for text in values.question.given for one in given_mentions(text, values.reply.now)]
    spans = {minutes for one in given for minutes in _minutes(one)}
    return any(_lies_apart(one, rival, spans) for one in given if one.type == rival.type)


def is_range(values: FactValues, rival: Mention) -> bool:
    """Whether a time ends a span that begins with one that may be told."""
    return rival.type == "time" and any(
        other.type == "time"
        and other is not rival
        and (other.start < rival.start or not values.one.confusable)
        and (values.fits(other) or values.may_stand(other))
        and _RANGE.fullmatch(values.between(rival.place, other.place)) is not None
        for other in values.there
    )


def is_of_named_other(values: FactValues, rival: Mention) -> bool:
    """Whether the words beside a value name what this fact is not of."""
    first, last = values.reply.text.sentence(rival.start)
    sentence = values.reply.folded[first:last]
    return any(True for word in values.one.fact.not_about for _ in occurrences(sentence, word)) and not any(
        True for word in values.one.about for _ in occurrences(sentence, word)
    )


def _is_one_of_them(values: FactValues, mention: Mention, right: Sequence[Mention]) -> bool:
    """Whether a weak mention is another value all the same: "one pack" where packs are asked for, "on the 5th"."""
    if mention.type != "number":
        return values.is_confusable(mention)
    units = {stem(other.unit) for other in right if other.unit}
    is_one = values.one.fact.type == "count" and values.reply.said(mention) in ONE
    return is_one and mention.unit != "" and stem(mention.unit) in units


def _is_within(values: FactValues, mention: Mention, *types: str) -> bool:
    return any(m.type in types and m.start <= mention.start < m.end for m in values.reply.mentions)


def _is_rate(values: FactValues, mention: Mention) -> bool:
    """Whether a span is what something is counted by: "60 days a year"."""
    return re.match(r"an? ", values.reply.said(mention)) is not None and any(
        0 <= mention.start - other.end <= 1 for other in values.reply.mentions
    )


def _is_weekday_of_it(values: FactValues, mention: Mention) -> bool:
    """Whether a mere weekday is that of the true date."""
    days = {as_date(str(value)).weekday() for value in values.one.values if value}
    return is_mere_weekday(mention) and any(isinstance(day, Day) and day.weekday in days for day in mention.values)


def _is_of_the_kind(values: FactValues, number: Mention, right: Sequence[Mention]) -> bool:
    """Whether a plain number can be a value of this fact: by its unit, or by having none."""
    text = values.reply.folded
    if _CODE_BEFORE.search(text[max(0, number.start - 12) : number.start]) or _PART_OF.match(text, number.end):
        return False
    if _is_within(values, number, "duration", "amount", "time", "date"):
        return False
    said, before = values.reply.said(number), values.reply.folded[max(0, number.start - 14) : number.start]
    if re.fullmatch(r"(?:19|20)\d\d", said) and not values.is_confusable(number):
        return not _YEAR_BEFORE.search(before)
    is_plain = not number.unit or number.unit in PARTICLES
    if values.one.fact.type == "count":
        units = {stem(mention.unit) for mention in right if mention.unit not in NO_UNITS} | values.question.words
        is_all_of = _ALL_OF.search(before) is not None
        return stem(number.unit) in units or (not is_all_of and (is_plain or values.is_confusable(number)))
    is_large = all(isinstance(value, Decimal) and value >= LARGE for value in number.values)
    if values.is_confusable(number) and (is_plain or is_large):
        return True
    is_alike = re.search(r"[.,]\d\d$", said) or all(m.type == "number" for m in right)
    return is_plain and bool(is_alike or _PRICE_BEFORE.search(before))


def _minutes(span: Mention) -> Iterator[int]:
    """How many minutes a span has, or so many days as are counted: "the second day after"."""
    if span.type == "duration":
        yield from (int(value) for value in span.values if not isinstance(value, Day))
    elif span.type == "number" and stem(span.unit) == "day":
        yield from (1440 * int(value) for value in span.values if isinstance(value, Decimal))


def _lies_apart(one: Mention, other: Mention, spans: Collection[int]) -> bool:
    """Whether two dates, or two times of a day, lie one of some spans apart."""
    if one.type == "time":
        return any(
            abs(a - b) in spans for a in one.values for b in other.values if isinstance(a, int) and isinstance(b, int)
        )
    days = [a.whole for a in one.values if isinstance(a, Day)]
    moved = [_moved(day, sign * span) for day in days if day for span in spans for sign in (-1, 1)]
    read = [b for b in other.values if isinstance(b, Day) and b.day is not None]
    return any(b.may_be(day, day) for b in read for day in moved if day)


def _moved(day: date, minutes: int) -> date | None:
    """A day, so many minutes later; None where the calendar has none."""
    try:
        return day + timedelta(minutes=minutes)
    except OverflowError:
        return None


def is_mere_weekday(mention: Mention) -> bool:
    """Whether a date is told by the name of its weekday alone."""
    return all(isinstance(value, Day) and value.day is None and value.weekday is not None for value in mention.values)
