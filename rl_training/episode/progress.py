"""The progress of an episode: what its state is worth after each turn, judged on copies, off the agent's path.

The worth of a state is the potential of a shaping reward that moves no optimum:

    F(s, a, s') = gamma * Phi(s') - Phi(s)

(Ng, Harada, Russell 1999, "Policy invariance under reward transformations", theorem 1). Phi(s) is the reward that the
verdicts about s give with an empty answer, and 0 after the end. The shaping is in the advantages
(`rl_training.verl.turn_advantages`). What an episode earns is unchanged.
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import NamedTuple

from pydantic import Field

from agent_client.model import CallReply, Message, Reply
from registry.messages import Lease
from rl_training.episode.farm_connection import FarmConnection
from rl_training.episode.forks import EpisodeForks, has_result
from rl_training.episode.token_model import TokenModel
from servers.errors import FarmError, InfraError
from servers.records import Record

log = logging.getLogger("farm.training")


class ProgressShaping(Record):
    """Shaping by progress. `lam` weighs later turns: 1 keeps the optimum, less credits a turn sooner, with a bias."""

    lam: float = Field(default=1.0, ge=0, le=1)


class JudgedState(NamedTuple):
    """A state that is judged. `at` is the place of the turn that follows it, in tokens of the response."""

    at: int
    worth: "asyncio.Task[float]"


class Progress(EpisodeForks):
    """The states of one episode that are judged."""

    def __init__(self, link: FarmConnection, model: TokenModel) -> None:
        super().__init__(link, model)
        self._judged: list[JudgedState] = []
        self._same: dict[int, int] = {}

    @property
    def values(self) -> dict[int, float]:
        known = {one.at: one.worth.result() for one in self._judged if has_result(one.worth)}
        same = {at: known[of] for at, of in self._same.items() if of in known}
        return known | same

    @property
    def lost(self) -> int:
        """The number of states that could not be judged."""
        return self.failed + sum(not has_result(one.worth) for one in self._judged)

    async def _before_turn(self, messages: Sequence[Message]) -> None:
        live = self._live
        if live is None or not any(isinstance(message, Reply) for message in messages):
            return
        at = len(self._model.tokens.mask)
        if self._judged and not _changed(messages):
            self._same[at] = self._judged[-1].at
            return
        try:
            [lease] = await self._forked(live, 1)
        except FarmError as error:
            self.failed += 1
            log.warning("the progress of a turn is unknown: %s", error)
            return
        self._judged.append(JudgedState(at, self._run(lease, self._worth(lease))))

    async def _worth(self, lease: Lease) -> float:
        score = await self._link.registry.score(lease.instance, "", close=True)
        if score.reward is None:
            raise InfraError(f"a state could not be judged: {score.error}")
        return score.reward


def _changed(messages: Sequence[Message]) -> bool:
    """False if the last turn made no call that succeeded: then the state is what it was."""
    last = max(at for at, message in enumerate(messages) if isinstance(message, Reply))
    made = [message for message in messages[last + 1 :] if isinstance(message, CallReply)]
    return any(not one.result.is_error for one in made)
