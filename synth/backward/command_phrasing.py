"""Phrases a command so that its words mean exactly one call, and adds it to the solution plan."""

from random import Random
from typing import NamedTuple

from servers.bundle.phrases import HOLE, Speaking
from synth.backward.bundle_view import BundleView
from synth.backward.command_sampler import Drawn
from synth.backward.matters import is_person
from synth.backward.solution_plan import SolutionPlan
from synth.phrasing.plain_sentences import Thing, plain_ask
from synth.phrasing.task_text import (
    OPTIONAL,
    TemplateValues,
    filled,
    words_of,
)
from synth.play.value_sources import singular
from synth.solutions.row_lookup import RowLookup
from synth.solutions.row_relations import RowPlace, RowRelations
from synth.solutions.told_values import TaskWords


class PhrasedCommand(NamedTuple):
    """A command in words: its number in the solution, its clause, and the words of its arguments."""

    number: int
    clause: str
    words: dict[str, str]


class ErrandPhrasing:
    """The phrasing of one walk."""

    def __init__(
        self,
        setting: BundleView,
        plan: SolutionPlan,
        person: RowPlace | None,
        name: str,
        voice: Speaking,
        random: Random,
    ) -> None:
        self._setting = setting
        self._plan = plan
        self._person = person
        self._name = name
        self._voice: Speaking = voice
        self._random = random
        self._used: set[str] = set()

    async def say(self, drawn: Drawn, finder: RowLookup, world: RowRelations) -> PhrasedCommand | None:
        """Add a command to the plan, after the queries that it needs.

        None, with the plan unchanged, if no words mean exactly this call.
        """
        before = self._plan.standing()
        said = await self._say(drawn, finder, world)
        if said is None:
            self._plan.go_back(before)
        return said

    async def _say(self, drawn: Drawn, finder: RowLookup, world: RowRelations) -> PhrasedCommand | None:
        template = self._template(drawn)
        if template is not None and self._leaves_out(template, drawn):
            return None
        own = {hole["name"] for hole in HOLE.finditer(template or "") if hole["own"]}
        spoken = await self._rows(drawn, finder, world, own)
        if spoken is None:
            return None
        spoken |= {name: derived.words for name, derived in drawn.derived.items()}
        phrases, clock = self._setting.phrases, self._setting.clock
        values = TemplateValues(words_of(drawn.arguments, spoken, clock=clock, phrases=phrases), drawn.arguments)
        things = {name: Thing(singular(place[0]), is_person(world, place)) for name, place in drawn.places.items()}
        tool = self._setting.tools[drawn.tool]
        clause = plain_ask(tool, values, things) if template is None else filled(template, values)
        if clause is None:
            return None
        self._used.add(template or "")
        words = TaskWords(clause, clock=clock, choices=phrases.words)
        told = {name for name in drawn.prose if words.tell(name, drawn.arguments[name])}
        return PhrasedCommand(self._plan.command(drawn, drawn.prose - told - _exact(drawn)), clause, values.words)

    def _leaves_out(self, template: str, drawn: Drawn) -> bool:
        """True if a template omits an argument that the person must specify."""
        told = {hole["name"] for hole in HOLE.finditer(template)} | {part[2] for part in OPTIONAL.finditer(template)}
        told |= {name for example in self._setting.phrases.examples.get(drawn.tool, ()) for name in example}
        return any(name not in told and drawn.places.get(name) != self._person for name in drawn.arguments)

    async def _rows(self, drawn: Drawn, finder: RowLookup, world: RowRelations, own: set[str]) -> dict[str, str] | None:
        """Words for the rows of a command. Each row can be found by its words."""
        spoken: dict[str, str] = {}
        if not await self._plan.find_person(finder, world):
            return None
        for argument, place in drawn.places.items():
            if place == self._person:
                spoken[argument] = self._name
                continue
            words = await self._plan.speak(drawn, argument, finder, world, own=argument in own)
            if words is None:
                return None
            spoken[argument] = words.text
            if words.sight is not None and not await self._plan.find(place, words.sight, finder, world):
                return None
        needed = {place for derived in drawn.derived.values() for place in derived.query.needs.values()}
        return spoken if {*drawn.places.values(), *needed} <= self._plan.known.keys() else None

    def _template(self, drawn: Drawn) -> str | None:
        asks = self._setting.phrases.asks.get(drawn.tool, {}).get(self._voice)
        if not asks:
            return None
        fresh = [ask for ask in asks if ask not in self._used]
        return self._random.choice(fresh or list(asks))


def _exact(drawn: Drawn) -> set[str]:
    """Texts that must be used word for word: names and numbers of people."""
    return {name for name in drawn.prose if "name" in name or "phone" in name}
