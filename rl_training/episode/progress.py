"""The progress of an episode: what its state is worth after each turn, judged on copies, off the agent's path.

The worth of a state is the potential of a shaping reward that moves no optimum:

    F(s, a, s') = gamma * Phi(s') - Phi(s)

(Ng, Harada, Russell 1999, "Policy invariance under reward transformations", theorem 1). Phi(s) is the reward that the
verdicts about s give with an empty answer, and 0 after the end. The shaping is in the advantages
(`rl_training.verl.turn_advantages`). What an episode earns is unchanged.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import NamedTuple, Self

from pydantic import Field

from agent_client.model import CallReply, Message, Reply
from registry.messages import Lease
from rl_training.episode.farm_connection import FarmConnection
from rl_training.episode.leased_instance import EpisodeInstance
from rl_training.episode.token_model import TokenModel
from rl_training.episode.tokens import MARK
from servers.errors import FarmError, InfraError
from servers.records import Record

log = logging.getLogger("farm.training")


class ProgressShaping(Record):
    """Shaping by progress. `lam` weighs later turns: 1 keeps the optimum, less credits a turn sooner, with a bias."""

    lam: float = Field(default=1.0, ge=0, le=1)


class Judging(NamedTuple):
    """A state that is judged. `at` is the place of the turn that follows it, in tokens of the response."""

    at: int
    lease: Lease
    playing: "asyncio.Task[float]"


class Progress:
    """The states of one episode that are judged. Leaving it waits for the verdicts, or ends them if it broke."""

    def __init__(self, link: FarmConnection, model: TokenModel) -> None:
        self._link = link
        self._model = model
        self._live: EpisodeInstance | None = None
        self._judged: list[Judging] = []
        self._same: dict[int, int] = {}
        self.failed = 0
        model.before_turn = self._before_turn

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        playing = [one.playing for one in self._judged]
        if not playing:
            return
        try:
            if kind is None:
                await asyncio.wait(playing)
        finally:
            for one in playing:
                one.cancel()
            await asyncio.wait(playing)
            for one in self._judged:
                if not _is_known(one):
                    self._link.launches.give_back(one.lease)

    @asynccontextmanager
    async def of(self, seating: AbstractAsyncContextManager[EpisodeInstance]) -> AsyncGenerator[EpisodeInstance]:
        """The instance that is copied."""
        async with seating as live:
            self._live = live
            yield live

    @property
    def values(self) -> dict[int, float]:
        """The known potentials, by the place of the turn that follows."""
        known = {one.at: one.playing.result() for one in self._judged if _is_known(one)}
        same = {at: known[of] for at, of in self._same.items() if of in known}
        return known | same

    @property
    def lost(self) -> int:
        """The number of states that could not be judged."""
        return self.failed + sum(not _is_known(one) for one in self._judged)

    async def _before_turn(self, messages: Sequence[Message]) -> None:
        """Judge a copy of the state, unless the last turn left it as it was."""
        live, tokens = self._live, self._model.tokens
        if live is None or not any(isinstance(message, Reply) for message in messages):
            return
        at = len(tokens.mask)
        if self._judged and not _changed(messages):
            self._same[at] = self._judged[-1].at
            return
        try:
            if tokens.unanswered < MARK:
                raise InfraError(f"the model reads fewer than {MARK} tokens between two turns")
            [lease] = await self._link.launches.fork(live.id, 1)
        except FarmError as error:
            self.failed += 1
            log.warning("the progress of a turn is unknown: %s", error)
            return
        self._judged.append(Judging(at, lease, asyncio.create_task(self._worth(lease))))

    async def _worth(self, lease: Lease) -> float:
        score = await self._link.registry.score(lease.instance, "", close=True)
        if score.reward is None:
            raise InfraError(f"a state could not be judged: {score.error}")
        return score.reward


def _is_known(one: Judging) -> bool:
    return one.playing.done() and not one.playing.cancelled() and one.playing.exception() is None


def _changed(messages: Sequence[Message]) -> bool:
    """False if the last turn made no call that succeeded: then the state is what it was."""
    last = max(at for at, message in enumerate(messages) if isinstance(message, Reply))
    made = [message for message in messages[last + 1 :] if isinstance(message, CallReply)]
    return any(not one.result.is_error for one in made)
