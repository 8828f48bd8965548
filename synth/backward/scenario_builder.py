"""Builds a scenario from an errand: task, checkpoints, reference solution. It is not certified yet."""

from random import Random

from servers.scenario.checkpoints.kinds import Checkpoint
from servers.scenario.scenario import Scenario, Solution
from servers.state.rows import RowChange
from synth.backward.bundle_view import BundleView
from synth.backward.errand import Command, Errand
from synth.backward.profile import Wish
from synth.backward.refusals.counterfactuals import RefusedCall
from synth.backward.refusals.reasons import not_done, reasons_of, told_beside, why_goals
from synth.backward.requester import sender_of
from synth.backward.row_goals import Changed, changed, counted, footprint, goals_of_rows
from synth.backward.usage_counts import UsageCounts
from synth.phrasing.answer_requests import Telling, tellings
from synth.phrasing.task_text import TemplateValues, composed
from synth.solutions.call_run import PlayedCall, play, steps_of
from synth.solutions.last_line import judged_by_line
from synth.solutions.reference_run import times_of_the_clock
from synth.solutions.told_values import ArgumentPlace

MOST_CALLS = 14
HOW_MUCH_TO_TELL = (0, 1, 1, 1, 2)
REPORTED = 0.4
"""The share of tasks with a question that ask for the outcome too, although nothing is refused."""


async def told(setting: BundleView, wish: Wish, tally: UsageCounts, random: Random) -> Scenario | str:
    """Walk once. The scenario, or the reason why there is none."""
    await setting.trying.begin()
    walk = await Errand.begin(setting, tally, random)
    if walk is None:
        return "nobody to speak for"
    await walk.go(wish)
    reason = await _unfit(walk, wish)
    asks = walk.name
    if reason is None and walk.voice == "chores" and setting.phrases.senders:
        sender = sender_of(walk, random)
        asks, reason = sender or "", None if sender else "nobody may ask for all of it"
    if reason is None:
        made = await _played(walk)
        if made is not None:
            return await _scenario(walk, wish, made, asks, random)
        reason = "the plan does not play as it was walked"
    return reason


async def _unfit(walk: Errand, wish: Wish) -> str | None:
    """Why a walk makes no scenario. None if it does."""
    refused = [command for command in walk.commands if command.kind == "refused"]
    if walk.is_broken:
        return "what must follow could not be put into words"
    if not walk.commands or (wish.refusal and not refused):
        return "no command that could be put into words"
    if len(walk.plan.calls) > MOST_CALLS:
        return "too long"
    if not await walk.stays_refused():
        return "what was refused is possible in another order"
    return None


async def _played(walk: Errand) -> list[PlayedCall] | None:
    """The plan after a run from the start. None if its effect differs from the walk's."""
    scene = walk.setting.scene
    await scene.rewind(0)
    made = await play(scene, steps_of(_solution(walk, "-")))
    expected = {command.number: command.kind for command in walk.commands}
    as_walked = all(one.outcome.kind == expected.get(one.step.number, "ok") for one in made)
    return made if as_walked else None


async def _scenario(walk: Errand, wish: Wish, made: list[PlayedCall], asks: str, random: Random) -> Scenario | str:
    scene = walk.setting.scene
    questions = {one.number: f"Was this done: {one.clause.rstrip('.')}?" for one in walk.commands}
    async with scene.reading() as reader:
        whole = await _changed(walk, made, reader.changes())
        rows = counted(goals_of_rows(questions, made, whole), reader)
    clauses = [command.clause for command in walk.commands]
    tells = _chosen(walk, made, random) if wish.tells else []
    refused = [command for command in walk.commands if command.kind == "refused"]
    clock = walk.setting.clock
    refusals = [RefusedCall(one.drawn.tool, one.drawn.arguments, one.text, clock) for one in refused]
    reasons = await reasons_of(walk.setting.stage, refusals, " ".join(clauses), [tell.fact for tell in tells])
    task = composed(
        walk.setting.phrases,
        walk.voice,
        asks,
        clauses,
        [tell.ask for tell in tells],
        wants_report=bool(reasons) or (bool(tells) and not refused and random.random() < REPORTED),
        random=random,
    )
    given = told_beside(task, refusals)
    goals: list[Checkpoint] = [
        *rows,
        *(tell.goal(at, given) for at, tell in enumerate(tells, start=1)),
        *why_goals(reasons, given),
    ]
    if not goals:
        return "nothing of what is refused can be told"
    tags = ["backward", walk.voice, *(["refusal"] if refused else []), *(one.drawn.tool for one in walk.commands)]
    made_so = Scenario(
        id=wish.id,
        title=_title(walk),
        task=task,
        tags=tuple(dict.fromkeys(tags)),
        checkpoints=(*goals, footprint(whole)),
        solution=_solution(walk, _answer(walk, refused, tells)),
    )
    return judged_by_line(made_so, clock)


async def _changed(walk: Errand, made: list[PlayedCall], changes: list[RowChange]) -> Changed:
    calls = walk.plan.calls
    open_places = {ArgumentPlace(one.number, name) for one in walk.commands for name in calls[one.number - 1].free}
    later = await times_of_the_clock(walk.setting.scene, steps_of(_solution(walk, "-")), changes)
    return changed(changes, made, open_places, later)


def _chosen(walk: Errand, made: list[PlayedCall], random: Random) -> list[Telling]:
    """The questions of the task: about results that nothing later in the errand could change."""
    given = " ".join(command.clause for command in walk.commands)
    options: list[Telling] = []
    for index, command in enumerate(walk.commands):
        result = made[command.number - 1].outcome.structured
        after = {place for later in walk.commands[index + 1 :] for place in walk.about(later.drawn)}
        touched = {(one.table, next(iter(one.key.values()))) for one in command.changes}
        if command.kind == "ok" and result is not None and not after & (command.own_places(walk.person) | touched):
            values = TemplateValues(command.spoken, command.drawn.arguments)
            seen = tuple(one.outcome.structured for one in made if one.outcome.structured)
            clock = walk.setting.clock
            options += tellings(walk.setting.phrases, command.drawn.tool, result, values, given, clock, seen)
    chosen = random.sample(options, min(len(options), random.choice(HOW_MUCH_TO_TELL)))
    return list({tell.words: tell for tell in chosen}.values())


def _solution(walk: Errand, answer: str) -> Solution:
    return Solution(calls=tuple(walk.plan.calls), answer=answer)


def _answer(walk: Errand, refused: list[Command], tells: list[Telling]) -> str:
    all_refused = len(refused) == len(walk.commands)
    first = "I have left everything as it is." if all_refused else "It is done."
    return " ".join([first, *(tell.saying for tell in tells), *(not_done(one.clause, one.text) for one in refused)])


def _title(walk: Errand) -> str:
    done = ", ".join(dict.fromkeys(one.drawn.tool.replace("_", " ") for one in walk.commands))
    return f"{walk.name}: {done}" if walk.name else done[:1].upper() + done[1:]
