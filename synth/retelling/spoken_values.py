"""The values in some words: quotations, dates, times, amounts, numbers, names and codes."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from servers.answer.extraction import mentions
from servers.answer.mention import Day, Mention
from servers.answer.text import folded
from synth.solutions.plausible_values import RowSample
from synth.solutions.told_values import plain

QUOTED = re.compile(r"[“\"«]([^”\"»]+)[”\"»]")
WORD = re.compile(r"[^\W_][\w’'&/-]*", re.UNICODE)
AT_START = re.compile(r"(?:^|[.!?:;\n•]|[-–—]\s|\d[.)])\s*[(“\"]?$")
EVERYDAY = frozenset(("i", "i'm", "i'll", "i've", "i'd", "ok", "ps", "hi", "mr", "mrs", "ms", "dr", "asap", "fyi"))
ORDINARY = re.compile(r"\d+(?:st|nd|rd|th|am|pm)?")
SHORTEST_NAME = 3
LONGEST_NAME = 80
A_DAY, A_NOON = 1440, 720
TIMED = ("time", "date")


@dataclass(frozen=True)
class RowNames:
    """What the rows of an environment are called, by plain text: their texts with a capital, a digit or a space."""

    tables: dict[str, frozenset[str]]

    @classmethod
    def of(cls, rows: RowSample, choices: Iterable[Any]) -> "RowNames":
        """The names in some rows, except choices."""
        common = {plain(str(one)) for one in choices} | {plain(str(one).replace("_", " ")) for one in choices}
        found: dict[str, set[str]] = {}
        for table, lines in rows.rows.items():
            for row in lines:
                for column, value in row.items():
                    if not isinstance(value, str) or column in rows.parents[table] or value in rows.tables_of:
                        continue
                    text = plain(value)
                    if SHORTEST_NAME <= len(text) <= LONGEST_NAME and text not in common and not _is_moment(value):
                        found.setdefault(text, set()).add(table)
        return cls({text: frozenset(tables) for text, tables in found.items()})

    def within(self, text: str) -> set[str]:
        """The names in a text, none of them a part of a longer one that stands there."""
        whole = f" {plain(text)} "
        there = sorted((name for name in self.tables if f" {name} " in whole), key=len, reverse=True)
        found: set[str] = set()
        for name in there:
            if f" {name} " in whole:
                found.add(name)
                whole = whole.replace(f" {name} ", " \x00 ")
        return found


def _is_moment(value: str) -> bool:
    return re.fullmatch(r"[\d\s:.-]+", value) is not None


def quotes(text: str) -> list[str]:
    """The quotations in a text, in plain text."""
    return [plain(one) for one in QUOTED.findall(text)]


def values(text: str, clock: str) -> list[Mention]:
    """The values in a text, in order. A word that need not mean a value is none, nor is “this morning”."""
    now = datetime.fromisoformat(clock)
    bare = folded(QUOTED.sub(lambda found: " " * len(found[0]), text))
    found = [one for one in mentions(bare, now) if not one.is_weak and one.type != "duration"]
    return [one for one in found if not (_is_today(one, now) and not re.search(r"\d", bare[one.start : one.end]))]


def _is_today(one: Mention, now: datetime) -> bool:
    return any(isinstance(value, Day) and value.whole == now.date() for value in one.values)


def are_same(one: Mention, other: Mention) -> bool:
    """True if two mentions can mean the same value. `13` and `13:00` can."""
    if {one.type, other.type} == {"number", "time"}:
        number, time = (one, other) if one.type == "number" else (other, one)
        hours = {int(value) * 60 for value in number.values if not isinstance(value, Day) and value < 24}
        return bool(hours & time.values)
    if one.type != other.type:
        return False
    if one.type != "date":
        return bool(one.values & other.values)
    days = [value for value in one.values if isinstance(value, Day)]
    others = [value for value in other.values if isinstance(value, Day)]
    return any(_agree(first, second) for first in days for second in others)


def _agree(first: Day, second: Day) -> bool:
    pairs = [(first.day, second.day), (first.month, second.month), (first.year, second.year)]
    named = [(one, other) for one, other in pairs if one is not None and other is not None]
    return (first.day is not None and first.day == second.day and all(one == other for one, other in named)) or (
        first == second
    )


def capitals(text: str) -> Iterator[str]:
    """The words of a text that begin with a capital or hold a digit, except at the beginning of a sentence."""
    bare = QUOTED.sub(
        lambda found: f"{' ' * (len(found[0]) - 1)}{found[1][-1] if found[1][-1] in '.!?' else ' '}", text
    )
    for found in WORD.finditer(bare):
        word = re.sub(r"['’]s?$", "", found[0])
        begins = AT_START.search(bare[: found.start()]) is not None
        inner = any(sign.isupper() for sign in word[1:])
        if word.lower().replace("’", "'") in EVERYDAY or ORDINARY.fullmatch(word):
            continue
        if inner or (word[:1].isupper() and not begins) or re.search(r"[^\W\d_]\d|\d[^\W\d_]{2,}", word):
            yield word


def as_written(mention: Mention, text: str) -> str:
    """A value in the words of its text."""
    return folded(text)[mention.start : mention.end].strip() or str(next(iter(mention.values)))
