"""Two workers of one registry, whose processes may be killed at every step of a move."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from registry.moves import SECONDS_TO_GIVE_UP
from registry.reaper import GRACE_SECONDS
from registry.workers.fleet import FleetMember
from registry.workers.remote_worker import WorkerAway
from servers.bundle_library import Library
from servers.doors.operations import AnswerT, Operation, OrderT
from servers.worker.worker import Worker
from tests.registry.farms import Farm


class RegistryKilled(BaseException):
    """What ends everything that a registry does at this moment."""


@dataclass
class FragileDoor:
    """The door of a worker. One operation kills the registry or the worker, before it is done or after."""

    worker: Worker
    asked: list[str] = field(default_factory=list[str])
    kills: tuple[str, str, str] | None = None
    """An operation, `before` or `after`, and `registry` or `worker`."""
    is_dead: bool = False

    async def ask(self, operation: Operation[OrderT, AnswerT], order: OrderT) -> AnswerT:
        self._die(operation.name, "before")
        if self.is_dead:
            raise WorkerAway("the worker was killed")
        self.asked.append(operation.name)
        answer = await operation.run(self.worker, order)
        self._die(operation.name, "after")
        return answer

    def cut(self, *, launches_only: bool = False) -> None:
        """Nothing waits here."""

    def _die(self, operation: str, when: str) -> None:
        if self.kills is None or self.kills[:2] != (operation, when):
            return
        victim, self.kills = self.kills[2], None
        if victim == "registry":
            raise RegistryKilled
        self.is_dead = True
        raise WorkerAway("the worker was killed")


@dataclass
class TwoWorkers:
    """A farm with two workers, and the doors by which the registry asks them."""

    farm: Farm
    library: Library
    folders: dict[str, Path]
    doors: dict[str, FragileDoor]

    async def restart(self, name: str) -> None:
        """Start a killed worker again over what is on its disk."""
        door = self.doors[name]
        former = door.worker
        door.worker = await Worker(self.library, self.folders[name]).__aenter__()
        door.is_dead = False
        await former.guests.close()

    def copies(self) -> dict[str, list[str]]:
        """The instances of each worker."""
        return {name: door.worker.ids() for name, door in self.doors.items()}

    async def settled(self, instance: str) -> None:
        """Let the time pass after which nothing of a broken move is left. The lease is kept alive meanwhile."""
        for seconds in (0, SECONDS_TO_GIVE_UP, 0, GRACE_SECONDS, self.farm.registry.keep_seconds, 0):
            self.farm.clock.now += seconds
            self.farm.ledger.prolong(instance, until=self.farm.clock.now + 3600, over_since=0)
            await self.farm.reaper.reconcile()

    async def call(self, instance: str, tool: str, **arguments: Any) -> str:
        """Make a call where the lease says that the instance is, with its token. Returns the text."""
        kept = await self.farm.registry.kept(instance)
        outcome = await self.doors[kept.worker].worker.call(kept.copy, tool, arguments)
        assert outcome.outcome == "ok", outcome
        return outcome.text

    async def cents(self, instance: str) -> list[int]:
        """The prices that the calls of a history have set, in order."""
        calls = (await self.farm.client.history(instance)).items
        return [call.arguments["cents"] for call in calls if call.outcome == "ok"]


@asynccontextmanager
async def two_workers(farm: Farm, library: Library, folder: Path) -> AsyncGenerator[TwoWorkers]:
    """A farm with a second worker, which gets nothing by itself."""
    async with Worker(library, folder) as second:
        doors = {"local": FragileDoor(farm.worker), "second": FragileDoor(second)}
        url = farm.url
        farm.registry.fleet.seats["local"].door = doors["local"]
        await farm.registry.join(FleetMember("second", url.replace("127.0.0.1", "localhost"), doors["second"]))
        farm.registry.fleet.seats["second"].capacity = 1
        both = TwoWorkers(farm, library, {"local": farm.folder / "worker", "second": folder}, doors)
        try:
            yield both
        finally:
            for door, first in ((doors["local"], farm.worker), (doors["second"], second)):
                if door.worker is not first:
                    await door.worker.__aexit__()
