"""Who may use which instance until when: launching, prolonging, ending, and judging what was made of it."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import NamedTuple

from registry.catalogue import Catalogue
from registry.database import LedgerError
from registry.fleet import Fleet, Seat, WorkerDoor, abandon
from registry.ledger import KeptLease, KeptWorker, Ledger, Status
from registry.scores import judged
from registry.watch import Watch
from registry.wire import LaunchRequest, Lease, LeasePart, Score, WorkerCard
from servers.errors import CapacityError, Conflict, FarmError, NotFound
from servers.library import Library
from servers.orders import Launch, Page, Ticket

Clock = Callable[[], float]


class NewLease(NamedTuple):
    """A lease that is not in the ledger yet, and what its owner is told besides."""

    kept: KeptLease
    seat: Seat
    ticket: Ticket


class Registry:
    """The leases of a farm. Its fleet and its ledger live as long as it does, and are closed by who opened them."""

    def __init__(self, library: Library, ledger: Ledger, fleet: Fleet, *, clock: Clock = time.time) -> None:
        self.catalogue = Catalogue(library)
        self.ledger = ledger
        self.fleet = fleet
        self.clock = clock
        self.watch = Watch()

    async def join(self, seat: Seat, *, token: str | None = None) -> None:
        """Take a worker into the fleet, or let it come back under its name."""
        now = self.clock()
        await asyncio.to_thread(self.ledger.enrol, KeptWorker(seat.name, seat.url, token, now, now))
        with suppress(CapacityError):  # a worker that does not answer yet may take its seat all the same
            seat.walls = tuple(await seat.door.walls())
        seat.live = (await asyncio.to_thread(self.ledger.loads)).get(seat.name, 0)
        self.fleet.seats[seat.name] = seat

    async def launch(self, request: LaunchRequest) -> list[Lease]:
        """Launch instances and lease them.

        Raises:
            NotFound, BundleError: no such environment or scenario, or it cannot be started.
            CapacityError: there is no room.
        """
        scenario = None
        if request.scenario is not None:
            scenario = self.catalogue.library.scenario(request.environment, request.scenario)
        order = Launch(
            environment=request.environment,
            scenario=request.scenario,
            setup=scenario.setup if scenario else "",
            clock=scenario.clock if scenario else None,
            seed=request.seed,
            count=request.count,
        )
        placed = await self.fleet.launch(order)
        now = self.clock()
        return await self._leased(
            [
                NewLease(
                    KeptLease(
                        instance=ticket.instance,
                        worker=seat.name,
                        path=ticket.path,
                        environment=request.environment,
                        scenario=request.scenario,
                        seed=request.seed,
                        ttl_seconds=request.ttl_seconds,
                        status="live",
                        created_at=now,
                        expires_at=now + request.ttl_seconds,
                    ),
                    seat,
                    ticket,
                )
                for seat, ticket in placed
            ]
        )

    async def fork(self, instance: str, count: int) -> list[Lease]:
        """Lease new instances that stand where one stands, for as long as that one is leased."""
        parent = await self._live(instance)
        seat = self.fleet.seat(parent.worker)
        tickets = await seat.door.fork(instance, count)
        now = self.clock()
        return await self._leased(
            [
                NewLease(parent._replace(instance=ticket.instance, path=ticket.path, created_at=now), seat, ticket)
                for ticket in tickets
            ]
        )

    async def find(self, instance: str) -> Lease:
        """A lease, with the token of its instance while it is live.

        Raises:
            NotFound: there was never one.
        """
        kept = await self._kept(instance)
        if kept.standing(self.clock()) != "live":
            return self._shown(kept, None)
        return self._shown(kept, await self.fleet.seat(kept.worker).door.ticket(instance))

    async def leases(self, page: Page, *, status: Status | None = None, environment: str | None = None) -> LeasePart:
        """Leases, the newest first, without their tokens."""
        rows, total = await asyncio.to_thread(
            self.ledger.page,
            now=self.clock(),
            status=status,
            environment=environment,
            offset=page.offset,
            limit=page.limit,
        )
        items = tuple(self._shown(kept, None) for kept in rows)
        return LeasePart(items=items, total=total, offset=page.offset, limit=page.limit)

    async def door(self, instance: str) -> WorkerDoor:
        """The door of the worker that has a leased instance.

        Raises:
            NotFound, Conflict: it was never launched, or its lease has ended.
            CapacityError: its worker is away.
        """
        kept = await self._live(instance)
        return self.fleet.seat(kept.worker).door

    async def heartbeat(self, instance: str) -> Lease:
        """Prolong a lease: its time begins anew."""
        kept = await self._live(instance)
        now = self.clock()
        until = max(kept.expires_at, now + kept.ttl_seconds)
        if not await asyncio.to_thread(self.ledger.prolong, instance, until=until, now=now):
            raise Conflict(f"the lease of instance {instance} has just ended; launch a new one")
        return self._shown(kept._replace(expires_at=until), await self.fleet.seat(kept.worker).door.ticket(instance))

    async def close(self, instance: str) -> None:
        """End a lease and its instance.

        An instance whose worker is away is closed when it is back, since no lease names it any more.

        Raises:
            NotFound, Conflict: there was never such a lease, or it has ended.
        """
        kept = await self._kept(instance)
        now = self.clock()
        if await asyncio.to_thread(self.ledger.close_leases, [instance], at=now) == 0:
            raise Conflict(f"the lease of instance {instance} is {kept.standing(now)} already")
        await self.let_go(kept)

    async def let_go(self, kept: KeptLease) -> None:
        """Close the instance of a lease that has ended. If that fails, the reaper finds it again: no lease names it."""
        seat = self.fleet.seats.get(kept.worker)
        if seat is None:
            return
        seat.live -= 1
        with suppress(FarmError):
            await seat.door.close(kept.instance)

    async def score(self, instance: str, answer: str, *, close: bool = False) -> Score:
        """What the scenario's checkpoints say of an instance now. It is kept in the ledger.

        With `close`, a lease whose instance could be judged ends with it.

        Raises:
            Conflict: it was launched without a scenario.
            NotFound, BundleError: its scenario is not there any more, or cannot be read.
        """
        kept = await self._live(instance)
        if kept.scenario is None:
            raise Conflict(f"instance {instance} was launched without a scenario; nothing to judge by")
        begin = time.perf_counter()
        scenario = self.catalogue.library.scenario(kept.environment, kept.scenario)
        at = datetime.fromtimestamp(self.clock(), UTC)
        score = await judged(self.fleet.seat(kept.worker).door, instance, scenario, answer=answer, at=at)
        closing = self.clock() if close and score.outcome == "scored" else None
        ended = await asyncio.to_thread(self.ledger.add_score, score, close_at=closing)
        self.watch.scored(kept.environment, score, time.perf_counter() - begin)
        if ended:
            await self.let_go(kept)
        return score

    async def workers(self) -> list[WorkerCard]:
        """The workers of the fleet."""
        known = await asyncio.to_thread(self.ledger.workers)
        return [
            WorkerCard(
                name=worker.name,
                url=worker.url,
                instances=seat.live if seat else 0,
                answers=seat is not None and seat.answers,
                walls=seat.walls if seat else (),
                registered_at=datetime.fromtimestamp(worker.registered_at, UTC),
                seen_at=datetime.fromtimestamp(worker.seen_at, UTC),
            )
            for worker in known
            for seat in [self.fleet.seats.get(worker.name)]
        ]

    async def _leased(self, new: list[NewLease]) -> list[Lease]:
        try:
            await asyncio.to_thread(self.ledger.add, [lease.kept for lease in new])
        except LedgerError:
            await abandon([(lease.seat, lease.ticket) for lease in new])
            raise
        for lease in new:
            lease.seat.live += 1
        return [self._shown(lease.kept, lease.ticket) for lease in new]

    async def _kept(self, instance: str) -> KeptLease:
        kept = await asyncio.to_thread(self.ledger.find, instance)
        if kept is None:
            raise NotFound(f"there is no instance {instance!r}; it was never launched")
        return kept

    async def _live(self, instance: str) -> KeptLease:
        kept = await self._kept(instance)
        status = kept.standing(self.clock())
        if status != "live":
            raise Conflict(f"the lease of instance {instance} is {status}; launch a new one")
        return kept

    def _shown(self, kept: KeptLease, ticket: Ticket | None) -> Lease:
        status = kept.standing(self.clock())
        seat = self.fleet.seats.get(kept.worker)
        return Lease(
            instance=kept.instance,
            environment=kept.environment,
            scenario=kept.scenario,
            seed=kept.seed,
            worker=kept.worker,
            mcp_url=f"{seat.url}{kept.path}" if seat and status == "live" else None,
            token=ticket.token if ticket else None,
            status=status,
            ttl_seconds=kept.ttl_seconds,
            created_at=datetime.fromtimestamp(kept.created_at, UTC),
            expires_at=datetime.fromtimestamp(kept.expires_at, UTC),
        )
