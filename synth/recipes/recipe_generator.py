"""Makes scenarios from the recipes of a bundle: every way to fill them in turn, certified, of the wanted levels.

The same bundle, seed and number give the same bytes for any number of processes.
"""

import asyncio
import re
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from random import Random
from typing import NamedTuple, get_args

from servers.bundle.phrases import phrases_if_readable
from servers.cli.command_options import levels_in
from servers.errors import BrokenQuery, BundleError, QueryError, RequestError
from servers.scenario.checkpoints.answer import AnswerCheckpoint
from servers.scenario.scenario import Scenario, Weakness
from synth.backward.generator import AHEAD, Yield
from synth.backward.goal_repair import rivalled
from synth.backward.job import ErrandOutcome
from synth.certify.agents.weak_agents import LADDER
from synth.certify.agents.wrong_agents import name_of
from synth.certify.certifier import examine
from synth.play.pinned_bundle import PinnedBundle
from synth.play.playground import Playground, Session
from synth.processes.process_pool import PoolSettings, process_pool
from synth.recipes.recipe_bindings import Binding, BoundValues, RecipeReader
from synth.recipes.recipe_file import Recipe, read_recipes
from synth.recipes.recipe_plan import Unfit
from synth.recipes.recipe_scenario import RecipeKitchen, scenario_of

ID = re.compile(r"hard(\d+)_(\d+)")
Way = Binding | BoundValues
"""A way to fill a recipe. With a setup these are only the values of `bind`, as its rows are not there yet."""
MOST_OF_ONE = 40
"""The most ways of one recipe that are tried with one seed."""


@dataclass(frozen=True)
class Wanted:
    """The scenarios that a run keeps: their levels, and what a weak agent must lack to fail. Empty means any."""

    levels: frozenset[int] = frozenset()
    demands: frozenset[str] = frozenset()

    def reason_against(self, scenario: Scenario) -> str | None:
        """Why a certified scenario is not wanted. None if it is."""
        failing = scenario.certificate.difficulty.ladder if scenario.certificate else {}
        if self.levels and scenario.level not in self.levels:
            return f"level {scenario.level}"
        if self.demands and not self.demands & {name for name, reward in failing.items() if reward < 1}:
            return "it demands something else"
        return None


def wanted_of(level: str | None, demands: str | None) -> Wanted:
    """The wanted scenarios from options: levels as `3..5`, weak agents as `takes all,off by one`.

    Raises:
        RequestError: a level or an agent does not exist.
    """
    names = [one.strip() for one in demands.split(",")] if demands is not None else []
    there = sorted({*map(name_of, LADDER), *get_args(Weakness)})
    for name in names:
        if name not in there:
            raise RequestError(f"--profile: no weak agent {name!r}; there are: {', '.join(there)}")
    return Wanted(levels_in(level), frozenset(names))


class RecipeOrder(NamedTuple):
    """One scenario to make: its number, its recipe, the way to fill that, and how many of the recipe come before."""

    at: int
    recipe: int
    binding: int
    turn: int


@dataclass(frozen=True)
class RecipeJob:
    """Makes and certifies scenarios of one bundle's recipes. None whose checkpoints or words are `known`."""

    bundle: PinnedBundle
    seed: int
    known: frozenset[str] = frozenset()

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Callable[[RecipeOrder], Awaitable[ErrandOutcome]]]:
        """Open the playground, and fill the recipes."""
        async with AsyncExitStack() as stack:
            with self.bundle.on_worker():
                stage = await stack.enter_async_context(Playground(self.bundle.folder))
                kitchen, filled = await stack.enter_async_context(kitchen_of(stage))

            async def make(order: RecipeOrder) -> ErrandOutcome:
                with self.bundle.on_worker():
                    recipe = kitchen.recipes.recipes[order.recipe]
                    way = filled[order.recipe][order.binding]
                    return await _made(kitchen, recipe, way, f"hard{self.seed}_{order.at:04d}", order, self.known)

            yield make


@asynccontextmanager
async def kitchen_of(stage: Playground) -> AsyncGenerator[tuple[RecipeKitchen, list[Sequence[Way]]]]:
    """What scenarios are made with, and the ways to fill each recipe.

    Raises:
        BundleError: the bundle has no recipes, or their SQL cannot be run.
    """
    environment = stage.environment
    recipes = read_recipes(environment)
    if recipes is None:
        raise BundleError(f"{environment.id} has no recipes.json, from which harder scenarios are made")
    scene = await stage.launch()
    async with scene.reading() as opened:
        reader = RecipeReader(opened, environment.description.clock)
        kitchen = RecipeKitchen(stage, scene, recipes, reader, phrases_if_readable(environment))
        yield kitchen, [_ways(reader, recipe) for recipe in recipes.recipes]


def _ways(reader: RecipeReader, recipe: Recipe) -> Sequence[Way]:
    try:
        return reader.values(recipe) if recipe.setup else reader.bindings(recipe)
    except (BrokenQuery, QueryError) as error:
        raise BundleError(f"recipes.json: {recipe.id}: {error}") from None


@asynccontextmanager
async def _with_rows_added(
    kitchen: RecipeKitchen, recipe: Recipe, values: BoundValues
) -> AsyncGenerator[tuple[RecipeKitchen, Binding]]:
    """The kitchen on an instance that has the recipe's own rows too, and the way chosen among all of them.

    Raises:
        Unfit: nothing fits there.
        BundleError: the SQL does not run.
    """
    try:
        setup = "\n".join(kitchen.reader.with_values(kitchen.recipes.setups[name], values) for name in recipe.setup)
        scene = await _launched(kitchen, recipe, setup)
        try:
            async with scene.reading() as opened:
                reader = RecipeReader(opened, kitchen.clock)
                binding = reader.bound(recipe, values, {})
                if binding is None:
                    raise Unfit("nothing fits the rows that were added")
                yield replace(kitchen, scene=scene, reader=reader, setup=setup), binding
        finally:
            await scene.close()
    except (BrokenQuery, QueryError) as error:
        raise BundleError(f"recipes.json: {recipe.id}: {error}") from None


async def _launched(kitchen: RecipeKitchen, recipe: Recipe, setup: str) -> Session:
    try:
        return await kitchen.stage.launch(setup=setup)
    except BundleError as error:
        raise BundleError(f"recipes.json: {recipe.id}: {error}") from None


async def _made(
    kitchen: RecipeKitchen, recipe: Recipe, way: Way, name: str, order: RecipeOrder, known: frozenset[str]
) -> ErrandOutcome:
    at = order.at
    try:
        if isinstance(way, Binding):
            scenario = await scenario_of(kitchen, recipe, way, name, turn=order.turn)
        else:
            async with _with_rows_added(kitchen, recipe, way) as (other, binding):
                scenario = await scenario_of(other, recipe, binding, name, turn=order.turn)
    except Unfit as error:
        return ErrandOutcome(at, "dropped", f"{recipe.id}: {error}")
    if _asks_for_a_name(scenario):
        scenario = await rivalled(kitchen.stage, scenario)
    if _tells(scenario) & known:
        return ErrandOutcome(at, "twice")
    seen = await examine(kitchen.stage, scenario)
    if seen.certificate is None:
        return ErrandOutcome(at, "rejected", f"{recipe.id}: {seen.findings[0]}", scenario)
    whole = scenario.model_copy(update={"certificate": seen.certificate})
    return ErrandOutcome(at, "certified", scenario=whole)


async def make_from_recipes(
    stage: Playground,
    *,
    n: int,
    seed: int,
    wanted: Wanted,
    there: Iterable[Scenario],
    on_certified: Callable[[Scenario], None],
    on_walk: Callable[[Yield], None],
    pool: PoolSettings,
) -> Yield:
    """Make scenarios until there are `n` of this seed, existing ones included, or no way is left.

    Raises:
        BundleError: the bundle has no recipes, or no scenario can be made of them.
    """
    made = Yield()
    every = list(there)
    known = {int(match[2]): one for one in every if (match := ID.fullmatch(one.id)) and int(match[1]) == seed}
    tools = set(stage.environment.tools)
    for one in known.values():
        made.tally.take(one, tools)
    told = {key for one in every for key in _tells(one)}
    count = len(known)
    async with kitchen_of(stage) as (_, filled):
        orders = deque(_ordered([len(bindings) for bindings in filled], seed, after=max(known, default=-1)))
    async with process_pool(RecipeJob(PinnedBundle.of(stage.folder), seed, frozenset(told)), pool, most=AHEAD) as make:
        under_way: deque[asyncio.Future[ErrandOutcome]] = deque()
        try:
            while count < n and (orders or under_way):
                while orders and len(under_way) < AHEAD:
                    under_way.append(asyncio.ensure_future(make(orders.popleft())))
                outcome = _judged(await under_way.popleft(), wanted, told)
                made.take(outcome)
                if outcome.fate == "certified" and outcome.scenario is not None:
                    count += 1
                    told |= _tells(outcome.scenario)
                    made.tally.take(outcome.scenario, tools)
                    on_certified(outcome.scenario)
                on_walk(made)
        finally:
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)
    if count == 0:
        reasons = "; ".join(f"{reason} ({times})" for reason, times in (made.dropped + made.rejected).most_common(4))
        raise BundleError(f"{stage.environment.id}: no scenario came of its recipes: {reasons or 'nothing fits them'}")
    return made


def _asks_for_a_name(scenario: Scenario) -> bool:
    """Whether an answer must tell a name, which the other values of its column rival."""
    answers = [one for one in scenario.checkpoints if isinstance(one, AnswerCheckpoint)]
    return any(fact.type in ("name", "list") for one in answers for fact in one.facts)


def _judged(outcome: ErrandOutcome, wanted: Wanted, told: set[str]) -> ErrandOutcome:
    """An outcome, unless the scenario or its words were there before, or it is not wanted."""
    if outcome.fate != "certified" or outcome.scenario is None:
        return outcome
    if _tells(outcome.scenario) & told:
        return ErrandOutcome(outcome.at, "twice")
    reason = wanted.reason_against(outcome.scenario)
    return ErrandOutcome(outcome.at, "rejected", reason, outcome.scenario) if reason else outcome


def _tells(scenario: Scenario) -> set[str]:
    """Keys of which one is equal for scenarios whose checkpoints judge the same, or whose words are the same."""
    judged = [one.model_dump(include={"sql", "expect", "facts"}) for one in scenario.checkpoints if one.role == "goal"]
    return {sha256(text.encode()).hexdigest() for text in (str(judged), scenario.task)}


def _ordered(sizes: list[int], seed: int, *, after: int) -> list[RecipeOrder]:
    """All ways in turn, one of each recipe, then another one of each."""
    random = Random(seed)  # noqa: S311 - to be repeated
    ways = [random.sample(range(size), min(size, MOST_OF_ONE)) for size in sizes]
    order = sorted(range(len(sizes)), key=lambda _: random.random())
    turns = [(one, ways[one][turn], turn) for turn in range(MOST_OF_ONE) for one in order if turn < len(ways[one])]
    return [RecipeOrder(at, *one) for at, one in enumerate(turns) if at > after]
