"""The way to one instance, wherever it is: its worker by the ledger, and its id there.

An instance that moves is asked again at its new place. So an order reaches the copy that is the instance, or none.
"""

import asyncio
from collections.abc import Awaitable, Callable

from registry.ledger.store import KeptLease
from registry.workers.fleet import Fleet
from servers.doors.operations import AnswerT, InstanceOrder, Operation, OrderT
from servers.errors import Moving, NotFound

SECONDS_TO_WAIT = 30.0
"""Seconds for which an order waits until its instance has moved."""
SECONDS_BETWEEN_LOOKS = 0.05


class InstanceDoor:
    """Asks the worker of one instance. `look` reads its lease, and raises where it has ended."""

    def __init__(self, fleet: Fleet, kept: KeptLease, look: Callable[[str], Awaitable[KeptLease]]) -> None:
        self._fleet = fleet
        self._look = look
        self.kept = kept
        """The lease as it was last looked up."""

    async def ask(self, operation: Operation[OrderT, AnswerT], order: OrderT) -> AnswerT:
        """Have the worker do something with the instance. Raises what it raises.

        Raises:
            Moving: it has been moving for too long.
        """
        until = asyncio.get_running_loop().time() + SECONDS_TO_WAIT
        while True:
            kept = self.kept  # others may ask through this door meanwhile
            door = self._fleet.seat(kept.worker).door
            try:
                return await door.ask(operation, _named(order, kept.copy))
            except (Moving, NotFound) as error:
                self.kept = now = await self._look(kept.instance)
                has_moved = (now.worker, now.copy) != (kept.worker, kept.copy)
                is_late = asyncio.get_running_loop().time() > until
                if not has_moved and (is_late or not isinstance(error, Moving)):
                    raise
                if not has_moved:
                    await asyncio.sleep(SECONDS_BETWEEN_LOOKS)


def _named(order: OrderT, copy: str) -> OrderT:
    """An order for the copy that is the instance."""
    if isinstance(order, InstanceOrder) and order.instance != copy:
        return order.model_copy(update={"instance": copy})
    return order
