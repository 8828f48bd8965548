"""Recipes: kinds of harder tasks that an environment allows, in the optional `recipes.json` of a bundle.

A recipe chooses rows by SQL, tells them in words, and names the calls that do the task. Nothing in it runs but SELECTs,
and agents do not see it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from servers.bundle.description import Provenance
from servers.bundle.environment import Environment
from servers.bundle.files import text_if_there
from servers.errors import BundleError
from servers.records import Name, Record
from servers.scenario.scenario import Weakness
from servers.validation import problems
from synth.play.pinned_bundle import RECIPES_FILE


class RecipeStep(Record):
    """One call, or one call for each row of a set.

    Strings may have holes: `{room}` is a value that was chosen, `{bill.balance_cents}` one of the result that the step
    named `bill` gave. `along` makes the call directly after the step before it, row by row. `when` is a chosen value
    that must be true, or false after a `!`.
    """

    tool: str
    arguments: dict[str, Any] = {}
    each: str = ""
    along: bool = False
    when: str = ""
    name: str = ""
    free: tuple[str, ...] = ()


class RecipeQuestion(Record):
    """Something that the task asks to be told: in which words, and its value, a chosen one or one of a result.

    `each` names the set of which every row's value is asked for.
    """

    ask: str
    value: str
    each: str = ""
    say: str = "{value}"


class Recipe(Record):
    """One kind of task.

    `bind` gives a row for each way to fill it. `setup` names the `setups` whose SQL adds rows first: all but `bind` see
    these. `picks` choose one row each: the first, which must rank before the second in the column `rank` if there is
    one. `sets` choose several. `open_choices` name values for which others are
    as right, with SQL for all of them. `weak` says what a weak agent would choose instead.
    """

    id: Name
    title: str = Field(min_length=1)
    bind: str
    setup: tuple[str, ...] = ()
    picks: dict[str, str] = {}
    sets: dict[str, str] = {}
    least: int = Field(default=1, ge=0)
    open_choices: dict[str, str] = {}
    task: tuple[str, ...] = Field(min_length=1)
    steps: tuple[RecipeStep, ...] = Field(min_length=1)
    questions: tuple[RecipeQuestion, ...] = ()
    weak: dict[Weakness, dict[str, str]] = {}


class RecipePart(Record):
    """What a recipe over two environments chooses and does in one of them. `setup` is SQL that adds rows first."""

    bind: str = "SELECT 1 AS one"
    setup: str = ""
    picks: dict[str, str] = {}
    sets: dict[str, str] = {}
    least: int = Field(default=1, ge=0)
    steps: tuple[RecipeStep, ...] = Field(min_length=1)
    questions: tuple[RecipeQuestion, ...] = ()


class PairRecipe(Record):
    """One kind of task over two environments.

    `first` is chosen and done in the recipe's own environment. Its values are known to the SQL of `then`, which is
    about the environment `second`. The second clock begins when the first one does.
    """

    id: Name
    title: str = Field(min_length=1)
    second: Name
    first: RecipePart
    then: RecipePart
    task: tuple[str, ...] = Field(min_length=1)

    def recipe(self, part: RecipePart) -> Recipe:
        """One part as a recipe of its environment."""
        return Recipe(
            id=self.id,
            title=self.title,
            bind=part.bind,
            picks=part.picks,
            sets=part.sets,
            least=part.least,
            task=self.task,
            steps=part.steps,
            questions=part.questions,
        )


class Recipes(Record):
    """All recipes of a bundle: who sends their tasks, how these begin and end, and SQL that adds rows for them."""

    senders: tuple[str, ...] = ()
    opens: tuple[str, ...] = ("",)
    closes: tuple[str, ...] = ("",)
    setups: dict[str, str] = {}
    recipes: tuple[Recipe, ...]
    pairs: tuple[PairRecipe, ...] = ()
    """Those over two environments."""
    provenance: Provenance | None = None


def read_recipes(environment: Environment) -> Recipes | None:
    """The recipes of a bundle. None without the file.

    Raises:
        BundleError: they cannot be read, or name what the environment does not have.
    """
    path = environment.folder / RECIPES_FILE
    text = text_if_there(path)
    if text is None:
        return None
    try:
        found = Recipes.model_validate_json(text)
    except ValidationError as error:
        raise BundleError(f"{path}: {problems(error)[0]}") from None
    for problem in _problems(found, environment, path):
        raise BundleError(problem)
    return found


def _problems(found: Recipes, environment: Environment, path: Path) -> Iterator[str]:
    names = [recipe.id for recipe in found.recipes]
    for recipe in found.recipes:
        where = f"{path}: {recipe.id}"
        if names.count(recipe.id) > 1:
            yield f"{where}: two recipes have this id"
        for name in recipe.setup:
            if name not in found.setups:
                yield f"{where}: no setup named {name!r}"
        yield from (f"{where}: {problem}" for problem in _problems_of_calls(recipe, environment))
        for weakness, others in recipe.weak.items():
            for name in others.keys() - recipe.sets.keys() - recipe.picks.keys():
                yield f"{where}: weak.{weakness}: no pick or set named {name!r}"


def pairs_with(found: Recipes, first: Environment, second: Environment) -> list[PairRecipe]:
    """The recipes over two environments.

    Raises:
        BundleError: one names a tool or an argument that its environment does not have.
    """
    wanted = [one for one in found.pairs if one.second == second.id]
    for one in wanted:
        for part, environment in ((one.first, first), (one.then, second)):
            for problem in _problems_of_calls(one.recipe(part), environment):
                raise BundleError(f"{first.folder / RECIPES_FILE}: {one.id}: {environment.id}: {problem}")
    return wanted


def _problems_of_calls(recipe: Recipe, environment: Environment) -> Iterator[str]:
    for number, step in enumerate(recipe.steps, start=1):
        tool = environment.tools.get(step.tool)
        if tool is None:
            yield f"steps.{number}: no tool named {step.tool!r}"
        elif unknown := sorted(step.arguments.keys() - tool.properties.keys()):
            yield f"steps.{number}: {step.tool} has no argument {unknown[0]!r}"
        if step.each and step.each not in recipe.sets:
            yield f"steps.{number}: no set named {step.each!r}"
