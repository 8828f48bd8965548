"""Values as people write them."""

import re
from datetime import date
from typing import Any, Literal

from servers.text.json_values import is_list
from synth.play.value_sources import DATE

ValueForm = Literal["date", "money", "count", "text"]

DATETIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?")
MONTHS = [date(2000, month, 1).strftime("%B") for month in range(1, 13)]
NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
TEENS = ["thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
MONEY = ("cents",)
SIGNED = ("_change", "_difference")
"""Endings of names whose numbers have a sign: `5 more`, `5 fewer`."""


def is_money(name: str) -> bool:
    """Whether a column or argument of this name holds cents."""
    return name in MONEY or name.endswith("_cents")


def kind_of(name: str, value: Any) -> ValueForm | None:
    """What kind of fact a value is; None for what is not worth telling."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        return "money" if is_money(name) else "count"
    if isinstance(value, str) and DATE.fullmatch(value):
        return "date"
    if isinstance(value, str) and DATETIME.fullmatch(value):
        return None  # its minutes may hang on when the call was made
    if isinstance(value, str) and value.strip():
        return "text"
    return None


def said(name: str, value: Any, *, clock: str, currency: str = "{}", words: dict[str, str] | None = None) -> str:
    """A value as a person writes it."""
    kind = kind_of(name, value)
    if kind == "date":
        return day(value, clock)
    if kind == "money":
        words_of_it = currency.format(money(value))
        return words_of_it.removesuffix("s") if value == 100 else words_of_it
    if isinstance(value, str) and DATETIME.fullmatch(value):
        return f"{day(value[:10], clock)} at {value[11:16]}"
    if is_list(value):
        each = [said(name, one, clock=clock, currency=currency, words=words) for one in value]
        return " and ".join([", ".join(each[:-1]), each[-1]] if len(each) > 1 else each)
    if isinstance(value, str):
        known = (words or {}).get(value)
        return known or (value.replace("_", " ") if re.fullmatch(r"[a-z0-9_]+", value) else value)
    return f"{abs(value)} {'more' if value > 0 else 'fewer'}" if name.endswith(SIGNED) else str(value)


def day(text: str, clock: str) -> str:
    """A date, with its year where it is not this one."""
    read = date.fromisoformat(text)
    year = "" if text[:4] == clock[:4] else f" {read.year}"
    return f"{read.day} {MONTHS[read.month - 1]}{year}"


def money(cents: int) -> str:
    """Cents as an amount: `7.25`, `240`."""
    whole, rest = divmod(abs(cents), 100)
    sign = "-" if cents < 0 else ""
    return f"{sign}{whole}.{rest:02d}" if rest else f"{sign}{whole}"


def counted(number: int, one: str, many: str) -> str:
    """A number of things: `two adults`."""
    word = NUMBERS[number] if 0 <= number < len(NUMBERS) else str(number)
    return f"{word} {one if number == 1 else many}"


def in_words(number: int) -> str:
    """A number from 0 to 999,999 in words: `one hundred and twenty-three`."""
    if number < 20:
        return ["zero", *NUMBERS[1:], *TEENS][number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return f"{TENS[tens]}-{NUMBERS[ones]}" if ones else TENS[tens]
    size, name = (1000, "thousand") if number >= 1000 else (100, "hundred")
    many, rest = divmod(number, size)
    told = f"{in_words(many)} {name}"
    joint = " and " if rest < 100 else " "
    return f"{told}{joint}{in_words(rest)}" if rest else told
