"""Names, choices and lists: the name is told, for certain, of what was asked, and no other of its sort."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cached_property

from servers.answer.checks.labels import TextSpan, is_of_a_stranger
from servers.answer.checks.told import FactTold
from servers.answer.names import named, occurrences, stem
from servers.answer.shapes.form import MOST_PLACES
from servers.answer.text import folded
from servers.answer.vocabulary import word_set

SHORTEST_NUMBER = 3
"""A code of digits alone has at least so many; fewer are a count."""
_CODE = re.compile(r"(?<![\w.,:/-])(?=[a-z]*\d)[a-z]{0,4}\d{1,8}(?![\w]|[.,:]\d)")
_OTHER_NUMBER = re.compile(r" (?:or|oder) [\w-]*\d")
_TITLES = word_set("mr mrs ms miss dr prof dear hello hi herr frau madame monsieur senor senora the to for and")


class NameTold(FactTold):
    """What an answer says of one fact whose values are names."""

    def faults(self) -> Iterator[str]:
        """Why the answer does not tell the name, if it does not."""
        wanted = [str(value) for value in self.one.values]
        groups = [[item] for item in wanted] if self.one.fact.type == "list" else [wanted]
        told: list[TextSpan] = []
        for group in groups:
            places = [place for name in group for place in self._places(name, wanted)]
            if len(places) > MOST_PLACES:
                yield f"{group[0]!r} is named at {len(places)} places; a person would name it at {MOST_PLACES} at most"
                return
            if any(self.reply.stance(*place) in ("doubted", "asked") for place in places):
                yield "it hedges"
            sure = [place for place in places if self.reply.stance(*place) == "told"]
            of_it = [
                place
                for place in sure
                if not self.is_of_another(place) and not is_of_a_stranger(self.reply, self.question, place)
            ]
            if not of_it:
                yield f"{group[0]!r} is told of something else" if sure else f"{group[0]!r} is not told"
            told += of_it
        yield from self.doubts(told)
        if any(_OTHER_NUMBER.match(self.reply.folded[end:]) for _, end in told):
            yield "it leaves open which it is"
        yield from self.others_told(wanted, told)

    def _places(self, name: str, wanted: Sequence[str]) -> Iterator[TextSpan]:
        """Where the name is told; a part of it counts where no other name stands around it."""
        others = [
            other for other in (*wanted, *self._others, *self.question.given, *self._asked_names) if other != name
        ]
        whole = set(occurrences(self.reply.folded, name))
        for place in named(self.reply.folded, name, others):
            if place in whole or self._is_alone(place, name):
                yield place
        if name.isdigit():
            yield from (
                (one.start, one.end)
                for one in self.reply.mentions
                if one.type == "number" and Decimal(name) in one.values and (one.start, one.end) not in whole
            )

    def _is_alone(self, place: TextSpan, name: str) -> bool:
        """Whether no word of another name stands beside a part of a name: "Ada Lundgren" is not Ada Lindqvist."""
        own = {stem(word) for word in re.findall(r"[^\W_]+", folded(name))}
        cased = self.reply.text.cased
        following = re.match(r"(?:'s)? ((?:(?:de|van|von|der|la|el) )*)([A-Z][a-z'-]+)", cased[place[1] :])
        if following and stem(following[2].casefold()) not in own:
            return False
        before = re.search(r"([A-Z][a-z'-]+) ((?:(?:de|van|von|der|la|el) )*)$", cased[: place[0]])
        if before is None or stem(before[1].casefold()) in own or before[1].casefold() in _TITLES:
            return True
        return before.start() in self.reply.text.starts or not cased[before.start() - 2 : before.start()].strip(
            " \n\"'(-:.*"
        )

    @cached_property
    def _others(self) -> list[str]:
        return [str(value) for value in self.one.confusable]

    @cached_property
    def _asked_names(self) -> list[str]:
        """The names that other facts ask for."""
        return [value for other in self.others_asked for value in other.values if isinstance(value, str)]

    def others_told(self, names: Sequence[str], told: Sequence[TextSpan]) -> Iterator[str]:
        """Other names of the sort that are told, apart from those that another fact asks for or the task gives."""
        asked = {stem(folded(other)) for other in self._asked_names}
        for other in self._others:
            rest = [*names, *(o for o in self._others if o != other)]
            for place in named(self.reply.folded, other, rest):
                if any(a < place[1] and place[0] < b for a, b in told):
                    continue
                stands = self.reply.stance(*place)
                if stands == "doubted" or any(self._is_joined(place, right) for right in told):
                    yield f"it hedges with {other!r}"
                if stands == "told" and stem(folded(other)) not in asked and not self._may_stand(other, place, told):
                    yield f"it also tells {other!r}"
        yield from self._other_codes(names, told)

    def _may_stand(self, other: str, place: TextSpan, told: Sequence[TextSpan]) -> bool:
        """Whether a name that the task gives may stand beside the right one; not as a choice, nor as one more item."""
        if self.one.fact.type == "choice" or not self._is_given(other):
            return False
        sentence = self.reply.text.sentence(place[0])
        return self.one.fact.type == "name" or not any(sentence == self.reply.text.sentence(at) for at, _ in told)

    def _other_codes(self, names: Sequence[str], told: Sequence[TextSpan]) -> Iterator[str]:
        """Other codes of the same form: room 321 beside room 312."""
        forms = {_form(folded(name)) for name in names if _CODE.fullmatch(folded(name))}
        asked = {folded(name) for name in self._asked_names}
        for found in _CODE.finditer(self.reply.folded) if forms else ():
            code = found[0]
            if _form(code) not in forms or any(a <= found.start() < b for a, b in told):
                continue
            if code in asked or self._is_given(code) or (code.isdigit() and len(code) < SHORTEST_NUMBER):
                continue
            if not self._is_value(found.start()) and self.reply.stance(*found.span()) != "denied":
                yield f"it also tells {code!r}"

    def _is_value(self, place: int) -> bool:
        """Whether an amount, a date or a time stands at a place."""
        return any(
            one.start <= place < one.end and one.type in ("amount", "date", "time", "duration")
            for one in self.reply.mentions
        )

    def _is_given(self, name: str) -> bool:
        return any(any(True for _ in occurrences(folded(text), name)) for text in self.question.given)

    def _is_joined(self, place: TextSpan, right: TextSpan) -> bool:
        return re.fullmatch(r"[^.\n]{0,12}\b(?:or|oder|ou|o)\b[^.\n]{0,12}", self.between(place, right)) is not None


def _form(code: str) -> str:
    return re.sub(r"\d", "9", re.sub(r"[a-z]", "a", code))
