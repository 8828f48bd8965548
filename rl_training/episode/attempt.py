"""One attempt at an episode: lease an instance, let the policy play over MCP, score the state, close."""

import time
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple, Protocol

from agent_client.errors import FarmUnreachable
from agent_client.play import Limits
from agent_client.trace import Trace
from evals.episode import Episode
from registry.messages import Score
from rl_training.data.rows import Task
from rl_training.episode.farm_connection import FarmConnection
from rl_training.episode.leased_instance import EpisodeInstance, seat
from rl_training.episode.simulated_user import Partner
from rl_training.episode.token_model import TokenModel
from rl_training.errors import RowError
from servers.errors import BundleError, FarmError, InfraError, NotFound


class Forks(Protocol):
    """What forks an instance while it is played."""

    def of(
        self, seating: AbstractAsyncContextManager[EpisodeInstance]
    ) -> AbstractAsyncContextManager[EpisodeInstance]: ...


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
    link: FarmConnection,
    task: Task,
    goal: str,
    model: TokenModel,
    limits: Limits,
    user: Partner | None = None,
    forks: Forks | None = None,
) -> Attempt:
    """Play a task once.

    `goal` is the agent's task, or in a conversation what the `user` wants; the user speaks first. `forks` are made of
    the instance while it is played.

    Raises:
        RowError: the farm has no such task, or the prompt is too long. Another attempt would fail too.
        InfraError: the farm or the model's server failed. Nothing is known about the policy.
    """
    named = f"{task.environment}/{task.scenario}"
    episode = Episode()
    seating = seat(link, task)
    try:
        return await played(episode, seating if forks is None else forks.of(seating), named, goal, model, limits, user)
    except (NotFound, BundleError) as error:
        if episode.trace is None:
            raise RowError(f"{named} cannot be played: {error}") from error
        raise InfraError(f"{named}: {type(error).__name__}: {error}") from error


async def played(
    episode: Episode,
    seating: AbstractAsyncContextManager[EpisodeInstance],
    named: str,
    goal: str,
    model: TokenModel,
    limits: Limits,
    user: Partner | None,
) -> Attempt:
    """Play an episode to its end.

    Raises:
        RowError: the prompt is too long.
        NotFound, BundleError: there is no such task, or its instance ended.
        InfraError: the farm or the model's server failed. Nothing is known about the policy.
    """
    begun = time.perf_counter()
    try:
        await episode.run(seating, model, goal, limits=limits, person=user)
    except RowError:
        raise
    except (FarmError, FarmUnreachable) as error:
        if episode.trace is not None and episode.trace.end == "infra_error":
            raise InfraError(episode.trace.error) from error  # what broke first caused the rest
        if isinstance(error, NotFound | BundleError):
            raise
        raise InfraError(f"{named}: {type(error).__name__}: {error}") from error
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
