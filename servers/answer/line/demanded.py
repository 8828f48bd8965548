"""What the last line of an answer tells, where questions demand it: each part is one value, read as a whole.

The parts stand in the order of the questions, with semicolons or line ends between. Reasons stand behind "reason:".
A part with a sign or a word that the grammar of its value has no place for tells nothing, and then nothing is told.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from servers.answer.expected_fact import READ_AS, ExpectedFact
from servers.answer.extraction import mentions
from servers.answer.line.grammar import WantedValue
from servers.answer.line.lists import is_list
from servers.answer.line.quoting import QuestionWords
from servers.answer.line.reasons import ReasonGrammar
from servers.answer.line.sides import side_of
from servers.answer.mention import Mention
from servers.answer.names import occurrences, root, stem
from servers.answer.question import AnswerQuestion, FactVerdict
from servers.answer.stance import UNSURE
from servers.answer.text import folded, written
from servers.answer.vocabulary import CURRENCY_OF, MINUTES_OF

NO_LINE = "the answer has no last line that begins with 'Answer:', where its values stand"
_HEAD = re.compile(r"(?:^|\n|[.!?;:)\"] )[ \"'>-]*(?:(?:the|my|final) ){0,2}answer ?: ?", re.IGNORECASE)
_INNER_SEPARATOR = re.compile(r", (?!\d{4}\b)| and ")
_BULLET = re.compile(r"^ *(?:[-*+] |(?P<number>\d{1,2})[.)] )(?=\S)")
_NUMBERED = re.compile(r"^ *\(?(\d{1,2})\) (?=\S)")
_TOLD_TWICE = re.compile(r"(.+\S) \(([^()]+)\)")
"""A value in two forms: "2026-04-03 (3 April)"."""
_REASON = re.compile(r"(?:the )?reasons?(?: is| was)? ?:? ")
_NO_REASON = frozenset(("none", "nothing", "no", "-", "n/a", "no reason", "there is none"))
_WORD = re.compile(r"[a-z]{3,}")
_DENIED = re.compile(r"\b(?:not|no|never) $")
"""A word that denies the value behind it, though the question may have it too: who was not packed."""
_NAMED = ("name", "choice", "list")
_COUNTED = re.compile(r"\bhow many ((?!is\b|was\b|has\b|does\b)[a-z]+)|\bhow many\b()")
_UNITS = MINUTES_OF.keys() | CURRENCY_OF.keys()
LONGEST_PART = 400
"""Characters of a part of the line: its value and words of the question."""
MOST_WORDS = 60


@dataclass(frozen=True)
class DemandedAnswer:
    """The last line of an answer, and what stands above it."""

    above: str
    parts: tuple[str, ...]
    """As they are written, folded."""

    @classmethod
    def of(cls, answer: str) -> "DemandedAnswer | None":
        """The line of an answer, or None if it has none."""
        text = written(answer)
        found = _HEAD.search(text)
        if found is None or not text[found.end() :].strip():
            return None
        told = text[found.end() :]
        lines = told.strip().split("\n")
        is_block = len(lines) > 1 or told.lstrip(" ").startswith("\n")
        parts = [part.strip() for at, line in enumerate(lines, 1) for part in _unmarked(line, at, is_block).split(";")]
        while parts and not parts[-1]:
            parts.pop()
        parts = _unnumbered(parts)
        return cls(text[: found.start()], tuple(_bare(part.casefold()) for part in parts))

    @cached_property
    def values(self) -> tuple[str, ...]:
        """The parts that are no reasons."""
        return tuple(part for part in self.parts if not _REASON.match(f"{part} "))

    @cached_property
    def reasons(self) -> tuple[str, ...]:
        """What stands behind "reason:"."""
        return tuple(_bare(_REASON.sub("", f"{part} ", count=1)) for part in self.parts if _REASON.match(f"{part} "))


def _unmarked(line: str, place: int, is_block: bool) -> str:
    """A line of a block without the mark of a list. A number is one where it counts the lines."""
    found = _BULLET.match(line) if is_block else None
    return line if found is None or (found["number"] and int(found["number"]) != place) else line[found.end() :]


def _unnumbered(parts: list[str]) -> list[str]:
    """The parts of a line without their numbers, if each has its own: "1) 12 euros; 2) 3 April"."""
    found = [_NUMBERED.match(part) for part in parts]
    if len(parts) < 2 or [int(one[1]) if one else 0 for one in found] != list(range(1, len(parts) + 1)):
        return parts
    return [_NUMBERED.sub("", part) for part in parts]


def _bare(part: str) -> str:
    """A part without the brackets or quotes around it and the dot at its end."""
    part = part.strip().removesuffix(".").strip()
    for opening, closing in ("[]", '""', "''"):
        if len(part) > 1 and part[0] == opening and part[-1] == closing and opening not in part[1:-1]:
            return part[1:-1].strip()
    return part


@dataclass(frozen=True)
class DemandedTold:
    """What an answer tells of the questions of a scenario that demand a line. `keys` has what JSON has of each fact."""

    line: DemandedAnswer | None
    above: str
    questions: Sequence[AnswerQuestion]
    now: datetime
    keys: Mapping[str, str] | None = None
    reason_key: str = ""

    def verdict(self, question: AnswerQuestion) -> FactVerdict:
        """Whether a question is answered in its place."""
        if self.line is None and self.keys is None:
            return FactVerdict(False, NO_LINE)
        fault = next(self._faults(question), "")
        name = question.wanted[0].fact.name
        return FactVerdict(not fault, fault and f"{name}: {fault}")

    def _faults(self, question: AnswerQuestion) -> Iterator[str]:
        """Why a question is not answered, if it is not."""
        if question.tell == "any":
            yield from self._reasons.faults(question)
        else:
            yield from self._faults_of_a_value(question)
        yield from self._faults_of_the_line
        yield from self._faults_above(question)

    @cached_property
    def _own(self) -> list[AnswerQuestion]:
        return [one for one in self.questions if one.wanted and one.tell == "all"]

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """The names that are asked for, without their other forms."""
        named = [one.fact.value for question in self._own for one in question.wanted if one.fact.type in _NAMED]
        return tuple(str(name) for value in named for name in (value if isinstance(value, tuple) else (value,)))

    @cached_property
    def _is_one_list(self) -> bool:
        """Whether all values of the line are the items of one list."""
        return len(self._own) == 1 and self._own[0].wanted[0].fact.type == "list"

    @cached_property
    def _parts(self) -> dict[str, str] | None:
        """The part of each fact, by its name. None if the line has more or fewer than are asked for."""
        names = [one.wanted[0].fact.name for one in self._own]
        if self.keys is not None:
            return {name: _bare(written(self.keys[name]).casefold()) for name in names if name in self.keys}
        parts = self.line.values if self.line else ()
        if self._is_one_list:
            return {names[0]: ", ".join(parts)}
        if len(parts) < len(names) and not any(one.wanted[0].fact.type == "list" for one in self._own):
            parts = tuple(_bare(inner) for part in parts for inner in _INNER_SEPARATOR.split(part))
        extra = parts[len(names) :]
        if len(parts) < len(names) or not all(self._reasons.may_stand(part) for part in extra):
            return None
        return dict(zip(names, parts, strict=False))

    @cached_property
    def _reasons(self) -> ReasonGrammar:
        """The reasons of the line: those behind "reason:", and the parts behind the values."""
        if self.keys is not None:
            told: tuple[str, ...] = (_bare(written(self.reason_key).casefold()),) if self.reason_key else ()
        else:
            behind = self.line.values[len(self._own) :] if self.line and not self._is_one_list else ()
            told = (*(self.line.reasons if self.line else ()), *behind)
        wanted = [one for one in self.questions if one.tell == "any" and one.wanted]
        given = tuple(dict.fromkeys(text for one in self.questions for text in one.given))
        return ReasonGrammar(tuple(part for part in told if part not in _NO_REASON), wanted, given, self.now)

    @cached_property
    def _faults_of_the_line(self) -> tuple[str, ...]:
        """What is wrong with the line as a whole, whichever value is asked for."""
        if self._parts is None:
            return (f"the answer's last line has not {len(self._own)} values, one for each that is asked for",)
        strange = next((part for part in self._reasons.told if not self._reasons.is_known(part)), None)
        return () if strange is None else (f"the reason {strange!r} is none that stood in the way",)

    def _faults_of_a_value(self, question: AnswerQuestion) -> Iterator[str]:
        (one,) = question.wanted
        part = (self._parts or {}).get(one.fact.name)
        if part is None:
            yield "it has no part of the answer's last line" if self.keys is None else "no key"
            return
        if len(part) > LONGEST_PART + sum(len(str(value)) for value in one.values):
            yield f"its part of the line has {len(part)} characters; a value has {LONGEST_PART} at most"
            return
        read = reads(part, question, one, self.now, self._names)
        if read is None:
            yield f"{part[:80]!r} is not {_KINDS[one.fact.type]} as a whole"
        elif not read:
            yield f"{part[:80]!r} is another value"

    def _faults_above(self, question: AnswerQuestion) -> Iterator[str]:
        """What the words above the line tell in a value's place: one that it is confused with, or doubt."""
        text = folded(self.above)
        if UNSURE.search(text):
            yield "it is not sure"
        for one in question.wanted if question.tell == "all" else ():
            if one.fact.type in READ_AS:
                told = [found for found in self._mentions if _fits(one, found, one.confusable, self.now)]
                others = [found for found in told if not self._may_stand(found, one) and _is_of(found, one, question)]
                yield from (f"it also tells {text[found.start : found.end]!r} above the line" for found in others)
            elif one.fact.type in ("name", "choice"):
                names = [str(other) for other in one.confusable if not self._is_named(str(other))]
                yield from (f"it also tells {name!r} above the line" for name in names if _names(text, name, one))

    @cached_property
    def _mentions(self) -> list[Mention]:
        """The values above the line."""
        return mentions(folded(self.above), self.now)

    @cached_property
    def _given(self) -> list[Mention]:
        """The values that the task and the refusals give."""
        texts = dict.fromkeys(text for one in self.questions for text in one.given)
        return [found for text in texts for found in mentions(folded(text), self.now)]

    def _may_stand(self, found: Mention, one: ExpectedFact) -> bool:
        """Whether a value above the line is one that is asked for, or that the task gives."""
        facts = [other for question in self.questions for other in question.wanted]
        if any(_fits(other, found, other.values, self.now) for other in facts) or found.is_weak:
            return True
        return any(given.type == found.type and given.values & found.values for given in self._given)

    def _is_named(self, name: str) -> bool:
        """Whether a name is one that is asked for too, or that the task has."""
        facts = [other for question in self.questions for other in question.wanted]
        texts = [*(text for one in self.questions for text in one.given), *(one.asked for one in self.questions)]
        values = [str(value) for other in facts for value in other.values]
        return any(any(True for _ in occurrences(folded(text), name)) for text in (*texts, *values))


def reads(
    part: str, question: AnswerQuestion, one: ExpectedFact, now: datetime, rivals: tuple[str, ...] = ()
) -> bool | None:
    """Whether a folded part of the line is a right value of a fact, alone or in the question's words.

    None if it is no value as a whole. Where it can be read in two ways, it must be right in both.
    """
    wanted = wanted_of(question, one, now, rivals)
    if one.fact.type == "yes_no":
        said = side_of(part, question.subject)
        return None if said is None else said == bool(one.values[0])
    quoted = QuestionWords(question.subject.strip(" ."), one.fact.type)
    twice = _TOLD_TWICE.fullmatch(part) if one.fact.type not in ("list", "none") else None
    if twice and wanted.reads(twice[2]) is not None:
        return wanted.reads(twice[2]) and reads(twice[1], question, one, now, rivals)
    cores = _cores(part, quoted)
    found = {is_list(core, wanted) if one.fact.type == "list" else wanted.reads(core) for core in cores} - {None}
    return None if not found else found == {True}


def wanted_of(question: AnswerQuestion, one: ExpectedFact, now: datetime, rivals: tuple[str, ...] = ()) -> WantedValue:
    """What the values of a question are held against."""
    code = frozenset({one.fact.currency}) if one.fact.currency else question.currencies
    nouns = _nouns(question) if one.fact.type == "count" else frozenset[str]()
    return WantedValue(one, now, code, question.unit, nouns, rivals, counts="how many" in question.subject)


def _nouns(question: AnswerQuestion) -> frozenset[str]:
    """What a question counts. If it does not say, the words of its task, without units."""
    counted = _COUNTED.search(question.subject)
    noun = (counted and counted[1]) or ""
    if counted is None or noun.endswith("s"):
        return frozenset(_WORD.findall(folded(noun)))
    given = _WORD.findall(folded(" ".join(question.given)))
    return frozenset((*_WORD.findall(folded(question.subject)), *(word for word in given if word not in _UNITS)))


def _cores(part: str, quoted: QuestionWords) -> Iterator[str]:
    """What can be the value of a part: what is left when words of the question are taken from its ends."""
    ends = [found.span() for found in re.finditer(r"\S+", part)]
    if len(ends) > MOST_WORDS:
        return
    starts = {at for at in range(len(ends)) if quoted.allows(part[: ends[at][0]], "")}
    stops = {at for at in range(len(ends)) if quoted.allows("", part[ends[at][1] :])}
    for first in range(len(ends)):
        for last in range(first, len(ends)):
            before, after = part[: ends[first][0]], part[ends[last][1] :]
            if _DENIED.search(before):
                continue
            if (first in starts and last in stops) or quoted.is_whole(before, after):
                yield part[ends[first][0] : ends[last][1]].rstrip(",")


def _fits(one: ExpectedFact, found: Mention, values: Sequence[object], now: datetime) -> bool:
    return any(one.fits(found, value, now) for value in values)  # pyright: ignore[reportArgumentType]


def _is_of(found: Mention, one: ExpectedFact, question: AnswerQuestion) -> bool:
    """Whether a value above the line can be one of the question: a count is, if it counts what the question has."""
    return one.fact.type != "count" or found.unit == "" or root(stem(found.unit)) in question.topic


def _names(text: str, name: str, one: ExpectedFact) -> bool:
    """Whether a text has a name that is no part of the right one."""
    own = [place for value in one.values for place in occurrences(text, str(value))]
    return any(not any(a <= start < b for a, b in own) for start, _ in occurrences(text, name))


_KINDS = {
    "amount": "an amount",
    "count": "a number",
    "date": "a date",
    "time": "a time",
    "duration": "a duration",
    "name": "the name",
    "choice": "the choice",
    "list": "the list",
    "yes_no": "yes or no",
    "none": "that there is none",
}
