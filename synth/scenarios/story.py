"""A walk through the tools that could be one person's errand, and the scenario that it becomes."""

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from random import Random
from typing import Any

from servers.changes import between
from servers.environment import Tool
from servers.orders import RowChange
from servers.phrases import HOLE, Phrases, Speaking
from servers.scenario import Scenario, Solution
from synth.proving.sources import singular
from synth.proving.stage import Scene, Stage
from synth.proving.view import Shape, shape_of, view_of
from synth.scenarios.drawing import Drawer, Drawn
from synth.scenarios.essence import Window
from synth.scenarios.facts import DATE, said, tells
from synth.scenarios.goals import Changed, answer_goal, footprint, goal
from synth.scenarios.lookup import Finder, leaf
from synth.scenarios.plan import Plan
from synth.scenarios.run import play, steps_of
from synth.scenarios.words import Values, composed, derived_ask, filled, words_of
from synth.scenarios.world import Place, World

TRIES_A_TOOL = 6
TRIES_AT_FIRST = 40
MOST_CALLS = 14
LITERAL = re.compile(r"'(\w+)'")
MONEY = re.compile(r"\b\d+\.\d\d\b")
DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b")


@dataclass(frozen=True)
class Command:
    """One command of a story: what was drawn, what came of it, its number in the solution, and its words."""

    drawn: Drawn
    number: int
    clause: str
    kind: str
    text: str
    result: dict[str, Any] | None
    changes: list[RowChange]
    spoken: dict[str, str]
    items: dict[str, Any]


@dataclass
class Tally:
    """What the scenarios so far use, so that the next ones use something else; and why walks were dropped."""

    tools: Counter[str] = field(default_factory=Counter[str])
    people: Counter[str] = field(default_factory=Counter[str])
    told: set[str] = field(default_factory=set[str])
    dropped: Counter[str] = field(default_factory=Counter[str])

    def take(self, scenario: Scenario, tools: Collection[str]) -> None:
        """Count a scenario that was accepted."""
        self.tools.update(tag for tag in scenario.tags if tag in tools)
        self.people[scenario.title.partition(":")[0]] += 1
        self.told.add(signature(scenario))


@dataclass(frozen=True)
class Wish:
    """What kind of story is wanted."""

    id: str
    commands: int
    refusal: bool


class Storyteller:
    """Walks one bundle, over and over from its start."""

    def __init__(self, stage: Stage, scene: Scene, shape: Shape, phrases: Phrases) -> None:
        self.stage = stage
        self.scene = scene
        self.phrases = phrases
        self._shape = shape
        self._tools = stage.environment.tools
        self._clock = stage.environment.description.clock
        self.alive: dict[tuple[str, str], set[str]] = {}
        self.writers = [tool for tool in self._tools.values() if tool.writes]

    @classmethod
    async def begin(cls, stage: Stage, phrases: Phrases) -> "Storyteller":
        """A storyteller at the start of a bundle."""
        scene = await stage.launch()
        async with scene.reading() as reader:
            shape = shape_of(reader)
        teller = cls(stage, scene, shape, phrases)
        await teller._try_out(Random(0))  # noqa: S311 - a choice that can be repeated, no secret
        return teller

    async def _try_out(self, random: Random) -> None:
        """Learn how rows stand that the tools take."""
        world = await self.world()
        people: list[Place | None] = list(world.places(self.phrases.speaker)) if self.phrases.speaker else []
        finder = Finder(self.scene, world, self._tools)
        drawer = Drawer(world, self._tools, self.phrases, finder, self._clock, random)
        for tool in self.writers:
            for number in range(max(TRIES_AT_FIRST, len(people))):
                drawn = await drawer.draw(tool, people[number % len(people)] if people else None, [])
                if drawn is None:
                    continue
                outcome = await self.scene.call(drawn.tool, drawn.arguments)
                await self.scene.rewind(0)
                if outcome.kind == "ok":
                    for argument, place in drawn.places.items():
                        self.alive.setdefault((tool.name, argument), set()).add(_standing(world, place))

    async def tell(self, wish: Wish, tally: Tally, random: Random) -> Scenario | None:
        """Walk once; the scenario that came of it, not yet certified, or None."""
        await self.scene.rewind(0)
        walk = await _Walk.begin(self, tally, random)
        if walk is None:
            tally.dropped["nobody to speak for"] += 1
            return None
        await walk.go(wish)
        if not walk.commands or (wish.refusal and all(one.kind == "ok" for one in walk.commands)):
            tally.dropped["no command that could be put into words"] += 1
            return None
        if not await walk.stays_refused():
            tally.dropped["what was refused is possible in another order"] += 1
            return None
        if len(walk.plan.calls) > MOST_CALLS:
            tally.dropped["too long"] += 1
            return None
        return await self._scenario(wish, walk, tally, random)

    async def world(self) -> World:
        """The rows as they stand now."""
        async with self.scene.reading() as reader:
            return World(self._shape, view_of(reader, self._shape))

    async def _scenario(self, wish: Wish, walk: "_Walk", tally: Tally, random: Random) -> Scenario | None:
        await self.scene.rewind(0)
        solution = Solution(calls=tuple(walk.plan.calls), answer="-")
        made = await play(self.scene, steps_of(solution))
        expected = {command.number: command.kind for command in walk.commands}
        for one in made:
            if one.outcome.kind != expected.get(one.step.number, "ok"):
                tally.dropped["the plan does not play as it was walked"] += 1
                return None
        async with self.scene.reading() as reader:
            changes = between(reader)
        left_open = frozenset(
            str(made[command.number - 1].arguments[name])
            for command in walk.commands
            for name in walk.plan.calls[command.number - 1].free
        )
        whole = Changed(changes, Window(self._clock), left_open, {})
        last = {(change.table, str(change.key)): one.step.number for one in made for change in one.changes}
        goals: list[Any] = []
        for number, command in enumerate(walk.commands, start=1):
            rows = [one for one in changes if last.get((one.table, str(one.key))) == command.number]
            if command.kind == "ok" and rows:
                goals.append(goal(f"done_{number}", f"Was this done: {command.clause.rstrip('.')}?", rows, whole))
        asked, told, sayings = self._tells(walk, made, random)
        goals += told
        refused = [command for command in walk.commands if command.kind == "refused"]
        for command in refused:
            found = _facts_of(command.text, " ".join(one.clause for one in walk.commands))
            goals += [
                answer_goal(f"why_{index}", f"Does the answer tell {fact}, which stands in the way?", sql)
                for index, (fact, sql) in enumerate(found[:1], start=len(goals) + 1)
            ]
            sayings.append(f"This could not be done: {command.text}.")
        if not goals:
            tally.dropped["nothing to judge"] += 1
            return None
        task = composed(
            self.phrases,
            walk.voice,
            walk.name,
            [command.clause for command in walk.commands],
            asked,
            may_fail=bool(refused),
            random=random,
        )
        done = [command for command in walk.commands if command.kind == "ok"]
        answer = " ".join([*(["It is done."] if done else ["I have left everything as it is."]), *sayings])
        tools = [command.drawn.tool for command in walk.commands]
        return Scenario(
            id=wish.id,
            title=_title(walk),
            task=task,
            tags=tuple(dict.fromkeys(["backward", walk.voice, *(["refusal"] if refused else []), *tools])),
            checkpoints=(*goals, footprint(whole)),
            solution=Solution(calls=tuple(walk.plan.calls), answer=answer),
        )

    def _tells(self, walk: "_Walk", made: list[Any], random: Random) -> tuple[list[str], list[Any], list[str]]:
        """What the task asks to be told, the goals over it, and how the reference says it."""
        options: list[tuple[str, str, Any, str, str]] = []
        for index, command in enumerate(walk.commands):
            result = made[command.number - 1].outcome.structured
            after = {place for later in walk.commands[index + 1 :] for place in walk.about(later.drawn)}
            if command.kind != "ok" or result is None or after & set(command.drawn.places.values()) - {walk.person}:
                continue
            if after & {(one.table, next(iter(one.key.values()))) for one in command.changes}:
                continue
            for tell in self.phrases.tells.get(command.drawn.tool, ()):
                value = leaf(result, tell.value)
                name = tell.value.rpartition(".")[2]
                ask = filled(tell.ask, Values({**_texts(result), **command.spoken}, command.drawn.arguments))
                expression = tells(name, value) if value not in (None, 0) else None
                if ask is None or expression is None or (isinstance(value, int) and value < 0):
                    continue
                words = said(name, value, clock=self._clock, currency=self.phrases.currency)
                if any(words in other.clause for other in walk.commands):
                    continue
                saying = tell.say.replace("{value}", words)
                for hole in HOLE.finditer(saying):
                    saying = saying.replace(hole[0], str(_anywhere(result, hole["name"]) or "It"))
                options.append((ask, name, value, expression, saying))
        if not options:
            return [], [], []
        chosen = random.sample(options, min(len(options), random.choice((0, 1, 1, 1, 2))))
        distinct = {str(option[2]): option for option in chosen}
        goals = [
            answer_goal(
                f"told_{index}",
                f"Does the answer tell {ask}: {said(name, value, clock=self._clock, currency=self.phrases.currency)}?",
                expression,
            )
            for index, (ask, name, value, expression, _) in enumerate(distinct.values(), start=1)
        ]
        return [option[0] for option in distinct.values()], goals, [option[4] for option in distinct.values()]


class _Walk:
    """One walk from the start: who it is about, and the commands so far."""

    def __init__(
        self, teller: Storyteller, world: World, person: Place | None, voice: Speaking, name: str, random: Random
    ) -> None:
        self.teller = teller
        self.world = world
        self.person = person
        self.voice: Speaking = voice
        self.name = name
        self.random = random
        self.commands: list[Command] = []
        self.lately: list[Place] = []
        self.used: set[str] = set()
        self.tally: Tally | None = None
        clock = teller.stage.environment.description.clock
        self.plan = Plan(teller.scene, teller.phrases, clock, person, name, self.is_alive)

    @classmethod
    async def begin(cls, teller: Storyteller, tally: Tally, random: Random) -> "_Walk | None":
        """Choose who this is about: whoever was spoken of least."""
        phrases = teller.phrases
        world = await teller.world()
        voices: list[Speaking] = list(phrases.voices) or ["chores"]
        weights = {"self": 5, "other": 3, "chores": 1}
        voice = random.choices(voices, [weights[one] for one in voices])[0]
        if voice == "chores" or phrases.speaker is None:
            walk = cls(teller, world, None, "chores", "", random)
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
            walk = cls(teller, world, person, voice, named[person], random)
        walk.tally = tally
        return walk

    @property
    def scene(self) -> Scene:
        """The instance that is walked."""
        return self.teller.scene

    async def stays_refused(self) -> bool:
        """Whether what was refused is refused for the same reason before and after everything else."""
        for command in self.commands:
            if command.kind != "refused":
                continue
            for at in (self.scene.calls, 0):
                await self.scene.rewind(at)
                outcome = await self.scene.call(command.drawn.tool, command.drawn.arguments)
                if outcome.kind != "refused" or _facts_of(outcome.text, "") != _facts_of(command.text, ""):
                    return False
                if at:
                    await self.scene.rewind(at)
        return True

    def is_alive(self, tool: str, argument: str, place: Place) -> bool:
        """Whether a row stands so that a tool has ever taken such a one."""
        known = self.teller.alive.get((tool, argument))
        return known is None or _standing(self.world, place) in known

    async def go(self, wish: Wish) -> None:
        """Take commands until the story is as long as it is wished for, or nothing more can be added."""
        refusal_at = self.random.randrange(wish.commands) if wish.refusal else -1
        while len(self.commands) < wish.commands:
            wanted = "refused" if len(self.commands) == refusal_at else "ok"
            if not await self._step(wanted):
                return

    async def _step(self, wanted: str) -> bool:
        phrases, tally = self.teller.phrases, self.tally or Tally()
        tools = [
            tool for tool in self.teller.writers if not phrases.asks or self.voice in phrases.asks.get(tool.name, {})
        ]
        finder = Finder(self.scene, self.world, self.teller.stage.environment.tools)
        clock = self.teller.stage.environment.description.clock
        drawer = Drawer(self.world, self.teller.stage.environment.tools, phrases, finder, clock, self.random)
        jitter = {tool.name: self.random.random() * 3 for tool in tools}
        used = [command.drawn.tool for command in self.commands]
        follow = {
            later for chain in phrases.chains for one in used if one in chain for later in chain[chain.index(one) + 1 :]
        }
        order = sorted(
            tools,
            key=lambda tool: (
                tally.tools[tool.name] + jitter[tool.name] + 4 * used.count(tool.name) - 3 * (tool.name in follow)
            ),
        )
        for tool in order:
            for _ in range(TRIES_A_TOOL):
                drawn = await drawer.draw(tool, self.person, self.lately)
                if drawn is None:
                    break
                if await self._take(drawn, wanted, finder):
                    return True
        return False

    async def _take(self, drawn: Drawn, wanted: str, finder: Finder) -> bool:
        """Try a command; keep it if it came to what is wanted, and can be asked for."""
        if not self._fits(drawn):
            return False
        before = self.scene.calls
        outcome = await self.scene.call(drawn.tool, drawn.arguments)
        changes = self.scene.changed(outcome) if outcome.changes else []
        await self.scene.rewind(before)
        if outcome.kind != wanted or (wanted == "ok" and not self._is_news(drawn, changes)):
            return False
        if wanted == "refused" and not all(
            self.is_alive(drawn.tool, argument, place) for argument, place in drawn.places.items()
        ):
            return False
        if wanted == "ok" and not self._is_allowed(drawn, outcome.structured):
            return False
        if wanted == "refused" and not _facts_of(outcome.text, " ".join(str(one) for one in drawn.arguments.values())):
            return False
        known, calls = dict(self.plan.known), list(self.plan.calls)
        command = await self._put(drawn, finder, outcome.kind, outcome.text, outcome.structured, changes)
        if command is None:
            self.plan.known, self.plan.calls = known, calls
            self.plan.forget()
            return False
        self.commands.append(command)
        outcome = await self.scene.call(drawn.tool, drawn.arguments)
        if outcome.kind == "ok":
            for change in changes:
                if change.operation == "insert" and len(change.key) == 1:
                    place = (change.table, next(iter(change.key.values())))
                    self.plan.came_about(place, command.number, outcome.structured)
                    self.lately.append(place)
            self.lately += [place for place in drawn.places.values() if place != self.person]
            self.world = await self.teller.world()
            return await self._followed(drawn)
        return True

    async def _followed(self, drawn: Drawn) -> bool:
        """What the rules want done at once after a command that made it possible is part of the errand."""
        follower = self.teller.phrases.then.get(drawn.tool)
        if follower is None:
            return True
        tool: Tool = self.teller.stage.environment.tools[follower]
        names = set(tool.arguments.get("required", []))
        if not names <= drawn.arguments.keys():
            return True
        places = {name: place for name, place in drawn.places.items() if name in names}
        next_one = Drawn(follower, {name: drawn.arguments[name] for name in names}, places)
        outcome = await self.scene.call(next_one.tool, next_one.arguments)
        await self.scene.rewind(self.scene.calls - 1)
        if outcome.kind != "ok":
            return True
        finder = Finder(self.scene, self.world, self.teller.stage.environment.tools)
        taken = await self._take(next_one, "ok", finder)
        if not taken:
            self.commands.clear()
        return taken

    def _fits(self, drawn: Drawn) -> bool:
        """Whether a command is about something else than those before it, or follows from them."""
        mine = self.about(drawn)
        for command in self.commands:
            same = {place for place in drawn.places.values() if place in self.about(command.drawn)}
            same |= {place for place in command.drawn.places.values() if place in mine}
            if drawn.tool == command.drawn.tool and drawn.arguments == command.drawn.arguments:
                return False
            if same - {self.person} and not self._follows(command.drawn.tool, drawn.tool):
                if not same - {self.person} <= self.plan.made or command.drawn.tool == drawn.tool:
                    return False
        return True

    def about(self, drawn: Drawn) -> set[Place]:
        """The rows of a command, and those that these belong to."""
        own = set(drawn.places.values())
        return own | {one for place in own - {self.person} for one in self.world.ancestors(place)} - {self.person}

    def _follows(self, first: str, second: str) -> bool:
        return any(
            first in chain and second in chain and chain.index(first) < chain.index(second)
            for chain in self.teller.phrases.chains
        )

    def _is_news(self, drawn: Drawn, changes: list[RowChange]) -> bool:
        """Whether a command changes rows, and undoes nothing of what came before."""
        touched = {
            (change.table, str(change.key)): command.drawn.tool
            for command in self.commands
            for change in command.changes
        }
        return bool(changes) and all(
            (change.table, str(change.key)) not in touched
            or self._follows(touched[change.table, str(change.key)], drawn.tool)
            for change in changes
        )

    def _is_allowed(self, drawn: Drawn, result: dict[str, Any] | None) -> bool:
        rules = self.teller.phrases.only_if.get(drawn.tool, {})
        return all(leaf(result, path) in wanted for path, wanted in rules.items())

    async def _put(
        self,
        drawn: Drawn,
        finder: Finder,
        kind: str,
        text: str,
        result: dict[str, Any] | None,
        changes: list[RowChange],
    ) -> Command | None:
        """Put a command into words and into the plan; None if it cannot be said so that it means one thing."""
        template = self._template(drawn)
        own = {hole["name"] for hole in HOLE.finditer(template or "") if hole["own"]}
        spoken: dict[str, str] = {}
        if not await self.plan.find_person(finder, self.world):
            return None
        for argument, place in drawn.places.items():
            if place == self.person:
                spoken[argument] = self.name
                continue
            words = await self.plan.speak(drawn, argument, finder, self.world, own=argument in own)
            if words is None:
                return None
            spoken[argument] = words.text
            if words.sight is not None and not await self.plan.find(place, words.sight, finder, self.world):
                return None
            if place not in self.plan.known:
                return None
        spoken |= {name: derived.words for name, derived in drawn.derived.items()}
        for derived in drawn.derived.values():
            if not all(place in self.plan.known for place in derived.query.needs.values()):
                return None
        clock = self.teller.stage.environment.description.clock
        values = Values(words_of(drawn.arguments, spoken, clock=clock, phrases=self.teller.phrases), drawn.arguments)
        tool = self.teller.stage.environment.tools[drawn.tool]
        nouns = {name: singular(place[0]) for name, place in drawn.places.items()}
        clause = derived_ask(tool, values, nouns) if template is None else filled(template, values)
        if clause is None:
            return None
        number = self.plan.command(drawn, drawn.prose - _exact(drawn))
        self.used.add(template or "")
        return Command(drawn, number, clause, kind, text, result, changes, values.words, {})

    def _template(self, drawn: Drawn) -> str | None:
        asks = self.teller.phrases.asks.get(drawn.tool, {}).get(self.voice)
        if not asks:
            return None
        fresh = [ask for ask in asks if ask not in self.used]
        return self.random.choice(fresh or list(asks))


def _name_of(template: str, world: World, person: Place) -> str:
    name = template
    for hole in HOLE.finditer(template):
        name = name.replace(hole[0], str(world.rows[person].get(hole["name"], "")))
    return name


def _standing(world: World, place: Place) -> str:
    """How a row stands: what its columns for that say."""
    row = world.rows.get(place, {})
    return str([row.get(name) for name in ("status", "state") if name in row])


def _exact(drawn: Drawn) -> set[str]:
    """Prose that is to be taken word for word: names of people."""
    return {name for name in drawn.prose if "name" in name or "phone" in name}


def _facts_of(text: str, given: str) -> list[tuple[str, str]]:
    """The dates and amounts that a refusal tells and that were not given, each with how to see it in an answer."""
    found: list[tuple[str, str]] = []
    for day in DAY.findall(text):
        expression = tells("on", day)
        if day not in given and expression and DATE.fullmatch(day):
            found.append((day, expression))
    for amount in MONEY.findall(text):
        cents = int(amount.replace(".", ""))
        expression = tells("cents", cents)
        if str(cents) not in given and expression:
            found.append((amount, expression))
    return found


def _anywhere(result: Any, name: str) -> Any:
    """A property of a result, on top or one level below."""
    if not isinstance(result, dict):
        return None
    for whole in (result, *(inner for inner in result.values() if isinstance(inner, dict))):  # pyright: ignore
        if name in whole:
            return whole[name]  # pyright: ignore
    return None


def _texts(result: dict[str, Any]) -> dict[str, str]:
    """The texts of a result, on top or one level below."""
    inner = [value for value in result.values() if isinstance(value, dict)]
    return {
        name: value
        for whole in (*inner, result)
        for name, value in whole.items()
        if isinstance(value, str)  # pyright: ignore
    }


def signature(scenario: Scenario) -> str:
    """What tells whether two scenarios ask for the same: their tools, whose they are, and the rows that they judge."""
    keys = sorted({key for one in scenario.checkpoints for key in LITERAL.findall(one.model_dump_json())})
    told = sorted(one.sql for one in scenario.checkpoints if one.kind == "sql" and ":answer" in one.sql)
    only_told = len(told) == len(scenario.checkpoints) - 1
    return str((sorted(scenario.tags), scenario.title.partition(":")[0], keys, told if only_told else ""))


def _title(walk: _Walk) -> str:
    done = ", ".join(dict.fromkeys(one.drawn.tool.replace("_", " ") for one in walk.commands))
    return f"{walk.name}: {done}" if walk.name else done[:1].upper() + done[1:]
