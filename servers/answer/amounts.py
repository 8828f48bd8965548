"""Amounts of money in a text: a number beside a currency."""

import re
from collections.abc import Iterator
from decimal import Decimal

from servers.answer.mention import Mention
from servers.answer.numbers import Number, numbers
from servers.answer.vocabulary import CURRENCY_OF, alternatives

_CURRENCY = alternatives(CURRENCY_OF)
_BEFORE = re.compile(rf"(?:(?<![a-z])({_CURRENCY})|(?<![a-z])kr\.|[€$£¥]) ?-?\Z")
_OF = r"(?:(?:us|american|british|norwegian|swedish|danish|swiss|polish|czech) )?"
_AFTER = re.compile(rf"^(?:[.,]-|,--|\.--)?[ -]?{_OF}({_CURRENCY})(?![a-z])")
_JOIN = re.compile(r",? ?(?:and |und |et |con |y |e )?")
_NO_NOUN = re.compile(
    r"(?! ?(?:%|-|:))(?:$|[^\w ]|\s(?:$|\W|(?:in|at|and|for|altogether|all|as|is|on|of|was|to|had|has|zu|und|by"
    r"|till|until|from|per"
    r"|each|a|so|which|that|the|now|more|extra|together|total|today|with|after|back|open|due|when|if|or|but|i|we"
    r"|it|he|she)\b))"
)
"""What may follow cents that are not named: no thing that is counted."""
_CENTS = re.compile(r"^ ?(?:euro-?)?(?:cents?|ct|cts|centimes|centimos|p(?! ?\.? ?m))\b")


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
    after = _AFTER.match(text[number.end : number.end + 24])
    if before is None and after is None:
        cents = _CENTS.match(text[number.end : number.end + 10])
        if cents is None:
            return None
        values = frozenset(value / 100 for value in number.values)
        return Mention("amount", values, number.start, number.end + cents.end())
    code = after[1] if after else _code(before)
    end = number.end + (after.end() if after else 0)
    values = number.values
    small = _small(text, end, following, is_before=after is None) if following is not None else None
    if small is not None and following is not None:
        values = frozenset(value + small[0] / 100 for value in values)
        end = small[1]
    return Mention("amount", frozenset(Decimal(value) for value in values), number.start, end, unit=code)


def _small(text: str, end: int, following: Number, *, is_before: bool) -> tuple[Decimal, int] | None:
    """The cents that follow an amount, and where they end: "and 50 cents", "80", "fifty"."""
    if not _JOIN.fullmatch(text[end : following.start]):
        return None
    [small, *_] = following.values
    if small >= 100 or small != small.to_integral_value():
        return None
    rest = text[following.end : following.end + 14]
    cents = _CENTS.match(rest)
    if cents:
        return small, following.end + cents.end()
    digits = text[following.start : following.end]
    is_two_digits = digits.isdigit() and len(digits) == 2
    is_word = following.is_word and small >= 5 and text[end : following.start] == " "
    ends = _NO_NOUN.match(rest) is not None
    return (small, following.end) if not is_before and ends and (is_two_digits or is_word) else None


def _code(before: re.Match[str] | None) -> str:
    return (before[1] or before[0].strip(" -")) if before else ""
