"""Leases: who may use which instance until when. Launches, extends, ends and scores."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import NamedTuple, NoReturn, TypeVar
from weakref import WeakValueDictionary

from registry.catalogue import Catalogue
from registry.events import RegistryEvents
from registry.ledger.database import LedgerError
from registry.ledger.lease_clock import LeaseClock, dated
from registry.ledger.store import HELD, KeptLease, KeptWorker, Ledger, Status, TakenInstance
from registry.messages import KEEP_SECONDS, LaunchRequest, Lease, LeasePart, Score, SecondInstance, WorkerCard
from registry.moves import Moves
from registry.scoring import JudgedPlace, judged
from registry.workers.fleet import (
    Fleet,
    FleetMember,
    abandon,
)
from registry.workers.instance_door import InstanceDoor
from registry.workers.remote_worker import WorkerAway
from servers.bundle_library import Library
from servers.doors.operations import (
    CLOSE,
    FORK,
    IDS,
    RESET,
    RESUME,
    SUSPEND,
    TICKET,
    WALLS,
    EmptyOrder,
    ForkOrder,
    InstanceOrder,
)
from servers.errors import CapacityError, Conflict, FarmError, InfraError, Moving, NotFound
from servers.messages import Launch, Page, Ticket
from servers.text.wording import suggestion

Placed = TypeVar("Placed")


class NewLease(NamedTuple):
    """A lease that is not in the ledger yet, its instance's token, and the same of a second instance."""

    kept: KeptLease
    seat: FleetMember
    ticket: Ticket
    beside: "NewLease | None" = None

    def with_second(self, environment: str, seat: FleetMember, ticket: Ticket) -> "NewLease":
        """The same lease with a second instance."""
        kept = self.kept._replace(second=ticket.instance, second_of=None)
        other = kept.forked_as(ticket.instance)._replace(
            worker=seat.name, path=ticket.path, environment=environment, second=None, second_of=kept.instance
        )
        return self._replace(kept=kept, beside=NewLease(other, seat, ticket))


class Registry:
    """The leases of a farm. The caller opens and closes its fleet and its ledger."""

    def __init__(
        self,
        library: Library,
        ledger: Ledger,
        fleet: Fleet,
        *,
        clock: LeaseClock | None = None,
        keep_seconds: int = KEEP_SECONDS,
    ) -> None:
        self.catalogue = Catalogue(library)
        self.ledger = ledger
        self.fleet = fleet
        self.clock = clock or LeaseClock(time.time())
        self.keep_seconds = keep_seconds
        self.watch = RegistryEvents()
        self.moves = Moves(library, ledger, fleet, self.clock, self.watch)
        self._memberships: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """Each has one worker come, and be given up on, one after the other. Others do not wait for it."""

    async def join(self, seat: FleetMember, *, instead_of: str | None = None) -> None:
        """Add a worker to the fleet, or let it come back under its name. Its lost leases are live again.

        Raises:
            Conflict: since the worker with the identity `instead_of` had the name, another has taken it.
        """
        now = self.clock.wall()
        kept = KeptWorker(
            seat.name,
            seat.url,
            registered_at=now,
            seen_at=now,
            identity=seat.identity,
            session=seat.session,
            reached_at=seat.reached_at,
            capacity=seat.capacity,
            beat=seat.beat,
        )
        if not await asyncio.to_thread(self.ledger.enrol, kept, instead_of=instead_of):
            raise Conflict(f"another worker has just taken the name {seat.name}; choose another with --name")
        await self.welcome(seat)

    async def welcome(self, seat: FleetMember) -> None:
        """Add a worker that is in the ledger. Its lost leases are live again."""
        async with self._membership(seat.name):
            with suppress(CapacityError):  # a worker that does not answer yet may take its seat all the same
                seat.walls = tuple(await seat.door.ask(WALLS, EmptyOrder()))
                present = await seat.door.ask(IDS, EmptyOrder())
                self.watch.came_back(seat.name, await asyncio.to_thread(self.ledger.revive, seat.name, present))
            known = await asyncio.to_thread(self.ledger.worker, seat.name)
            seat.drains = known is not None and known.drains
            seat.live = (await asyncio.to_thread(self.ledger.loads)).get(seat.name, 0)
            seat.lost, seat.answers = False, True
            self.fleet.seats[seat.name] = seat

    async def lose(self, seat: FleetMember) -> None:
        """Give up on a worker that is silent: its live leases end as lost. Those that it comes back with live again."""
        async with self._membership(seat.name):
            if seat.silence == 0.0 and seat.session:
                return  # it has come back meanwhile
            seat.lost, seat.answers = True, False
            try:
                lost = await asyncio.to_thread(self.ledger.lose, seat.name, at=self.clock.wall())
            except LedgerError:
                seat.lost = False
                raise
            seat.live = 0
            self.watch.lost(seat.name, lost)

    def _membership(self, name: str) -> asyncio.Lock:
        return self._memberships.setdefault(name, asyncio.Lock())

    async def drain(self, name: str, *, drains: bool = True) -> None:
        """Launch nothing more on a worker, or launch on it again. A lost one is forgotten.

        Raises:
            NotFound: there is no such worker.
        """
        seat = self.fleet.seats.get(name)
        known = {worker.name for worker in await asyncio.to_thread(self.ledger.workers)}
        if name not in known:
            raise NotFound(f"there is no worker {name!r}; {suggestion(name, sorted(known), lister='farm ps')}")
        if drains and seat is not None and seat.lost:
            await self.dismiss(seat)
            return
        await asyncio.to_thread(self.ledger.drain, name, drains=drains)
        if seat is not None:
            seat.drains = drains

    async def notice(self, seat: FleetMember) -> None:
        """Add a worker to the fleet that has joined through another registry of this farm."""
        with suppress(FarmError):  # then its heartbeats tell when it is there
            seat.walls = tuple(await seat.door.ask(WALLS, EmptyOrder()))
        seat.live = (await asyncio.to_thread(self.ledger.loads)).get(seat.name, 0)
        self.fleet.seats[seat.name] = seat

    async def forget(self, name: str) -> None:
        """Forget a worker that this farm no longer has, unless it has instances."""
        if not await asyncio.to_thread(self.ledger.instances_on, name):
            await asyncio.to_thread(self.ledger.dismiss, name)

    async def dismiss(self, seat: FleetMember) -> None:
        """Forget a worker that has left."""
        self.fleet.seats.pop(seat.name, None)
        await asyncio.to_thread(self.ledger.dismiss, seat.name)

    async def launch(self, request: LaunchRequest) -> list[Lease]:
        """Launch instances and lease them. For a scenario over two environments both are launched, or neither.

        Raises:
            NotFound, BundleError: no such environment or scenario, or it cannot be started.
            CapacityError: there is no room.
            Conflict: another launch has this key, or the scenario needs two instances and the caller takes one.
        """
        if request.key is not None and (before := await asyncio.to_thread(self.ledger.launched, request.key)):
            return await self._again(request, before)
        scenario = None
        library = self.catalogue.library
        if request.scenario is not None:
            known = library.current_scenario(request.environment, request.scenario)
            scenario = known or await asyncio.to_thread(library.scenario, request.environment, request.scenario)
        second = scenario.second if scenario else None
        if second is not None:
            _refuse_half(request, second.environment)
        order = Launch(
            environment=request.environment,
            scenario=request.scenario,
            setup=scenario.setup if scenario else "",
            clock=scenario.clock if scenario else None,
            seed=request.seed,
            count=request.count,
            tools=scenario.tools if scenario else None,
            perturb=request.perturb,
        )
        placed = await self.fleet.launch(order)
        now, at = self.clock.now(), self.clock.wall()
        leases = [
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
                    created_at=at,
                    expires_at=now + request.ttl_seconds,
                    launch_key=request.key,
                    launch_number=None if request.key is None else number,
                    launch_order=None if request.key is None else request.digest,
                    perturb=request.perturb or None,
                ),
                seat,
                ticket,
            )
            for number, (seat, ticket) in enumerate(placed)
        ]
        if second is not None:
            other = {"environment": second.environment, "setup": second.setup, "clock": second.clock, "tools": None}
            beside = await _or_abandoned(placed, self.fleet.launch(order.model_copy(update=other)))
            pairs = zip(leases, beside, strict=True)
            leases = [lease.with_second(second.environment, seat, ticket) for lease, (seat, ticket) in pairs]
        new = await self._leased(leases)
        if new is None and request.key is not None:  # the same launch, through another registry or at the same time
            return await self._again(request, await asyncio.to_thread(self.ledger.launched, request.key))
        return new or []

    async def _again(self, request: LaunchRequest, before: list[KeptLease]) -> list[Lease]:
        """The leases of a launch that was made before.

        Raises:
            Conflict: it was another one.
        """
        first = before[0]
        if first.launch_order != request.digest:
            raise Conflict(f"the key {request.key!r} is that of another launch, of {first.environment}; choose another")
        return [await self.find(kept.instance) for kept in before]

    async def fork(self, instance: str, count: int, *, worker: str | None = None) -> list[Lease]:
        """Lease new instances with the state of an existing one, for its remaining time. A second one is forked too.

        They are on `worker`, by default on the worker of the existing one, or on another if that has no room.

        Raises:
            NotFound: there is no such worker.
            CapacityError: there is no room.
            Conflict: its state does not go to another worker.
        """
        parent, other = await self._both(instance, self._live)
        seat, tickets = await self._forked(parent, count, worker)
        at = self.clock.wall()
        leases = [
            NewLease(
                parent.forked_as(ticket.instance)._replace(worker=seat.name, path=ticket.path, created_at=at),
                seat,
                ticket,
            )
            for ticket in tickets
        ]
        if other is not None:
            placed = [(seat, ticket) for ticket in tickets]
            home, beside = await _or_abandoned(placed, self._forked(other, count, worker))
            pairs = zip(leases, beside, strict=True)
            leases = [lease.with_second(other.environment, home, ticket) for lease, ticket in pairs]
        return await self._leased(leases) or []

    async def _forked(self, parent: KeptLease, count: int, worker: str | None) -> tuple[FleetMember, list[Ticket]]:
        """The worker of new instances with the state of an existing one, and their tickets."""
        door = InstanceDoor(self.fleet, parent, self._live)
        if worker is not None and worker != parent.worker:
            target = await self._named(worker)
            return target, await self.moves.fork(door, target, count)
        try:
            tickets = await door.ask(FORK, ForkOrder(instance=parent.instance, count=count))
            seat = self.fleet.seat(door.kept.worker)
            return seat, self.fleet.counted(seat, count, tickets)
        except (WorkerAway, Moving):
            raise
        except CapacityError:
            if worker is not None or len(self.fleet.seats) == 1:
                raise
            target = self.fleet.other_than(self.fleet.seat(door.kept.worker))
            return target, await self.moves.fork(door, target, count)

    async def move(self, instance: str, *, worker: str | None = None) -> Lease:
        """Move an instance to another worker. It keeps its lease, state and history. Its URL and token are new.

        Raises:
            NotFound: there is no such worker.
            CapacityError: there is no room, a worker does not answer, or it took too long. Then it has not moved.
            Conflict: it is there already, another move goes on, or its state does not go there.
        """
        kept = await self._live(instance)
        seat = self.fleet.seat(kept.worker)
        target = self.fleet.other_than(seat) if worker is None else await self._named(worker)
        if target is seat:
            raise Conflict(f"instance {instance} is on {target.name} already")
        await self.moves.move(kept, target)
        if target.lost:  # it was given up on before the ledger knew that this is there
            await self.lose(target)
        return await self.find(instance)

    async def _named(self, worker: str) -> FleetMember:
        """A worker that may get instances.

        Raises:
            NotFound: there is no such worker.
            CapacityError: it does not answer, or it drains.
        """
        seat = self.fleet.seats.get(worker)
        if seat is None:
            raise NotFound(
                f"there is no worker {worker!r}; {suggestion(worker, sorted(self.fleet.seats), lister='farm ps')}"
            )
        if not seat.answers:
            raise CapacityError(f"the worker {worker} does not answer now; choose another, or retry in a few seconds")
        if seat.drains:
            raise CapacityError(f"the worker {worker} is drained; `farm drain {worker} --undo` takes it up again")
        return seat

    async def find(self, instance: str) -> Lease:
        """A lease, with its instance's token while it is live.

        Raises:
            NotFound: there was never such a lease.
        """
        kept = await self.kept(instance)
        beside = None if kept.second is None else await self.kept(kept.second)
        return self._shown(kept, await self._ticket(kept), beside, await self._ticket(beside))

    async def _ticket(self, kept: KeptLease | None) -> Ticket | None:
        """The token of an instance, while its lease is live."""
        if kept is None or kept.standing(self.clock.now()) != "live":
            return None
        ticket = await self.fleet.seat(kept.worker).door.ask(TICKET, InstanceOrder(instance=kept.copy))
        if ticket.instance != kept.copy:
            raise InfraError(f"the worker {kept.worker} answers about another instance than {kept.copy}")
        return ticket

    async def leases(self, page: Page, *, status: Status | None = None, environment: str | None = None) -> LeasePart:
        """Leases, the newest first, without their tokens."""
        rows, total = await asyncio.to_thread(
            self.ledger.page,
            now=self.clock.now(),
            status=status,
            environment=environment,
            offset=page.offset,
            limit=page.limit,
        )
        items = tuple(self._shown(kept, None) for kept in rows)
        return LeasePart(items=items, total=total, offset=page.offset, limit=page.limit)

    async def door(self, instance: str) -> InstanceDoor:
        """The way to a leased instance.

        Raises:
            NotFound, Conflict: it was never launched, or its lease has ended.
            CapacityError: its worker is away.
        """
        return self._door(await self._live(instance))

    async def reading_door(self, instance: str) -> InstanceDoor:
        """Like `door`, for reads: also while the state of an expired lease is kept.

        Raises:
            NotFound, Conflict: it was never launched, or its state was deleted.
            CapacityError: its worker is away.
        """
        return self._door(await self._there(instance))

    def _door(self, kept: KeptLease) -> InstanceDoor:
        """The way to the instance of a lease that was just looked up. Raises CapacityError: its worker is away."""
        self.fleet.seat(kept.worker)
        return InstanceDoor(self.fleet, kept, self._there)

    async def heartbeat(self, instance: str) -> Lease:
        """Extend a lease: its time starts again. An expired lease is revived while its state is kept.

        Raises:
            NotFound, Conflict: there was never such a lease, or it was closed, or its state was deleted.
        """
        kept, beside = await self._both(instance, self._there)
        first = await self._prolonged(kept)
        other = None if beside is None else await self._prolonged(beside)
        return self._shown(first, await self._ticket(first), other, await self._ticket(other))

    async def _prolonged(self, kept: KeptLease) -> KeptLease:
        """Start the time of one instance again."""
        now = self.clock.now()
        until = max(kept.expires_at, now + kept.ttl_seconds)
        over_since = now - self.keep_seconds
        if not await asyncio.to_thread(self.ledger.prolong, kept.instance, until=until, over_since=over_since):
            raise Conflict(f"the lease of instance {kept.instance} has just ended; launch a new one")
        seat = self.fleet.seat(kept.worker)
        if kept.status == "expired":
            seat.live += 1
        if kept.expires_at <= now:
            await seat.door.ask(RESUME, InstanceOrder(instance=kept.copy))
        return kept._replace(expires_at=until, status="live")

    async def reset(self, instance: str) -> None:
        """Put the instances of a lease back to their start.

        Raises:
            NotFound, Conflict: it was never launched, or its lease has ended.
            CapacityError: a worker is away.
        """
        for one in await self._both(instance, self._live):
            if one is not None:
                await self._door(one).ask(RESET, InstanceOrder(instance=one.instance))

    async def close(self, instance: str) -> None:
        """End a lease and delete its instance.

        If the worker is away, it deletes the instance when it comes back, since no lease names it any more.

        Raises:
            NotFound, Conflict: there was never such a lease, or it has ended.
        """
        kept, beside = await self._both(instance, self.kept)
        if await asyncio.to_thread(self.ledger.close_leases, kept.instances, at=self.clock.wall()) == 0:
            raise Conflict(f"the lease of instance {instance} is {kept.standing(self.clock.now())} already")
        for one in (kept, beside):
            if one is not None:
                await self.delete(one)

    async def suspend(self, kept: KeptLease) -> None:
        """Refuse the agent of an expired lease. If that fails, the reaper tries again."""
        seat = self.fleet.seats.get(kept.worker)
        if seat is None:
            return
        seat.live -= 1
        if not seat.answers:
            return
        with suppress(FarmError):
            await seat.door.ask(SUSPEND, InstanceOrder(instance=kept.copy))
            now = await asyncio.to_thread(self.ledger.find, kept.instance)
            if now is not None and now.status == "live":  # it was revived meanwhile
                await seat.door.ask(RESUME, InstanceOrder(instance=kept.copy))

    async def delete(self, kept: KeptLease) -> None:
        """Delete the instance of a lease that has ended. If that fails, the reaper tries again: no lease names it."""
        seat = self.fleet.seats.get(kept.worker)
        if seat is None:
            return
        if kept.status == "live":
            seat.live -= 1
        if not seat.answers:
            return
        with suppress(FarmError):
            await seat.door.ask(CLOSE, InstanceOrder(instance=kept.copy))

    async def score(self, instance: str, answer: str, *, close: bool = False) -> Score:
        """Score an instance by the checkpoints of its scenario, and keep the score in the ledger.

        The state of an expired lease can be scored while it is kept. With `close`, a lease whose instance could be
        judged ends.

        Raises:
            Conflict: it was launched without a scenario.
            NotFound, BundleError: its scenario no longer exists, or cannot be read.
        """
        kept, beside = await self._both(instance, self._there)
        if kept.scenario is None:
            raise Conflict(f"instance {instance} was launched without a scenario; nothing to judge by")
        begin = time.perf_counter()
        library = self.catalogue.library
        known = library.current_scenario(kept.environment, kept.scenario)
        scenario = known or await asyncio.to_thread(library.scenario, kept.environment, kept.scenario)
        at = dated(self.clock.wall())
        if (scenario.second is None) is not (beside is None):
            raise Conflict(f"scenario {scenario.id!r} has another number of environments than when it was launched")
        places = [JudgedPlace(self._door(one), one.instance) for one in (kept, beside) if one]
        score = await judged(places, scenario, answer=answer, at=at)
        closing = self.clock.wall() if close and score.outcome == "scored" else None
        self.watch.scored(kept.environment, score, time.perf_counter() - begin)
        await asyncio.shield(self._keep(kept, beside, score, closing))  # whole, also when nobody waits any more
        return score

    async def _keep(self, kept: KeptLease, beside: KeptLease | None, score: Score, closing: float | None) -> None:
        """Keep a score. With a closing time, also close the instances."""
        if await asyncio.to_thread(self.ledger.add_score, score, close_at=closing):
            await self.delete(kept)
            if beside is not None:
                await asyncio.to_thread(self.ledger.close_leases, [beside.instance], at=self.clock.wall())
                await self.delete(beside)

    async def workers(self) -> list[WorkerCard]:
        """The workers of the fleet."""
        known, loads = await asyncio.to_thread(self.ledger.workers), await asyncio.to_thread(self.ledger.loads)
        return [
            WorkerCard(
                name=worker.name,
                url=worker.url,
                instances=seat.live if seat else loads.get(worker.name, 0),
                answers=seat is not None and seat.answers,
                drains=worker.drains,
                capacity=worker.capacity,
                walls=seat.walls if seat else (),
                registered_at=dated(worker.registered_at),
                seen_at=dated(worker.seen_at),
            )
            for worker in known
            for seat in [self.fleet.seats.get(worker.name)]
        ]

    async def _leased(self, new: list[NewLease]) -> list[Lease] | None:
        """Keep new leases. None if another launch has their key: then their instances are closed."""
        every = [*new, *(lease.beside for lease in new if lease.beside is not None)]
        placed = [(lease.seat, lease.ticket) for lease in every]
        try:
            added = await asyncio.to_thread(self.ledger.add, [lease.kept for lease in every])
        except TakenInstance:
            await self._refuse_taken(placed)
        except LedgerError:
            await abandon(placed)
            raise
        if not added:
            await abandon(placed)
            return None
        for lease in every:
            lease.seat.live += 1
        for seat in {lease.seat.name: lease.seat for lease in every}.values():
            if seat.lost:  # it was given up on before the ledger knew these
                await self.lose(seat)
        return [self._shown_new(lease, lease.beside) for lease in new]

    async def _refuse_taken(self, placed: list[tuple[FleetMember, Ticket]]) -> NoReturn:
        """A worker names instances that are leased already. These are left alone, and what others launched is closed.

        Raises:
            InfraError: always.
        """
        taken = await asyncio.to_thread(self.ledger.known, [ticket.instance for _, ticket in placed])
        liars = {seat.name for seat, ticket in placed if ticket.instance in taken}
        await abandon([(seat, ticket) for seat, ticket in placed if seat.name not in liars])
        named = ", ".join(sorted(liars)) or "a worker"
        raise InfraError(f"{named}: says that it launched an instance which is leased already; restart this worker")

    def _shown_new(self, lease: NewLease, beside: NewLease | None) -> Lease:
        if beside is None:
            return self._shown(lease.kept, lease.ticket)
        return self._shown(lease.kept, lease.ticket, beside.kept, beside.ticket)

    async def _both(
        self, instance: str, look: Callable[[str], Awaitable[KeptLease]]
    ) -> tuple[KeptLease, KeptLease | None]:
        """The lease of a first instance, and that of the second one if there is one, each looked up.

        Raises:
            Conflict: the instance is the second one of a lease.
        """
        kept = await look(instance)
        if kept.second_of is not None:
            raise Conflict(
                f"instance {kept.instance} is the second one of a lease; ask about the first: {kept.second_of}"
            )
        return kept, None if kept.second is None else await look(kept.second)

    async def kept(self, instance: str) -> KeptLease:
        """A lease as it is stored. Raises NotFound: there was never such a lease."""
        kept = await asyncio.to_thread(self.ledger.find, instance)
        if kept is None:
            raise NotFound(f"there is no instance {instance!r}; it was never launched")
        return kept

    async def _live(self, instance: str) -> KeptLease:
        kept = await self._there(instance)
        if kept.standing(self.clock.now()) != "live":
            until = self.clock.date(kept.expires_at + self.keep_seconds).isoformat(timespec="seconds")
            raise Conflict(
                f"the lease of instance {instance} is expired; a heartbeat revives it until {until},"
                " or launch a new one"
            )
        return kept

    async def _there(self, instance: str) -> KeptLease:
        """A lease whose state exists: a live one, or an expired one that is kept."""
        kept = await self.kept(instance)
        if kept.status == "lost":
            raise InfraError(
                f"the lease of instance {instance} is lost: its worker {kept.worker} has stopped answering; launch a"
                " new one"
            )
        if not self._is_there(kept):
            raise Conflict(f"the lease of instance {instance} is {kept.standing(self.clock.now())}; launch a new one")
        return kept

    def _is_there(self, kept: KeptLease) -> bool:
        return kept.status in HELD and kept.expires_at + self.keep_seconds > self.clock.now()

    def _shown(
        self, kept: KeptLease, ticket: Ticket | None, beside: KeptLease | None = None, other: Ticket | None = None
    ) -> Lease:
        status = kept.standing(self.clock.now())
        is_kept = status == "expired" and self._is_there(kept)
        return Lease(
            instance=kept.instance,
            environment=kept.environment,
            scenario=kept.scenario,
            seed=kept.seed,
            worker=kept.worker,
            mcp_url=self._url(kept),
            token=ticket.token if ticket else None,
            status=status,
            ttl_seconds=kept.ttl_seconds,
            created_at=dated(kept.created_at),
            expires_at=self.clock.date(kept.expires_at),
            kept_until=self.clock.date(kept.expires_at + self.keep_seconds) if is_kept else None,
            second=None
            if beside is None
            else SecondInstance(
                instance=beside.instance,
                environment=beside.environment,
                mcp_url=self._url(beside),
                token=other.token if other else None,
            ),
            second_of=kept.second_of,
        )

    def _url(self, kept: KeptLease) -> str | None:
        seat = self.fleet.seats.get(kept.worker)
        return f"{seat.url}{kept.path}" if seat and kept.standing(self.clock.now()) == "live" else None


def _refuse_half(request: LaunchRequest, environment: str) -> None:
    """Refuse a launch of a scenario over two environments that would be half of it.

    Raises:
        Conflict: the caller takes one instance, or wants tools that differ from the environment's.
    """
    named = f"scenario {request.scenario!r} is over two environments, {request.environment} and {environment}"
    if not request.pairs:
        raise Conflict(f"{named}; whoever launches it must take a second instance (`pairs`), and this caller takes one")
    if request.perturb:
        raise Conflict(f"{named}; such a scenario cannot be perturbed")


async def _or_abandoned(placed: Sequence[tuple[FleetMember, Ticket]], launching: Awaitable[Placed]) -> Placed:
    """What is launched second. If that fails, what was launched first is closed."""
    try:
        return await launching
    except BaseException:
        await abandon(list(placed))
        raise
