"""A bundle as errands see it: its session, its phrases, its examples, and the states of its rows."""

from collections.abc import Sequence
from random import Random
from typing import Any

from servers.bundle.description import Tool
from servers.bundle.examples import BundleExample, load_examples
from servers.bundle.phrases import Phrases
from synth.backward.command_sampler import CommandSampler
from synth.play.playground import Playground, Session
from synth.play.row_view import shape_of, view_of
from synth.solutions.argument_sources import Argument, Arguments, keys_in
from synth.solutions.row_lookup import RowLookup
from synth.solutions.row_relations import RowPlace, RowRelations
from synth.solutions.trial_calls import Trying

TRIES_AT_FIRST = 40


class BundleView:
    """One instance that all walks use, and what is known of its environment.

    `at_first` finds rows as they were at the start. It has a session of its own, so that earlier queries do not
    influence a walk. `never` has the last result of each tool that has never succeeded.
    """

    def __init__(
        self,
        stage: Playground,
        scenes: tuple[Session, Session],
        arguments: Arguments,
        first: RowRelations,
        phrases: Phrases,
    ) -> None:
        self.stage = stage
        self.trying = Trying(scenes[0])
        self.phrases = phrases
        self.tools: dict[str, Tool] = stage.environment.tools
        self.clock = stage.environment.description.clock
        self.writers = [tool for tool in self.tools.values() if tool.writes]
        self.alive: dict[tuple[str, str], set[str]] = {}
        self.never: dict[str, str] = {}
        self.first = first
        self.arguments = arguments
        self.said = sayings(load_examples(stage.environment.folder), self.arguments)
        self.at_first = RowLookup(Trying(scenes[1], most_left=0), first, self.arguments)

    @classmethod
    async def of(cls, stage: Playground, phrases: Phrases) -> "BundleView":
        """The view of a bundle, after trial calls of its tools."""
        scenes = (await stage.launch(), await stage.launch())
        async with scenes[0].reading() as reader:
            shape = shape_of(reader)
            first = RowRelations(shape, view_of(reader, shape))
        tools = stage.environment.tools
        asked = [await scenes[0].call(tool.name, {}) for tool in tools.values() if not (tool.writes or tool.required)]
        await scenes[0].rewind(0)
        seen = keys_in([one.structured for one in asked if one.kind == "ok"], shape, first.view)
        setting = cls(stage, scenes, Arguments(tools, shape, first.view, seen), first, phrases)
        await setting._try_out(Random(0))  # noqa: S311 - a choice that can be repeated, no secret
        return setting

    @property
    def scene(self) -> Session:
        """The instance of the walks."""
        return self.trying.scene

    async def world(self) -> RowRelations:
        """The current rows."""
        async with self.scene.reading() as reader:
            return RowRelations(self.first.shape, view_of(reader, self.first.shape))

    async def _try_out(self, random: Random) -> None:
        """Learn which states of rows the tools accept."""
        world = self.first
        people: list[RowPlace | None] = list(world.places(self.phrases.speaker)) if self.phrases.speaker else []
        drawer = CommandSampler(world, self.arguments, self.phrases, self.at_first, self.clock, random, self.said)
        for tool in self.writers:
            self.never[tool.name] = "no call could be drawn from the rows"
            went_well = False
            for number in range(max(TRIES_AT_FIRST, len(people))):
                drawn = await drawer.draw(tool, people[number % len(people)] if people else None, [])
                if drawn is None:
                    continue
                outcome = await self.trying.call(drawn.tool, drawn.arguments)
                if outcome.kind == "ok":
                    went_well = True
                    for argument, place in drawn.places.items():
                        self.alive.setdefault((tool.name, argument), set()).add(standing(world, place))
                else:
                    self.never[tool.name] = f"{outcome.kind}: {outcome.detail or outcome.text}"
            if went_well:
                del self.never[tool.name]


def standing(world: RowRelations, place: RowPlace) -> str:
    """The state of a row: the values of its columns of few values."""
    row = world.rows.get(place, {})
    return str([row.get(name) for name in ("status", "state") if name in row])


SpokenValues = dict[str, list[dict[str, Any]]]


def sayings(examples: Sequence[BundleExample], arguments: Arguments) -> SpokenValues:
    """For each command, values from its examples: words, choices, and optional arguments.

    Dates and amounts belong to the rows of an example, so required ones are sampled.
    """
    found: SpokenValues = {}
    for example in examples:
        tool = arguments.tools.get(example.tool)
        if tool is not None and tool.writes and example.outcome == "ok":
            told = {
                one.name: example.arguments[one.name] for one in arguments.of(tool) if _goes_along(one, tool, example)
            }
            if told not in found.setdefault(tool.name, []):
                found[tool.name].append(told)
    return found


def _goes_along(one: Argument, tool: Tool, example: BundleExample) -> bool:
    if example.arguments.get(one.name) is None:
        return False
    is_row = one.source.kind == "id"
    is_needed = one.name in tool.required
    return not is_needed if is_row else one.source.kind in ("text", "email") or not is_needed
