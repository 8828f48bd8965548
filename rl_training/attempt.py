"""One attempt at an episode: lease an instance, let the policy play it over MCP, score what it left, give it back."""

import time
from typing import NamedTuple

from agent_client.errors import FarmUnreachable
from agent_client.play import Limits, play
from agent_client.trace import Trace
from registry.wire import Score
from rl_training.errors import RowError
from rl_training.link import Link
from rl_training.partner import Partner
from rl_training.seat import Seat, seat
from rl_training.task import Task
from rl_training.token_model import TokenModel
from servers.errors import BundleError, FarmError, InfraError, NotFound, RequestError


class Attempt(NamedTuple):
    """An episode that has a result, and where its seconds went."""

    trace: Trace
    score: Score
    launch_seconds: float
    tool_seconds: float
    score_seconds: float
    user_seconds: float
    seconds: float


async def attempt(
    link: Link, task: Task, goal: str, model: TokenModel, limits: Limits, user: Partner | None = None
) -> Attempt:
    """Play a task once; `goal` is what the agent is told to do, or what a `user` wants of it, who speaks first.

    Raises:
        RowError: the farm has no such task, or the model cannot take it. Another attempt would end the same.
        InfraError: the farm or the model's server broke; nothing is known about the policy.
    """
    begun = time.perf_counter()
    try:
        async with seat(link, task) as taken:
            launched = time.perf_counter()
            trace = await _episode(taken, goal, model, limits, user)
            played = time.perf_counter()
            score = await _score(taken, trace)
            scored = time.perf_counter()
    except RowError:
        raise
    except (NotFound, BundleError) as error:
        raise RowError(f"{task.environment}/{task.scenario} cannot be played: {error}") from error
    except (FarmError, FarmUnreachable) as error:
        raise InfraError(f"{task.environment}/{task.scenario}: {type(error).__name__}: {error}") from error
    talked = 0.0 if user is None else user.seconds
    return Attempt(
        trace=trace,
        score=score,
        launch_seconds=launched - begun,
        tool_seconds=played - launched - model.generate_seconds - talked,
        score_seconds=scored - played,
        user_seconds=talked,
        seconds=time.perf_counter() - begun,
    )


async def _episode(taken: Seat, goal: str, model: TokenModel, limits: Limits, user: Partner | None) -> Trace:
    trace = await play(model, await taken.toolbox(), goal, limits=limits, person=user)
    if trace.end == "infra_error":
        raise InfraError(trace.error)
    if not model.tokens.mask:
        raise InfraError(f"the model's server gave no token: {trace.error}")
    return trace


async def _score(taken: Seat, trace: Trace) -> Score:
    try:
        score = await taken.score(trace.answer)
    except (NotFound, RequestError) as error:  # it was there when the episode began
        raise InfraError(str(error)) from error
    if score.outcome == "infra_error" or score.reward is None:
        raise InfraError(f"it could not be judged: {score.error}")
    return score
