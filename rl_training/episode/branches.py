"""Branches of an episode: at chosen turns it is forked, and its forks go on by themselves.

What the forks of a turn earn in the mean is the value of the state that the turn left. So a turn is credited with the
change of that value, not with the end of the episode alone. This follows VinePPO (Kazemnejad, Aghajohari, Portelance,
Sordoni, Reddy, Courville, Le Roux 2024, arXiv:2410.01679): the value of a state is the mean return of rollouts from it.
VinePPO throws these rollouts away. With `learn`, they are trained on too, as in tree searches.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Annotated, NamedTuple

from pydantic import Field, field_validator

from agent_client.model import CallReply, Message, Reply, User
from agent_client.play import Limits
from agent_client.trace import Turn
from evals.episode import Episode
from rl_training.episode.attempt import Attempt, played
from rl_training.episode.farm_connection import FarmConnection
from rl_training.episode.forks import EpisodeForks, has_result
from rl_training.episode.instance_batches import LaunchedBatch, Opening
from rl_training.episode.leased_instance import held
from rl_training.episode.simulated_user import Partner
from rl_training.episode.token_model import TokenModel
from servers.errors import FarmError, InfraError
from servers.records import Record

MOST_BRANCHES = 16
MOST_FORKS = 16
log = logging.getLogger("farm.training")


class Branching(Record):
    """When an episode is forked, and into how many branches.

    `after` numbers the turns of the policy from 1. With `learn`, branches are rows of the batch too.
    """

    branches: int = Field(default=2, ge=1, le=MOST_BRANCHES)
    after: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1, max_length=MOST_FORKS)] = (1,)
    learn: bool = True

    @field_validator("after")
    @classmethod
    def each_once(cls, after: tuple[int, ...]) -> tuple[int, ...]:
        if len(set(after)) < len(after):
            raise ValueError("a turn is named twice")
        return tuple(sorted(after))


class PlayedBranch(NamedTuple):
    """A branch that was played to its end."""

    model: TokenModel
    done: Attempt

    @property
    def earned(self) -> float:
        return self.done.score.reward or 0.0


class Fork(NamedTuple):
    """The branches of one state. `at` is the place of the turn that follows it, in tokens of the response."""

    at: int
    models: list[TokenModel]
    playing: "list[asyncio.Task[PlayedBranch]]"

    @property
    def branches(self) -> list[PlayedBranch]:
        """Those with a result."""
        return [one.result() for one in self.playing if has_result(one)]

    @property
    def value(self) -> float | None:
        """The mean of what they earned. None if all broke: then nothing is known, which is not 0."""
        earned = [one.earned for one in self.branches]
        return fmean(earned) if earned else None


class Branches(EpisodeForks):
    """The branches of one episode."""

    def __init__(
        self,
        link: FarmConnection,
        told: Branching,
        model: TokenModel,
        limits: Limits,
        user: Callable[[], Partner | None],
    ) -> None:
        super().__init__(link, model)
        self.learn = told.learn
        self._told = told
        self._limits = limits
        self._user = user
        self._began = time.monotonic()
        self.forks: list[Fork] = []

    async def __aexit__(self, kind: object, *_: object) -> None:
        await super().__aexit__(kind)
        for one in (one for fork in self.forks for one in fork.playing if not has_result(one)):
            log.warning("a branch broke, and its share is left out: %s", "" if one.cancelled() else one.exception())

    @property
    def values(self) -> dict[int, float]:
        return {fork.at: fork.value for fork in self.forks if fork.value is not None}

    @property
    def lost(self) -> int:
        """The number of branches without a result."""
        return sum(len(fork.playing) - len(fork.branches) for fork in self.forks)

    @property
    def tokens(self) -> int:
        """The number of tokens that branches generated, also those that broke."""
        return sum(sum(model.tokens.mask[fork.at :]) for fork in self.forks for model in fork.models)

    async def _before_turn(self, messages: Sequence[Message]) -> None:
        opening, turns = turns_of(messages)
        live = self._live
        if len(turns) not in self._told.after or live is None:
            return
        try:
            leases = await self._forked(live, self._told.branches)
        except FarmError as error:
            self.failed += 1
            log.warning("an episode goes on unbranched: it could not be forked after turn %d: %s", len(turns), error)
            return
        user = self._user()
        launch = live.launched.opening if user is None else Opening()  # a user may have changed the tools
        models = [self._model.fork() for _ in leases]
        playing = [
            self._run(lease, self._play(LaunchedBatch(lease, launch), opening, turns, model))
            for lease, model in zip(leases, models, strict=True)
        ]
        self.forks.append(Fork(len(self._model.tokens.mask), models, playing))

    async def _play(
        self, launched: LaunchedBatch, opening: str, turns: Sequence[Turn], model: TokenModel
    ) -> PlayedBranch:
        left = self._limits.seconds - (time.monotonic() - self._began)
        limits = self._limits.model_copy(update={"seconds": max(left, 0.001)})
        said = model.tokens.said
        done = await played(
            Episode(begun=turns), held(self._link, launched), "a branch", opening, model, limits, self._user()
        )
        if model.tokens.said == said:
            raise InfraError(f"the model's server gave it no token: {done.trace.error}")
        model.tokens.drop_unanswered()
        return PlayedBranch(model, done)


def turns_of(messages: Sequence[Message]) -> tuple[str, list[Turn]]:
    """The first message of the user, and the turns of a conversation: what `conversation` makes messages of."""
    opening = next(message.text for message in messages if isinstance(message, User))
    turns: list[Turn] = []
    for message in messages:
        if isinstance(message, Reply):
            turns.append(
                Turn(
                    text=message.text,
                    thinking=message.thinking,
                    calls=message.calls,
                    tokens_in=message.tokens_in,
                    tokens_out=message.tokens_out,
                )
            )
        elif isinstance(message, CallReply):
            turns[-1] = turns[-1].model_copy(update={"results": (*turns[-1].results, message.result)})
        elif isinstance(message, User) and turns:
            turns[-1] = turns[-1].model_copy(update={"user": message.text})
    return opening, turns
