"""An errand: calls that one person could want, the words that ask for them, and their outcomes."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from servers.bundle.description import Tool
from servers.bundle.phrases import HOLE, Speaking
from servers.state.rows import RowChange
from servers.text.json_leaves import leaf
from servers.worker.instance import CallOutcome
from synth.backward.bundle_view import BundleView, standing
from synth.backward.command_phrasing import ErrandPhrasing
from synth.backward.command_sampler import CommandSampler, Drawn
from synth.backward.matters import are_one_matter
from synth.backward.profile import Wish
from synth.backward.solution_plan import SolutionPlan
from synth.backward.usage_counts import UsageCounts
from synth.phrasing.answer_requests import values_of
from synth.play.row_view import ViewRow
from synth.solutions.row_lookup import RowLookup
from synth.solutions.row_relations import RowPlace, RowRelations

TRIES_A_TOOL = 6
MOST_BEHIND = 2
"""A tool is preferred for being used less than others, up to this difference. Beyond it, it may be useless."""
STRIDE = 7
"""The step from one walk's first tool to the next walk's."""
SPEAKER = "{speaker}"
"""In `only_if`: the key of the person who speaks."""
STANDING = ("status", "state")
ENDED = ("cancel", "reject", "declin", "refus", "withdr", "void", "revok", "discard")
"""Prefixes of words for a cancelled state."""


@dataclass(frozen=True)
class Command:
    """One command of an errand: the sampled call, its outcome, its number in the solution, and its words."""

    drawn: Drawn
    number: int
    clause: str
    kind: str
    text: str
    changes: list[RowChange]
    spoken: dict[str, str]

    def own_places(self, person: RowPlace | None) -> set[RowPlace]:
        """The rows that it names, except the person."""
        return set(self.drawn.places.values()) - {person}

    def rows(self) -> set[RowPlace]:
        """The rows that it names or makes."""
        made = {
            (change.table, next(iter(change.key.values()))) for change in self.changes if change.operation == "insert"
        }
        return set(self.drawn.places.values()) | made


class Errand:
    """One walk from the start: its person, and the commands so far."""

    def __init__(
        self,
        setting: BundleView,
        world: RowRelations,
        person: RowPlace | None,
        voice: Speaking,
        name: str,
        random: Random,
    ) -> None:
        self.setting = setting
        self.world = world
        self.person = person
        self.voice: Speaking = voice
        self.name = name
        self.random = random
        self.commands: list[Command] = []
        self.is_broken = False
        self.lately: list[RowPlace] = []
        self._known: RowLookup | None = setting.at_first
        self.tally: UsageCounts | None = None
        self.plan = SolutionPlan(setting.trying, setting.phrases, setting.clock, person, name, self.is_alive)
        self.saying = ErrandPhrasing(setting, self.plan, person, name, voice, random)

    @classmethod
    async def begin(cls, setting: BundleView, tally: UsageCounts, random: Random) -> "Errand | None":
        """Choose the least used person."""
        phrases = setting.phrases
        world = setting.first
        voices: list[Speaking] = list(phrases.voices) or ["chores"]
        weights = {"self": 5, "other": 3, "chores": 1}
        voice = random.choices(voices, [weights[one] for one in voices])[0]
        if voice == "chores" or phrases.speaker is None:
            walk = cls(setting, world, None, "chores", "", random)
        else:
            people = [
                place
                for place in world.places(phrases.speaker)
                if all(world.rows[place].get(name) in wanted for name, wanted in phrases.speaker_if.items())
            ]
            if not people:
                return None
            named = {person: _name_of(phrases.name, world, person) for person in people}
            person = min(people, key=lambda one: tally.people[named[one]] + 2 * random.random())
            walk = cls(setting, world, person, voice, named[person], random)
        walk.tally = tally
        return walk

    async def stays_refused(self) -> bool:
        """True if the refused command is refused for the same reason before and after everything else."""
        trying = self.setting.trying
        refused = [command for command in self.commands if command.kind == "refused"]
        for command in refused:
            if not self._is_the_same(command, await trying.call(command.drawn.tool, command.drawn.arguments)):
                return False
        await trying.begin()
        for command in refused:
            if not self._is_the_same(command, await trying.call(command.drawn.tool, command.drawn.arguments)):
                return False
        return True

    def _is_the_same(self, command: Command, outcome: CallOutcome) -> bool:
        return outcome.kind == "refused" and values_of(outcome.text) == values_of(command.text)

    def is_alive(self, tool: str, argument: str, place: RowPlace) -> bool:
        """True if a tool has ever accepted a row in this state."""
        known = self.setting.alive.get((tool, argument))
        return known is None or standing(self.world, place) in known

    async def go(self, wish: Wish) -> None:
        """Add commands until the errand has the wished length, or nothing more fits."""
        refusal_at = self.random.randrange(wish.commands) if wish.refusal else -1
        while len(self.commands) < wish.commands:
            wanted = "refused" if len(self.commands) == refusal_at else "ok"
            if not await self._step(wanted, wish) or self.is_broken:
                return

    async def _step(self, wanted: str, wish: Wish) -> bool:
        phrases, tally = self.setting.phrases, self.tally or UsageCounts()
        tools = [
            tool
            for tool in self.setting.writers
            if (not phrases.asks or self.voice in phrases.asks.get(tool.name, {}))
            and (not wish.tools or tool.name in wish.tools)
        ]
        finder = self._finder()
        setting = self.setting
        drawer = CommandSampler(
            self.world, setting.arguments, phrases, finder, setting.clock, self.random, setting.said
        )
        lead = "" if self.commands or not tools else tools[wish.at * STRIDE % len(tools)].name
        jitter = {tool.name: self.random.random() * 3 for tool in tools}
        used = [command.drawn.tool for command in self.commands]
        follow = {
            later for chain in phrases.chains for one in used if one in chain for later in chain[chain.index(one) + 1 :]
        }
        most = sum(tally.tools[tool.name] for tool in tools) / max(1, len(tools))
        order = sorted(
            tools,
            key=lambda tool: (
                max(tally.tools[tool.name], most - MOST_BEHIND)
                + jitter[tool.name]
                + 4 * used.count(tool.name)
                - 3 * (tool.name in follow)
                - 100 * (tool.name == lead)
            ),
        )
        for tool in order:
            for _ in range(TRIES_A_TOOL):
                drawn = await drawer.draw(tool, self.person, self.lately)
                if drawn is None:
                    break
                if await self._take(drawn, wanted, finder):
                    return True
                if self.is_broken:
                    return False
        return False

    async def _take(self, drawn: Drawn, wanted: str, finder: RowLookup) -> bool:
        """Try a command. Keep it if its outcome is wanted and words can ask for it."""
        if not self._fits(drawn):
            return False
        trying = self.setting.trying
        outcome = await trying.call(drawn.tool, drawn.arguments)
        changes = trying.scene.changed(outcome) if outcome.changes else []
        if not self._is_wanted(drawn, wanted, outcome, changes):
            return False
        said = await self.saying.say(drawn, finder, self.world)
        if said is None:
            return False
        outcome = await trying.keep(drawn.tool, drawn.arguments)
        if outcome.kind != wanted:
            self.is_broken = True  # a minute made the difference
            return False
        changes = trying.scene.changed(outcome) if outcome.changes else []
        command = Command(drawn, said.number, said.clause, outcome.kind, outcome.text, changes, said.words)
        self.commands.append(command)
        if outcome.kind != "ok":
            return True
        for change in changes:
            if change.operation == "insert" and len(change.key) == 1:
                place = (change.table, next(iter(change.key.values())))
                self.plan.came_about(place, command.number, outcome.structured)
                self.lately.append(place)
        self.lately += [place for place in drawn.places.values() if place != self.person]
        self.world = await self.setting.world()
        self._known = None
        return await self._followed(drawn)

    def _is_wanted(self, drawn: Drawn, wanted: str, outcome: CallOutcome, changes: list[RowChange]) -> bool:
        """True if a command has the wanted outcome, for a reason that makes a task."""
        if outcome.kind != wanted:
            return False
        if wanted == "ok":
            return self._is_news(drawn, changes) and self._is_allowed(drawn, outcome.structured)
        alive = all(self.is_alive(drawn.tool, argument, place) for argument, place in drawn.places.items())
        return alive and bool(values_of(outcome.text, " ".join(str(one) for one in drawn.arguments.values())))

    def _finder(self) -> RowLookup:
        """The lookup of rows after the last command that changed any."""
        if self._known is None:
            self._known = RowLookup(self.setting.trying, self.world, self.setting.arguments)
        return self._known

    async def _followed(self, drawn: Drawn) -> bool:
        """Add the command that a rule requires immediately after this one."""
        follower = self.setting.phrases.then.get(drawn.tool)
        if follower is None:
            return True
        tool: Tool = self.setting.tools[follower]
        names = tool.required
        if not names <= drawn.arguments.keys():
            return True
        places = {name: place for name, place in drawn.places.items() if name in names}
        next_one = Drawn(follower, {name: drawn.arguments[name] for name in names}, places)
        outcome = await self.setting.trying.call(next_one.tool, next_one.arguments)
        if outcome.kind != "ok":
            return True
        taken = await self._take(next_one, "ok", self._finder())
        self.is_broken = not taken
        return taken

    def _fits(self, drawn: Drawn) -> bool:
        """True if a command is about other rows than the earlier ones, or follows from them."""
        if not self._hangs_together(drawn):
            return False
        mine = self.about(drawn)
        for command in self.commands:
            same = {place for place in drawn.places.values() if place in self.about(command.drawn)}
            same |= {place for place in command.drawn.places.values() if place in mine}
            if drawn.tool == command.drawn.tool and drawn.arguments == command.drawn.arguments:
                return False
            same -= {self.person}
            goes_on = same <= self.plan.made and command.drawn.tool != drawn.tool
            if same and not goes_on and not self._follows(command.drawn.tool, drawn.tool):
                return False
        return True

    def _hangs_together(self, drawn: Drawn) -> bool:
        """True if a command belongs to the same matter as an earlier one. The matters of one person are one matter."""
        if self.person is not None or not self.commands:
            return True
        mine = set(drawn.places.values())
        return any(are_one_matter(self.world, mine, one.rows()) for one in self.commands)

    def about(self, drawn: Drawn) -> set[RowPlace]:
        """The rows of a command, and the rows that these belong to."""
        own = set(drawn.places.values())
        return own | {one for place in own - {self.person} for one in self.world.ancestors(place)} - {self.person}

    def _follows(self, first: str, second: str) -> bool:
        return any(
            first in chain and second in chain and chain.index(first) < chain.index(second)
            for chain in self.setting.phrases.chains
        )

    def _is_news(self, drawn: Drawn, changes: list[RowChange]) -> bool:
        """True if a command changes rows, and reverts no earlier command."""
        touched = {
            (change.table, str(change.key)): command.drawn.tool
            for command in self.commands
            for change in command.changes
        }
        before = [change for command in self.commands for change in command.changes]
        return (
            bool(changes)
            and not any(undoes(change, before) for change in changes)
            and all(
                (change.table, str(change.key)) not in touched
                or self._follows(touched[change.table, str(change.key)], drawn.tool)
                for change in changes
            )
            and not any(self._takes_up_again(change, drawn) for change in changes if change.operation == "insert")
        )

    def _takes_up_again(self, change: RowChange, drawn: Drawn) -> bool:
        """True if a row links the same things again as one that an earlier command changed or deleted.

        Nobody cancels a booking and books the same room again for the same person in one errand.
        """
        tied = self._tied(change.table, change.after)
        return len(tied) > 1 and any(
            earlier.operation != "insert"
            and tied <= self._tied(earlier.table, {**self._row_before(earlier), **earlier.before})
            and not self._follows(command.drawn.tool, drawn.tool)
            for command in self.commands
            for earlier in command.changes
        )

    def _tied(self, table: str, row: ViewRow) -> set[RowPlace]:
        points = self.world.shape.points.items()
        return {(aim.table, row[one.name]) for one, aim in points if one.table == table and row.get(one.name)}

    def _row_before(self, change: RowChange) -> ViewRow:
        return self.setting.first.rows.get((change.table, next(iter(change.key.values()))), {})

    def _is_allowed(self, drawn: Drawn, result: dict[str, Any] | None) -> bool:
        rules = self.setting.phrases.only_if.get(drawn.tool, {})
        who = {SPEAKER: self.person[1]} if self.person else {}
        return all(leaf(result, path) in [who.get(one, one) for one in wanted] for path, wanted in rules.items())


def _name_of(template: str, world: RowRelations, person: RowPlace) -> str:
    name = template
    for hole in HOLE.finditer(template):
        name = name.replace(hole[0], str(world.rows[person].get(hole["name"], "")))
    return name


def undoes(change: RowChange, before: Sequence[RowChange]) -> bool:
    """True if a change reverts an earlier one.

    A row that they made is deleted or cancelled, or a value that they changed is restored. An empty column is no sign:
    a waiting list entry ends as soon as the copy is lent.
    """
    own = [one for one in before if one.table == change.table and one.key == change.key]
    if any(one.operation == "insert" for one in own):
        return change.operation == "delete" or any(_has_ended(change.after.get(name)) for name in STANDING)
    first = {name: value for one in reversed(own) for name, value in one.before.items()}
    return any(value is not None and name in first and first[name] == value for name, value in change.after.items())


def _has_ended(value: object) -> bool:
    return isinstance(value, str) and value.lower().startswith(ENDED)
