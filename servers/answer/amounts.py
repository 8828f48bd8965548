"""Amounts of money in a text: a number beside a currency."""

import re
from collections.abc import Iterator
from decimal import Decimal

from servers.answer.mention import Mention
from servers.answer.numbers import Number, numbers
from servers.answer.vocabulary import CURRENCY_OF, alternatives

_CURRENCY = alternatives(CURRENCY_OF)
_BEFORE = re.compile(rf"(?:(?<![a-z])({_CURRENCY})\.?|[€$£¥]) ?-?$")
_AFTER = re.compile(rf"^(?:[.,]-|,--|\.--)?[ -]?({_CURRENCY})(?![a-z])\.?")
_CENTS = re.compile(r"^ ?(?:euro-?)?(?:cents?|ct|cts|centimes|centimos|p)\b")


def amounts(text: str) -> Iterator[Mention]:
    """Every number of a folded text that has a currency, in units of it."""
    found = sorted((one for one in numbers(text) if not one.is_ordinal), key=lambda one: (one.start, -one.end))
    used = 0
    for place, number in enumerate(found):
        if number.start < used:
            continue
        mention = _amount(text, number, found[place + 1] if place + 1 < len(found) else None)
        if mention is not None:
            used = mention.end
            yield mention


def _amount(text: str, number: Number, following: Number | None) -> Mention | None:
    before = _BEFORE.search(text[max(0, number.start - 12) : number.start])
    after = _AFTER.match(text[number.end : number.end + 14])
    if before is None and after is None:
        cents = _CENTS.match(text[number.end : number.end + 10])
        if cents is None:
            return None
        values = frozenset(value / 100 for value in number.values)
        return Mention("amount", values, number.start, number.end + cents.end())
    code = after[1] if after else _code(before)
    end = number.end + (after.end() if after else 0)
    values = number.values
    if after and following is not None and following.start - end <= 6:
        between = text[end : following.start]
        [small, *_] = following.values
        tail = _CENTS.match(text[following.end : following.end + 12])
        if (
            re.fullmatch(r",? ?(?:and |und |et |con |y |e )?", between)
            and small < 100
            and small == small.to_integral_value()
        ):
            digits = text[following.start : following.end]
            if tail or (
                digits.isdigit()
                and len(digits) == 2
                and not re.match(r"^[ -]?\w*[a-z]", text[following.end : following.end + 3])
            ):
                values = frozenset(value + small / 100 for value in values)
                end = following.end + (tail.end() if tail else 0)
    return Mention("amount", frozenset(Decimal(value) for value in values), number.start, end, unit=code)


def _code(before: re.Match[str] | None) -> str:
    return (before[1] or before[0].strip(" -")) if before else ""
