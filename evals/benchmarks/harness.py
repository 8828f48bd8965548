"""The harness of each benchmark: its rules and limits, and the user of a task."""

from typing import Literal, NamedTuple

from agent_client.model import Model
from agent_client.person import Person
from agent_client.rules import OWN, LimitsOf, Rules
from agent_client.trace import Limits
from evals.benchmarks.upstream_person import SameAnswer, UpstreamPerson
from servers.errors import RequestError
from servers.scenario.checkpoints.official import OfficialCheckpoint
from servers.scenario.scenario import Scenario

Checker = Literal["tau_bench", "bfcl", "acebench"]
MANY_TURNS = 10_000


class Harness(NamedTuple):
    """How the tasks of a benchmark are played. `turns` are the most replies of the model in an episode."""

    turns: int
    rules: Rules


TAU = Rules(
    one_call=True,
    last_tools=("transfer_to_human_agents",),
    silence_counts=True,
    unreadable="ends episode",
    unfinished_is_zero=True,
)
BFCL = Rules(steps_of_turn=21, silence_counts=True, unreadable="ends turn")
"""Upstream's limit is called 20. It is looked at after a step, so the 21st is still made."""
ACE = Rules(end_words="finish conversation", ends_from=2, silence_counts=True)
HARNESSES: dict[tuple[Checker, LimitsOf], Harness] = {
    ("tau_bench", "official"): Harness(30, TAU),
    ("tau_bench", "paper"): Harness(30, TAU),
    ("bfcl", "official"): Harness(MANY_TURNS, BFCL),
    ("bfcl", "paper"): Harness(40, BFCL.model_copy(update={"steps_of_turn": None, "unfinished_is_zero": True})),
    ("acebench", "official"): Harness(20, ACE),
    ("acebench", "paper"): Harness(20, ACE.model_copy(update={"unfinished_is_zero": True})),
}


def checker_of(scenario: Scenario) -> Checker | None:
    """The official checker that judges a scenario. None if it is not of a benchmark."""
    return next((one.checker for one in scenario.checkpoints if isinstance(one, OfficialCheckpoint)), None)


def rules_of(scenario: Scenario, of: LimitsOf) -> Rules:
    """The rules by which a scenario is played."""
    checker = checker_of(scenario)
    return OWN if checker is None else HARNESSES[checker, of].rules


def limits_of(scenario: Scenario, of: LimitsOf, limits: Limits) -> Limits:
    """The limits of a scenario: of a benchmark's, its own number of turns."""
    checker = checker_of(scenario)
    return limits if checker is None else limits.model_copy(update={"turns": HARNESSES[checker, of].turns})


def person_of(scenario: Scenario, user: Model | None) -> Person | None:
    """The user of a benchmark's task. None if the agent is told the task itself, or the turns are fixed.

    Raises:
        RequestError: a model has to play the user, and there is none.
    """
    told = scenario.user
    if told is None:
        return None
    if not told.instructions:
        return SameAnswer(scenario.task, told.greeting)
    if user is None:
        raise RequestError(
            f"{scenario.id}: a model plays the user of this benchmark; name one: `model` in [user] of the suite,"
            " or --user-model"
        )
    return UpstreamPerson(user, told)
