"""A bundle as walks find it: its scene, its words, and how rows stand that its tools take."""

from random import Random

from servers.environment import Tool
from servers.phrases import Phrases
from synth.proving.stage import Scene, Stage
from synth.proving.view import Shape, shape_of, view_of
from synth.scenarios.drawing import Drawer
from synth.scenarios.lookup import Finder
from synth.scenarios.world import Place, World

TRIES_AT_FIRST = 40


class Setting:
    """One instance that is walked over and over, and what is known of its environment."""

    def __init__(self, stage: Stage, scene: Scene, shape: Shape, phrases: Phrases) -> None:
        self.stage = stage
        self.scene = scene
        self.phrases = phrases
        self.tools: dict[str, Tool] = stage.environment.tools
        self.clock = stage.environment.description.clock
        self.writers = [tool for tool in self.tools.values() if tool.writes]
        self.alive: dict[tuple[str, str], set[str]] = {}
        self._shape = shape

    @classmethod
    async def of(cls, stage: Stage, phrases: Phrases) -> "Setting":
        """The setting of a bundle, with its tools tried out."""
        scene = await stage.launch()
        async with scene.reading() as reader:
            shape = shape_of(reader)
        setting = cls(stage, scene, shape, phrases)
        await setting._try_out(Random(0))  # noqa: S311 - a choice that can be repeated, no secret
        return setting

    async def world(self) -> World:
        """The rows as they stand now."""
        async with self.scene.reading() as reader:
            return World(self._shape, view_of(reader, self._shape))

    async def _try_out(self, random: Random) -> None:
        """Learn how rows stand that the tools take."""
        world = await self.world()
        people: list[Place | None] = list(world.places(self.phrases.speaker)) if self.phrases.speaker else []
        finder = Finder(self.scene, world, self.tools)
        drawer = Drawer(world, self.tools, self.phrases, finder, self.clock, random)
        for tool in self.writers:
            for number in range(max(TRIES_AT_FIRST, len(people))):
                drawn = await drawer.draw(tool, people[number % len(people)] if people else None, [])
                if drawn is None:
                    continue
                outcome = await self.scene.call(drawn.tool, drawn.arguments)
                await self.scene.rewind(0)
                if outcome.kind == "ok":
                    for argument, place in drawn.places.items():
                        self.alive.setdefault((tool.name, argument), set()).add(standing(world, place))


def standing(world: World, place: Place) -> str:
    """How a row stands: what its columns for that say."""
    row = world.rows.get(place, {})
    return str([row.get(name) for name in ("status", "state") if name in row])
