"""One rollout: launch a scenario, let a model play it over MCP, score what it left, close, and keep the record."""

import asyncio
import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

import httpx2

from agent_client.errors import FarmUnreachable
from agent_client.events import Event
from agent_client.model import Model
from agent_client.person import Person
from agent_client.play import Limits, play
from agent_client.toolbox import connect
from agent_client.trace import End, Trace
from evals.effects import Effect, effects_of
from registry.client import FarmClient
from registry.wire import Lease, ScenarioDetail, Score
from servers.errors import FarmError, InfraError
from servers.record import Record

Outcome = Literal["scored", "agent_error", "timeout", "infra_error"]
OUTCOMES: dict[End, Outcome] = {
    "finished": "scored",
    "turn_limit": "timeout",
    "token_limit": "timeout",
    "time_limit": "timeout",
    "agent_error": "agent_error",
    "infra_error": "infra_error",
}
"""How a rollout ended, by how its episode did. What the state is worth is the reward of all but `infra_error`."""
LONGEST_LEASE = 604_800
SECONDS_TO_SPARE = 300


class Timings(Record):
    """When a rollout began (seconds since 1970), and how many seconds each part of it took."""

    began: float
    launch: float = 0.0
    play: float = 0.0
    score: float = 0.0


class Rollout(Record):
    """What an agent did at a scenario, what the checkpoints say of it, and the reward.

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


@dataclass
class _Course:
    """What is known so far of a rollout under way."""

    began: float = field(default_factory=time.time)
    marks: list[float] = field(default_factory=lambda: [time.monotonic()])
    trace: Trace | None = None
    score: Score | None = None
    effects: tuple[Effect, ...] | None = None

    def mark(self) -> None:
        """One more part is over."""
        self.marks.append(time.monotonic())

    def timings(self) -> Timings:
        parts = [later - earlier for earlier, later in zip(self.marks, self.marks[1:], strict=False)]
        launch, played, score = [*parts, 0.0, 0.0, 0.0][:3]
        return Timings(began=self.began, launch=launch, play=played, score=score)


async def rollout(
    farm: FarmClient,
    scenario: ScenarioDetail,
    model: Model,
    *,
    limits: Limits,
    person: Person | None = None,
    seed: int = 0,
    http_client: httpx2.AsyncClient | None = None,
    with_effects: bool = False,
    on_event: Callable[[Event], None] | None = None,
) -> Rollout:
    """Play one scenario once. What breaks on our side is in the record, never raised.

    With a `person` it is a conversation. `with_effects` asks the farm what each call changed, and records it.
    """
    course = _Course()
    error = ""
    try:
        ttl = min(LONGEST_LEASE, math.ceil(limits.seconds) + SECONDS_TO_SPARE)
        lease = await _launched(farm, scenario, seed, ttl)
        course.mark()
        try:
            task = scenario.scenario.task
            course.trace = await _episode(lease, task, model, limits, person, http_client, on_event)
            course.mark()
            course.score = await farm.score(lease.instance, course.trace.answer)
            course.mark()
            if with_effects:
                course.effects = await effects_of(farm, lease.instance, course.trace)
            error = course.trace.error or course.score.error or ""
        finally:
            await closed(farm, lease)
    except (FarmError, FarmUnreachable) as trouble:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise asyncio.CancelledError from trouble  # somebody wants us to stop, and the connection broke over it
        broken_before = course.trace.error if course.trace is not None else ""  # what broke first caused the rest
        error = broken_before or f"{type(trouble).__name__}: {trouble}"
    return _record(scenario, seed, course, error)


async def _launched(farm: FarmClient, scenario: ScenarioDetail, seed: int, ttl: int) -> Lease:
    """Launch; who is cancelled meanwhile gives back what was launched all the same."""
    launching = asyncio.ensure_future(
        farm.launch(scenario.environment, scenario.scenario.id, seed=seed, ttl_seconds=ttl)
    )
    try:
        [lease] = await asyncio.shield(launching)
    except asyncio.CancelledError:
        with suppress(FarmError):
            for lease in await launching:
                await farm.close(lease.instance)
        raise
    return lease


async def closed(farm: FarmClient, lease: Lease) -> None:
    """Close to the end, also for who is cancelled. What cannot be closed now is closed when its lease ends."""
    closing = asyncio.ensure_future(farm.close(lease.instance))
    with suppress(FarmError):
        try:
            await asyncio.shield(closing)
        except asyncio.CancelledError:
            with suppress(FarmError):
                await closing
            raise


async def _episode(
    lease: Lease,
    task: str,
    model: Model,
    limits: Limits,
    person: Person | None,
    http_client: httpx2.AsyncClient | None,
    on_event: Callable[[Event], None] | None,
) -> Trace:
    if lease.mcp_url is None or lease.token is None:
        raise InfraError(f"the lease of instance {lease.instance} has ended before it began")
    async with connect(lease.mcp_url, lease.token, http_client=http_client) as toolbox:
        return await play(model, toolbox, task, limits=limits, person=person, on_event=on_event)


def _record(scenario: ScenarioDetail, seed: int, course: _Course, error: str) -> Rollout:
    outcome: Outcome = "infra_error"
    if course.trace is not None and course.score is not None and course.score.outcome == "scored":
        outcome = OUTCOMES[course.trace.end]
    judged = course.score if outcome != "infra_error" else None
    return Rollout(
        environment=scenario.environment,
        scenario=scenario.scenario.id,
        seed=seed,
        outcome=outcome,
        reward=judged.reward if judged else None,
        success=judged.success if judged else None,
        error=error,
        trace=course.trace,
        score=course.score,
        scenario_digest=scenario.digest,
        environment_digest=(course.score.environment_digest if course.score else None) or "",
        timings=course.timings(),
        effects=course.effects,
    )
