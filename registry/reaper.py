"""What keeps leases and instances in step: it ends what is over, and closes what nobody holds."""

import asyncio
import logging
from typing import NamedTuple

from registry.fleet import Seat
from registry.leases import Registry
from servers.errors import FarmError

BATCH = 100
GRACE_SECONDS = 60.0
PASSES_BETWEEN_RECONCILES = 5

log = logging.getLogger("farm.reaper")


class Reconciled(NamedTuple):
    """What one look at the workers mended: instances without a lease, leases without an instance."""

    closed: int
    dropped: int


class Reaper:
    """Looks after the leases of a registry while it is entered."""

    def __init__(self, registry: Registry, *, every_seconds: float = 3.0) -> None:
        self.registry = registry
        self.every_seconds = every_seconds
        self.orphans = 0
        self.trouble: str | None = None
        self._strangers: dict[str, dict[str, float]] = {}
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "Reaper":
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def reap(self) -> int:
        """End the leases whose time is over; how many. They are orphans: their owners never closed them."""
        reaped = 0
        while True:
            due = await asyncio.to_thread(self.registry.ledger.expire, now=self.registry.clock(), limit=BATCH)
            for kept in due:
                await self.registry.let_go(kept)
                await asyncio.sleep(0)
            self.registry.watch.expired([kept.instance for kept in due])
            reaped += len(due)
            if len(due) < BATCH:
                self.orphans += reaped
                return reaped

    async def reconcile(self) -> Reconciled:
        """Close instances that no lease names, and leases whose instance is gone.

        An instance is a stranger for a while before it is closed: it may just be launched, its lease not written yet.
        """
        closed = dropped = 0
        for seat in list(self.registry.fleet.seats.values()):
            mended = await self._reconcile(seat)
            closed += mended.closed
            dropped += mended.dropped
        return Reconciled(closed, dropped)

    async def _reconcile(self, seat: Seat) -> Reconciled:
        ledger, now = self.registry.ledger, self.registry.clock()
        leased = await asyncio.to_thread(ledger.instances_on, seat.name)  # first: what is leased then, is there already
        counted = seat.live
        try:
            present = set(await seat.door.ids())
        except FarmError:
            seat.answers = False
            return Reconciled(0, 0)
        seat.answers = True
        seat.live += len(leased & present) - counted  # what was launched or closed meanwhile still counts
        await asyncio.to_thread(ledger.saw, seat.name, at=now)
        dropped = await asyncio.to_thread(ledger.close_leases, leased - present, at=now)
        known = self._strangers.get(seat.name, {})
        strangers = {instance: known.get(instance, now) for instance in present - leased}
        self._strangers[seat.name] = strangers
        old = [instance for instance, since in strangers.items() if now - since >= GRACE_SECONDS]
        for instance in old:
            await seat.door.close(instance)
        self.registry.watch.reconciled(seat.name, closed=len(old), dropped=dropped)
        return Reconciled(len(old), dropped)

    async def _run(self) -> None:
        while True:
            await self._pass(reconcile=True)
            for _ in range(PASSES_BETWEEN_RECONCILES):
                await asyncio.sleep(self.every_seconds)
                await self._pass(reconcile=False)

    async def _pass(self, *, reconcile: bool) -> None:
        """One round. What goes wrong shows in the farm's health, and the next round tries again."""
        try:
            if reconcile:
                await self.reconcile()
            await self.reap()
        except FarmError as error:
            if self.trouble is None:
                log.error("leases cannot be looked after", extra={"error": str(error)})
            self.trouble = str(error)
        else:
            self.trouble = None
