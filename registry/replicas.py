"""Several registries of one farm, on one PostgreSQL ledger. Each knows from it which workers are there.

A worker's heartbeats reach one of them. It stores them, and the others read them.
"""

import asyncio

from registry.joining import Joining
from registry.ledger.database import LedgerError
from registry.ledger.store import KeptWorker
from servers.joining.messages import BEAT_SECONDS


class Replicas:
    """Tells the other registries of a farm the heartbeats of workers, and learns theirs, while the context is open."""

    def __init__(self, joining: Joining) -> None:
        self._joining = joining
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "Replicas":
        await self.look()
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def look(self) -> None:
        """Store what was heard here, and take over what was heard elsewhere."""
        registry = self._joining.registry
        heard, self._joining.heard = self._joining.heard, {}
        before = set(registry.fleet.seats)
        try:
            if heard:
                await asyncio.to_thread(registry.ledger.beaten, heard, at=registry.clock.wall())
            known = await asyncio.to_thread(registry.ledger.workers)
            await asyncio.gather(*(self._take_over(kept) for kept in known))
            await self._count()
        except LedgerError:  # the reaper tells it
            self._joining.heard = heard | self._joining.heard
            for seat in registry.fleet.seats.values():
                seat.silence = 0.0  # nobody knows who is silent
            return
        for name in before - {kept.name for kept in known}:
            await self._joining.forget(name)

    async def _take_over(self, kept: KeptWorker) -> None:
        seat = await self._joining.take_up(kept)
        if seat is None or seat.session != kept.session:
            return
        seat.drains = kept.drains
        if kept.beat > seat.beat:
            self._joining.hear(seat, kept.beat)

    async def _count(self) -> None:
        """Take over the numbers of leases from the ledger: other registries make and end leases too."""
        seats = self._joining.registry.fleet.seats
        counted = {name: seat.live for name, seat in seats.items()}
        loads = await asyncio.to_thread(self._joining.registry.ledger.loads)
        for name, before in counted.items():
            if name in seats:
                seats[name].live += loads.get(name, 0) - before  # what was launched or closed meanwhile still counts

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            await self.look()
