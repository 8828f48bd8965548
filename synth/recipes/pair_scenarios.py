"""Makes scenarios over two environments from recipes: what the first part finds out decides the second.

The same bundles, seed and number give the same bytes.
"""

import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from agent_client.references import renumbered
from servers.answer.fact import Fact
from servers.bundle.phrases import phrases_if_readable
from servers.errors import BrokenQuery, BundleError, QueryError
from servers.scenario.checkpoints.kinds import Checkpoint
from servers.scenario.scenario import PlannedCall, Scenario, SecondEnvironment, Solution
from servers.scenario.two_environments import routes_between
from synth.certify.pairs import Stages, examine_both
from synth.phrasing.task_text import ARTICLE, TemplateValues, filled
from synth.play.playground import Playground
from synth.recipes.recipe_bindings import Binding, BoundValues, RecipeReader
from synth.recipes.recipe_file import PairRecipe, Recipe, RecipePart, RecipeQuestion, Recipes, pairs_with, read_recipes
from synth.recipes.recipe_plan import RecipePlan, Unfit, expanded, made
from synth.recipes.recipe_scenario import (
    DONE,
    TAG,
    RecipeKitchen,
    checks_of_rows,
    facts_of,
    sayings,
    told_goal,
)
from synth.solutions.answer_facts import gives
from synth.solutions.last_line import judged_by_line

PAIR_TAG = "two_environments"
ID = re.compile(r"pair(\d+)_(\d+)")


class MadePair(NamedTuple):
    """A way to fill a recipe that was tried: a certified scenario, or why there is none."""

    recipe: str
    scenario: Scenario | None
    reason: str = ""


@dataclass(frozen=True)
class Cooked:
    """One part of a recipe, with its values and its calls."""

    kitchen: RecipeKitchen
    recipe: Recipe
    binding: Binding
    plan: RecipePlan

    @property
    def asked(self) -> list[tuple[RecipeQuestion, list[Fact]]]:
        """The questions about it, with the facts that answer them."""
        return [(one, facts_of(self.kitchen, one, self.binding, self.plan)) for one in self.recipe.questions]


async def make_pairs(
    stages: Stages, *, n: int, seed: int, there: Sequence[Scenario], on_made: Callable[[MadePair], None]
) -> int:
    """Make certified scenarios until there are `n` of this seed, existing ones included. Returns their number.

    Raises:
        BundleError: the first bundle has no recipe over both, or the SQL of one does not run.
    """
    first, second = (stage.environment for stage in stages)
    recipes = read_recipes(first)
    pairs = [] if recipes is None else pairs_with(recipes, first, second)
    if recipes is None or not pairs:
        raise BundleError(f"{first.folder}: recipes.json has no pairs with {second.id}")
    known = {int(found[2]) for one in there if (found := ID.fullmatch(one.id)) and int(found[1]) == seed}
    mine = [one for one in there if one.second and one.second.environment == second.id and ID.fullmatch(one.id)]
    known_before = {text for one in there for text in (_signature(one), one.task)}
    count, number = len(mine), max(known, default=-1) + 1
    for pair, values in await _ways(stages[0], pairs, seed):
        if count >= n:
            break
        tried = await _tried(stages, recipes, pair, values, f"pair{seed}_{number:04d}")
        if tried.scenario is not None and {_signature(tried.scenario), tried.scenario.task} & known_before:
            tried = MadePair(pair.id, None, "was there before")
        if tried.scenario is not None:
            known_before |= {_signature(tried.scenario), tried.scenario.task}
            count, number = count + 1, number + 1
        on_made(tried)
    return count


async def _ways(stage: Playground, pairs: Sequence[PairRecipe], seed: int) -> list[tuple[PairRecipe, BoundValues]]:
    """All ways to fill the recipes, one of each in turn."""
    scene = await stage.launch()
    try:
        async with scene.reading() as opened:
            reader = RecipeReader(opened, stage.environment.description.clock)
            found = [[(pair, values) for values in reader.values(pair.recipe(pair.first))] for pair in pairs]
    except (BrokenQuery, QueryError) as error:
        raise BundleError(f"recipes.json: pairs: {error}") from None
    finally:
        await scene.close()
    random = Random(seed)  # noqa: S311 - to be repeated
    for ways in found:
        random.shuffle(ways)
    return [ways[turn] for turn in range(max(map(len, found))) for ways in found if turn < len(ways)]


async def _tried(stages: Stages, recipes: Recipes, pair: PairRecipe, values: BoundValues, name: str) -> MadePair:
    try:
        scenario = await _scenario(stages, recipes, pair, values, name)
    except Unfit as error:
        return MadePair(pair.id, None, str(error))
    except (BrokenQuery, QueryError) as error:
        raise BundleError(f"recipes.json: {pair.id}: {error}") from None
    seen = await examine_both(stages, scenario)
    if seen.certificate is None:
        return MadePair(pair.id, None, seen.findings[0])
    return MadePair(pair.id, scenario.model_copy(update={"certificate": seen.certificate}))


async def _scenario(stages: Stages, recipes: Recipes, pair: PairRecipe, values: BoundValues, name: str) -> Scenario:
    start = stages[0].environment.description.clock
    async with _cooked(stages[0], recipes, pair, pair.first, values, start) as first:
        known = first.binding.values
        async with _cooked(stages[1], recipes, pair, pair.then, known, start) as then:
            return await _joined(pair, first, then, name)


@asynccontextmanager
async def _cooked(
    stage: Playground, recipes: Recipes, pair: PairRecipe, part: RecipePart, values: BoundValues, start: str
) -> AsyncGenerator[Cooked]:
    """One part of a recipe on an instance with its own rows. Raises Unfit."""
    plain = await stage.launch(clock=start)
    try:
        async with plain.reading() as opened:
            setup = RecipeReader(opened, start).with_values(part.setup, values)
    finally:
        await plain.close()
    try:
        scene = await stage.launch(setup=setup, clock=start)
    except BundleError as error:
        raise Unfit(f"its rows cannot be added: {error}") from None
    try:
        async with scene.reading() as opened:
            reader = RecipeReader(opened, start)
            whole = pair.recipe(part)
            recipe = whole.model_copy(update={"bind": reader.with_values(whole.bind, values)})
            rows = reader.values(recipe) if part is pair.then else [values]
            binding = reader.bound(recipe, {**values, **rows[0]}, {}) if rows else None
            if binding is None:
                raise Unfit(f"nothing fits the rows of {stage.environment.id}")
            phrases = phrases_if_readable(stage.environment)
            kitchen = RecipeKitchen(stage, scene, recipes, reader, phrases, setup=setup, start=start)
            plan = await made(scene, list(expanded(recipe, binding)), stage.environment.tools, weak=False)
            yield Cooked(kitchen, recipe, binding, plan)
    finally:
        await scene.close()


async def _joined(pair: PairRecipe, first: Cooked, then: Cooked, name: str) -> Scenario:
    task = _task(pair, first, then)
    asked = [(one, *question) for one in (first, then) for question in one.asked]
    start = first.kitchen.clock
    if any(gives(task, fact, start) for _, question, facts in asked for fact in facts if not question.each):
        raise Unfit("the task tells what it asks for")
    told = [
        told_goal(one.kitchen, number, question, facts, task)
        for number, (one, question, facts) in enumerate(asked, start=1)
        if facts
    ]
    rows, guard = await checks_of_rows(first.kitchen, first.recipe, first.binding, first.plan)
    if not rows and not told:
        raise Unfit("nothing of the first part can be judged")
    others, other_guard = await checks_of_rows(then.kitchen, then.recipe, then.binding, then.plan)
    if not others:
        raise Unfit("nothing of the second part can be judged")
    environments = (first.kitchen.stage.environment, then.kitchen.stage.environment)
    shown = {(route.at, route.tool): seen for seen, route in routes_between(*environments).items()}
    calls = [_call(call, shown[at, call.tool], len(first.plan.calls) if at else 0) for at, call in _calls(first, then)]
    answer = " ".join([DONE, *(text for one in (first, then) for text in sayings(one.kitchen, one.asked))])
    title = filled(pair.title, TemplateValues(_words(first, then), {**first.binding.values, **then.binding.values}))
    tools = [{name for name, tool in one.tools.items() if tool.writes} for one in environments]
    writing = dict.fromkeys(shown[at, call.tool] for at, call in _calls(first, then) if call.tool in tools[at])
    by = first.kitchen.recipes.provenance
    note = f"made without a model from the pair {pair.id} of recipes.json, which is by {{}}"
    scenario = Scenario(
        id=name,
        title=(title or pair.id).removesuffix("."),
        task=task,
        setup=first.kitchen.setup,
        tags=(PAIR_TAG, TAG, pair.id, *writing),
        checkpoints=(*rows, *told, guard),
        second=SecondEnvironment(
            environment=environments[1].id,
            setup=then.kitchen.setup,
            clock=start,
            checkpoints=tuple(_renamed(one) for one in (*others, other_guard)),
        ),
        solution=Solution(calls=tuple(calls), answer=answer),
        provenance=by.model_copy(update={"model": None, "notes": note.format(by.model or "hand")}) if by else None,
    )
    return judged_by_line(scenario, start)


def _calls(first: Cooked, then: Cooked) -> list[tuple[int, PlannedCall]]:
    return [*((0, call) for call in first.plan.calls), *((1, call) for call in then.plan.calls)]


def _call(call: PlannedCall, tool: str, after: int) -> PlannedCall:
    """A call by the name that an agent sees. Its references count the calls of the first part."""
    return call.model_copy(update={"tool": tool, "arguments": renumbered(call.arguments, after.__add__)})


def _renamed(checkpoint: Checkpoint) -> Checkpoint:
    """A checkpoint of the second part: its id differs from all of the first."""
    return checkpoint.model_copy(update={"id": f"second_{checkpoint.id}"[:64]})


def _words(first: Cooked, then: Cooked) -> dict[str, str]:
    """All values as people write them, each as in its environment."""
    return {**then.kitchen.words(then.binding.values), **first.kitchen.words(first.binding.values)}


def _task(pair: PairRecipe, first: Cooked, then: Cooked) -> str:
    values = {**then.binding.values, **first.binding.values}
    random = Random(f"{pair.id}/{sorted(values.items(), key=str)}")  # noqa: S311 - to be repeated
    text = filled(random.choice(pair.task), TemplateValues(_words(first, then), values))
    if text is None:
        raise Unfit("a value of the task is missing")
    return ARTICLE.sub("n ", " ".join(text.split()))


def _signature(scenario: Scenario) -> str:
    """A key that is equal for scenarios that begin and are judged the same."""
    judged = [one.model_dump(include={"sql", "expect", "facts"}) for one in scenario.judged_by if one.role == "goal"]
    return str((scenario.setup, scenario.second and scenario.second.setup, judged))
