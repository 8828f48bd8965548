"""The watchdog finds worker processes that do not answer, excludes them from placement, and restarts them."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from registry.fleet import FleetMember
from registry.remote_worker import RemoteWorker
from servers.doors.operations import WALLS, EmptyOrder
from servers.errors import FarmError

EVERY_SECONDS = 1.0
SECONDS_TO_ANSWER = 2.5
"""Seconds to wait for an answer. With the interval, a worker that hangs is found after 3.5 s at most."""
SECONDS_TO_RESTART = 10.0
"""Seconds of silence after which a worker is killed and restarted."""
SECONDS_TO_START = 30.0
"""Seconds that a restarted worker has for its first answer."""
log = logging.getLogger("farm.watchdog")


@dataclass
class WatchedWorker:
    """A worker process: its place in the fleet, a door for the watchdog alone, and the function that kills it."""

    seat: FleetMember
    door: RemoteWorker
    restart: Callable[[], None]
    kill_at: float | None = None


class Watchdog:
    """Asks each worker process periodically whether it is there, while the context is open."""

    def __init__(
        self,
        workers: Sequence[WatchedWorker],
        *,
        seconds_to_answer: float = SECONDS_TO_ANSWER,
        seconds_to_restart: float = SECONDS_TO_RESTART,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._workers = workers
        self._seconds_to_answer = seconds_to_answer
        self._seconds_to_restart = seconds_to_restart
        self._clock = clock
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> "Watchdog":
        self._tasks = [asyncio.create_task(self._watched(worker)) for worker in self._workers]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _watched(self, worker: WatchedWorker) -> None:
        while True:
            await asyncio.sleep(EVERY_SECONDS)
            await self.ask(worker)

    async def ask(self, worker: WatchedWorker) -> None:
        """Ask one worker, and exclude or restart it if it is silent."""
        seat = worker.seat
        try:
            async with asyncio.timeout(self._seconds_to_answer):
                await worker.door.ask(WALLS, EmptyOrder())
        except (FarmError, TimeoutError) as error:
            if seat.answers:
                log.error("worker does not answer", extra={"worker": seat.name, "error": str(error)})
                seat.answers = False
            self._restart_if_due(worker)
            return
        if not seat.answers:
            log.info("worker answers again", extra={"worker": seat.name})
        seat.answers, worker.kill_at = True, None

    def _restart_if_due(self, worker: WatchedWorker) -> None:
        now = self._clock()
        if worker.kill_at is None:
            worker.kill_at = now + self._seconds_to_restart
        elif now >= worker.kill_at:
            worker.kill_at = now + SECONDS_TO_START
            worker.seat.restarts += 1
            log.error("worker is started anew", extra={"worker": worker.seat.name})
            worker.restart()
