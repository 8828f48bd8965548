"""A fact with its values at hand, and how a mention in a text compares with them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from servers.answer.extraction import as_date, as_minutes
from servers.answer.fact import Cell, Fact
from servers.answer.measures import MEASURES
from servers.answer.mention import Day, Mention
from servers.answer.text import folded
from servers.answer.vocabulary import CURRENCY_OF, MINUTES_OF

READ_AS: dict[str, tuple[str, ...]] = {
    "amount": ("amount", "number"),
    "count": ("number",),
    "date": ("date",),
    "time": ("time",),
    "duration": ("duration", "number", "time"),
}


@dataclass(frozen=True)
class ExpectedFact:
    """A fact whose SELECTs have been asked. `values` of a list are its items, of anything else its true values."""

    fact: Fact
    values: tuple[bool | Cell, ...]
    confusable: tuple[Cell, ...]

    def fits(self, mention: Mention, value: bool | Cell, now: datetime) -> bool:
        """Whether a mention can mean a value of this fact."""
        if mention.type not in READ_AS.get(self.fact.type, ()) or value is None:
            return False
        match self.fact.type:
            case "date":
                day = as_date(str(value))
                return any(isinstance(read, Day) and read.may_be(day, now.date()) for read in mention.values)
            case "time":
                minutes = as_minutes(str(value))
                return minutes in mention.values or (minutes == 0 and 1440 in mention.values)
            case "duration":
                return self._lasts(mention, Decimal(str(value)))
            case _:
                number = Decimal(str(value))
                return number in mention.values and not self._is_foreign(mention)

    def fits_any(self, mention: Mention, now: datetime) -> bool:
        """Whether a mention can mean one of its values."""
        return any(self.fits(mention, value, now) for value in self.values)

    def _lasts(self, mention: Mention, minutes: Decimal) -> bool:
        if mention.type == "duration":
            told = {Decimal(str(read)) for read in mention.values if not isinstance(read, Day)}
            months = mention.unit.startswith(("mon", "mois", "mes"))
            return minutes in told or (months and any(abs(read - minutes) <= read / 20 for read in told))
        return mention.type == "number" and not mention.unit and minutes < 600 and minutes in mention.values

    def _is_foreign(self, mention: Mention) -> bool:
        """Whether an amount is of another currency than the fact's, or counts minutes or grams and no money."""
        if self.fact.type == "amount" and mention.type == "number" and _is_measure(mention.unit):
            return True
        known = CURRENCY_OF.get(mention.unit)
        return self.fact.currency is not None and known is not None and self.fact.currency not in known

    @property
    def about(self) -> list[str]:
        """The folded words that name what this fact is of."""
        return [folded(word) for word in self.fact.about]


def _is_measure(unit: str) -> bool:
    """Whether a word behind a number is a unit of time or of size. A single letter may be something else."""
    return len(unit) > 1 and (unit in MINUTES_OF or unit in MEASURES)


def values_of(fact: Fact) -> tuple[bool | Cell, ...]:
    """The true values of a fact that stand in it."""
    given = fact.value if isinstance(fact.value, tuple) else (fact.value,)
    return given if fact.type == "list" else (*given, *fact.also)


def wanted(fact: Fact, found: Sequence[Cell] | None = None, confusable: Sequence[Cell] = ()) -> ExpectedFact:
    """A fact with what its SELECTs gave: its values, and those that it could be taken for."""
    values = values_of(fact) if found is None else ((*found,) if fact.type == "list" else (*found, *fact.also))
    known = {str(value) for value in values}
    others = dict.fromkeys((*fact.confusable, *confusable))
    return ExpectedFact(fact, values, tuple(other for other in others if other is not None and str(other) not in known))
