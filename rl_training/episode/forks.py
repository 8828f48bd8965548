"""Forks of an episode while it is played: made between two turns of the policy, and ended with the episode."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Self, TypeVar

from agent_client.model import Message
from registry.messages import Lease
from rl_training.episode.farm_connection import FarmConnection
from rl_training.episode.leased_instance import EpisodeInstance
from rl_training.episode.token_model import TokenModel
from rl_training.episode.tokens import MARK
from servers.errors import InfraError

T = TypeVar("T")


class EpisodeForks(ABC):
    """The forks of one episode. Leaving it waits for what runs in them, or ends that if the episode broke."""

    def __init__(self, link: FarmConnection, model: TokenModel) -> None:
        self._link = link
        self._model = model
        self._live: EpisodeInstance | None = None
        self._running: list[tuple[Lease, asyncio.Task[Any]]] = []
        self.failed: int = 0
        model.before_turn = self._before_turn

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        if not self._running:
            return
        running = [one for _, one in self._running]
        try:
            if kind is None:
                await asyncio.wait(running)
        finally:
            for one in running:
                one.cancel()
            await asyncio.wait(running)
            for lease, one in self._running:
                if not has_result(one):
                    self._link.launches.give_back(lease)

    @asynccontextmanager
    async def of(self, seating: AbstractAsyncContextManager[EpisodeInstance]) -> AsyncGenerator[EpisodeInstance]:
        """The instance that is forked."""
        async with seating as live:
            self._live = live
            yield live

    @property
    @abstractmethod
    def values(self) -> dict[int, float]:
        """The known values of states, by the place of the turn that follows."""

    @abstractmethod
    async def _before_turn(self, messages: Sequence[Message]) -> None:
        """Fork the episode if it is time. If that cannot be done, the episode goes on."""

    async def _forked(self, live: EpisodeInstance, count: int) -> list[Lease]:
        """Forks of the episode's instance.

        Raises:
            FarmError: the registry's error, or the turn has no place for a value.
        """
        if self._model.tokens.unanswered < MARK:
            raise InfraError(f"the model reads fewer than {MARK} tokens between two turns")
        return await self._link.launches.fork(live.id, count)

    def _run(self, lease: Lease, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run something in a fork until the episode ends."""
        running = asyncio.create_task(work)
        self._running.append((lease, running))
        return running


def has_result(running: asyncio.Task[Any]) -> bool:
    """True if it ended, and neither broke nor was cancelled."""
    return running.done() and not running.cancelled() and running.exception() is None
