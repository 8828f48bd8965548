"""One rollout: launch a scenario, let a model play it over MCP, score what it left, close, and keep the record."""

import math
from collections.abc import Callable
from contextlib import suppress
from typing import Literal

import httpx2

from agent_client.errors import FarmUnreachable
from agent_client.events import Event
from agent_client.model import Model
from agent_client.play import Limits, play
from agent_client.toolbox import Mode, connect
from agent_client.trace import End, Trace
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


async def rollout(
    farm: FarmClient,
    scenario: ScenarioDetail,
    model: Model,
    *,
    limits: Limits,
    seed: int = 0,
    http_client: httpx2.AsyncClient | None = None,
    mode: Mode = "auto",
    on_event: Callable[[Event], None] | None = None,
) -> Rollout:
    """Play one scenario once. What breaks on our side is in the record, never raised."""
    trace: Trace | None = None
    score: Score | None = None
    error = ""
    try:
        ttl = min(LONGEST_LEASE, math.ceil(limits.seconds) + SECONDS_TO_SPARE)
        [lease] = await farm.launch(scenario.environment, scenario.scenario.id, seed=seed, ttl_seconds=ttl)
        try:
            trace = await _episode(lease, scenario.scenario.task, model, limits, http_client, mode, on_event)
            score = await farm.score(lease.instance, trace.answer)
            error = trace.error or score.error or ""
        finally:
            with suppress(FarmError):  # what cannot be closed now is closed when its lease ends
                await farm.close(lease.instance)
    except (FarmError, FarmUnreachable) as trouble:
        broken_before = trace.error if trace is not None else ""  # what broke first is the cause of the rest
        error = broken_before or f"{type(trouble).__name__}: {trouble}"
    return _record(scenario, seed, trace, score, error)


async def _episode(
    lease: Lease,
    task: str,
    model: Model,
    limits: Limits,
    http_client: httpx2.AsyncClient | None,
    mode: Mode,
    on_event: Callable[[Event], None] | None,
) -> Trace:
    if lease.mcp_url is None or lease.token is None:
        raise InfraError(f"the lease of instance {lease.instance} has ended before it began")
    async with connect(lease.mcp_url, lease.token, http_client=http_client, mode=mode) as toolbox:
        return await play(model, toolbox, task, limits=limits, on_event=on_event)


def _record(scenario: ScenarioDetail, seed: int, trace: Trace | None, score: Score | None, error: str) -> Rollout:
    outcome: Outcome = "infra_error"
    if trace is not None and score is not None and score.outcome == "scored":
        outcome = OUTCOMES[trace.end]
    judged = score if outcome != "infra_error" else None
    return Rollout(
        environment=scenario.environment,
        scenario=scenario.scenario.id,
        seed=seed,
        outcome=outcome,
        reward=judged.reward if judged else None,
        success=judged.success if judged else None,
        error=error,
        trace=trace,
        score=score,
    )
