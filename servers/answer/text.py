"""An answer as the judge reads it: one form for digits, letters, quotes and dashes, cut into sentences."""

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from servers.answer.vocabulary import MONTHS
from servers.guest.sqlite.plain_text import with_few_marks

_SAME = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u02bc\u2032\u00b4", "'"),
        **dict.fromkeys('\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\u2039\u203a"', '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        **dict.fromkeys("\u066b", "."),
        **dict.fromkeys("\u066c\u060c\u3001", ","),
        "\u3002": ". ",
        "\u061f": "?",
        "\u0142": "l",
        "\u0141": "L",
        "\u00d8": "O",
        "\u0110": "D",
        "\u00c6": "AE",
        "\u0152": "OE",
        "\u00df": "ss",
        "\u1e9e": "SS",
        "\u00f8": "o",
        "\u0111": "d",
        "\u0131": "i",
        "\u00e6": "ae",
        "\u0153": "oe",
        "\u00b0": " ",
        "\u2022": "\n",
        "\u25cf": "\n",
        "\u2192": " -> ",
    }
)
_FRACTIONS = str.maketrans({"\u00bc": " 1/4", "\u00bd": " 1/2", "\u00be": " 3/4"})
_MARKS = re.compile(r"[*#>]+|`+|__+")
_STRUCK = re.compile(r"~~[^~]{0,200}~~")
_ID = re.compile(r"(?<=[a-z])_(?=\d)")
_IDEOGRAPH = "[\u3040-\u30ff\u3400-\u9fff]"
_BESIDE_IDEOGRAPH = re.compile(rf"(?<={_IDEOGRAPH})(?<![年月日])(?=\d)|(?<=\d)(?={_IDEOGRAPH})(?![年月日])")
"""Where a number begins or ends in a script without spaces, unless it is a part of a date."""
_SPACES = re.compile(r"[ \t\r\f\v]+")
_SHORT = re.compile(r"\b(dr|mr|mrs|ms|prof|st|no|nr|approx|ca|etc|vs|e\.g|i\.e|a\.m|p\.m|incl|max|min|hr|hrs)\.(?=\s)")
_AFTER_ORDINAL = frozenset({*MONTHS, "uhr", "und", "y", "et", "bis", "oder"})
_ORDINAL = re.compile(r"(?:^|[^\d:.,/-])\d{1,2}$")
"""A day of the month before its dot, and neither a year nor the minutes of a time."""
_END = re.compile(r"[!?;\n]+|\.(?=\s|$)")

_FENCE = re.compile(r"^ ?```\w*$", re.MULTILINE)
_EMPHASIS = re.compile(r"(?<![^\s(\[\"':;])[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}(?![^\s)\].,;:\"'])")
"""Marks that only set words off, at the beginning or at the end of some."""
_WORDS = re.compile(r"[^\W_]+(?:'[^\W_]+)?")


def folded(text: str) -> str:
    """The text without what does not matter: case, diacritics, kinds of digits, quotes, dashes and spaces, marks."""
    return plain(text).casefold()


def plain(text: str) -> str:
    """The same with its capitals."""
    text = _STRUCK.sub(" ", one_form(text))
    text = _BESIDE_IDEOGRAPH.sub(" ", text)
    return _SPACES.sub(" ", _ID.sub("-", _MARKS.sub("", text)).replace("_", " ")).strip()


def one_form(text: str) -> str:
    """The text with one form for digits, letters, quotes and dashes, and with its marks."""
    text = with_few_marks(text)
    text = unicodedata.normalize("NFKC", text.translate(_FRACTIONS).translate(_SAME)).translate(_SAME)
    letters: list[str] = []
    for sign in unicodedata.normalize("NFD", text) if not text.isascii() else text:
        if sign.isascii():
            letters.append(sign)
            continue
        category = unicodedata.category(sign)
        if category == "Nd":
            letters.append(str(unicodedata.decimal(sign)))
        elif category not in ("Mn", "Cf"):
            letters.append(sign)
    return "".join(letters)


def written(text: str) -> str:
    """The text with every sign that is no mark of emphasis, with its capitals and lines. A degree is a sign too.

    What nobody writes into a value (a tick, a sign of more or less) stays, and no grammar has a place for it.
    """
    text = text.replace("\u00b0", "^")
    return _SPACES.sub(" ", _EMPHASIS.sub("", _FENCE.sub("", one_form(text)))).strip()


def words(text: str) -> list[str]:
    """The words of a folded text, and its numbers."""
    return _WORDS.findall(text)


@dataclass(frozen=True)
class Text:
    """A folded text and its sentences; `cased` is the same with its capitals."""

    text: str
    cased: str = ""

    @classmethod
    def of(cls, text: str) -> "Text":
        """A text as it was written."""
        cased = plain(text)
        small = cased.casefold()
        return cls(small, cased if len(cased) == len(small) else small)

    @cached_property
    def starts(self) -> list[int]:
        """Where each sentence begins."""
        plain = _SHORT.sub(lambda found: found[1] + " ", self.text)
        found = [0]
        for end in _END.finditer(plain):
            is_ordinal = _ORDINAL.search(plain[max(0, end.start() - 3) : end.start()]) is not None
            if end[0] == "." and is_ordinal and plain[end.end() : end.end() + 12].strip()[:3].isalpha():
                following = plain[end.end() :].split(maxsplit=1)[0] if plain[end.end() :].strip() else ""
                if following.strip(".,") in _AFTER_ORDINAL:
                    continue
            found.append(end.end())
        return found

    def sentence(self, place: int) -> tuple[int, int]:
        """The ends of the sentence around a place."""
        at = bisect_right(self.starts, place) - 1
        end = self.starts[at + 1] if at + 1 < len(self.starts) else len(self.text)
        return self.starts[at], end

    def words(self, place: tuple[int, int]) -> str:
        """A part of the text."""
        return self.text[place[0] : place[1]]
