"""A folded answer, read once: the values that it mentions, how it stands to them, and the words around each."""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from servers.answer.expected_fact import READ_AS, ExpectedFact
from servers.answer.extraction import mentions
from servers.answer.mention import Mention
from servers.answer.names import named
from servers.answer.stance import NO_TO_A_QUESTION, PLAIN_NO, TAKEN_BACK, UNKNOWN, Stance, stance
from servers.answer.text import Text

BREAK = re.compile(
    r"[,:()|]| - | and | but | so (?!far\b)| because | since | while | whereas | of which | und | y | et "
)
_QUOTED = re.compile(r'"[^"\n]{1,120}"')
_SORRY = re.compile(r"(?<=[-.,;:(] )(?:sorry|pardon|rather)[,:]? (?:the |on |at |by )?")
"""What takes a value back if another one stands right behind it."""
_RELATIVE = re.compile(r" ?(?:which|who|whose) ")
_LABEL_BEFORE = re.compile(r"([^,:()|\n]{0,80})[:|(] ?$|(?:^|[.;\n,] ?)((?:[^\s,()|]{1,40} ){0,3}[^\s,()|]{1,40}) - $")
_LABEL_AFTER = re.compile(r"^ ?(?:\(|: |- )((?:[^\W\d]+ ?){1,3})(?=[,:()|\n.;]|$)")


@dataclass(frozen=True)
class FoldedReply:
    """A folded answer to some questions."""

    text: Text
    now: datetime
    wanted: Sequence[ExpectedFact] = ()
    """The facts that are asked for."""

    @property
    def folded(self) -> str:
        """Its text."""
        return self.text.text

    @cached_property
    def mentions(self) -> list[Mention]:
        """The values that it mentions."""
        return mentions(self.folded, self.now)

    @cached_property
    def corrections(self) -> list[int]:
        """Where it takes back what it told before. A mere "no" does not, where it answers a question of its own."""
        has_sides = any(one.fact.type == "yes_no" for one in self.wanted)
        patterns = [TAKEN_BACK] if has_sides else [TAKEN_BACK, PLAIN_NO]
        found_at = [found for pattern in patterns for found in pattern.finditer(self.folded)]
        places = [found.start() for found in found_at if not NO_TO_A_QUESTION.match(self.folded, found.start())]
        values = {mention.start for mention in self.mentions}
        return sorted([*places, *(one.start() for one in _SORRY.finditer(self.folded) if one.end() in values)])

    def places(self, one: ExpectedFact) -> Iterator[tuple[int, int]]:
        """Where it has a value of a fact."""
        for value in one.values:
            if one.fact.type in READ_AS:
                yield from (m.place for m in self.mentions if one.fits(m, value, self.now))
            else:
                yield from named(self.folded, str(value))

    @cached_property
    def wanted_starts(self) -> list[int]:
        """Where the values begin that are asked for."""
        return [start for one in self.wanted for start, _ in self.places(one)]

    def stance(self, start: int, end: int, *, is_name: bool = True) -> Stance:
        """How it stands to what it mentions at a place."""
        return self._stood(start, end, is_name=is_name)

    def stands(self, mention: Mention, *, is_rival: bool = False, is_reason: bool = False) -> Stance:
        """How it stands to a value. "Not until 6 pm" tells six, and denies it where another hour is told."""
        return self._stood(mention.start, mention.end, is_name=False, is_rival=is_rival, is_reason=is_reason)

    def _stood(self, start: int, end: int, *, is_name: bool, is_rival: bool = False, is_reason: bool = False) -> Stance:
        """The same, found once for all facts: its whole sentence is read for it."""
        asked = (start, end, is_name, is_rival, is_reason)
        if asked not in self._stances:
            self._stances[asked] = stance(
                self.text, start, end, is_name=is_name, is_rival=is_rival, is_reason=is_reason
            )
        return self._stances[asked]

    @cached_property
    def _stances(self) -> dict[tuple[int, int, bool, bool, bool], Stance]:
        return {}

    @cached_property
    def longest_sentence(self) -> int:
        """Characters of its longest sentence: so many are read for each value in it."""
        starts = [*self.text.starts, len(self.folded)]
        return max(last - first for first, last in itertools.pairwise(starts))

    def before(self, place: int) -> str:
        """The words of its sentence before a place."""
        return self.folded[self.text.sentence(place)[0] : place]

    def said(self, mention: Mention) -> str:
        """A value as it is written."""
        return self.folded[mention.start : mention.end]

    def is_unknown(self, place: int) -> bool:
        """Whether the line around a place says that somebody does not know."""
        first = self.folded.rfind("\n", 0, place) + 1
        last = self.folded.find("\n", place)
        return UNKNOWN.search(self.folded[first : last if last >= 0 else len(self.folded)]) is not None

    def clause(self, start: int, end: int, *, with_head: bool = False) -> str:
        """The words right around a place, up to where another thought begins; with what a relative clause speaks of."""
        first, last = self.text.sentence(start)
        *others, before = parts(self.folded[first:start])
        if others and with_head and _RELATIVE.match(before):
            before = others[-1] + before
        return f"{before} {parts(self.folded[end:last])[0]}"

    def windows(self, start: int, end: int) -> list[str]:
        """What says what a value is of, the nearest first: its clause, a label before or after it, its sentence."""
        first, last = self.text.sentence(start)
        before, after = self.folded[first:start], self.folded[end:last]
        clause = self.clause(start, end)
        label = _LABEL_BEFORE.search(before[: len(before) - len(BREAK.split(before)[-1])])
        following = _LABEL_AFTER.match(after)
        beside = [found[1] or found[found.lastindex or 1] for found in (label, following) if found]
        return [clause, *beside, f"{before} {after}"]


def parts(text: str) -> list[str]:
    """A text, cut where another thought begins; a title in quotes is one."""
    ends = [0]
    for found in BREAK.finditer(_QUOTED.sub(lambda title: '"' + "_" * (len(title[0]) - 2) + '"', text)):
        ends += found.span()
    return [text[a:b] for a, b in zip(ends[::2], [*ends[1::2], len(text)], strict=True)]


def sentences(reply: FoldedReply) -> list[str]:
    """The sentences of an answer."""
    starts = [*reply.text.starts, len(reply.folded)]
    return [part for a, b in itertools.pairwise(starts) if (part := reply.folded[a:b].strip())]
