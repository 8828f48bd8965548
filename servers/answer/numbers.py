"""Numbers, as digits with separators and as words."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from servers.answer.vocabulary import ORDINALS, SCALES, TENS, TIMES, UNITS, alternatives

DIGITS = r"\d{1,3}(?:[,.' ]\d{3})+(?:[.,]\d{1,2})?(?![\d])|\d+(?:[.,]\d+)?"
_NUMBER = re.compile(
    rf"(?<![\w.,:/'-])(?:{DIGITS})(?![\w]|:\d)|(?<=[(/\s~€$£-])(?<![a-z]-)(?:{DIGITS})(?!\w)|(?<=\d-)\d+(?!\w)|^\d+"
)
_ORDINAL = re.compile(
    rf"(?<![\w.,:/-])(?:(\d{{1,4}})(?:st|nd|rd|th|er|re|eme|e|o|a)|({alternatives(ORDINALS)}))(?!\w|-\w)"
)
_CENT = r"(?:(?<=deux |cinq |sept |huit |neuf )|(?<=trois )|(?<=quatre ))cents?"
"""A hundred in French, where it is no coin."""
_SIMPLE = rf"{alternatives({*UNITS, *TENS, *SCALES} - {'cent', 'cents'})}|{_CENT}"
_WORDS = re.compile(rf"(?<![\w-])(?:{_SIMPLE})(?:(?:[ -]|,? and | y | e | et )(?:{_SIMPLE}))*(?![\w]|-\w)")
_TIMES = re.compile(rf"(?<![\w-])(?:{alternatives(TIMES)})(?![\w-])")
_GERMAN = re.compile(
    r"(?<!\w)(ein|zwei|drei|vier|funf|sechs|sieben|acht|neun)und(zwanzig|dreissig|vierzig|funfzig"
    r"|sechzig|siebzig|achtzig|neunzig)(?!\w)"
)


_THOUSANDS = re.compile(r"(?<![\w.,:/'-])(\d{1,3}(?:[.,]\d)?)k(?!\w)")
_DIGIT = alternatives([word for word, value in UNITS.items() if 0 < value < 10])
_SPELT = re.compile(
    rf"(?<![\w-])(?:({_DIGIT})[ -](?:oh|o|zero)[ -]({_DIGIT})|({_DIGIT})[ -](ten|eleven|twelve|\w+teen))(?![\w]|-\w)"
)


class Number(NamedTuple):
    """A number in a text, in each way that it can be read."""

    values: frozenset[Decimal]
    start: int
    end: int
    is_ordinal: bool = False
    is_word: bool = False


def numbers(text: str) -> Iterator[Number]:
    """Every number of a folded text."""
    for found in _NUMBER.finditer(text):
        yield Number(read(found[0]), found.start(), found.end())
    for found in _THOUSANDS.finditer(text):
        yield Number(frozenset({Decimal(found[1].replace(",", ".")) * 1000}), found.start(), found.end())
    for found in _SPELT.finditer(text):
        yield Number(frozenset({Decimal(_spelt(found))}), found.start(), found.end(), is_word=True)
    for found in _ORDINAL.finditer(text):
        value = int(found[1]) if found[1] else ORDINALS[found[2]]
        yield Number(frozenset({Decimal(value)}), found.start(), found.end(), is_ordinal=True)
    for found in _WORDS.finditer(text):
        yield Number(frozenset({Decimal(in_words(found[0]))}), found.start(), found.end(), is_word=True)
    for found in _TIMES.finditer(text):
        yield Number(frozenset({Decimal(TIMES[found[0]])}), found.start(), found.end(), is_word=True)
    for found in _GERMAN.finditer(text):
        value = TENS[found[2]] + (1 if found[1] == "ein" else UNITS[found[1]])
        yield Number(frozenset({Decimal(value)}), found.start(), found.end(), is_word=True)


def read(digits: str) -> frozenset[Decimal]:
    """What digits with separators mean: `1,234` and `1.234` are a thousand and more, `12,5` is twelve and a half."""
    marks = re.sub(r"\d", "", digits)
    bare = re.sub(r"[^\d]", "", digits)
    if not marks:
        return frozenset({Decimal(bare)})
    last = max(digits.rfind(mark) for mark in ".,' ")
    after = len(digits) - last - 1
    cut = Decimal(re.sub(r"[^\d]", "", digits[:last]) + "." + digits[last + 1 :])
    whole = Decimal(bare)
    if marks[-1] in "' ":
        return frozenset({whole})
    if len(marks) > 1:
        return frozenset({whole if len(set(marks)) == 1 and after > 2 else cut})
    return frozenset({whole}) if after == 3 and last <= 3 and digits[0] != "0" else frozenset({cut})


def _spelt(found: re.Match[str]) -> int:
    """The value of "three-oh-one" or "three-ten"."""
    if found[1]:
        return UNITS[found[1]] * 100 + UNITS[found[2]]
    return UNITS[found[3]] * 100 + UNITS.get(found[4], 0)


def in_words(text: str) -> int:
    """The value of number words: `two hundred and five`."""
    total = current = 0
    for word in re.findall(r"dix-(?:sept|huit|neuf)|soixante-dix|quatre-vingts|quatre-vingt-dix|[a-z]+", text):
        if word in SCALES:
            scale = SCALES[word]
            current = max(current, 1) * scale
            if scale == 1000:
                total, current = total + current, 0
        else:
            current += UNITS.get(word, TENS.get(word, 0))
    return total + current
