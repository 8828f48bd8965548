"""The plan of a reference solution: queries that find the rows a person names, and the commands."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from servers.bundle.phrases import Phrases, holes
from servers.scenario.scenario import PlannedCall
from servers.text.json_leaves import path_to
from synth.backward.command_sampler import Drawn
from synth.play.value_sources import singular
from synth.solutions.row_lookup import Query, RowLookup, Sight
from synth.solutions.row_relations import RowPlace, RowRelations, label_of
from synth.solutions.trial_calls import Trying
from synth.solutions.value_texts import said

MOST_TRIED = 8
NAMES = ("name", "full_name", "email")
PROSE = ("description", "note", "notes", "comment")


@dataclass(frozen=True)
class RowMention:
    """The words for a row, and the query that shows it."""

    text: str
    sight: Sight | None


class SolutionPlan:
    """The calls of a solution so far, and the sources of row keys."""

    def __init__(
        self,
        trying: Trying,
        phrases: Phrases,
        clock: str,
        person: RowPlace | None,
        person_name: str,
        alive: Callable[[str, str, RowPlace], bool],
    ) -> None:
        self._alive = alive
        self.calls: list[PlannedCall] = []
        self.known: dict[RowPlace, str] = {}
        self.made: set[RowPlace] = set()
        self._trying = trying
        self._phrases = phrases
        self._clock = clock
        self._person = person
        self._person_name = person_name
        self._asked: dict[str, int] = {}
        self._spoken: dict[RowPlace, RowMention] = {}

    async def speak(
        self, drawn: Drawn, argument: str, finder: RowLookup, world: RowRelations, *, own: bool
    ) -> RowMention | None:
        """Words for the row of an argument that mean only this row. None if there are none."""
        place = drawn.places[argument]
        if place in self.made:
            return RowMention(self._phrases.made.get(place[0], f"the new {place[0].rstrip('s')}"), None)
        if place in self._spoken and place in self.known:
            return self._spoken[place]
        seen = await finder.sights(place)
        sights = [sight for sight in seen if self._is_by_person(sight, world) == own]
        for template in self._templates(place, sights, world):
            for sight in sights:
                text = self._filled(template, sight.item)
                if text is None or not await self._can_be_asked(sight, text, finder, world):
                    continue
                if await self._means_one(drawn, argument, template, sight, sights):
                    self._spoken[place] = RowMention(text, sight)
                    return self._spoken[place]
                break  # no other sight will make these words mean less
        return None

    async def find(self, place: RowPlace, sight: Sight, finder: RowLookup, world: RowRelations) -> bool:
        """Add the queries that find a row as it was seen. False if their arguments cannot be found."""
        if place in self.known:
            return True
        for needed in sight.needs.values():
            if not await self._find_needed(needed, "", finder, world):
                return False
        number = self.query(sight.query)
        self.known[place] = f"${{{number}.{sight.path}}}"
        return True

    async def find_person(self, finder: RowLookup, world: RowRelations) -> bool:
        """Add the query that finds the person by name."""
        return self._person is None or await self._find_needed(self._person, self._person_name, finder, world)

    def query(self, query: Query) -> int:
        """Add a query, unless it was made since the last change. Returns its number."""
        arguments = {**query.arguments, **{name: self.known[place] for name, place in query.needs.items()}}
        name = json.dumps([query.tool, arguments], sort_keys=True)
        if name not in self._asked:
            self.calls.append(PlannedCall(tool=query.tool, arguments=arguments))
            self._asked[name] = len(self.calls)
        return self._asked[name]

    def command(self, drawn: Drawn, free: frozenset[str]) -> int:
        """Add a command. Returns its number."""
        arguments = dict(drawn.arguments)
        for name, place in drawn.places.items():
            arguments[name] = self.known[place]
        for name, derived in drawn.derived.items():
            arguments[name] = f"${{{self.query(derived.query)}.{derived.path}}}"
        self.calls.append(PlannedCall(tool=drawn.tool, arguments=arguments, free=tuple(sorted(free))))
        self._asked.clear()
        return len(self.calls)

    def standing(self) -> tuple[list[PlannedCall], dict[RowPlace, str]]:
        """The current plan, for a later `go_back`."""
        return list(self.calls), dict(self.known)

    def go_back(self, standing: tuple[list[PlannedCall], dict[RowPlace, str]]) -> None:
        """Restore an earlier plan. Every query is made again."""
        self.calls, self.known = standing
        self._asked.clear()

    def came_about(self, place: RowPlace, number: int, result: Any) -> None:
        """Note a row that a command has made."""
        path = path_to(result, place[1])
        if path is not None:
            self.known[place] = f"${{{number}{path}}}"
            self.made.add(place)

    def _templates(self, place: RowPlace, sights: list[Sight], world: RowRelations) -> list[str]:
        told = self._phrases.rows.get(place[0])
        if told:
            return list(told)
        noun = singular(place[0]).replace("_", " ")
        found: list[str] = []
        for sight in sights:
            item = sight.item
            own = next((name for name in item if name.endswith("id")), sight.key)
            name = label_of(item)
            if name is None or own != sight.key:
                continue
            bare = _bare(name, noun, is_own=name in world.rows.get(place, {}))
            extra = [other for other in item if other != name and _tells_apart(other, item[other])][:4]
            found += [bare, *(f"{bare} ({other.replace('_', ' ')} {{{other}}})" for other in extra)]
        return list(dict.fromkeys(found))

    def _filled(self, template: str, item: dict[str, Any]) -> str | None:
        text = template
        for name in holes(template):
            if item.get(name) in (None, ""):
                return None
            words = said(
                name, item[name], clock=self._clock, currency=self._phrases.currency, words=self._phrases.words
            )
            text = text.replace(f"{{{name}}}", words)
        return text

    def _is_by_person(self, sight: Sight, world: RowRelations) -> bool:
        """True if a row was found among the person's own things."""
        if self._person is None:
            return False
        own = world.own(self._person)
        return any(place == self._person or place in own for place in sight.needs.values())

    async def _can_be_asked(self, sight: Sight, text: str, finder: RowLookup, world: RowRelations) -> bool:
        """True if every argument of a query was said, or can be found from what was said."""
        words = f"{text} {self._person_name}".casefold()
        given = [value for name, value in sight.query.arguments.items() if name not in sight.needs]
        if any(isinstance(value, str) and value.casefold() not in words for value in given):
            return False
        for needed in sight.needs.values():
            if needed in self.known or needed == self._person:
                continue
            if not any(
                all(one == self._person for one in other.needs.values()) and _said(other, words)
                for other in await finder.sights(needed)
            ):
                return False
        return True

    async def _find_needed(self, place: RowPlace, words: str, finder: RowLookup, world: RowRelations) -> bool:
        if place in self.known:
            return True
        said_of_it = words or " ".join(world.texts(place)[:1])
        for sight in await finder.sights(place):
            name = label_of(sight.item)
            if name is not None and any(other.get(name) == sight.item[name] for other in sight.others):
                continue  # a namesake
            if all(one in self.known for one in sight.needs.values()) and _said(sight, said_of_it.casefold()):
                self.known[place] = f"${{{self.query(sight.query)}.{sight.path}}}"
                return True
        return False

    async def _means_one(self, drawn: Drawn, argument: str, template: str, sight: Sight, sights: list[Sight]) -> bool:
        """True if the command works for no other row with the same description."""
        names = holes(template)
        alike = {
            other[one.key]
            for one in sights
            for other in one.others
            if one.key in other and all(other.get(name) == sight.item.get(name) for name in names)
        } - {drawn.arguments[argument]}
        if not names:
            table = drawn.places[argument][0]
            return not any(self._alive(drawn.tool, argument, (table, other)) for other in alike)
        for other in sorted(alike, key=str)[:MOST_TRIED]:
            outcome = await self._trying.call(drawn.tool, {**drawn.arguments, argument: other})
            if outcome.kind == "ok":
                return False
        return len(alike) <= MOST_TRIED


def _tells_apart(name: str, value: Any) -> bool:
    """True if people distinguish things by a property."""
    return not (name.endswith("id") or name in PROSE or isinstance(value, bool | dict | list))


def _bare(name: str, noun: str, *, is_own: bool) -> str:
    """The name of a thing in a property, without its noun."""
    if name in NAMES:
        return f"{{{name}}}"
    if name == "number":
        return f"{noun} {{number}}"
    if name.endswith("_name"):
        is_its = name.removesuffix("_name") == noun.rpartition(" ")[2]
        return f"{noun} {{{name}}}" if is_its else f"{{{name}}}'s {noun}"
    return f"the {noun} “{{{name}}}”" if is_own else f"the {noun} of “{{{name}}}”"


def _said(sight: Sight, words: str) -> bool:
    """True if the words of a query are among what was said."""
    given = [value for name, value in sight.query.arguments.items() if name not in sight.needs]
    return all(not isinstance(value, str) or value.casefold() in words for value in given)
