"""Builds a scenario from one way to fill a recipe: task, reference, checkpoints, weak runs. It is not certified yet."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from agent_client.references import REFERENCE, renumbered
from servers.answer.fact import Fact
from servers.bundle.description import Provenance
from servers.bundle.phrases import Phrases
from servers.errors import BrokenQuery, QueryError
from servers.scenario.checkpoints.answer import AnswerCheckpoint
from servers.scenario.checkpoints.kinds import Checkpoint
from servers.scenario.scenario import PlannedCall, Scenario, Solution, WeakRun
from servers.text.json_leaves import leaves
from synth.backward.row_goals import changed, counted, footprint, goals_of_rows
from synth.phrasing.task_text import ARTICLE, TemplateValues, filled
from synth.play.playground import Playground, Session
from synth.recipes.recipe_bindings import Binding, BoundValues, RecipeReader
from synth.recipes.recipe_file import Recipe, RecipeQuestion, Recipes
from synth.recipes.recipe_plan import RecipePlan, Unfit, expanded, made
from synth.solutions.answer_facts import answer_goal, fact_of, gives
from synth.solutions.call_run import PlayedCall, play, steps_of
from synth.solutions.last_line import judged_by_line
from synth.solutions.normalized_diff import Window, essence
from synth.solutions.reference_run import times_of_the_clock
from synth.solutions.told_values import ArgumentPlace
from synth.solutions.value_texts import said

TAG = "recipe"
DONE = "It is done."


@dataclass(frozen=True)
class RecipeKitchen:
    """What all scenarios of a bundle's recipes are made with."""

    stage: Playground
    scene: Session
    recipes: Recipes
    reader: RecipeReader
    phrases: Phrases
    setup: str = ""
    """The SQL that added rows to those of the environment."""
    start: str = ""
    """The start of the clock, if it is another than the environment's."""

    @property
    def clock(self) -> str:
        """The start of the clock."""
        return self.start or self.stage.environment.description.clock

    def words(self, values: BoundValues) -> dict[str, str]:
        """Values as people write them."""
        phrases = self.phrases
        return {
            name: said(name, value, clock=self.clock, currency=phrases.currency, words=phrases.words)
            for name, value in values.items()
            if value is not None
        }


async def scenario_of(
    kitchen: RecipeKitchen, recipe: Recipe, binding: Binding, name: str, *, turn: int = 0
) -> Scenario:
    """The scenario of one way to fill a recipe. The texts of a recipe take turns.

    Raises:
        Unfit: the tools refuse it, its words give an answer away, or nothing is left to judge.
    """
    random = Random(f"{recipe.id}/{sorted(binding.values.items(), key=str)}")  # noqa: S311 - to be repeated
    tools = kitchen.stage.environment.tools
    task = _task(kitchen, recipe, binding, random, turn)
    plan = await made(kitchen.scene, list(expanded(recipe, binding)), tools, weak=False, task=task)
    asked = [(question, facts_of(kitchen, question, binding, plan)) for question in recipe.questions]
    if any(gives(task, fact, kitchen.clock) for question, facts in asked for fact in facts if not question.each):
        raise Unfit("the task tells what it asks for")
    answer = _answer(kitchen, asked)
    tags = (TAG, recipe.id, *dict.fromkeys(call.tool for call in plan.calls if tools[call.tool].writes))
    made_so = Scenario(
        id=name,
        title=_title(kitchen, recipe, binding),
        task=task,
        setup=kitchen.setup,
        tags=tags,
        checkpoints=await _checkpoints(kitchen, recipe, binding, plan, asked, task),
        weak=tuple([one async for one in _weak_runs(kitchen, recipe, binding, answer, task)]),
        solution=Solution(calls=tuple(plan.calls), answer=answer),
        provenance=_provenance(kitchen.recipes, recipe),
    )
    return judged_by_line(made_so, kitchen.clock)


def _provenance(recipes: Recipes, recipe: Recipe) -> Provenance | None:
    """What made a scenario: the generator, from a recipe that somebody wrote."""
    made = f"made without a model from the recipe {recipe.id} of recipes.json, which is by {{}}"
    by = recipes.provenance
    return by.model_copy(update={"model": None, "notes": made.format(by.model or "hand")}) if by else None


def _title(kitchen: RecipeKitchen, recipe: Recipe, binding: Binding) -> str:
    title = filled(recipe.title, TemplateValues(kitchen.words(binding.values), binding.values))
    return (title or recipe.id).removesuffix(".")


def _task(kitchen: RecipeKitchen, recipe: Recipe, binding: Binding, random: Random, turn: int) -> str:
    own = {
        "sender": random.choice(kitchen.recipes.senders or ("",)),
        "open": random.choice(kitchen.recipes.opens),
        "close": random.choice(kitchen.recipes.closes),
    }
    values = {**own, **binding.values}
    own = {name: filled(text, TemplateValues({**own, **kitchen.words(values)}, {})) or "" for name, text in own.items()}
    words = {**kitchen.words(values), **own}
    template = recipe.task[turn % len(recipe.task)]
    text = filled(template, TemplateValues(words, {**binding.values, **own}))
    if text is None:
        raise Unfit("a value of the task is missing")
    if not template.endswith("."):
        text = text.removesuffix(".")  # after the name that a letter ends with
    return ARTICLE.sub("n ", " ".join(text.split()))


async def _checkpoints(
    kitchen: RecipeKitchen,
    recipe: Recipe,
    binding: Binding,
    plan: RecipePlan,
    asked: Sequence[tuple[RecipeQuestion, list[Fact]]],
    task: str,
) -> tuple[Checkpoint, ...]:
    rows, guard = await checks_of_rows(kitchen, recipe, binding, plan)
    told = [
        told_goal(kitchen, number, question, facts, task)
        for number, (question, facts) in enumerate(asked, start=1)
        if facts
    ]
    if not rows and not told:
        raise Unfit("nothing of it can be judged")
    return (*rows, *told, guard)


async def checks_of_rows(
    kitchen: RecipeKitchen, recipe: Recipe, binding: Binding, plan: RecipePlan
) -> tuple[Sequence[Checkpoint], Checkpoint]:
    """The goals over the rows that a plan's calls change, and the guard of all others."""
    scene, tools = kitchen.scene, kitchen.stage.environment.tools
    await scene.rewind(0)
    steps = steps_of(Solution(calls=tuple(plan.calls), answer=DONE))
    played = await play(scene, steps)
    writing = [one for one in played if tools[one.step.tool].writes]
    questions = {one.step.number: _question(recipe, one) for one in writing}
    choices = {
        binding.values[name]: also for name, also in binding.also_right.items() if name in binding.values and also
    }
    async with scene.reading() as reader:
        changes = reader.changes()
    open_places = {ArgumentPlace(one.step.number, name) for one in writing for name in one.step.free}
    later = await times_of_the_clock(scene, steps, changes)
    whole = replace(changed(changes, played, open_places, later), choices=choices)
    await scene.rewind(0)
    await play(scene, steps)
    async with scene.reading() as reader:
        rows = counted(goals_of_rows(questions, played, whole), reader)
    return rows, footprint(whole)


def _question(recipe: Recipe, one: PlayedCall) -> str:
    return f"{recipe.id}: is the effect of call {one.step.number}, {one.step.tool.replace('_', ' ')}, there?"


def told_goal(
    kitchen: RecipeKitchen, number: int, question: RecipeQuestion, facts: Sequence[Fact], task: str
) -> AnswerCheckpoint:
    """The checkpoint of a question. An amount in it has its currency: another one is another amount."""
    named = [one.model_copy(update={"name": f"told_{number}_{at}"}) for at, one in enumerate(facts, start=1)]
    name = question.value.rpartition(".")[2]
    words = ", ".join(_said(kitchen, name, one) if one.type == "amount" else str(one.value) for one in facts)
    return answer_goal(f"told_{number}", f"Does the answer tell {question.ask}: {words}?", named, given=(task,))


def facts_of(kitchen: RecipeKitchen, question: RecipeQuestion, binding: Binding, plan: RecipePlan) -> list[Fact]:
    """The facts that answer a question. Raises Unfit."""
    rows = enumerate(binding.sets[question.each]) if question.each else [(-1, dict[str, Any]())]
    found: list[Fact] = []
    name = question.value.rpartition(".")[2]
    for at, row in rows:
        values = {**binding.values, **row}
        value = values.get(question.value) if "." not in question.value else plan.value_at(question.value, at)[0]
        others = [
            other
            for result in plan.results
            for path, other in leaves(result, "")
            if path.rpartition(".")[2] == name and other and (not question.each or other not in _column(binding, name))
        ]
        fact = fact_of(name, value, confusable=others, currency=kitchen.phrases.currency)
        if fact is None:
            raise Unfit(f"{question.value} cannot be asked for: {value!r}")
        found.append(fact)
    return found


def _column(binding: Binding, name: str) -> set[Any]:
    return {row.get(name) for rows in binding.sets.values() for row in rows}


def _answer(kitchen: RecipeKitchen, asked: Sequence[tuple[RecipeQuestion, list[Fact]]]) -> str:
    return " ".join([DONE, *sayings(kitchen, asked)])


def sayings(kitchen: RecipeKitchen, asked: Sequence[tuple[RecipeQuestion, list[Fact]]]) -> Iterator[str]:
    """The sentences of an answer to questions."""
    for question, facts in asked:
        name = question.value.rpartition(".")[2]
        each = [_said(kitchen, name, fact) for fact in facts]
        told = f"{', '.join(each[:-1])} and {each[-1]}" if len(each) > 1 else "".join(each)
        yield question.say.replace("{value}", told)


def _said(kitchen: RecipeKitchen, name: str, fact: Fact) -> str:
    value: Any = fact.value
    if fact.type == "amount":
        value = round(float(value) * 100)
    return kitchen.words({name: value})[name]


async def _weak_runs(
    kitchen: RecipeKitchen, recipe: Recipe, binding: Binding, answer: str, task: str
) -> AsyncIterator[WeakRun]:
    """What weak agents choose instead. One that leaves the same rows is left out."""
    tools = kitchen.stage.environment.tools
    await made(kitchen.scene, list(expanded(recipe, binding)), tools, weak=False, task=task)
    right = await _essence(kitchen)
    for weakness, others in recipe.weak.items():
        try:
            other = kitchen.reader.bound(recipe, binding.values, others)
            if other is None:
                continue
            run = await made(kitchen.scene, list(expanded(recipe, other)), tools, weak=True)
        except (Unfit, BrokenQuery, QueryError):
            continue
        if await _essence(kitchen) != right:
            yield WeakRun(weakness=weakness, calls=_kept(run.calls, tools), answer=answer)


async def _essence(kitchen: RecipeKitchen) -> str:
    """What a run has changed, without made-up ids and times."""
    async with kitchen.scene.reading() as reader:
        return essence(reader.changes(), Window(kitchen.clock))


def _kept(calls: Sequence[PlannedCall], tools: Mapping[str, Any]) -> tuple[PlannedCall, ...]:
    """The commands of a weak run, and the queries that they refer to, numbered anew."""
    needed = {int(found[1]) for call in calls for found in REFERENCE.finditer(str(call.arguments))}
    kept = [number for number, call in enumerate(calls, start=1) if tools[call.tool].writes or number in needed]
    numbers = {old: new for new, old in enumerate(kept, start=1)}

    return tuple(
        PlannedCall(
            tool=calls[old - 1].tool,
            arguments=renumbered(calls[old - 1].arguments, numbers.__getitem__),
        )
        for old in kept
    )
