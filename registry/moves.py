"""How an instance goes to another worker, so that after every crash exactly one copy of it is the instance.

A lease names one copy of its instance, by an id that is never used twice. That copy is the instance, and every other
one is a stray that no agent can call. So a move is: begin in the ledger, shut the old copy and take its state, make the
new copy, name it in the ledger, delete the old copy. `docs/explanation/decisions.md` has what follows from an end in
each of these steps.
"""

import asyncio
import secrets
from contextlib import suppress

from registry.events import RegistryEvents
from registry.ledger.database import LedgerError
from registry.ledger.lease_clock import LeaseClock
from registry.ledger.store import KeptLease, Ledger
from registry.workers.fleet import Fleet, FleetMember
from registry.workers.instance_door import InstanceDoor
from servers.bundle_library import Library
from servers.doors.operations import (
    ARRIVE,
    CLOSE,
    DEPART,
    EXPORT,
    LEAVE,
    STAY,
    ArriveOrder,
    DepartOrder,
    InstanceOrder,
)
from servers.errors import CapacityError, Conflict, FarmError, InfraError
from servers.messages import Launch, Ticket
from servers.worker.travelled_state import LARGEST_SENT

SECONDS_TO_MOVE = 40.0
"""Seconds from the begin of a move until its copy is made."""
SECONDS_TO_GIVE_UP = 60.0
"""Seconds after which a move is given up whose registry is gone."""


class Moves:
    """Moves instances of one registry, and forks them onto other workers."""

    def __init__(
        self, library: Library, ledger: Ledger, fleet: Fleet, clock: LeaseClock, watch: RegistryEvents
    ) -> None:
        self._library = library
        self._ledger = ledger
        self._fleet = fleet
        self._clock = clock
        self._watch = watch

    async def move(self, kept: KeptLease, target: FleetMember) -> None:
        """Move the instance of a live lease. If it fails, the instance stays where it was.

        Raises:
            Conflict: another move goes on, its lease has ended, or its state does not fit there.
            CapacityError: there is no room, a worker does not answer, or it took too long.
        """
        launch = await self._launch_of(kept)
        await asyncio.shield(self._moved(kept, target, launch))  # whole, also when nobody waits any more

    async def _moved(self, kept: KeptLease, target: FleetMember, launch: Launch) -> None:
        copy, seat = secrets.token_hex(8), self._fleet.seat(kept.worker)
        if not await asyncio.to_thread(self._ledger.begin_move, kept, moving=copy, at=self._clock.now()):
            raise Conflict(f"instance {kept.instance} is being moved already, or its lease has just ended; look again")
        leaving = DepartOrder(instance=kept.copy, copied_as=copy)
        try:
            async with asyncio.timeout(SECONDS_TO_MOVE):
                state = _bounded(await seat.door.ask(DEPART, leaving), seat)
                [ticket] = await self._arrived(kept, target, launch, state, (copy,))
        except TimeoutError:
            await self._stayed(seat, target, leaving)
            raise CapacityError(
                f"instance {kept.instance} could not be moved within {SECONDS_TO_MOVE:g} s and stays; try again"
            ) from None
        except FarmError:
            await self._stayed(seat, target, leaving)
            raise
        # If the ledger fails here, nobody knows whether it has moved. Then the reaper finds out and ends the move.
        if not await asyncio.to_thread(
            self._ledger.settle_move, kept, moving=copy, worker=target.name, path=ticket.path
        ):
            await self._stayed(seat, target, leaving)
            raise Conflict(f"the lease of instance {kept.instance} has just ended, or its move took too long")
        seat.live -= 1
        target.live += 1
        self._watch.moved(kept.instance, seat.name, target.name)
        with suppress(FarmError):  # then the reaper does it
            await seat.door.ask(LEAVE, leaving)

    async def _stayed(self, seat: FleetMember, target: FleetMember, leaving: DepartOrder) -> None:
        """Give a move up that has not been settled. What fails here is done by the reaper."""
        try:
            await asyncio.to_thread(self._ledger.end_move, leaving.copied_as)
        except LedgerError:
            return
        with suppress(FarmError):
            await target.door.ask(CLOSE, InstanceOrder(instance=leaving.copied_as))
        with suppress(FarmError):
            await seat.door.ask(STAY, leaving)

    async def fork(self, door: InstanceDoor, target: FleetMember, count: int) -> list[Ticket]:
        """Make instances on another worker with the state of an instance, which goes on.

        Raises:
            Conflict: its state does not fit there.
            CapacityError: there is no room, or it took too long.
        """
        launch = await self._launch_of(door.kept)
        try:
            async with asyncio.timeout(SECONDS_TO_MOVE):
                state = await door.ask(EXPORT, InstanceOrder(instance=door.kept.instance))
                state = _bounded(state, self._fleet.seat(door.kept.worker))
                copies = tuple(secrets.token_hex(8) for _ in range(count))
                return await self._arrived(door.kept, target, launch, state, copies)
        except TimeoutError:
            raise CapacityError(
                f"instance {door.kept.instance} could not be forked onto {target.name} within {SECONDS_TO_MOVE:g} s"
            ) from None

    async def _arrived(
        self, kept: KeptLease, target: FleetMember, launch: Launch, state: bytes, copies: tuple[str, ...]
    ) -> list[Ticket]:
        """Copies of an instance on another worker."""
        order = ArriveOrder(launch=launch, source=kept.copy, state=state, instances=copies)
        with target.asked_for(len(copies)):
            tickets = await target.door.ask(ARRIVE, order)
        if tuple(ticket.instance for ticket in tickets) != copies:
            raise CapacityError(f"the worker {target.name} did not make the copies that it was asked for")
        return tickets

    async def _launch_of(self, kept: KeptLease) -> Launch:
        """How an instance would be launched today. What a state file says of its origin is compared with that.

        Raises:
            NotFound, BundleError: its scenario no longer exists, or cannot be read.
        """
        launch = Launch(
            environment=kept.environment, scenario=kept.scenario, seed=kept.seed, perturb=kept.perturb or ""
        )
        if kept.scenario is None:
            return launch
        first = kept
        if kept.second_of is not None:
            first = await asyncio.to_thread(self._ledger.find, kept.second_of) or kept
        known = self._library.current_scenario(first.environment, kept.scenario)
        scenario = known or await asyncio.to_thread(self._library.scenario, first.environment, kept.scenario)
        if first is kept:
            began = {"setup": scenario.setup, "clock": scenario.clock, "tools": scenario.tools}
        elif scenario.second is not None:
            began = {"setup": scenario.second.setup, "clock": scenario.second.clock}
        else:
            raise Conflict(f"scenario {scenario.id!r} has another number of environments than when it was launched")
        return launch.model_copy(update=began)


def _bounded(state: bytes, seat: FleetMember) -> bytes:
    """A state that a worker has sent. Raises InfraError if it is larger than any that it may send."""
    if len(state) > LARGEST_SENT:
        raise InfraError(
            f"the worker {seat.name} sent a state of {len(state):,} bytes; at most {LARGEST_SENT:,} travel"
        )
    return state
