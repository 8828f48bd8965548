"""The watchdog notices workers whose heartbeats stay away: it excludes, restarts or gives up on them."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

from registry.workers.fleet import Fleet, FleetMember
from servers.errors import FarmError
from servers.joining.messages import BEAT_SECONDS

EVERY_SECONDS = 0.5
SECONDS_TO_ANSWER = 3.0
"""Seconds without a heartbeat after which a worker gets no launches."""
SECONDS_TO_RESTART = 10.0
"""Seconds of silence after which a worker process of this farm is killed and restarted."""
SECONDS_TO_START = 30.0
"""Seconds that a restarted worker has for its first heartbeat."""
SECONDS_TO_LOSE = 12.0
"""Seconds of silence after which the leases of a worker that others keep end as lost."""
SECONDS_TO_LET_GO = 5.0
"""Seconds for which a look waits until leases have ended. One that takes longer goes on beside the next look."""
LONGEST_STEP = 2 * BEAT_SECONDS
"""The most seconds between two looks that count as silence: what stood still may be the registry."""
log = logging.getLogger("farm.watchdog")


class Watchdog:
    """Looks at the heartbeats of a fleet periodically, while the context is open. `lose` ends a worker's leases."""

    def __init__(
        self,
        fleet: Fleet,
        lose: Callable[[FleetMember], Awaitable[None]],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fleet = fleet
        self._lose = lose
        self._clock = clock
        self._looked = clock()
        self._task: asyncio.Task[None] | None = None
        self._losing: dict[str, asyncio.Task[None]] = {}

    async def __aenter__(self) -> "Watchdog":
        self._task = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            ending = [self._task, *self._losing.values()]
            for task in ending:
                task.cancel()
            await asyncio.gather(*ending, return_exceptions=True)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(EVERY_SECONDS)
            await self.look()

    async def look(self) -> None:
        """Count the silence of each worker, and act on it."""
        now = self._clock()
        step, self._looked = min(now - self._looked, LONGEST_STEP), now
        for seat in list(self._fleet.seats.values()):
            if seat.session:
                seat.silence += step
                self._judge(seat)
        if self._losing:
            await asyncio.wait(self._losing.values(), timeout=SECONDS_TO_LET_GO)

    def _judge(self, seat: FleetMember) -> None:
        if seat.silence >= SECONDS_TO_ANSWER and seat.answers:
            log.error(
                "worker does not answer", extra={"worker": seat.name, "error": f"silent for {seat.silence:.1f} s"}
            )
            seat.answers = False
            if seat.restart is None:
                seat.door.cut(launches_only=True)
        if seat.restart is not None and seat.silence >= SECONDS_TO_RESTART:
            seat.silence = SECONDS_TO_RESTART - SECONDS_TO_START
            seat.restarts += 1
            log.error("worker is started anew", extra={"worker": seat.name})
            seat.restart()
        elif seat.restart is None and seat.silence >= SECONDS_TO_LOSE and not seat.lost:
            seat.door.cut()
            if seat.name not in self._losing:
                task = self._losing[seat.name] = asyncio.create_task(self._lost(seat))
                task.add_done_callback(lambda _: self._losing.pop(seat.name, None))

    async def _lost(self, seat: FleetMember) -> None:
        with suppress(FarmError):  # the next look tries again
            await self._lose(seat)
