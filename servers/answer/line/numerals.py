"""A grammar of numbers: digits with separators, or number words. A text is one number as a whole, or none."""

import re
from decimal import Decimal
from functools import cache

from servers.answer.numbers import read
from servers.answer.vocabulary import ORDINALS, TENS, UNITS, alternatives

_DIGITS = re.compile(r"\d{1,3}(?:([,.' ])\d{3})(?:\1\d{3})*(?:(?!\1)[.,]\d{1,2})?|\d+(?:[.,]\d+)?")
_GERMAN_UNIT = "ein|zwei|drei|vier|funf|sechs|sieben|acht|neun"
_GERMAN_TEN = "zwanzig|dreissig|vierzig|funfzig|sechzig|siebzig|achtzig|neunzig"
_JOINED = re.compile(rf"({_GERMAN_UNIT})und({_GERMAN_TEN})")
_ORDINAL = re.compile(r"(\d{1,4})(?:st|nd|rd|th|er|eme|\.)")
_SMALL = {word: value for word, value in UNITS.items() if word != "dozen"}
_AND = r"(?:(?:,? and| und| et| y| e)? )"
_UNIT = alternatives(_SMALL)
_TEN = alternatives(TENS)
BELOW_100 = rf"(?:(?:{_GERMAN_UNIT})und(?:{_GERMAN_TEN})|(?:{_TEN})(?:(?:-| |-et-| et | y | e )(?:{_UNIT}))?|{_UNIT})"
_HUNDRED = r"(?:hundred|hundert|cien|ciento)"
_THOUSAND = r"(?:thousand|tausend|mille|mil)"
_BELOW_1000 = rf"(?:(?:(?:{BELOW_100}|an?|ein) ?)?{_HUNDRED}(?:{_AND}{BELOW_100})?|{BELOW_100})"
_HUNDREDS = re.compile(rf"(?:(?P<hundreds>{BELOW_100}|an?|ein)? ?{_HUNDRED}(?:{_AND}(?P<rest>{BELOW_100}))?)")
_TWO = re.compile(rf"(?P<ten>{_TEN})(?:(?:-| |-et-| et | y | e )(?P<unit>{_UNIT}))?")
_ONE = frozenset(("a", "an", "ein", ""))


def number(text: str) -> frozenset[Decimal]:
    """What a folded text means that is one number: `1,234.50`, `forty-two`. Empty if it is none."""
    if _DIGITS.fullmatch(text):
        return read(text)
    value = in_whole_words(text)
    return frozenset() if value is None else frozenset({Decimal(value)})


def ordinal(text: str) -> int | None:
    """The place that a text names: `2nd`, `second`."""
    found = _ORDINAL.fullmatch(text)
    return int(found[1]) if found else ORDINALS.get(text)


def in_whole_words(text: str) -> int | None:
    """The value of number words that are one number: `two hundred and five`. None for `ten two`."""
    if text in ("dozen", "a dozen"):
        return 12
    found = _thousands().fullmatch(text)
    if found:
        rest = found["rest"]
        return 1000 * _below_1000((found["thousands"] or "").strip()) + (_below_1000(rest) if rest else 0)
    return _below_1000(text) if re.fullmatch(_BELOW_1000, text) else None


@cache
def _thousands() -> re.Pattern[str]:
    """The words of a number from 1000. Compiled late: that takes 0.1 s, and few processes read one."""
    return re.compile(rf"(?:(?P<thousands>(?:{_BELOW_1000}|an?|ein) ?)?{_THOUSAND}(?:{_AND}(?P<rest>{_BELOW_1000}))?)")


def _below_1000(text: str) -> int:
    if text in _ONE:
        return 1
    found = _HUNDREDS.fullmatch(text)
    if found:
        hundreds, rest = (found["hundreds"] or "").strip(), found["rest"]
        return 100 * (1 if hundreds in _ONE else _below_100(hundreds)) + (_below_100(rest) if rest else 0)
    return _below_100(text)


def _below_100(text: str) -> int:
    joined = _JOINED.fullmatch(text)
    if joined:
        return TENS[joined[2]] + (1 if joined[1] == "ein" else UNITS[joined[1]])
    if text in _SMALL:
        return _SMALL[text]
    found = _TWO.fullmatch(text)
    return TENS[found["ten"]] + (_SMALL[found["unit"]] if found["unit"] else 0) if found else 0
