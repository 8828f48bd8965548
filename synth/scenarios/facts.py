"""Values as people write them, and how to see in SQL whether an answer tells one: tolerant of form, not of value."""

import re
from datetime import date
from typing import Any, Literal, cast

Kind = Literal["date", "money", "count", "text"]
DATE = re.compile(r"\d{4}-\d\d-\d\d")
DATETIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?")
MONTHS = [date(2000, month, 1).strftime("%B") for month in range(1, 13)]
NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
ORDINALS = ["", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
MONEY = ("cents",)


def is_money(name: str) -> bool:
    """Whether a column or argument of this name holds cents."""
    return name in MONEY or name.endswith("_cents")


def kind_of(name: str, value: Any) -> Kind | None:
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
    if isinstance(value, list):
        each = [said(name, one, clock=clock, currency=currency, words=words) for one in cast("list[Any]", value)]
        return " and ".join([", ".join(each[:-1]), each[-1]] if len(each) > 1 else each)
    if isinstance(value, str):
        known = (words or {}).get(value)
        return known or (value.replace("_", " ") if re.fullmatch(r"[a-z0-9_]+", value) else value)
    return str(value)


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


def tells(name: str, value: Any) -> str | None:
    """An SQL expression over `:answer` that is true when the answer tells the value; None if that cannot be seen."""
    kind = kind_of(name, value)
    if kind == "date":
        return _any(_date_patterns(value))
    if kind == "money":
        return _any(_money_patterns(value))
    if kind == "count":
        return _any(_count_patterns(value))
    if kind == "text":
        return f"instr(lower(:answer), lower({literal(str(value))})) > 0"
    return None


def literal(value: Any) -> str:
    """A value as SQL."""
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value)


def _any(patterns: list[str]) -> str:
    text = "' ' || lower(:answer) || ' '"
    return "(" + " OR ".join(f"{text} GLOB {literal('*' + pattern + '*')}" for pattern in patterns) + ")"


def _date_patterns(value: str) -> list[str]:
    read = date.fromisoformat(value)
    number, month = read.day, MONTHS[read.month - 1].lower()
    short = month[:3]
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    before, after = "[^0-9]", "[^0-9]"
    patterns = [value, f"{before}{number:02d}[./]{read.month:02d}[./]", f"{before}{number}[./]{read.month}[./]"]
    patterns += [f"{before}{read.month:02d}/{number:02d}{after}", f"{before}{read.month}/{number}{after}"]
    patterns += [f"{before}{number:02d}[./]{read.month:02d}{after}", f"{before}{number:02d} {short}"]
    for form in (f"{number}", f"{number}.", f"{number}{ending}", f"{number}{ending} of"):
        patterns.append(f"{before}{form} {short}")
    for form in (f"{number}", f"{number:02d}", f"{number}{ending}", f"the {number}{ending}"):
        patterns += [f"{short}[a-z.]* {form}{after}"] if form else []
        patterns += [f"{name} {form}{after}" for name in {month, short}]
    return sorted(set(patterns))


def _money_patterns(cents: int) -> list[str]:
    whole, rest = divmod(abs(cents), 100)
    wholes = _forms(whole)
    before, after = "[^0-9.,]", "[^0-9]"
    patterns = [f"{before}{form}[.,]{rest:02d}{after}" for form in wholes]
    if rest == 0:
        patterns += [f"{before}{form}{end}" for form in wholes for end in ("[^0-9.,]", "[.,][^0-9]")]
    elif rest % 10 == 0:
        patterns += [f"{before}{form}[.,]{rest // 10}{after}" for form in wholes]
    return sorted(patterns)


def _forms(number: int) -> set[str]:
    """A whole number as people write it: thousands may stand apart."""
    apart = f"{number:,}"
    return {str(number), apart, apart.replace(",", "."), apart.replace(",", " ")}


def _count_patterns(number: int) -> list[str]:
    patterns = [f"[^0-9.,:/-]{form}[^0-9:/-]" for form in sorted(_forms(number))]
    patterns += [f"[^a-z]{words[number]}[^a-z]" for words in (NUMBERS, ORDINALS) if 0 < number < len(words)]
    if number > 0:
        ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
        patterns.append(f"[^0-9]{number}{ending}[^a-z]")
    return patterns
