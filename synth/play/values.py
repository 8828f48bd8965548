"""Single values of a type: likely ones, slightly wrong ones, and ones that only the schema permits; and days."""

import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from random import Random
from typing import Any

from servers.text.json_values import is_list, is_object
from synth.play.value_sources import ColumnKind


def day_in(text: str) -> date | None:
    """The day that a date, or a date and time, begins with."""
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def later(day: date, days: int) -> date:
    """So many days later, or earlier; no further than the calendar goes."""
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return date.max if days > 0 else date.min


NUMBER = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w-])")
WORD = re.compile(r"[a-z][a-z0-9_]*")
WORDS = (
    "garden",
    "silver",
    "north",
    "window",
    "paper",
    "coffee",
    "harbour",
    "spare",
    "early",
    "quiet",
    "lamp",
    "field",
)
REASONS = (
    "Asked for by phone.",
    "The customer wrote about it.",
    "Agreed with the manager.",
    "It was delayed by illness.",
)
STRANGE = (
    "", " ", "\n", "0", "-1", "null", "None", "%", "_", "'", "'; DROP TABLE x; --", '"', "ÅÉñ 漢字 🙂", "a\u0001b",
    "x" * 400, "2026-02-30", "1e309", "{}", "[]", "İstanbul", "e\u0301", "../..", "9999999999999999999",
)  # fmt: skip
NUMBERS = (0, -1, 1, 2, 10**6, -(10**6), 2**31, 2**53 + 1, 2**63 - 1, -(2**63), 2**63, 10**30)
FLOATS = (0.0, -0.5, 0.1, 1e-9, 1e15, -1e308, 1e308)
NOT_DATES = ("2026-02-30", "tomorrow", "16.03.2026", "", "2026-3-1", "0001-01-01", "9999-12-31")


def numbers_of(text: str) -> list[float]:
    """What a number of a text can mean: itself, and an amount of money in its smallest unit."""
    return [int(text)] if text.isdigit() else [round(100 * float(text)), float(text)]


def moment(now: str, kind: ColumnKind, days: int, random: Random) -> str:
    """A date, or a date and time, so many days from now."""
    then = datetime.fromisoformat(now) + timedelta(days=days)
    if kind == "date":
        return then.date().isoformat()
    then = then.replace(hour=random.randrange(7, 21), minute=random.choice((0, 15, 30, 45)), second=0)
    return then.strftime("%H:%M") if kind == "time" else then.isoformat(sep=" ")


def likely_moment(now: str, kind: ColumnKind, known: list[str], random: Random) -> str:
    """A moment near the instance's time, or near a known one."""
    dates = [one for one in known if day_in(one) is not None]
    if kind == "time" and known and random.random() < 0.5:
        return random.choice(known)
    if dates and kind != "time" and random.random() < 0.4:
        one = random.choice(dates)
        if random.random() < 0.5 and (len(one) > 10) == (kind == "datetime"):
            return one
        near = later(date.fromisoformat(one[:10]), random.randint(-3, 7))
        return near.isoformat() if kind == "date" else f"{near} {moment(now, 'time', 0, random)}:00"
    ahead = random.choice((0, 1, 2, 3, random.randint(4, 14), random.randint(15, 60), random.randint(-20, 90)))
    return moment(now, kind, ahead, random)


def wrong_moment(now: str, kind: ColumnKind, random: Random) -> str:
    """A moment that is over, far off, or none."""
    if random.random() < 0.3:
        return random.choice(NOT_DATES)
    return moment(now, kind, random.choice((-1, -2, -30, -400, 400, 4000)), random)


def likely_text(known: list[str], random: Random, *, whole: float) -> str:
    """A known text, a word of one, or a new one."""
    if known and random.random() < whole:
        return random.choice(known)
    if known and random.random() < 0.4:
        words = random.choice(known).split()
        if words:
            return random.choice(words)
    return random.choice(REASONS) if random.random() < 0.5 else fresh_text(random)


def fresh_text(random: Random) -> str:
    """A text that is most likely not there yet."""
    return f"{random.choice(WORDS).title()} {random.choice(WORDS).title()} {random.randrange(1000)}"


def fresh_email(random: Random) -> str:
    return f"{random.choice(WORDS)}.{random.choice(WORDS)}{random.randrange(1000)}@example.org"


def likely_number(known: Sequence[float], random: Random) -> float:
    """A known number, one near it, or a small one."""
    if known and random.random() < 0.7:
        number = random.choice(known)
        return (
            number if random.random() < 0.75 else type(number)(number * random.choice((0.5, 2)) + random.choice((0, 1)))
        )
    return random.choice((1, 1, 2, 3, random.randint(1, 10), random.randint(1, 100)))


def wrong_number(known: Sequence[float], random: Random) -> float:
    """A number that is zero, negative, or more than there is."""
    most = max(known, default=100)
    return random.choice((0, -1, -random.randint(1, 1000), int(most) + 1, int(most) * 2 + 1, 10**6, 10**9))


def within(number: float, schema: dict[str, Any], *, whole: bool) -> float:
    """The nearest number that a schema permits."""
    low, high = schema.get("minimum"), schema.get("maximum")
    if "exclusiveMinimum" in schema:
        low = schema["exclusiveMinimum"] + (1 if whole else 1e-6)
    if "exclusiveMaximum" in schema:
        high = schema["exclusiveMaximum"] - (1 if whole else 1e-6)
    number = number if low is None else max(number, low)
    number = number if high is None else min(number, high)
    step = schema.get("multipleOf")
    if step:
        number = round(number / step) * step
    return int(number) if whole else number


def fitted(text: str, schema: dict[str, Any]) -> str:
    """A text as long as a schema permits."""
    least, most = int(schema.get("minLength", 0)), schema.get("maxLength")
    text = text + "x" * (least - len(text))
    return text if most is None else text[: int(most)]


def changed(value: Any, random: Random) -> Any:
    """A value of the same form that is most likely not there: an unknown id."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return value
    if isinstance(value, int):
        return value + random.choice((10**4, 10**6)) if random.random() < 0.8 else -value
    head, separator, tail = value.rpartition("_")
    return random.choice((f"{head}{separator}{tail[::-1]}x", f"{value}0", value.upper(), "unknown", ""))


def objects_in(value: Any) -> list[dict[str, Any]]:
    """All JSON objects within a JSON value, itself included."""
    found: list[dict[str, Any]] = []
    level: list[Any] = [value]
    while level:
        one = level.pop()
        if is_object(one):
            found.append(one)
            level += list(one.values())
        elif is_list(one):
            level += one
    return found
