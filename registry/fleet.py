"""The workers that a registry knows, and the choice of a worker for each new instance."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from servers.doors.operations import CLOSE, LAUNCH, AnswerT, InstanceOrder, Operation, OrderT
from servers.errors import CapacityError, FarmError
from servers.messages import Launch, Ticket
from servers.worker.worker import Worker


class WorkerDoor(Protocol):
    """What a registry asks a worker through."""

    async def ask(self, operation: Operation[OrderT, AnswerT], order: OrderT, /) -> AnswerT:
        """Have a worker do something. Raises what it raises, and CapacityError where it cannot be reached."""
        ...


class EmbeddedWorker:
    """A worker in this process."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    async def ask(self, operation: Operation[OrderT, AnswerT], order: OrderT) -> AnswerT:
        return await operation.run(self._worker, order)


@dataclass
class FleetMember:
    """A worker in the fleet: its control door, its URL for agents, and its number of leases."""

    name: str
    url: str
    door: WorkerDoor
    live: int = 0
    answers: bool = True
    restarts: int = 0
    walls: tuple[str, ...] = ()
    drains: bool = False
    """True if it gets no new instances."""


class Fleet:
    """All workers of a registry, by name."""

    def __init__(self, seats: Iterable[FleetMember] = ()) -> None:
        self.seats = {seat.name: seat for seat in seats}

    def seat(self, name: str) -> FleetMember:
        """A worker by name.

        Raises:
            CapacityError: it has not come back since the registry started.
        """
        if name not in self.seats:
            raise CapacityError(
                f"the worker {name!r}, which has this instance, has not joined this farm; start it again"
            )
        return self.seats[name]

    async def launch(self, order: Launch) -> list[tuple[FleetMember, Ticket]]:
        """Launch instances on the workers with the fewest leases. If one has no room, use others.

        Raises:
            NotFound, BundleError: the workers cannot launch this.
            CapacityError: there is no room.
        """
        full: set[str] = set()
        while True:
            places = self._place(order.count, without=full)
            results = await asyncio.gather(
                *(seat.door.ask(LAUNCH, order.model_copy(update={"count": share})) for seat, share in places),
                return_exceptions=True,
            )
            placed: list[tuple[FleetMember, Ticket]] = []
            errors: list[BaseException] = []
            for (seat, _), result in zip(places, results, strict=True):
                if isinstance(result, BaseException):
                    errors.append(result)
                    full.add(seat.name)
                else:
                    placed += [(seat, ticket) for ticket in result]
            if not errors:
                return placed
            await abandon(placed)
            for error in errors:
                if not isinstance(error, CapacityError) or full >= self.seats.keys():
                    raise error

    def _place(self, count: int, *, without: set[str]) -> list[tuple[FleetMember, int]]:
        """Distribute new instances: each goes to the worker with the fewest leases. Silent workers get none.

        Raises:
            CapacityError: no worker answers.
        """
        seats = [seat for seat in self.seats.values() if seat.name not in without]
        if not seats:
            raise CapacityError("no worker is there to take an instance; start one and retry")
        seats = [seat for seat in seats if seat.answers]
        if not seats:
            raise CapacityError("no worker answers now; those that do not are started anew, retry in a few seconds")
        seats = [seat for seat in seats if not seat.drains]
        if not seats:
            raise CapacityError("every worker that answers is drained; take one up again on the page of the farm")
        shares: Counter[str] = Counter()
        for _ in range(count):
            least = min(seats, key=lambda seat: seat.live + shares[seat.name])
            shares[least.name] += 1
        return [(self.seats[name], share) for name, share in shares.items()]


async def abandon(placed: list[tuple[FleetMember, Ticket]]) -> None:
    """Close instances that were launched in vain. If that fails, the reaper finds them: no lease names them."""
    for seat, ticket in placed:
        with suppress(FarmError):
            await seat.door.ask(CLOSE, InstanceOrder(instance=ticket.instance))
