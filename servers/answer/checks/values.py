"""Amounts, counts, dates, times and durations: the value is told, for certain, of what was asked, and no other one."""

import itertools
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cached_property, lru_cache

from servers.answer.checks.labels import is_labelled, is_of_a_stranger, is_of_another
from servers.answer.checks.question import content_words, label_words, topic
from servers.answer.checks.roles import plays_another_part
from servers.answer.checks.told import FactTold
from servers.answer.expected_fact import READ_AS
from servers.answer.extraction import as_date, mentions
from servers.answer.fact import MEASURES
from servers.answer.measures import factor_between
from servers.answer.mention import Day, Mention
from servers.answer.names import occurrences, stem
from servers.answer.text import folded
from servers.answer.vocabulary import UNITS, alternatives

LARGE = 20
"""A confusable amount from here on is one whatever stands after it; below, it may count something."""
_ONE = frozenset(["one", "both", "once", "single", "ein", "eine", "einen", "un", "une", "una"])
_ONLY = re.compile(r"\b(?:just|only|number|nur|solo) $")
_YEAR_BEFORE = re.compile(r"\b(?:in|of|since|until|year|for|end) $|[a-z]{3,9}\.? $")
_PRICE_BEFORE = re.compile(
    r"(?:\b(?:paid|pays?|costs?|comes? to|makes|total|balance|deposit|refund|fee|price)|[€$£=])(?: is| of| was|:)? ?$"
)
_NOTHING = re.compile(r"\b(?:nothing|none)((?: \w+| 's){1,3})")
_THERE_IS_NO = re.compile(
    r"\bthere (?:is|are|was|were|will be) no (?:(?:new|more|other|further|such|last) )?((?:\w+ )?[^\W\d_]+)"
)
_NOTHING_AT_ALL = re.compile(r"\b(?:nothing|none)(?: (?:yet|now|so far|any ?more))?(?=$|[.,;!)])")
_NO_SUCH = re.compile(
    r"\bno ((?:\w+ ){1,3})(?:is|are|was|were|will be|has|have)\b|\b(?:has|have|for|takes?) no ((?:\w+ ){0,2}\w+)"
)
_UNTIL = re.compile(
    r"\b(?:until|till|to|ends?|clos\w+|latest|last|through|by when|window|slot|long|land\w*|arriv\w*)\b"
)
_TO = re.compile(r" ?(?:-|to|until|till|bis) ?")
_TODAY = frozenset(
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
_NEXT = re.compile(r"[,:;(]| - | but | so | because | since | while ")
_NOT_DONE = re.compile(r"(?:\bnot|n't|\bnever) (?:be |been |to be )?(\w+)")
_IS_TO_DO = re.compile(r"\b(?:still|to be|unpaid|missing|outstanding|open)\b")
"""What is asked is itself what was not done."""
_PART_OF = re.compile(rf" of (?:the|your|these|those|my) (?:\d{{1,2}}|{alternatives(UNITS)})\b")
"""What makes a number a part of all that was to be done: "three of the four"."""
_QUOTE = re.compile(r'"[^"\n]{1,200}"')
_ALL_OF = re.compile(r"\b(?:all|these|those|the other|the first|the last) $")
_IT_IS = re.compile(
    r"\b(?:it is|it's|es ist|today(?:'s date)?(?: is|'s)?|heute(?: ist)?|now|currently|already|only)"
    r"(?: now| only| already| just| still| erst| schon)*(?:,? (?:\(|(?:at|the|der) )?)$"
)
LONGEST_RUN = 120
"""Minutes around now within which an agent may say what time it was when it worked."""
MOST_WORDS_OF_A_VALUE = 4
"""An answer of so few words may be the mere value: "just one"."""
_CODE_BEFORE = re.compile(r"\b(?:room|row|seat|table|gate|section|number|no|nr|tier|floor|step|item|question|flight) $")


class ValueTold(FactTold):
    """What an answer says of one fact with a value."""

    def faults(self) -> Iterator[str]:
        """Why the answer does not tell the value, if it does not."""
        right = [mention for mention in self._there if self._fits(mention)]
        if any(self.reply.stands(mention) in ("doubted", "asked") for mention in right if not mention.is_weak):
            yield "it hedges"
        told = [mention for mention in right if self._is_surely_told(mention)]
        if not told:
            yield "it is not told"
            return
        own = [mention for mention in told if not self._is_of_something_else(mention)]
        told = self._plainest(own)
        if not told:
            yield "the value is told of something else"
            return
        yield from self.doubts([(mention.start, mention.end) for mention in told])
        if all(self._is_on_another_day(mention) for mention in told):
            yield "it is told of another day"
        if any(self._is_nothing(mention) for mention in told):
            yield "it says that there is nothing such"
        yield from self._disputes(told, right)

    def _disputes(self, told: Sequence[Mention], right: Sequence[Mention]) -> Iterator[str]:
        """Which other values are told as well."""
        bare = [one for one in self.reply.mentions if one.type == "number" and not one.unit]
        for other in {*self._there, *bare}.difference(right):
            if any(self._is_joined(mention, other) for mention in told):
                yield f"it tells {self.reply.said(other)!r} as well"
        for other in self._there:
            if any(other.start < one.end and one.start < other.end for one in right):
                continue
            if any(self._is_listed(mention, other) for mention in told):
                yield f"it tells {self.reply.said(other)!r} as well"
        for rival in self._rivals(right):
            if self._is_range(rival) or self._is_of_named_other(rival):
                continue
            if self._is_stranger(rival) and not self._is_counted(rival):
                yield f"it also tells {self.reply.said(rival)!r}"
            if self._is_said_again(rival, told):
                yield f"it tells {self.reply.said(rival)!r} in the same words"

    def _is_nothing(self, mention: Mention) -> bool:
        """Whether the sentence says that there is nothing of what was asked for: "nothing is open, the 12 are paid"."""
        first, last = self.reply.text.sentence(mention.start)
        beside = {self.reply.text.sentence(max(0, first - 1)), self.reply.text.sentence(last)}
        starts = [*self.reply.text.starts, len(self.reply.folded)]
        return self._has_nothing(self.reply.folded[first:last]) or any(
            self._is_there_none(self.reply.folded[start:end])
            for start, end in itertools.pairwise(starts)
            if start == first or self._speaks_of_it(start, end, is_near=(start, end) in beside)
        )

    def _has_nothing(self, sentence: str) -> bool:
        """Whether a sentence has the question's words behind "nothing"."""
        return any(set(content_words(found[1])) & self.question.words for found in _NOTHING.finditer(sentence))

    def _speaks_of_it(self, start: int, end: int, *, is_near: bool) -> bool:
        """Whether a sentence without a value can be about what was asked for: it stands near, or names it."""
        names = set(content_words(self.reply.folded[start:end])) & self.question.own_names
        return (is_near or bool(names)) and not any(start <= other.start < end for other in self._there)

    def _is_there_none(self, sentence: str) -> bool:
        """Whether a sentence says in the words of the question that there is no such thing."""
        words, asked = set(content_words(sentence)), self.question.words
        if self.question.tell == "any" or topic(sentence) & self.question.other_names:
            return False
        is_about_it = 2 * len(asked & words) > len(asked)
        if (is_about_it and self._has_nothing(sentence)) or self._ends_in_nothing(sentence):
            return True
        others = {word for other, _ in self.asked if other is not self.question for word in other.words}
        things = {stem(word) for one in _THERE_IS_NO.finditer(sentence) for word in one[1].split()}
        if things & (self.question.plain_words - others):
            return True
        found = _NO_SUCH.finditer(sentence) if self.one.fact.type in MEASURES else ()
        nouns = {stem(word) for one in found for word in (one[1] or one[2]).split()}
        return is_about_it and bool(nouns & self.question.plain_words)

    def _ends_in_nothing(self, sentence: str) -> bool:
        """Whether a sentence about what the question is about ends in nothing: "for Chen Wen, nothing yet"."""
        is_about_it = self.question.other_topics and topic(sentence) & self.question.own_roots
        return bool(is_about_it) and _NOTHING_AT_ALL.search(sentence) is not None

    def strangers(self) -> list[str]:
        """The values of the type that are told and are neither this fact's nor anybody's: of "any", none may be."""
        found = [rival for rival in self._rivals([m for m in self._there if self._fits(m)]) if self._is_stranger(rival)]
        return [self.reply.said(rival) for rival in found if not self._is_range(rival)]

    def _is_stranger(self, rival: Mention) -> bool:
        return not self._may(rival) and self.reply.stands(rival, is_rival=True) != "denied"

    def _is_counted(self, rival: Mention) -> bool:
        """Whether a reason's instant is counted from one that may be told, by a span of the refusal: "2 days after"."""
        if self.question.tell != "any" or self.one.fact.type not in ("date", "time") or self._is_confusable(rival):
            return False
        given = [one for text in self.question.given for one in _mentions(text, self.reply.now)]
        spans = {minutes for one in given for minutes in _minutes(one)}
        return any(_lies_apart(one, rival, spans) for one in given if one.type == rival.type)

    @cached_property
    def _there(self) -> list[Mention]:
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

    def _fits(self, mention: Mention) -> bool:
        read = self._in_the_unit_asked(mention)
        return any(self.one.fits(read, value, self.reply.now) for value in self.one.values)

    def _in_the_unit_asked(self, mention: Mention) -> Mention:
        """A number of another unit than the one asked for, as a number of that one: 0.64 kg are 640 g."""
        factor = factor_between(mention.unit, self.question.unit) if mention.type == "number" else 1
        if factor == 1:
            return mention
        return replace(mention, values=frozenset(v * factor for v in mention.values if isinstance(v, Decimal)))

    def _is_surely_told(self, mention: Mention) -> bool:
        """Whether a value is told, and is no mere "one" or "both" in a sentence about something else."""
        is_reason = self.question.tell == "any"
        if self.reply.stands(mention, is_reason=is_reason) != "told" or self._is_denied_behind(mention):
            return False
        if self.one.fact.type != "count" or self.reply.said(mention) not in _ONE:
            return True
        is_all = len(self.reply.folded.split()) <= MOST_WORDS_OF_A_VALUE or self.reply.folded[mention.end :][:1] == ","
        if is_all or self.reply.said(mention) == "both":
            return is_all or stem(mention.unit) in self.question.words
        words = set(content_words(" ".join(self.reply.windows(mention.start, mention.end)[:-1])))
        before = self.reply.folded[max(0, mention.start - 8) : mention.start]
        return bool(words & self.question.words) or _ONLY.search(before) is not None

    def _is_on_another_day(self, mention: Mention) -> bool:
        """Whether a time of today, which is a reason, is told beside the date of another day."""
        if self.one.fact.type != "time" or self.question.tell != "any":
            return False
        return mention.beside is not None and not self._is_about_now(mention.beside) and not self._may(mention.beside)

    def _is_now(self, mention: Mention) -> bool:
        """Whether it tells the moment at which the agent worked: "it is 14:21", "today is 8 October, 14:21"."""
        first, *_ = moment = mention.moment
        is_now = any(part.type == "date" for part in moment) or self._is_about_now(mention)
        return (
            is_now
            and _IT_IS.search(self.reply.folded[: first.start]) is not None
            and all(part.type == "time" or self._is_about_now(part) for part in moment)
        )

    def _is_about_now(self, mention: Mention) -> bool:
        """Whether a date is today's, or a time is near the clock's."""
        today, now = self.reply.now.date(), 60 * self.reply.now.hour + self.reply.now.minute
        return any(
            value.may_be(today, today) if isinstance(value, Day) else abs(value - now) <= LONGEST_RUN
            for value in mention.values
        )

    def _is_denied_behind(self, mention: Mention) -> bool:
        """Whether what is asked for is denied of it behind: "the 1280 for the course are not refunded"."""
        if self.question.tell == "any" or _IS_TO_DO.search(self.question.subject):
            return False
        _, last = self.reply.text.sentence(mention.start)
        clause = _NEXT.split(self.reply.folded[mention.end : last])[0]
        return any(stem(found[1]) in self.question.words for found in _NOT_DONE.finditer(clause))

    def _plainest(self, told: list[Mention]) -> list[Mention]:
        """The mentions that are surely of the type, where there are any."""
        first = READ_AS[self.one.fact.type][0]
        return [mention for mention in told if mention.type == first and not mention.is_weak] or told

    def _is_of_something_else(self, mention: Mention) -> bool:
        place = (mention.start, mention.end)
        return (
            is_of_another(self.reply, self.one, self.question, place, self.asked)
            or (not self._is_named(place) and is_of_a_stranger(self.reply, self.question, place))
            or plays_another_part(self.reply, self.question, mention)
            or is_labelled(self.reply, self.one, self.question, place, self.asked)
            or self._is_swapped(mention)
            or self._ends_a_span(mention)
            or self._counts_others(mention)
        )

    def _is_named(self, place: tuple[int, int]) -> bool:
        """Whether the words that the fact itself is about stand in its clause."""
        clause = self.reply.clause(*place)
        return any(True for word in self.one.about for _ in occurrences(clause, word))

    def _counts_others(self, mention: Mention) -> bool:
        """Whether it counts things that the task names for something else."""
        return (
            self.one.fact.type == "count"
            and self.question.tell == "all"
            and bool(topic(mention.unit) & self.question.other_topics)
        )

    def _ends_a_span(self, mention: Mention) -> bool:
        """Whether something only ends then, and nobody asked when it does: "08:00-09:00" does not tell nine."""
        if self.question.tell == "any" or self.one.fact.type != "time" or _UNTIL.search(self.question.subject):
            return False
        return any(
            other.type == "time"
            and other.end <= mention.start
            and not self._fits(other)
            and _TO.fullmatch(self.reply.folded[other.end : mention.start]) is not None
            for other in self._there
        )

    def _is_swapped(self, mention: Mention) -> bool:
        """Whether the question's words stand beside a value that the task gives, and hardly beside this one."""
        if self.question.tell == "any" or self.one.fact.type not in ("amount", "count", "date"):
            return False
        rivals = [m for m in self._there if m.type == mention.type and self._may_be_taken(m, mention)]
        told = [rival for rival in rivals if self.reply.stands(rival) == "told"]
        first, last = self.reply.text.sentence(mention.start)
        own = len(self._asked_beside(mention))
        beside = [rival for rival in told if first <= rival.start < last or self.one.fact.type == "count"]
        if any(
            len(self._asked_beside(rival)) > 1 + (max(1, own) if self._is_asked(rival) else own) for rival in beside
        ):
            return True
        if self.one.fact.type == "count":
            return False
        named = set(label_words(self.reply.folded[first:last]))
        there = len(named & (self.question.words | self.question.own_names))
        for rival in told:
            *near, _ = self.reply.windows(rival.start, rival.end)
            words = set(content_words(" ".join(near))) & self.question.words
            if self._is_asked(rival) and len(words) > there + 1:
                return True
            if len(words) > there + 2 and len(words & self.question.plain_words) > 1:
                return True
        return False

    def _may_be_taken(self, rival: Mention, mention: Mention) -> bool:
        """Whether a value could be meant in place of one: of the same unit, if it is a count."""
        if rival.is_weak or self._fits(rival) or self.reply.said(rival) in _TODAY:
            return False
        if any(one.values & rival.values for one in _mentions(self.question.subject, self.reply.now)):
            return False
        return self.one.fact.type != "count" or (mention.unit != "" and stem(rival.unit) == stem(mention.unit))

    def _asked_beside(self, mention: Mention) -> set[str]:
        """The words of the question, apart from names, that stand beside a value."""
        clause = set(content_words(self.reply.clause(mention.start, mention.end))) & self.question.plain_words
        first, last = self.reply.text.sentence(mention.start)
        if self.one.fact.type == "count":
            return clause
        return clause or set(content_words(self.reply.folded[first:last])) & self.question.plain_words

    def _rivals(self, right: Sequence[Mention]) -> Iterator[Mention]:
        """Other values that somebody could take for the one that was asked for."""
        for mention in self._there:
            if mention in right or any(o.start < mention.end and mention.start < o.end for o in right):
                continue
            if self.one.fact.type == "duration" and (mention.type != "duration" or self._is_rate(mention)):
                continue
            if mention.is_weak and mention.type == "time" and self._is_within(mention, "duration"):
                continue
            if mention.is_weak and not self._is_one_of_them(mention, right):
                continue
            if mention.type == "number" and not self._is_of_the_kind(mention, right):
                continue
            if mention.type == "date" and self._is_weekday_of_it(mention):
                continue
            yield mention

    def _is_one_of_them(self, mention: Mention, right: Sequence[Mention]) -> bool:
        """Whether a weak mention is another value all the same: "one pack" where packs are asked for, "on the 5th"."""
        if mention.type != "number":
            return self._is_confusable(mention)
        units = {stem(other.unit) for other in right if other.unit}
        is_one = self.one.fact.type == "count" and self.reply.said(mention) in _ONE
        return is_one and mention.unit != "" and stem(mention.unit) in units

    def _is_confusable(self, mention: Mention) -> bool:
        return any(self.one.fits(mention, value, self.reply.now) for value in self.one.confusable)

    def _is_within(self, mention: Mention, *types: str) -> bool:
        return any(m.type in types and m.start <= mention.start < m.end for m in self.reply.mentions)

    def _is_rate(self, mention: Mention) -> bool:
        """Whether a span is what something is counted by: "60 days a year"."""
        return re.match(r"an? ", self.reply.said(mention)) is not None and any(
            0 <= mention.start - other.end <= 1 for other in self.reply.mentions
        )

    def _is_weekday_of_it(self, mention: Mention) -> bool:
        """Whether a mere weekday is that of the true date."""
        days = {as_date(str(value)).weekday() for value in self.one.values if value}
        return _is_mere_weekday(mention) and any(isinstance(day, Day) and day.weekday in days for day in mention.values)

    def _is_of_the_kind(self, number: Mention, right: Sequence[Mention]) -> bool:
        """Whether a plain number can be a value of this fact: by its unit, or by having none."""
        text = self.reply.folded
        if _CODE_BEFORE.search(text[max(0, number.start - 12) : number.start]) or _PART_OF.match(text, number.end):
            return False
        if self._is_within(number, "duration", "amount", "time", "date"):
            return False
        said, before = self.reply.said(number), self.reply.folded[max(0, number.start - 14) : number.start]
        if re.fullmatch(r"(?:19|20)\d\d", said) and not self._is_confusable(number):
            return not _YEAR_BEFORE.search(before)
        is_plain = not number.unit or number.unit in _PARTICLES
        if self.one.fact.type == "count":
            units = {stem(mention.unit) for mention in right if mention.unit} | self.question.words
            is_all_of = _ALL_OF.search(before) is not None
            return stem(number.unit) in units or (not is_all_of and (is_plain or self._is_confusable(number)))
        is_large = all(isinstance(value, Decimal) and value >= LARGE for value in number.values)
        if self._is_confusable(number) and (is_plain or is_large):
            return True
        is_alike = re.search(r"[.,]\d\d$", said) or all(m.type == "number" for m in right)
        return is_plain and bool(is_alike or _PRICE_BEFORE.search(before))

    def _may(self, mention: Mention) -> bool:
        """Whether the task gives a value, or another fact asks for it."""
        said = self.reply.said(mention)
        for text in self.question.given:
            if folded(text) == said:
                return True
            for one in _mentions(text, self.reply.now):
                if one.is_weak and (not one.unit or one.unit != mention.unit):
                    continue
                if one.values & mention.values and one.type in READ_AS[self.one.fact.type]:
                    return True
                if one.type == "date" == mention.type and _same_day(one, mention):
                    return True
        if mention.type in ("date", "time") and self._is_now(mention) and not self._is_confusable(mention):
            return True
        if mention.type == "date" and said in _TODAY:
            return not self._is_confusable(mention) or not self._is_alone(mention)
        return self._is_asked(mention)

    def _is_alone(self, mention: Mention) -> bool:
        return not set(content_words(self.reply.clause(mention.start, mention.end)))

    def _is_range(self, rival: Mention) -> bool:
        """Whether a time ends a span that begins with one that may be told."""
        return rival.type == "time" and any(
            other.type == "time"
            and other is not rival
            and (other.start < rival.start or not self.one.confusable)
            and (self._fits(other) or self._may(other))
            and re.fullmatch(r" ?\(?(?:-|to|until|till|bis|a|and|und) ?", self._between(rival, other)) is not None
            for other in self._there
        )

    def _is_of_named_other(self, rival: Mention) -> bool:
        """Whether the words beside a value name what this fact is not of."""
        first, last = self.reply.text.sentence(rival.start)
        sentence = self.reply.folded[first:last]
        return any(True for word in self.one.fact.not_about for _ in occurrences(sentence, word)) and not any(
            True for word in self.one.about for _ in occurrences(sentence, word)
        )

    def _between(self, one: Mention, other: Mention) -> str:
        first, second = sorted((one, other), key=lambda mention: mention.start)
        return self.reply.folded[first.end : second.start]

    def _is_joined(self, mention: Mention, rival: Mention) -> bool:
        """Whether two neighbours are joined by "or"."""
        between = self._between(mention, rival)
        if len(between) > 24 or re.search(r"\bor more|or less", between):
            return False
        is_number = mention.type == rival.type and mention.type in ("amount", "number")
        if is_number and re.fullmatch(r" ?(?:to|bis|-) ?", between):
            return True
        return re.fullmatch(r"[^.\n]*\b(?:or|oder|versus|vs)\b[^.\n]*| (?:o|ou) ", between) is not None

    def _is_listed(self, mention: Mention, rival: Mention) -> bool:
        """Whether two neighbours of one type are a mere list, and the other is no fact that is asked for."""
        between = self._between(mention, rival)
        is_bare = rival.type == "number" and (not rival.unit or rival.unit in _PARTICLES)
        is_alike = mention.type == rival.type or (mention.type == "amount" and is_bare)
        if not is_alike or rival.is_weak or self._is_asked(rival) or (_is_mere_weekday(rival) and self._may(rival)):
            return False
        after = self.reply.folded[max(mention.end, rival.end) :]
        comma = "," if re.match(r" ?(?:$|[.,;!?)\n&]|and |or |und )", after) else ""
        joint = rf" ?(?:[/|&{comma}]|,? ?\band\b|,? ?\bund\b|\n-?) ?(?:the |by |on |at )?"
        return re.fullmatch(joint, between) is not None

    def _is_asked(self, mention: Mention) -> bool:
        """Whether another fact has this value."""
        return any(
            other.fits(mention, value, self.reply.now)
            for _, other in self.asked
            if other is not self.one
            for value in other.values
        )

    def _is_said_again(self, rival: Mention, told: Sequence[Mention]) -> bool:
        """Whether a sentence that tells a value is begun once more with another: "2 are left. … 3 are left"."""
        if self._is_asked(rival):
            return False
        line = self.reply.folded[self.reply.folded.rfind("\n", 0, rival.start) + 1 :].lstrip()
        return not line.startswith("-") and any(self._same_words(mention, rival) for mention in told)

    def _same_words(self, mention: Mention, rival: Mention) -> bool:
        text = self.reply.folded
        first, last = self.reply.text.sentence(mention.start)
        other, end = self.reply.text.sentence(rival.start)
        before, after = text[first : mention.start].strip(), text[mention.end : last].strip(" .")
        return (
            other != first
            and before == text[other : rival.start].strip()
            and (len(before.split()) > 1 or after == text[rival.end : end].strip(" ."))
            and before + after != ""
        )


_PARTICLES = frozenset(
    [
        "in",
        "is",
        "was",
        "are",
        "were",
        "at",
        "for",
        "and",
        "or",
        "but",
        "as",
        "on",
        "to",
        "by",
        "so",
        "all",
        "altogether",
        "now",
        "the",
        "of",
        "und",
        "fur",
    ]
)


@lru_cache(maxsize=1024)
def _mentions(text: str, now: datetime) -> tuple[Mention, ...]:
    """The values of a text that is given: the same ones are asked about for each fact of each answer."""
    return tuple(mentions(folded(text), now))


def _minutes(span: Mention) -> Iterator[int]:
    """How many minutes a span has, or so many days as are counted: "the second day after"."""
    if span.type == "duration":
        yield from (int(value) for value in span.values if not isinstance(value, Day))
    elif span.type == "number" and stem(span.unit) == "day":
        yield from (1440 * int(value) for value in span.values if isinstance(value, Decimal))


def _lies_apart(one: Mention, other: Mention, spans: Collection[int]) -> bool:
    """Whether two dates, or two times of a day, lie one of some spans apart."""
    if one.type == "time":
        return any(
            abs(a - b) in spans for a in one.values for b in other.values if isinstance(a, int) and isinstance(b, int)
        )
    days = [a.whole for a in one.values if isinstance(a, Day)]
    moved = [_moved(day, sign * span) for day in days if day for span in spans for sign in (-1, 1)]
    read = [b for b in other.values if isinstance(b, Day) and b.day is not None]
    return any(b.may_be(day, day) for b in read for day in moved if day)


def _moved(day: date, minutes: int) -> date | None:
    """A day, so many minutes later; None where the calendar has none."""
    try:
        return day + timedelta(minutes=minutes)
    except OverflowError:
        return None


def _is_mere_weekday(mention: Mention) -> bool:
    """Whether a date is told by the name of its weekday alone."""
    return all(isinstance(value, Day) and value.day is None and value.weekday is not None for value in mention.values)


def _same_day(one: Mention, other: Mention) -> bool:
    pairs = [(a, b) for a in one.values for b in other.values if isinstance(a, Day) and isinstance(b, Day)]
    return any(
        a.day is not None
        and a.day == b.day
        and (a.month in (None, b.month) or not b.month)
        and (a.year in (None, b.year) or not b.year)
        for a, b in pairs
    )
