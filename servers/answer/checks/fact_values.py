"""Whether a value of an answer is a fact's own, another fact's, one that the task gives, or the present moment."""

import re
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from functools import cached_property, lru_cache

from servers.answer.checks.told import FactTold
from servers.answer.expected_fact import READ_AS
from servers.answer.extraction import mentions
from servers.answer.measures import factor_between
from servers.answer.mention import Day, Mention
from servers.answer.question import content_words
from servers.answer.text import folded

TODAY = frozenset(
    [
        "today",
        "tonight",
        "this morning",
        "this afternoon",
        "this evening",
        "heute",
        "aujourd'hui",
        "hoy",
        "oggi",
        "hoje",
        "vandaag",
    ]
)
_IT_IS = re.compile(
    r"\b(?:it is|it's|es ist|today(?:'s date)?(?: is|'s)?|heute(?: ist)?|now|currently|already|only)"
    r"(?: now| only| already| just| still| erst| schon)*(?:,? (?:\(|(?:at|the|der) )?)$"
)
LONGEST_RUN = 120
"""Minutes around now within which an agent may say what time it was when it worked."""
_QUOTE = re.compile(r'"[^"\n]{1,200}"')


class FactValues(FactTold):
    """An answer and a fact whose values are amounts, counts, dates, times or durations."""

    @cached_property
    def there(self) -> list[Mention]:
        """The values of the answer that can be read as the fact's type, apart from quoted ones."""
        kinds = READ_AS[self.one.fact.type]
        return [one for one in self.reply.mentions if one.type in kinds and not self._is_quoted(one)]

    def _is_quoted(self, mention: Mention) -> bool:
        """Whether it stands in words that the answer only quotes from the task: “Ask for 12 keys”."""
        return any(start <= mention.start < end for start, end in self._quotes)

    @cached_property
    def _quotes(self) -> list[tuple[int, int]]:
        given = [folded(text) for text in self.question.given]
        quotes = _QUOTE.finditer(self.reply.folded)
        return [found.span() for found in quotes if any(found[0] in text for text in given)]

    def fits(self, mention: Mention) -> bool:
        """Whether it is a right value."""
        read = self._in_the_unit_asked(mention)
        return any(self.one.fits(read, value, self.reply.now) for value in self.one.values)

    def _in_the_unit_asked(self, mention: Mention) -> Mention:
        """A number of another unit than the one asked for, as a number of that one: 0.64 kg are 640 g."""
        factor = factor_between(mention.unit, self.question.unit) if mention.type == "number" else 1
        if factor == 1:
            return mention
        return replace(mention, values=frozenset(v * factor for v in mention.values if isinstance(v, Decimal)))

    def may_stand(self, mention: Mention) -> bool:
        """Whether the task gives a value, or another fact asks for it."""
        said = self.reply.said(mention)
        for text in self.question.given:
            if folded(text) == said:
                return True
            for one in given_mentions(text, self.reply.now):
                if one.is_weak and (not one.unit or one.unit != mention.unit):
                    continue
                if one.values & mention.values and one.type in READ_AS[self.one.fact.type]:
                    return True
                if one.type == "date" == mention.type and _same_day(one, mention):
                    return True
        if mention.type in ("date", "time") and self._is_now(mention) and not self.is_confusable(mention):
            return True
        if mention.type == "date" and said in TODAY:
            return not self.is_confusable(mention) or not self._is_alone(mention)
        return self.is_asked(mention)

    def _is_now(self, mention: Mention) -> bool:
        """Whether it tells the moment at which the agent worked: "it is 14:21", "today is 8 October, 14:21"."""
        first, *_ = moment = mention.moment
        is_now = any(part.type == "date" for part in moment) or self.is_about_now(mention)
        return (
            is_now
            and _IT_IS.search(self.reply.folded[: first.start]) is not None
            and all(part.type == "time" or self.is_about_now(part) for part in moment)
        )

    def is_about_now(self, mention: Mention) -> bool:
        """Whether a date is today's, or a time is near the clock's."""
        today, now = self.reply.now.date(), 60 * self.reply.now.hour + self.reply.now.minute
        return any(
            value.may_be(today, today) if isinstance(value, Day) else abs(value - now) <= LONGEST_RUN
            for value in mention.values
        )

    def _is_alone(self, mention: Mention) -> bool:
        """Whether no word that says anything stands in its clause."""
        return not set(content_words(self.reply.clause(mention.start, mention.end)))

    def is_confusable(self, mention: Mention) -> bool:
        """Whether it is a value that the fact is confused with."""
        return any(self.one.fits(mention, value, self.reply.now) for value in self.one.confusable)

    def is_asked(self, mention: Mention) -> bool:
        """Whether another fact has this value."""
        return any(other.fits(mention, value, self.reply.now) for other in self.others_asked for value in other.values)


@lru_cache(maxsize=1024)
def given_mentions(text: str, now: datetime) -> tuple[Mention, ...]:
    """The values of a text that is given: the same ones are asked about for each fact of each answer."""
    return tuple(mentions(folded(text), now))


def is_same(one: Mention, other: Mention) -> bool:
    """Whether two mentions can mean one value. A date may go without its year."""
    return bool(one.values & other.values) or (one.type == other.type == "date" and _same_day(one, other))


def _same_day(one: Mention, other: Mention) -> bool:
    pairs = [(a, b) for a in one.values for b in other.values if isinstance(a, Day) and isinstance(b, Day)]
    return any(
        a.day is not None
        and a.day == b.day
        and (a.month in (None, b.month) or not b.month)
        and (a.year in (None, b.year) or not b.year)
        for a, b in pairs
    )
