"""One attempt at an episode: lease an instance, let the policy play over MCP, score the state, close."""

import time
from typing import NamedTuple

from agent_client.errors import FarmUnreachable
from agent_client.play import Limits
from agent_client.trace import Trace
from evals.episode import Episode
from registry.messages import Score
from rl_training.data.rows import Task
from rl_training.episode.farm_connection import FarmConnection
from rl_training.episode.leased_instance import seat
from rl_training.episode.simulated_user import Partner
from rl_training.episode.token_model import TokenModel
from rl_training.errors import RowError
from servers.errors import BundleError, FarmError, InfraError, NotFound


class Attempt(NamedTuple):
    """An episode with a result, and the seconds of its parts."""

    trace: Trace
    score: Score
    launch_seconds: float
    tool_seconds: float
    score_seconds: float
    user_seconds: float
    seconds: float


async def attempt(
    link: FarmConnection, task: Task, goal: str, model: TokenModel, limits: Limits, user: Partner | None = None
) -> Attempt:
    """Play a task once.

    `goal` is the agent's task, or in a conversation what the `user` wants; the user speaks first.

    Raises:
        RowError: the farm has no such task, or the prompt is too long. Another attempt would fail too.
        InfraError: the farm or the model's server failed. Nothing is known about the policy.
    """
    begun = time.perf_counter()
    episode = Episode()
    try:
        await episode.run(seat(link, task), model, goal, limits=limits, person=user)
    except RowError:
        raise
    except (FarmError, FarmUnreachable) as error:
        if episode.trace is None and isinstance(error, NotFound | BundleError):
            raise RowError(f"{task.environment}/{task.scenario} cannot be played: {error}") from error
        if episode.trace is not None and episode.trace.end == "infra_error":
            raise InfraError(episode.trace.error) from error  # what broke first caused the rest
        raise InfraError(f"{task.environment}/{task.scenario}: {type(error).__name__}: {error}") from error
    trace, score = _with_a_result(episode, model)
    took = episode.timings
    talked = 0.0 if user is None else user.seconds
    return Attempt(
        trace=trace,
        score=score,
        launch_seconds=took.launch,
        tool_seconds=took.play - model.generate_seconds - talked,
        score_seconds=took.score,
        user_seconds=talked,
        seconds=time.perf_counter() - begun,
    )


def _with_a_result(episode: Episode, model: TokenModel) -> tuple[Trace, Score]:
    """The result of an episode. Raises InfraError if it says nothing about the policy."""
    trace, score = episode.trace, episode.score
    if trace is None or score is None:
        raise InfraError("the episode has no end")
    if trace.end == "infra_error":
        raise InfraError(trace.error)
    if not model.tokens.mask:
        raise InfraError(f"the model's server gave no token: {trace.error}")
    if score.outcome == "infra_error" or score.reward is None:
        raise InfraError(f"it could not be judged: {score.error}")
    return trace, score
