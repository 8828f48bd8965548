"""The workers that a registry knows, and the choice of a worker for each new instance."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Protocol

from registry.workers.remote_worker import WorkerAway
from servers.doors.operations import CLOSE, LAUNCH, AnswerT, InstanceOrder, Operation, OrderT
from servers.errors import CapacityError, FarmError, InfraError
from servers.messages import Launch, Ticket
from servers.worker.settings import MOST_INSTANCES
from servers.worker.worker import Worker

log = logging.getLogger("farm.fleet")


class WorkerDoor(Protocol):
    """What a registry asks a worker through."""

    async def ask(self, operation: Operation[OrderT, AnswerT], order: OrderT, /) -> AnswerT:
        """Have a worker do something. Raises what it raises, and CapacityError where it cannot be reached."""
        ...

    def cut(self, *, launches_only: bool = False) -> None:
        """Wait no longer for answers."""
        ...


class EmbeddedWorker:
    """A worker in this process, which is never silent."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    async def ask(self, operation: Operation[OrderT, AnswerT], order: OrderT) -> AnswerT:
        return await operation.run(self._worker, order)

    def cut(self, *, launches_only: bool = False) -> None:
        """Nothing to do: it answers, or this process is gone."""


@dataclass
class FleetMember:
    """A worker in the fleet: its control door, its URL for agents, and its number of leases.

    `identity` and `session` are those of a worker that has joined. One in this process has none, and no heartbeats.
    """

    name: str
    url: str
    door: WorkerDoor
    live: int = 0
    answers: bool = True
    restarts: int = 0
    walls: tuple[str, ...] = ()
    drains: bool = False
    """True if it gets no new instances."""
    capacity: int = MOST_INSTANCES
    """The most instances. Its share of new ones is in proportion."""
    identity: str = ""
    session: str = ""
    reached_at: str = ""
    restart: Callable[[], None] | None = None
    """Kills its process, which this farm then starts again. None for a worker that others keep."""
    launching: int = 0
    """Instances that it was asked for and has not answered yet."""
    beat: int = 0
    """The number of its last heartbeat."""
    drained_beats: int = 0
    """Heartbeats since it drains."""
    silence: float = 0.0
    """Seconds since its last heartbeat, while this registry ran."""
    lost: bool = False
    """True if it was silent for so long that its leases have ended."""

    @contextmanager
    def asked_for(self, count: int) -> Generator[None]:
        """Count instances that are being launched on it."""
        self.launching += count
        try:
            yield
        finally:
            self.launching -= count

    def load(self, more: int) -> float:
        """The share of its capacity that is in use, with `more` instances."""
        return (self.live + self.launching + more) / self.capacity


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
                f"the worker {name!r}, which has this instance, has not joined this farm; start it again, or wait until"
                " it has"
            )
        return self.seats[name]

    async def launch(self, order: Launch) -> list[tuple[FleetMember, Ticket]]:
        """Launch instances on the workers with most of their capacity free. If one has no room, use others.

        Raises:
            NotFound, BundleError: the workers cannot launch this.
            CapacityError: there is no room.
        """
        full: set[str] = set()
        while True:
            places = self._place(order.count, without=full)
            results = await asyncio.gather(
                *(self._launched(seat, order.model_copy(update={"count": share})) for seat, share in places),
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

    async def _launched(self, seat: FleetMember, order: Launch) -> list[Ticket]:
        """Launch on one worker. One that cannot be reached gets no launches until its next heartbeat."""
        with seat.asked_for(order.count):
            try:
                return self.counted(seat, order.count, await seat.door.ask(LAUNCH, order))
            except WorkerAway as error:
                if seat.answers:
                    log.error("worker does not answer", extra={"worker": seat.name, "error": str(error)})
                    seat.answers = False
                raise

    def counted(self, seat: FleetMember, count: int, tickets: list[Ticket]) -> list[Ticket]:
        """The tickets of a worker, as many as it was asked for. What else it names is left to the reaper.

        Raises:
            InfraError: it made more instances, or fewer.
        """
        made = len({ticket.instance for ticket in tickets})
        if not made == len(tickets) == count:
            told = f"{made}" if made == len(tickets) else f"{made}, of which it named some twice"
            raise InfraError(f"the worker {seat.name} was asked for {count} instances and made {told}")
        return tickets

    def other_than(self, seat: FleetMember) -> FleetMember:
        """The worker that would get the next instance, if this one were not there. Raises CapacityError."""
        [(other, _)] = self._place(1, without={seat.name})
        return other

    def _place(self, count: int, *, without: set[str]) -> list[tuple[FleetMember, int]]:
        """Distribute new instances: each goes to the worker with most of its capacity free. Silent workers get none.

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
            raise CapacityError("every worker that answers is drained; `farm drain WORKER --undo` takes one up again")
        shares: Counter[str] = Counter()
        for _ in range(count):
            least = min(seats, key=lambda seat: seat.load(shares[seat.name] + 1))
            shares[least.name] += 1
        return [(self.seats[name], share) for name, share in shares.items()]


async def abandon(placed: list[tuple[FleetMember, Ticket]]) -> None:
    """Close instances that were launched in vain. If that fails, the reaper finds them: no lease names them."""
    for seat, ticket in placed:
        with suppress(FarmError):
            await seat.door.ask(CLOSE, InstanceOrder(instance=ticket.instance))
