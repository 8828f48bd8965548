"""The reasons that an answer must tell of refused commands: their obstacles, if those can be told.

If a reason is only words, or given in the task, the task asks for no reasons: the unchanged state is the judgement.
"""

from collections.abc import Sequence

from servers.answer.fact import Cell, Fact
from servers.scenario.checkpoints.answer import AnswerCheckpoint
from synth.backward.refusals.counterfactuals import RefusedCall
from synth.backward.refusals.obstacles import obstacles
from synth.play.playground import Playground
from synth.solutions.answer_facts import answer_goal, gives


async def reasons_of(
    stage: Playground, refusals: Sequence[RefusedCall], given: str, told: Sequence[Fact] = ()
) -> list[list[Fact]]:
    """The facts that bar each refusal, except given or told ones. Empty if one has none."""
    found: list[list[Fact]] = []
    for refusal in refusals:
        bars = [
            one
            for one in await obstacles(stage, refusal)
            if not gives(given, one, refusal.clock) and not any(_is_told(one, other) for other in told)
        ]
        found.append([one.model_copy(update={"name": f"reason_{at}"}) for at, one in enumerate(bars, start=1)])
    return found if all(found) else []


def why_goals(reasons: Sequence[Sequence[Fact]], given: tuple[str, ...]) -> list[AnswerCheckpoint]:
    """A goal for each refusal. One of its barring values is enough."""
    return [
        answer_goal(
            f"why_{number}",
            f"Does the answer tell {_words(facts)}, which stands in the way?",
            facts,
            tell="any",
            given=given,
        )
        for number, facts in enumerate(reasons, start=1)
    ]


def told_beside(task: str, refusals: Sequence[RefusedCall]) -> tuple[str, ...]:
    """The texts that an answer may repeat: the task, and the refusals."""
    return tuple(dict.fromkeys((task, *(one.text.rstrip(".") for one in refusals))))


def not_done(step: str, refusal: str) -> str:
    """The answer's sentence about a refused step, in the task's own words."""
    return f"This could not be done: {step.rstrip('.!?')}. The reason: {refusal.rstrip('.')}."


def _is_told(fact: Fact, other: Fact) -> bool:
    return fact.type == other.type and bool({fact.value, *fact.also} & {other.value, *other.also})


def _words(facts: Sequence[Fact]) -> str:
    values = [value for one in facts for value in (one.value, *one.also)]
    return " or ".join(_said(value) for value in values if not isinstance(value, tuple))


def _said(value: bool | Cell) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)
