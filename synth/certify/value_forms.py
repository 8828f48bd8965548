"""The forms in which people write a fact's value: `61.50 euros`, `EUR 61.50`, `the 5th of April`."""

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import NamedTuple

from servers.answer.fact import Cell, FactType
from servers.errors import BundleError
from synth.solutions.value_texts import MONTHS, day, in_words, money, said

FULL_WIDTH = str.maketrans("0123456789", "０１２３４５６７８９")


class Currency(NamedTuple):
    """The alternative forms for amounts of a currency."""

    sign: str
    code: str
    units: str
    parts: str


CURRENCIES = {
    "euros": Currency("€", "EUR", "euros", "cents"),
    "$": Currency("$", "USD", "dollars", "cents"),
    "£": Currency("£", "GBP", "pounds", "pence"),
    "NOK": Currency("kr ", "NOK", "kroner", "øre"),
    "kr": Currency("kr ", "kr", "kroner", "øre"),
}
"""Currencies, by the word or sign in phrases."""
UNKNOWN = Currency("", "", "", "")


@dataclass(frozen=True)
class ValueForms:
    """Writes values. `currency` is the form of amounts in phrases, `clock` gives the year that may be omitted."""

    currency: str
    clock: str

    def written(self, kind: FactType, value: Cell, form: str | None) -> str:
        """A value of a type in a form, or in its usual one.

        Raises:
            BundleError: the type has no such form.
        """
        forms = self._forms(kind)
        if (form or "") not in forms:
            raise BundleError(f"a value of type {kind!r} has no form {form!r}")
        return forms[form or ""](str(value))

    def _forms(self, kind: FactType) -> dict[str, Callable[[str], str]]:
        if kind == "amount":
            known = self._known
            return {
                "": lambda text: said("cents", _cents(text), clock=self.clock, currency=self.currency),
                "bare": lambda text: money(_cents(text)),
                "comma": lambda text: f"{_cents(text) / 100:,.2f}".translate(str.maketrans(",.", ".,")),
                "sign": lambda text: f"{known.sign}{money(_cents(text))}",
                "code": lambda text: f"{known.code} {money(_cents(text))}".strip(),
                "words": self._amount_in_words,
            }
        if kind == "date":
            return {
                "": lambda text: day(text, self.clock),
                "iso": str,
                "us": lambda text: _dated(text, "{month} {day}, {year}"),
                "dots": lambda text: _dated(text, "{day}.{number}.{year}"),
                "long": lambda text: _dated(text, "{weekday}, {day} {month} {year}"),
                "ordinal": lambda text: _dated(text, "the {ordinal} of {month}") + self._year(text),
            }
        if kind == "count":
            return {"": str, "words": lambda text: in_words(int(text)), "full": lambda text: text.translate(FULL_WIDTH)}
        if kind == "time":
            return {"": str, "clock12": _clock12}
        return {"": str, "upper": str.upper, "plain": _plain} if kind == "name" else {}

    @property
    def _known(self) -> Currency:
        return next((one for word, one in CURRENCIES.items() if word in self.currency), UNKNOWN)

    def _amount_in_words(self, text: str) -> str:
        units, parts = divmod(_cents(text), 100)
        known = self._known
        one = known.units.removesuffix("s") if units == 1 else known.units
        whole = f"{in_words(units)} {one}".strip()
        return f"{whole} and {in_words(parts)} {known.parts}".strip() if parts else whole

    def _year(self, text: str) -> str:
        return "" if text[:4] == self.clock[:4] else f" {text[:4]}"


def _cents(text: str) -> int:
    return round(float(text) * 100)


def _dated(text: str, form: str) -> str:
    read = date.fromisoformat(text)
    return form.format(
        day=read.day,
        month=MONTHS[read.month - 1],
        number=read.month,
        year=read.year,
        weekday=read.strftime("%A"),
        ordinal=_ordinal(read.day),
    )


def _ordinal(number: int) -> str:
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _clock12(text: str) -> str:
    read = datetime.strptime(text, "%H:%M")
    return f"{read.hour % 12 or 12}:{read.minute:02d} {'am' if read.hour < 12 else 'pm'}"


def _plain(text: str) -> str:
    """A name without its diacritics."""
    return "".join(sign for sign in unicodedata.normalize("NFD", text) if not unicodedata.combining(sign))
