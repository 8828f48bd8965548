"""The last line of a reference answer, with the values that are asked for: "Answer: 42 euros; reason: 22 April".

A scenario has it if each of its questions for the answer can be answered there: they name what one value is of.
"""

from collections.abc import Sequence

from servers.answer.fact import Fact
from servers.answer.question import AnswerQuestion
from servers.scenario.checkpoints.answer import AnswerCheckpoint
from servers.scenario.scenario import Scenario, Solution, WeakRun
from synth.solutions.value_texts import day

HEAD = "Answer: "
REASON_HEAD = "reason: "


def judged_by_line(scenario: Scenario, clock: str) -> Scenario:
    """The scenario with its answer judged by the last line, if it can be, and with that line in its own answers.

    `clock` is the environment's. A scenario that has the line stays as it is.
    """
    asked = answers_of(scenario)
    if not asked or any(one.last_line for one in asked) or not all(map(_fits_a_line, asked)):
        return scenario
    line = line_of(asked, scenario.clock or clock)
    checkpoints = tuple(
        one.model_copy(update={"last_line": True}) if one in asked else one for one in scenario.checkpoints
    )
    told = scenario.reference()
    return scenario.model_copy(
        update={
            "checkpoints": checkpoints,
            "solution": Solution(calls=told.calls, answer=f"{told.answer}\n{line}"),
            "weak": tuple(_with_line(one, told.answer, line) for one in scenario.weak),
        }
    )


def judged_by_prose(scenario: Scenario) -> Scenario:
    """The scenario with its answer judged wherever it tells something, and without the line."""
    if not any(one.last_line for one in answers_of(scenario)):
        return scenario
    checkpoints = tuple(
        one.model_copy(update={"last_line": False}) if isinstance(one, AnswerCheckpoint) else one
        for one in scenario.checkpoints
    )
    told = scenario.reference()
    solution = Solution(calls=told.calls, answer=_without_line(told.answer))
    weak = tuple(one.model_copy(update={"answer": _without_line(one.answer)}) for one in scenario.weak)
    return scenario.model_copy(update={"checkpoints": checkpoints, "solution": solution, "weak": weak})


def answers_of(scenario: Scenario) -> list[AnswerCheckpoint]:
    """The checkpoints of a scenario that want something told."""
    return [one for one in scenario.checkpoints if isinstance(one, AnswerCheckpoint) and one.facts]


def line_of(asked: Sequence[AnswerCheckpoint], clock: str) -> str:
    """The last line that answers some questions: values in their order, and then a reason for each refusal."""
    values = [value_of(one) for one in asked if one.tell == "all"]
    reasons = [f"{REASON_HEAD}{_written(one.facts[0], clock)}" for one in asked if one.tell == "any"]
    return HEAD + "; ".join((*values, *reasons))


def value_of(asked: AnswerCheckpoint) -> str:
    """The value of a question in its own words: "42 euros" of "… what the stay costs: 42 euros?"."""
    return asked.question.rpartition(": ")[2].removesuffix("?")


def _fits_a_line(asked: AnswerCheckpoint) -> bool:
    if asked.tell == "any":
        return all(fact.type in ("amount", "count", "date", "time", "duration") for fact in asked.facts)
    return len(asked.facts) == 1 and asked.facts[0].sql is None and AnswerQuestion((), asked.question).is_described


def _without_line(answer: str) -> str:
    return answer.partition(f"\n{HEAD}")[0]


def _with_line(run: WeakRun, told: str, line: str) -> WeakRun:
    """A weak run. It tells what the reference tells, if it did so before."""
    return run.model_copy(update={"answer": f"{run.answer}\n{line}"}) if run.answer == told else run


def _written(fact: Fact, clock: str) -> str:
    if fact.type == "date":
        return day(str(fact.value), clock)
    return f"{fact.value:.2f}" if fact.type == "amount" else str(fact.value)
