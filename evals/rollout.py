"""Rollouts: an episode at a scenario and its record, even if something broke; and work on many at once."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Generator, Iterable
from contextlib import contextmanager
from typing import Literal, TypeVar

import httpx2

from agent_client.errors import FarmUnreachable
from agent_client.events import Event
from agent_client.model import Model
from agent_client.person import Person
from agent_client.play import Limits
from agent_client.rules import OWN, Rules
from agent_client.trace import End, Trace
from evals.benchmarks.upstream_person import FixedTurns
from evals.effects import Effect
from evals.episode import Episode, FixedTurnsOf, OwnAgent, Timings
from registry.client import FarmClient
from registry.messages import ScenarioDetail, Score
from servers.errors import FarmError
from servers.records import AnswerFormat, Record
from servers.scenario.answer_shape import task_asking
from servers.scenario.scenario import Scenario

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")
Outcome = Literal["scored", "agent_error", "timeout", "infra_error"]
OUTCOMES: dict[End, Outcome] = {
    "finished": "scored",
    "turn_limit": "timeout",
    "token_limit": "timeout",
    "time_limit": "timeout",
    "agent_error": "agent_error",
    "infra_error": "infra_error",
}
"""The outcome of a rollout by the end of its episode. All but `infra_error` have the reward of their final state."""
LONGEST_LEASE = 604_800
SECONDS_TO_SPARE = 300


class Rollout(Record):
    """An agent's episode at a scenario, the verdicts of the checkpoints, and the reward.

    `reward` and `success` are None exactly when `outcome` is `infra_error`. `error` says why an episode did not finish.
    """

    environment: str
    scenario: str
    seed: int
    outcome: Outcome
    reward: float | None
    success: bool | None
    error: str
    trace: Trace | None
    score: Score | None
    scenario_digest: str = ""
    environment_digest: str = ""
    timings: Timings | None = None
    effects: tuple[Effect, ...] | None = None
    perturb: str = ""


async def rollout(
    farm: FarmClient,
    scenario: ScenarioDetail,
    model: Model | OwnAgent,
    *,
    limits: Limits,
    person: Person | None = None,
    rules: Rules = OWN,
    seed: int = 0,
    http_client: httpx2.AsyncClient | None = None,
    with_effects: bool = False,
    on_event: Callable[[Event], None] | None = None,
    answers: AnswerFormat = "text",
    perturb: str = "",
) -> Rollout:
    """Play one scenario once: lease, play, score, close.

    A fault of the farm is recorded as `infra_error`, never raised.

    With a `person` it is a conversation. `rules` are those of a benchmark. `with_effects` records the rows that each
    call changed. An agent that plays by itself is an `AgentProgram` or an `AgentFunction`. Of the limits, `seconds`
    alone bounds it. With `answers` of "json" the keys of a submitted answer stand behind the task. `perturb` says how
    the tools differ from the environment's.
    """
    episode = Episode(rules)
    error = ""
    leasing = farm.leased(
        scenario.environment,
        scenario.scenario.id,
        seed=seed,
        ttl_seconds=_lease_of(limits, with_person=person is not None),
        perturb=perturb,
        http_client=http_client,
    )
    try:
        task_text = await _task(farm, scenario, answers)
        await episode.run(
            leasing,
            model,
            task_text,
            limits=limits,
            person=person,
            turns=_turns_of(scenario.scenario),
            with_effects=with_effects,
            on_event=on_event,
        )
        error = episode.error
    except (FarmError, FarmUnreachable) as trouble:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise asyncio.CancelledError from trouble  # somebody wants us to stop, and the connection broke over it
        broken_before = episode.trace.error if episode.trace is not None else ""  # what broke first caused the rest
        error = broken_before or f"{type(trouble).__name__}: {trouble}"
    return _record(scenario, seed, episode, error, rules).model_copy(update={"perturb": perturb})


def _lease_of(limits: Limits, *, with_person: bool) -> int:
    """The seconds of a lease. A person may take as long as the agent."""
    return min(LONGEST_LEASE, math.ceil(limits.seconds) * (2 if with_person else 1) + SECONDS_TO_SPARE)


async def _task(farm: FarmClient, detail: ScenarioDetail, answers: AnswerFormat) -> str:
    """The task as the agent is told it."""
    if answers == "text":
        return detail.told
    clock = detail.scenario.clock or (await farm.environment(detail.environment)).clock
    return task_asking(detail.scenario, clock, answers)


def _turns_of(scenario: Scenario) -> FixedTurnsOf | None:
    """The user of a task with fixed turns."""
    if not scenario.turns:
        return None
    new_tools = frozenset(turn for turn in (scenario.tools or {}).values() if turn > 0)
    return lambda live: FixedTurns(scenario.turns, live.mark_turn, new_tools=new_tools)


def _record(scenario: ScenarioDetail, seed: int, episode: Episode, error: str, rules: Rules) -> Rollout:
    outcome: Outcome = "infra_error"
    if episode.trace is not None and episode.score is not None and episode.score.outcome == "scored":
        outcome = OUTCOMES[episode.trace.end]
    judged = episode.score if outcome != "infra_error" else None
    in_vain = rules.unfinished_is_zero and outcome != "scored"
    return Rollout(
        environment=scenario.environment,
        scenario=scenario.scenario.id,
        seed=seed,
        outcome=outcome,
        reward=None if judged is None else 0.0 if in_vain else judged.reward,
        success=None if judged is None else not in_vain and judged.success,
        error=error,
        trace=episode.trace,
        score=episode.score,
        scenario_digest=scenario.digest,
        environment_digest=(episode.score.environment_digest if episode.score else None) or "",
        timings=episode.timings,
        effects=episode.effects,
    )


async def for_each(
    items: Iterable[ItemT], work: Callable[[ItemT], Awaitable[ResultT]], *, at_once: int
) -> list[ResultT]:
    """Do some work for each item, for a bounded number of items at a time.

    Args:
        items: what to work on. The results are in their order.
        work: what is done for one item. Its first error cancels the rest, and is raised as it is.
        at_once: the most items at a time, which protects what the work asks: a farm, or an endpoint.
    """
    room = asyncio.Semaphore(at_once)

    async def one(item: ItemT) -> ResultT:
        async with room:
            return await work(item)

    with one_error():
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(item)) for item in items]
    return [task.result() for task in tasks]


@contextmanager
def one_error() -> Generator[None]:
    """Raise the first error of a task group instead of the group."""
    try:
        yield
    except ExceptionGroup as group:
        raise group.exceptions[0] from None
