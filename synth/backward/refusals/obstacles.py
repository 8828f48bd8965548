"""The obstacles of a refused command: the values of its refusal on which it depends.

A refusal tells more than the obstacle: today's date, the price of something that lacks an approval, the expiry of a
unit that must not be thrown away. So the same call is made under other conditions. An instant bars if the call succeeds
beyond it. An amount bars if the call succeeds with another one in its place, and not a cent before. A value in a row
that the call does not name bars if the call succeeds without that row. A value without such an effect does not bar. If
something else bars too, the call never succeeds, and an answer may tell that instead.
"""

import re
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from servers.answer.fact import Fact
from synth.backward.refusals.counterfactuals import Otherwise, RefusedCall, RowCell
from synth.play.playground import Playground
from synth.play.values import day_in, later
from synth.solutions.value_texts import NUMBERS, is_money

INSTANT = re.compile(r"\b(\d{4}-\d\d-\d\d)(?:(?: at)? (\d\d:\d\d)(?::\d\d)?)?\b|\b(\d\d:\d\d)(?::\d\d)?\b")
MONEY = re.compile(r"\b\d+\.\d\d\b")
SPAN = re.compile(rf"\b(\d+|{'|'.join(NUMBERS[1:])}) (minute|hour|day)s?\b")
WHEN = "(?:at|by|for|from|on|since|until)"
MINUTES = {"minute": 1, "hour": 60, "day": 1440}
MOST_MINUTES = 400 * MINUTES["day"]
MARGIN = timedelta(minutes=2)
"""Minutes around an instant within which its effect must show: a call takes one minute of an instance's time."""
OTHER_DAYS = (-400, -60, -7, 7, 60, 400)
MOST_CELLS = 6
MOST_AMOUNTS = 14
"""The most changed columns with a day or time, and with amounts near the call."""


class Instant(NamedTuple):
    """A day, or a time of a day, that a refusal tells or counts to."""

    day: date
    hour: time | None

    @property
    def begin(self) -> datetime:
        """The instant itself, or the beginning of its day."""
        return datetime.combine(self.day, self.hour or time())

    def moved(self, minutes: int) -> "Instant":
        """The instant some minutes later."""
        moved = self.begin + timedelta(minutes=minutes)
        return Instant(moved.date(), moved.time() if self.hour or minutes % MINUTES["day"] else None)

    def across(self, now: datetime) -> list[datetime]:
        """Times before the instant as seen from now, and then those beyond it."""
        if self.hour is not None:
            points = [self.begin - MARGIN, self.begin + MARGIN]
            return points if now < self.begin else points[::-1]
        hours = [time(0, 5), time(12), time(23, 50)]
        points = [later(self.day, -1), self.day, later(self.day, 1)]
        before, on, after = points if now.date() < self.day else points[::-1]
        of_the_day = [datetime.combine(on, hour) for hour in (hours if before < on else hours[::-1])]
        return [datetime.combine(before, now.time()), *of_the_day, datetime.combine(after, now.time())]


def values_in(text: str) -> tuple[str, ...]:
    """The days, times and amounts in a refusal, as written there."""
    return tuple(dict.fromkeys([*(found[0] for found in INSTANT.finditer(text)), *MONEY.findall(text)]))


async def obstacles(stage: Playground, refusal: RefusedCall) -> list[Fact]:
    """The values of a refusal that bar the call, as facts for an answer. Each of them bars alone.

    Empty if the refusal tells the state of a row that the call names: then the state is the reason.
    """
    otherwise = await Otherwise.of(stage, refusal)
    if any(re.search(rf"\b{re.escape(one)}\b(?! {WHEN} \d)", refusal.text) for one in otherwise.standing()):
        return []
    facts = [one async for one in _instants(otherwise)] + [one async for one in _amounts(otherwise)]
    return list({(one.type, one.value): one for one in facts}.values())


async def _instants(otherwise: Otherwise) -> AsyncIterator[Fact]:
    """The days and times beyond which the call succeeds. Without any, those whose rows make the difference."""
    refusal = otherwise.refusal
    told = list(dict.fromkeys(_instants_in(refusal)))
    turning = {one: [other for other in _counted_from(one, refusal) if await _turns(otherwise, other)] for one in told}
    found = {one: others for one, others in turning.items() if others}
    for one in found or [one for one in told if await _stands_in_the_way(otherwise, one)]:
        yield _fact_of(one, found.get(one, ()), refusal.now.date())


def _instants_in(refusal: RefusedCall) -> Iterator[Instant]:
    """The days and times that a refusal tells, apart from the clock's own day."""
    today = refusal.now.date()
    for found in INSTANT.finditer(refusal.text):
        day, hour = day_in(found[1]) if found[1] else today, found[2] or found[3]
        if day is not None and (day != today or hour is not None) and (hour is None or hour < "24:00"):
            yield Instant(day, time.fromisoformat(hour) if hour else None)


def _counted_from(instant: Instant, refusal: RefusedCall) -> Iterator[Instant]:
    """An instant, and those that lie as long before or after it as the refusal says."""
    yield instant
    for number, unit in SPAN.findall(refusal.text):
        minutes = (NUMBERS.index(number) if number in NUMBERS else int(number)) * MINUTES[unit]
        if minutes < MOST_MINUTES and (instant.hour or unit == "day"):
            yield from (instant.moved(-minutes), instant.moved(minutes))


async def _turns(otherwise: Otherwise, instant: Instant) -> bool:
    """True if the call has the same refusal up to an instant, and succeeds beyond it."""
    before, *beyond = instant.across(otherwise.refusal.now)
    if await otherwise.at(before) != "same":
        return False
    return any([await otherwise.at(moment) == "ok" for moment in beyond])


async def _stands_in_the_way(otherwise: Otherwise, instant: Instant) -> bool:
    """True if the call succeeds with another day in its row, or without a row of that day that it does not name."""
    texts = (instant.day.isoformat(),) if instant.hour is None else _as_rows_write(instant.begin)
    cells = otherwise.cells_with(*texts)
    needed = otherwise.needed()
    for cell in sorted(cells, key=lambda one: one.place not in needed)[:MOST_CELLS]:
        if cell.place not in needed and await otherwise.without(cell.place) == "ok":
            return True
        day = day_in(cell.value)
        for days in OTHER_DAYS if day else ():
            if await otherwise.with_cell(cell, later(day or date.min, days).isoformat() + cell.value[10:]) == "ok":
                return True
    return False


def _as_rows_write(moment: datetime) -> tuple[str, str]:
    return moment.isoformat(sep=" "), moment.isoformat(sep=" ", timespec="minutes")


def _fact_of(instant: Instant, turning: Iterable[Instant], today: date) -> Fact:
    """An instant as a fact: by its day, or by its time if it is today.

    A count from it in the refusal, beyond which the call succeeds, is as right.
    """
    near = [one for one in turning if (one.day == today) == (instant.day == today)]
    if instant.day == today:
        words, *others = [one.begin.strftime("%H:%M") for one in (instant, *near)]
        return Fact(name="reason", type="time", value=words, also=_others(words, others))
    words, *others = [one.day.isoformat() for one in (instant, *near)]
    return Fact(name="reason", type="date", value=words, also=_others(words, others))


def _others(value: str, words: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for one in words if one != value))


async def _amounts(otherwise: Otherwise) -> AsyncIterator[Fact]:
    told = dict.fromkeys(
        cents for text in MONEY.findall(otherwise.refusal.text) if (cents := int(text.replace(".", "")))
    )
    found: set[int] = set()
    for cents in told:
        if cents not in found and await _is_of_a_row_in_the_way(otherwise, cents):
            found.add(cents)
        elif cents not in found:
            found |= await _compared(otherwise, cents, [other for other in told if other != cents])
    for cents in told:
        if cents in found:
            yield Fact(name="reason", type="amount", value=cents / 100)


async def _is_of_a_row_in_the_way(otherwise: Otherwise, cents: int) -> bool:
    needed = otherwise.needed()
    cells = [one for one in otherwise.cells_with(cents) if is_money(one.column) and one.place not in needed]
    return any([await otherwise.without(cell.place) == "ok" for cell in cells[:MOST_CELLS]])


async def _compared(otherwise: Otherwise, cents: int, others: Sequence[int]) -> set[int]:
    """An amount, if the call succeeds without it, or if an amount of a row is limited by it.

    Together with another told amount, if the call succeeds with equal ones. A comparison with an untold limit is no
    visible reason.
    """
    steps = [*((cents - other, {cents, other}) for other in others), (cents, {cents})]
    amounts = sorted(otherwise.amounts(), key=lambda one: one.value != cents)[:MOST_AMOUNTS]
    for cell in amounts:
        wanted = [(cell.value + sign * step, bars) for step, bars in steps for sign in (-1, 1)]
        for value, bars in [*wanted, (cents, {cents})]:
            if value != cell.value and await _turns_at(otherwise, cell, value):
                return bars
    for name, value in otherwise.refusal.arguments.items():
        if is_money(name) and isinstance(value, int) and value != cents:
            near = cents + (1 if value > cents else -1)
            if (
                await otherwise.with_argument(name, cents) == "ok"
                and await otherwise.with_argument(name, near) == "same"
            ):
                return {cents}
    return set()


async def _turns_at(otherwise: Otherwise, cell: RowCell, wanted: int) -> bool:
    """True if the call succeeds with an amount, and has the same refusal a cent before it."""
    if wanted < 0 or await otherwise.with_cell(cell, wanted) != "ok":
        return False
    return await otherwise.with_cell(cell, wanted + (1 if cell.value > wanted else -1)) == "same"
