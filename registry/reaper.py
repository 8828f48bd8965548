"""The reaper keeps leases and instances consistent: it ends overdue leases, and closes instances without a lease.

It deletes nothing before it has confirmed that the ledger is this farm's. Of several registries, one does it at a time.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from typing import NamedTuple

from registry.leases import Registry
from registry.ledger.database import LedgerError
from registry.ledger.store import KeptLease
from registry.moves import SECONDS_TO_GIVE_UP
from registry.workers.fleet import FleetMember
from servers.doors.operations import (
    CLOSE,
    IDS,
    LEAVE,
    LEAVERS,
    STAY,
    SUSPEND,
    SUSPENDED,
    DepartOrder,
    EmptyOrder,
    InstanceOrder,
)
from servers.errors import FarmError, InfraError, NotFound

BATCH = 100
GRACE_SECONDS = 60.0
SECONDS_TO_ANSWER = 5.0
"""Seconds that a worker has in one pass. The rest is done in a later one, and no other worker waits for it."""
PASSES_BETWEEN_RECONCILES = 5

log = logging.getLogger("farm.reaper")


class Reconciled(NamedTuple):
    """What one check of the workers repaired: instances without a lease, leases without an instance."""

    closed: int
    dropped: int


class Reaper:
    """Maintains the leases of a registry while the context is open."""

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
            with suppress(FarmError):  # then the next start goes on from an earlier tick
                await asyncio.to_thread(self.registry.ledger.tick, self.registry.clock.now())

    async def reap(self) -> int:
        """End overdue leases, and return their number. These are orphans: their owners never closed them.

        A state that was kept for its time is deleted.
        """
        reaped = 0
        late: set[str] = set()
        async for batch in self._ended(self._expire):
            await self._for_each(batch, self.registry.suspend, late)
            reaped += len(batch)
        async for batch in self._ended(self._forget):
            await self._for_each(batch, self.registry.delete, late)
        self.orphans += reaped
        return reaped

    async def _ended(self, end: Callable[[], list[KeptLease]]) -> AsyncGenerator[list[KeptLease]]:
        """Yield the leases that `end` ends, batch by batch, until there are no more."""
        while True:
            due = await asyncio.to_thread(end)
            yield due
            if len(due) < BATCH:
                return

    async def _for_each(
        self, batch: list[KeptLease], do: Callable[[KeptLease], Awaitable[None]], late: set[str]
    ) -> None:
        """Do something about each lease, at all workers concurrently. Those that take too long are late.

        A late worker is asked nothing more in this pass: when the workers are checked, what it missed is found.
        """
        of_worker: defaultdict[str, list[KeptLease]] = defaultdict(list)
        for kept in batch:
            of_worker[kept.worker].append(kept)

        async def at_one(worker: str, leases: list[KeptLease]) -> None:
            try:
                async with asyncio.timeout(SECONDS_TO_ANSWER):
                    for kept in leases:
                        await do(kept)
                        await asyncio.sleep(0)
            except TimeoutError:
                late.add(worker)

        await asyncio.gather(*(at_one(*one) for one in of_worker.items() if one[0] not in late))

    def _expire(self) -> list[KeptLease]:
        clock = self.registry.clock
        due = self.registry.ledger.expire(now=clock.now(), at=clock.wall(), limit=BATCH)
        self.registry.watch.expired([kept.instance for kept in due])
        return due

    def _forget(self) -> list[KeptLease]:
        clock = self.registry.clock
        over_since = clock.now() - self.registry.keep_seconds
        due = self.registry.ledger.forget(over_since=over_since, at=clock.wall(), limit=BATCH)
        self.registry.watch.forgotten([kept.instance for kept in due])
        return due

    async def reconcile(self) -> Reconciled:
        """Close instances without a lease, and leases without an instance.

        An instance without a lease is given some time: its launch may be under way. One that the ledger has never known
        is kept as long as the state of an expired lease, since the ledger may be a restored backup.
        """
        begun_before = self.registry.clock.now() - SECONDS_TO_GIVE_UP
        await asyncio.to_thread(self.registry.ledger.end_moves, begun_before=begun_before)
        seats = list(self.registry.fleet.seats.values())
        mended = await asyncio.gather(*map(self._checked, seats), return_exceptions=True)
        for one in mended:
            if isinstance(one, BaseException):
                raise one
        done = [one for one in mended if isinstance(one, Reconciled)]
        return Reconciled(sum(one.closed for one in done), sum(one.dropped for one in done))

    async def _checked(self, seat: FleetMember) -> Reconciled:
        """Check one worker for as long as it may take. What is left over is found again by the next check."""
        try:
            async with asyncio.timeout(SECONDS_TO_ANSWER):
                return await self._reconcile(seat)
        except LedgerError:
            raise
        except FarmError as error:  # of this worker, which keeps the others from nothing
            self.registry.watch.unreconciled(seat.name, error)
        except TimeoutError:
            late = InfraError(f"the worker {seat.name} took more than {SECONDS_TO_ANSWER:g} s")
            self.registry.watch.unreconciled(seat.name, late)
        return Reconciled(0, 0)

    async def _reconcile(self, seat: FleetMember) -> Reconciled:
        if seat.lost:
            return Reconciled(0, 0)
        ledger, at = self.registry.ledger, self.registry.clock.wall()
        leased = await asyncio.to_thread(ledger.instances_on, seat.name)  # first: what is leased then, is there already
        counted = seat.live
        try:
            present = set(await seat.door.ask(IDS, EmptyOrder()))
            suspended = set(await seat.door.ask(SUSPENDED, EmptyOrder()))
            said = await seat.door.ask(LEAVERS, EmptyOrder())
            leavers = {instance: copy for instance, copy in said.items() if instance in present}
        except (FarmError, asyncio.CancelledError):
            seat.answers = False
            raise
        if not seat.session:  # others say by heartbeats whether they answer
            seat.answers = True
        await asyncio.to_thread(ledger.revive, seat.name, [one for one in present if leased.get(one) == "lost"])
        leased = {one: status for one, status in leased.items() if status != "lost" or one in present}
        live = {instance for instance, status in leased.items() if status in ("live", "lost")}
        seat.live += len(live & present) - counted  # what was launched or closed meanwhile still counts
        await asyncio.to_thread(ledger.saw, seat.name, at=at)
        dropped = await asyncio.to_thread(ledger.drop, seat.name, sorted(leased.keys() - present), at=at)
        for instance in (leased.keys() - live) & present - suspended:
            await seat.door.ask(SUSPEND, InstanceOrder(instance=instance))
        await self._end_departures(seat, leavers)
        closed = await self._close_strangers(seat, present - leased.keys())
        self.registry.watch.reconciled(seat.name, closed=closed, dropped=dropped)
        return Reconciled(closed, dropped)

    async def _end_departures(self, seat: FleetMember, leavers: dict[str, str]) -> None:
        """Open or delete the instances of a worker whose moves are over: their registries ended in the middle.

        The ledger is read after the worker was asked. A move that is over then will never go on.
        """
        held = await asyncio.to_thread(self.registry.ledger.held, list(leavers))
        known = await asyncio.to_thread(self.registry.ledger.known, [*leavers, *leavers.values()])
        for instance, copy in leavers.items():
            kept, order = held.get(instance), DepartOrder(instance=instance, copied_as=copy)
            with suppress(NotFound):  # it was ended meanwhile
                if kept is None and {instance, copy} & known:
                    await seat.door.ask(LEAVE, order)
                elif kept is not None and kept.moving != copy:
                    await seat.door.ask(STAY, order)

    async def _close_strangers(self, seat: FleetMember, found: set[str]) -> int:
        """Close the instances that have had no lease for long enough. Returns their number."""
        now = self.registry.clock.now()
        since = self._strangers.get(seat.name, {})
        self._strangers[seat.name] = strangers = {instance: since.get(instance, now) for instance in found}
        old = [instance for instance, begin in strangers.items() if now - begin >= GRACE_SECONDS]
        ledger = self.registry.ledger
        ended = await asyncio.to_thread(ledger.known, old)
        held = await asyncio.to_thread(ledger.held, old)
        arriving = await asyncio.to_thread(ledger.arriving, old)
        grace = max(GRACE_SECONDS, self.registry.keep_seconds)
        closed = 0
        for instance in old:
            if instance in held or instance in arriving:
                continue  # it has come to be an instance since the ledger was read, or is about to
            if instance in ended or now - strangers[instance] >= grace:
                with suppress(NotFound):
                    await seat.door.ask(CLOSE, InstanceOrder(instance=instance))
                    closed += 1
        return closed

    async def _run(self) -> None:
        while True:
            await self._pass(reconcile=True)
            for _ in range(PASSES_BETWEEN_RECONCILES):
                await asyncio.sleep(self.every_seconds)
                await self._pass(reconcile=False)

    async def _pass(self, *, reconcile: bool) -> None:
        """One round. An error shows in the farm's health, and the next round tries again."""
        try:
            clock = self.registry.clock
            clock.catch_up(await asyncio.to_thread(self.registry.ledger.tick, clock.now()))
            if await asyncio.to_thread(self.registry.ledger.leads):
                if reconcile:
                    await self.reconcile()
                await self.reap()
        except FarmError as error:
            if self.trouble is None:
                log.error("leases cannot be looked after", extra={"error": str(error)})
            self.trouble = str(error)
        else:
            self.trouble = None
