"""Whether an answer tells what was asked, and nothing that could be taken for it.

Telling is exclusive. An answer that also tells a confusable value, lists candidates, hedges, contradicts itself or is
longer than a person would write does not tell the fact, whatever else it holds.
"""

import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple, cast

from servers.answer.fact import Cell
from servers.answer.mention import Day, Mention
from servers.answer.names import named, occurrences, stem
from servers.answer.reading import as_date, as_minutes, mentions
from servers.answer.stance import CORRECTION, REFUSAL, Stance, stance
from servers.answer.text import Text, folded
from servers.answer.vocabulary import LABELS
from servers.answer.wanted import READ_AS, Wanted

LONGEST = 2_000
LONGEST_PER_FACT = 600
"""An answer has at most so many characters, and so many more for each fact that is asked for."""
MOST_VALUES = 24
MOST_VALUES_PER_FACT = 8
"""It tells at most so many different numbers and dates that nobody asked for."""
MOST_OTHERS = 1
"""So many confusable values may be told, if words of their own say what they are of."""
MOST_LABELS = 4
MOST_LABELS_PER_FACT = 2
"""It has at most so many lines of the form `label: value` that are no items of a list."""
MOST_COLUMNS = 2
"""It names at most so many columns of keys and cents, as `segment id:`."""
MOST_LEAVES = 4
MOST_LEAVES_PER_FACT = 2
"""JSON in an answer has at most so many values."""


class Told(NamedTuple):
    """Whether a fact is told, and if not, why."""

    holds: bool
    why: str = ""


@dataclass(frozen=True)
class Question:
    """The facts of one checkpoint, and the texts whose values may be told beside them."""

    wanted: tuple[Wanted, ...]
    asked: str = ""
    """The question in words: what its values are of."""
    tell: str = "all"
    given: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()


def verdicts(questions: Sequence[Question], answer: str, now: datetime) -> list[Told]:
    """What an answer tells of several questions. The facts of each may be told beside those of the others."""
    facts = [one for question in questions for one in question.wanted]
    problem = _unreadable(answer, len(facts))
    if problem:
        return [Told(not question.wanted and not answer.strip(), problem) for question in questions]
    submitted = _submitted(answer, {one.fact.name for one in facts})
    reply = _Reply(Text(folded(answer if submitted is None else "")), now, tuple(facts))
    return [_verdict(question, reply, submitted, answer) for question in questions]


def _verdict(question: Question, reply: "_Reply", submitted: dict[str, str] | None, answer: str) -> Told:
    text = folded(answer)
    for word in question.silent:
        if any(True for _ in occurrences(text, word)):
            return Told(False, f"it tells {word!r}, which nobody may be told")
    if not question.wanted:
        return Told(True)
    seen: list[Told] = []
    for one in question.wanted:
        if submitted is not None:
            part = _Reply(Text(folded(submitted.get(one.fact.name, ""))), reply.now, (one,))
            seen.append(part.tells(one, question))
        else:
            seen.append(reply.tells(one, question))
    if question.tell == "any":
        return next((told for told in seen if told.holds), seen[0])
    return next((told for told in seen if not told.holds), seen[0])


def _unreadable(answer: str, facts: int) -> str:
    """Why an answer is not even read: it is none, or more than a person would write."""
    if not answer.strip():
        return "there is no answer"
    longest = LONGEST + LONGEST_PER_FACT * facts
    if len(answer) > longest:
        return f"the answer has {len(answer)} characters; a person would need {longest} at most"
    runs = {found[0] for found in re.finditer(r"\d+", answer)}
    most = MOST_VALUES + MOST_VALUES_PER_FACT * facts
    if len(runs) > most:
        return f"the answer tells {len(runs)} numbers; a person would tell {most} at most"
    leaves = _leaves_of(answer)
    most = MOST_LEAVES + MOST_LEAVES_PER_FACT * facts
    if leaves > most:
        return f"the answer pastes data: {leaves} values"
    labels = len(_LABEL.findall(answer))
    most = MOST_LABELS + MOST_LABELS_PER_FACT * facts
    if labels > most:
        return f"the answer has {labels} lines with a label; a person would write {most} at most"
    columns = {found[0] for found in _COLUMN.finditer(answer.casefold())}
    pastes = _RAW.search(answer) is not None or len(columns) > MOST_COLUMNS
    return "the answer pastes rows: it has the keys of a result" if pastes else ""


_LABEL = re.compile(r"^[^\W\d_][\w ]{0,30}: \S", re.MULTILINE)
_UNDECIDED = re.compile(
    r"\b(?:it|this|that) is one of the (?:two|three)(?=[.,;!]|$)|\beither this\b|\bone or the other\b"
)
_WITHDRAWN = re.compile(r"\b(?:that|this) (?:was|is) (?:wrong|not right|not so|a mistake|mistaken)(?=[.,;!]|$)")
_COLUMN = re.compile(r"\b\w+[ _](?:id|cents)(?:[ _]\w+){0,3}(?=\s*:)")
_RAW = re.compile(r"[\"']\w+_(?:id|cents)[\"']\s*:|\[\s*\{\s*[\"']")
_FENCE = re.compile(r"^\s*```\w*\s*\n(.*?)\n?\s*```\s*$", re.DOTALL)


def _submitted(answer: str, names: set[str]) -> dict[str, str] | None:
    """The facts of an answer that is JSON by their names; None where it is anything else."""
    fenced = _FENCE.match(answer)
    try:
        told: Any = json.loads(fenced[1] if fenced else answer)
    except ValueError:
        return None
    if not isinstance(told, dict) or not told or not names >= cast("dict[str, Any]", told).keys():
        return None
    return {name: _as_text(value) for name, value in cast("dict[str, Any]", told).items()}


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value == []:
        return "none"
    if isinstance(value, list):
        return ", ".join(_as_text(one) for one in cast("list[Any]", value))
    return str(value)


def _leaves_of(answer: str) -> int:
    """How many values of JSON objects an answer pastes."""
    return len(re.findall(r"[\"'][\w ]+[\"']\s*:\s*(?:[\"']|-?\d|true|false|null|True|False|None)", answer))


@dataclass(frozen=True)
class _Reply:
    """A folded answer to some facts, read once."""

    text: Text
    now: datetime
    facts: tuple[Wanted, ...]

    @cached_property
    def mentions(self) -> list[Mention]:
        """The values that it mentions."""
        return mentions(self.text.text, self.now)

    @cached_property
    def taken_back(self) -> int:
        """Where the text says for the last time that what it told was wrong: the start, where it does not."""
        return max((found.end() for found in _WITHDRAWN.finditer(self.text.text)), default=0)

    def stance(self, start: int, end: int, *, is_name: bool = True) -> Stance:
        """How it stands to what it mentions at a place."""
        return stance(self.text, start, end, is_name=is_name)

    def stands(self, mention: Mention) -> Stance:
        """How it stands to a value."""
        return stance(self.text, mention.start, mention.end, is_name=False)

    def tells(self, one: Wanted, question: Question) -> Told:
        """Whether it tells a fact."""
        match one.fact.type:
            case "name" | "choice":
                return self._tells_name(one, question)
            case "list":
                return self._tells_list(one)
            case "none":
                return self._tells_none(one)
            case "yes_no":
                return self._tells_side(one, question)
            case _:
                return self._tells_value(one, question)

    # values

    def _tells_value(self, one: Wanted, question: Question) -> Told:
        kinds = READ_AS[one.fact.type]
        there = [mention for mention in self.mentions if mention.type in kinds]
        right = [mention for mention in there if any(one.fits(mention, value, self.now) for value in one.values)]
        told = [mention for mention in right if self.stands(mention) == "told"]
        if not told:
            return Told(False, f"{one.fact.name} is not told")
        if one.fact.type in ("count", "amount", "duration"):
            told = _plainest(one, told)
        told = [m for m in told if self._is_of(one, m) and not self._is_labelled(m, one, question)]
        if not told:
            return Told(False, f"{one.fact.name}: the value is told of something else")
        allowed = self._allowed(one, question.given)
        wrong = [mention for mention in there if mention not in right and not self._may(mention, allowed)]
        taken = [m for m in wrong if self._is_told(m) and any(one.fits(m, value, self.now) for value in one.confusable)]
        if any(self.stands(m) == "doubted" and any(one.fits(m, v, self.now) for v in one.confusable) for m in wrong):
            return Told(False, f"{one.fact.name}: it hedges")
        taken = [m for m in taken if not self._is_part(m) and not any(self._is_range(m, other) for other in told)]
        labelled = {mention.values for mention in taken if self._is_of_another(mention, told)}
        for mention in taken:
            if mention.values not in labelled or len(labelled) > MOST_OTHERS:
                return Told(False, f"{one.fact.name}: it also tells {self._said(mention)!r}")
        return self._undisputed(one, told, there, right, allowed)

    def _is_told(self, mention: Mention) -> bool:
        return not mention.is_weak and self.stands(mention) == "told"

    def _is_part(self, mention: Mention) -> bool:
        """Whether a value is told as the whole of which another is a part: "two of 12"."""
        return _PART_OF.search(self.text.text[max(0, mention.start - 24) : mention.start]) is not None

    def _is_range(self, mention: Mention, other: Mention) -> bool:
        """Whether two times or dates are the ends of one span."""
        first, second = sorted((mention, other), key=lambda one: one.start)
        between = self.text.text[first.end : second.start]
        return mention.type in ("time", "date") and re.fullmatch(r" ?(?:-|to|until|till|bis|a) ?", between) is not None

    def _is_of_another(self, mention: Mention, told: Sequence[Mention]) -> bool:
        """Whether words beside a value, that are not beside the right one, say what it is of."""
        own = self._words_around(mention)
        return all(own - self._words_around(other) for other in told)

    def _is_labelled(self, mention: Mention, one: Wanted, question: Question) -> bool:
        """Whether the words beside a value say that it is of something that was not asked for."""
        if question.tell == "any" or not question.asked:
            return False
        labels = LABELS.get(one.fact.type, {})
        words = set(_LETTERS.findall(folded(" ".join((question.asked, *one.fact.about)))))
        per = _PER.match(self.text.text[mention.end :])
        if per and not words & {per[1] or "each", "rate", "daily", "monthly", "price", "per"}:
            return True
        beside = [labels[word] for word in self._clause(mention) if word in labels]
        return bool(beside) and not any(words & group for group in beside)

    def _clause(self, mention: Mention) -> list[str]:
        first, last = self.text.sentence(mention.start)
        before = _BREAK.split(self.text.text[first : mention.start])[-1]
        after = _BREAK.split(self.text.text[mention.end : last])[0]
        return _LETTERS.findall(f"{before} {after}")

    def _words_around(self, mention: Mention) -> set[str]:
        words = {stem(word) for word in self._clause(mention) if len(word) > 2}
        return words - _EMPTY - {stem(mention.unit)}

    def _said(self, mention: Mention) -> str:
        return self.text.text[mention.start : mention.end]

    def _allowed(self, one: Wanted, given: Sequence[str]) -> list[Mention | tuple[Wanted, Any]]:
        found: list[Mention | tuple[Wanted, Any]] = []
        for text in given:
            found += [m for m in mentions(folded(text), self.now) if m.type in READ_AS[one.fact.type]]
        for other in self.facts:
            if other is not one and set(READ_AS.get(other.fact.type, ())) & set(READ_AS.get(one.fact.type, ())):
                found += [(other, value) for value in other.values]
        return found

    def _may(self, mention: Mention, allowed: list[Mention | tuple[Wanted, Any]]) -> bool:
        for one in allowed:
            if isinstance(one, Mention):
                if one.type == mention.type and one.values & mention.values:
                    return True
                if one.type == "date" == mention.type and _same_day(one, mention):
                    return True
            elif one[0].fits(mention, one[1], self.now):
                return True
        return False

    def _undisputed(
        self,
        one: Wanted,
        told: list[Mention],
        there: list[Mention],
        right: list[Mention],
        allowed: list[Mention | tuple[Wanted, Any]],
    ) -> Told:
        """Whether no other value of the type stands beside the right one, is put right, or is as near as a slip."""
        rivals = [m for m in there if m not in right and not _overlap(m, right)]
        unknown = [mention for mention in rivals if not self._may(mention, allowed)]
        strong = [mention for mention in unknown if not mention.is_weak]
        for mention in told:
            for rival in rivals:
                word = self._joint(mention, rival)
                if word == "or" or (word == "and" and rival in unknown and not rival.is_weak):
                    return Told(False, f"{one.fact.name}: it tells {self._said(rival)!r} as well")
        if self._is_corrected(told, unknown):
            return Told(False, f"{one.fact.name}: it contradicts itself")
        for rival in strong:
            if self._is_told(rival) and any(_is_near(one, value, rival) for value in one.values):
                return Told(False, f"{one.fact.name}: it tells {self._said(rival)!r} too")
        return self._stays(one, told, rivals, allowed)

    def _stays(
        self, one: Wanted, told: list[Mention], rivals: list[Mention], allowed: list[Mention | tuple[Wanted, Any]]
    ) -> Told:
        """Whether the text stays with the value: it neither says the same of another one, nor takes it back."""
        of_other_facts = [other for other in allowed if not isinstance(other, Mention)]
        for rival in rivals:
            if self._may(rival, [*of_other_facts]) or not self._is_told(rival):
                continue
            if self._is_item(rival) and self._may(rival, allowed):
                continue
            if any(self._says_again(mention, rival) for mention in told):
                return Told(False, f"{one.fact.name}: it tells {self._said(rival)!r} in the same words")
        if rivals and self._is_taken_back(told, rivals):
            return Told(False, f"{one.fact.name}: it leaves open which value it is")
        return Told(True)

    def _is_item(self, mention: Mention) -> bool:
        """Whether a value stands in an item of a list: items may begin with the same words."""
        line = self.text.text.rfind("\n", 0, mention.start) + 1
        return self.text.text[line:].lstrip().startswith("-")

    def _is_taken_back(self, told: list[Mention], rivals: list[Mention]) -> bool:
        """Whether the text says of all that it tells that it may be otherwise, or tells another value once it was."""
        if _UNDECIDED.search(self.text.text):
            return True
        first, last = min(mention.start for mention in told), max(rival.start for rival in rivals)
        return any(first < found.start() < last for found in _WITHDRAWN.finditer(self.text.text))

    def _says_again(self, mention: Mention, rival: Mention) -> bool:
        """Whether a sentence that tells a value is begun once more with another: "2 are left. … 3 are left"."""
        first, last = self.text.sentence(mention.start)
        other, end = self.text.sentence(rival.start)
        before, after = self.text.text[first : mention.start].strip(), self.text.text[mention.end : last].strip(" .")
        return (
            other != first
            and before == self.text.text[other : rival.start].strip()
            and (len(_LETTERS.findall(before)) > 1 or after == self.text.text[rival.end : end].strip(" ."))
            and before + after != ""
        )

    def _joint(self, mention: Mention, rival: Mention) -> str:
        """How two neighbours are joined: by "or", by a mere "and" or comma, or not at all."""
        first, second = sorted((mention, rival), key=lambda one: one.start)
        between = self.text.text[first.end : second.start]
        one_of_numbers = first.type == second.type and first.type in ("amount", "number")
        if len(between) > 24:
            return ""
        if one_of_numbers and re.fullmatch(r" ?(?:to|bis|-) ?", between):
            return "or"
        if re.fullmatch(r"[^.\n]*\b(?:or|oder|ou|o|versus|vs)\b[^.\n]*", between) and not re.search(
            r"\bor more|or less", between
        ):
            return "or"
        if self.stands(rival) == "denied":
            return ""
        unit = rf"(?:{re.escape(first.unit)})?" if first.unit else ""
        return (
            "and"
            if re.fullmatch(rf" ?{unit} ?(?:[,/|&]|,? ?\band\b|,? ?\bund\b|\n-?)+ ?(?:the |by |on |at )?", between)
            else ""
        )

    def _is_corrected(self, told: list[Mention], unknown: list[Mention]) -> bool:
        for found in CORRECTION.finditer(self.text.text):
            for rival in unknown:
                if self.stands(rival) == "denied":
                    continue
                if (
                    rival.start >= found.end()
                    and rival.start - found.end() < 60
                    and any(m.start < found.start() for m in told)
                ):
                    return True
                if rival.start < found.start() and any(0 <= m.start - found.end() < 60 for m in told):
                    return True
        return False

    def _is_of(self, one: Wanted, mention: Mention) -> bool:
        """Whether a value is told of what this fact is about, as far as the words around it show."""
        rivals = [
            other for other in self.facts if other is not one and other.about and other.fact.type == one.fact.type
        ]
        rivals = [other for other in rivals if not set(map(str, other.values)) & set(map(str, one.values))]
        labels = [(place, True) for word in one.about for place, _ in occurrences(self.text.text, word)]
        others = [word for other in rivals for word in other.about if word not in one.about]
        others += [folded(word) for word in one.fact.not_about]
        labels += [(place, False) for word in others for place, _ in occurrences(self.text.text, word)]
        if not any(not own for _, own in labels):
            return True
        first, last = self.text.sentence(mention.start)
        labels = sorted((place, own) for place, own in labels if first <= place < last)
        return self._nearest(labels, one, mention, (first, last))

    def _nearest(self, labels: list[tuple[int, bool]], one: Wanted, mention: Mention, ends: tuple[int, int]) -> bool:
        if not labels:
            return True
        kinds = READ_AS.get(one.fact.type, ())
        peers = [m.start for m in self.mentions if m.type in kinds and ends[0] <= m.start < ends[1]]
        if len(peers) == len(labels) and (
            max(place for place, _ in labels) < min(peers) or min(place for place, _ in labels) > max(peers)
        ):
            return labels[peers.index(mention.start)][1] if mention.start in peers else True
        before = [own for place, own in labels if place < mention.start]
        first_label_after_first_value = bool(peers) and labels[0][0] > peers[0]
        if first_label_after_first_value:
            after = [own for place, own in labels if place > mention.start]
            return after[0] if after else before[-1]
        return before[-1] if before else labels[0][1]

    # names

    def _tells_name(self, one: Wanted, question: Question) -> Told:
        names = [str(value) for value in one.values]
        others = [str(value) for value in one.confusable]
        places = [
            place
            for name in names
            for place in named(self.text.text, name, [*others, *question.given, *self._other_names(one)])
        ]
        told = [place for place in places if self.stance(*place) == "told" and place[0] >= self.taken_back]
        if not told:
            return Told(False, f"{one.fact.name} is not told")
        if _UNDECIDED.search(self.text.text):
            return Told(False, f"{one.fact.name}: it leaves open which it is")
        if any(re.match(r" (?:or|oder) [\w-]*\d", self.text.text[end:]) for _, end in told):
            return Told(False, f"{one.fact.name}: it hedges")
        if not any(self._name_is_of(one, place) for place in told):
            return Told(False, f"{one.fact.name}: the value is told of something else")
        return self._no_other(one, names, others, told)

    def _other_names(self, one: Wanted) -> list[str]:
        return [
            str(value) for other in self.facts if other is not one for value in other.values if isinstance(value, str)
        ]

    def _no_other(self, one: Wanted, names: list[str], others: list[str], told: list[tuple[int, int]]) -> Told:
        """Whether no confusable name is told, apart from those that another fact asks for."""
        asked = {stem(folded(other)) for other in self._other_names(one)}
        for other in others:
            places = list(named(self.text.text, other, [*names, *(o for o in others if o != other)]))
            for place in places:
                if any(a < place[1] and place[0] < b for a, b in told):
                    continue
                stands = self.stance(*place)
                if stands == "told" and stem(folded(other)) not in asked:
                    return Told(False, f"{one.fact.name}: it also tells {other!r}")
                if stands == "doubted" or any(self._either(place, right) for right in told):
                    return Told(False, f"{one.fact.name}: it hedges with {other!r}")
        return Told(True)

    def _either(self, place: tuple[int, int], right: tuple[int, int]) -> bool:
        first, second = sorted((place, right))
        return bool(re.fullmatch(r"[^.\n]{0,12}\b(?:or|oder|ou|o)\b[^.\n]{0,12}", self.text.text[first[1] : second[0]]))

    def _name_is_of(self, one: Wanted, place: tuple[int, int]) -> bool:
        return self._is_of(one, Mention("number", frozenset(), place[0], place[1]))

    def _tells_list(self, one: Wanted) -> Told:
        items = [str(value) for value in one.values]
        others = [str(value) for value in one.confusable]
        told: list[tuple[int, int]] = []
        for item in items:
            rest = [other for other in (*items, *others) if other != item]
            places = [place for place in named(self.text.text, item, rest) if self.stance(*place) == "told"]
            if not places:
                return Told(False, f"{one.fact.name}: {item!r} is not told")
            told += places
        return self._no_other(one, items, others, told)

    # yes, no and none

    def _tells_none(self, one: Wanted) -> Told:
        for other in one.confusable:
            for place in named(self.text.text, str(other), [str(value) for value in one.confusable if value != other]):
                if self.stance(*place) in ("told", "doubted") and not _in_denial(self.text, place):
                    return Told(False, f"{one.fact.name}: it tells {other!r}")
        sentences = _sentences(self.text)
        found = any(_NONE.search(part) and not REFUSAL.search(part) for part in sentences)
        if not found:
            return Told(False, f"{one.fact.name}: it does not tell that there is none")
        hedged = any(_NONE.search(part) and _HEDGE.search(part) for part in sentences) or "?" in self.text.text
        return Told(not hedged, "it hedges" if hedged else "")

    def _tells_side(self, one: Wanted, question: Question) -> Told:
        sides = _sides(self.text, one, question.asked)
        if not sides:
            return Told(False, f"{one.fact.name}: neither yes nor no")
        if len(set(sides)) > 1:
            return Told(False, f"{one.fact.name}: both yes and no")
        is_so = sides[0] is bool(one.values[0])
        return Told(is_so, "" if is_so else f"{one.fact.name}: it tells the opposite")


_BREAK = re.compile(r"[,:()]| - | and | but | so | because | since | while | of which ")
_PER = re.compile(r"^ ?(?:(?:a|an|per|every|/) ?(day|week|month|year|hour|night|person|piece)\b|each\b)")
_PART_OF = re.compile(
    r"\bof (?:the |at most |a total of |all |our |its )?$|\b(?:quota|limit|at most|there are|out of) $"
)
_LETTERS = re.compile(r"[^\W\d_]+")
_EMPTY = frozenset(
    re.findall(
        r"\S+",
        "the and for are was were has have had with from this that you your our its his her not now then also just "
        "only it's will would can could may about into per each more most than very please dear all any she they "
        "them there here but or euro eur nok day on at in by to of is be actually sorry mean correction rather wait "
        "instead perhaps maybe ",
    )
)
_NONE = re.compile(
    r"\b(?:none|nothing|no one|nobody|no|not (?:any|a single|one)|n't (?:any|a single|anything|one)"
    r"|not anything|neither|zero|nil|empty|kein\w*|nichts|aucun\w*|rien|ningun\w*|nada|nessun\w*"
    r"|niente|pas de|don't have|isn't|aren't)\b"
    r"|(?<!\w)(?:0|\[\]|n't any)(?!\w)"
)
_HEDGE = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|might|could be|i think|i believe|i guess|not sure|unsure|as far as i)\b"
)
_YES_WORDS = frozenset(["yes", "yep", "yeah", "yup", "ja", "oui", "si", "true", "indeed", "certainly", "correct"])
_PLAIN = re.compile(
    r"(?:^|[:,.-] ?|\band )\W*(yes|yep|yeah|yup|ja|oui|si|true|indeed|certainly|correct|no|nope|nein"
    r"|non|false)(?=[,.!:;]| -|$)"
)
_DENIAL = re.compile(
    r"\b(?:not|never|no|none|nothing|nobody|neither|nor|without|unavailable|unable|cannot|refused"
    r"|denied|impossible|kein\w*|nicht|pas|aucun\w*|ningun\w*|full|sold out|fully booked|booked out"
    r"|too late|expired|missing|unpaid|outstanding|lapsed|insufficient|exhausted|closed|ineligible"
    r"|excluded|occupied|taken|short|still open|pending|on hold|out of (?:service|order|stock)"
    r"|under repair|in maintenance|invalid|unsuitable|over|ausgebucht|belegt|complet|completo"
    r"|agotad\w*|ended|abgelaufen|run out|ran out|too (?:little|early|low))\b|n't\b"
)


def _sentences(text: Text) -> list[str]:
    starts = [*text.starts, len(text.text)]
    return [part for a, b in itertools.pairwise(starts) if (part := text.text[a:b].strip())]


def _in_denial(text: Text, place: tuple[int, int]) -> bool:
    """Whether a name stands in a sentence that denies: "neither X nor Y is", "X needs a licence, so no"."""
    first, last = text.sentence(place[0])
    return bool(_DENIAL.search(text.text[first:last])) and not re.search(
        r"\b(?:but|except|apart from|only|besides|other than)\b", text.text[first:last]
    )


def _sides(text: Text, one: Wanted, asked: str) -> list[bool]:
    """What an answer says to a question of yes or no: by such a word, or by whether a sentence about it denies."""
    parts = [
        part
        for part in _sentences(text)
        if not part.endswith("?") and not _HEDGE.search(part) and not REFUSAL.search(part)
    ]
    plain = [found[1] in _YES_WORDS for part in parts for found in _PLAIN.finditer(part)]
    if plain and CORRECTION.search(text.text) and any(_DENIAL.search(part) for part in parts[1:]) and plain[0]:
        return [True, False]
    if plain:
        return plain[:1] if len(set(plain)) == 1 else [True, False]
    words = {stem(word) for word in (*one.about, *one.fact.name.split("_"), *_LETTERS.findall(folded(asked)))}
    words = {word for word in words if len(word) > 3} - _EMPTY
    pieces = [piece for part in parts for piece in re.split(r", (?=so |but |and )| but ", part)]
    scored = [sum(stem(word) in words for word in set(_LETTERS.findall(piece))) for piece in pieces]
    if not pieces:
        return []
    best = [piece for piece, score in zip(pieces, scored, strict=True) if score == max(scored)]
    return [not any(_DENIAL.search(piece) for piece in best)]


def _plainest(one: Wanted, told: list[Mention]) -> list[Mention]:
    """The mentions that are surely of the type, where there are any."""
    first = READ_AS[one.fact.type][0]
    return [mention for mention in told if mention.type == first and not mention.is_weak] or told


def _overlap(one: Mention, others: Sequence[Mention]) -> bool:
    return any(other.start < one.end and one.start < other.end for other in others)


def _same_day(one: Mention, other: Mention) -> bool:
    pairs = [(a, b) for a in one.values for b in other.values if isinstance(a, Day) and isinstance(b, Day)]
    return any(a.day == b.day and a.month == b.month and (a.year in (None, b.year) or b.year is None) for a, b in pairs)


def _is_near(one: Wanted, value: bool | Cell, rival: Mention) -> bool:
    """Whether a value is so near to the right one that it is told of the same thing: a slip, not another fact."""
    match one.fact.type:
        case "date":
            day = as_date(str(value))
            return any(
                isinstance(read, Day)
                and read.day is not None
                and read.month == day.month
                and 0 < abs(read.day - day.day) <= 2
                for read in rival.values
            )
        case "time":
            minutes = as_minutes(str(value))
            return all(isinstance(read, int) and 0 < abs(read - minutes) <= 10 for read in rival.values)
        case "amount":
            true = abs(float(cast("float", value)))
            told = [abs(float(read)) for read in rival.values if not isinstance(read, Day)]
            return rival.type == "amount" and true >= 20 and all(0 < abs(read - true) <= 0.02 * true for read in told)
        case _:
            return False
