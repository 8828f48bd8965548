"""A worker on a node of a Ray cluster: an actor that runs `farm worker` on its node.

The worker joins as any other does. Its actor holds its socket and starts it again when it dies, and Ray does the same
with the actor.
"""

import asyncio
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from registry.workers.worker_process import RESTART_SECONDS, WorkerProcess
from servers.bundle_library import OWN_LIBRARY
from servers.doors.server import listen
from servers.errors import RequestError
from servers.files.file_lock import locked
from servers.records import Record
from servers.telemetry.logs import Level
from servers.worker.capacity import usual_capacity
from servers.worker.settings import JoinSettings, WorkerOrder, WorkerSettings

STATE = Path("~/.envfarm-worker")
REFUSED = 2
"""The exit code of a worker that its registry refuses, or that cannot start."""
SECONDS_FOR_FORMER = 40.0
"""Seconds for the process of a killed actor to end."""
EVERY_ADDRESS = "0.0.0.0"  # noqa: S104 - agents of other machines come here, with a token each


class RayOrder(Record):
    """What workers a farm wants on a cluster. It holds the join token, so it goes over standard input."""

    address: str
    """The address of the cluster. Empty: a local one."""
    registry: str
    """The URL of the registry for the workers. `{host}` in it stands for this machine's address in the cluster."""
    join_token: str
    port: int
    """The port of the first worker on each node, minus one. 0: any."""
    cores_each: int | None
    """The cores for which a node gets a worker. None: one worker for each node."""
    loopback_only: bool
    log_level: Level
    settings: WorkerSettings
    state: Path = STATE
    """The folder of each node in which its workers keep their state, beneath the farm's name."""

    def count_for(self, cores: int) -> int:
        """The number of workers of a node."""
        return 1 if self.cores_each is None else max(1, cores // self.cores_each)


class ClusterAnswer(Record):
    """Where the cluster is, or what is wrong with it."""

    address: str = ""
    problem: str = ""


class NodePlace(Record):
    """A worker's place: a node's address, its number there, and how many share the machine."""

    address: str
    number: int
    of: int

    @property
    def name(self) -> str:
        """The worker's name, which is the same after a restart of the node."""
        return f"{self.address.replace(':', '-').lower()}-{self.number}"


class RayNodeWorker:
    """The actor of one worker. Ray calls `serve` again after each restart."""

    def __init__(self, order: RayOrder, place: NodePlace) -> None:
        self._order = order
        self._place = place
        self._process: WorkerProcess | None = None
        self._said = "it says nothing"
        self._ends = False

    async def serve(self) -> str:
        """Run the worker. Returns why it cannot be one, or an empty text when it has left."""
        order = self._order_of_worker()
        await self._wait_for_former(order.state)
        host = "127.0.0.1" if self._order.loopback_only else EVERY_ADDRESS
        wanted = self._order.port + self._place.number if self._order.port else 0
        listening = next(one for port in (wanted, 0) for one in _listening(host, port))
        port = listening.getsockname()[1]
        join = order.join.model_copy(update={"advertise": f"http://{_bracketed(self._place.address)}:{port}"})
        self._process = WorkerProcess(order.model_copy(update={"join": join}), listening, on_line=self._heard)
        with listening:
            while True:
                code = await self._process.once()
                if self._ends or code == 0:
                    return ""
                if code == REFUSED:
                    return self._said
                await asyncio.sleep(RESTART_SECONDS)

    async def end(self) -> None:
        """End the worker. Calls under way may finish."""
        self._ends = True
        if self._process is not None:
            await self._process.end()

    def _heard(self, line: str) -> None:
        """Pass a line of the worker's log on to Ray's log of this actor."""
        self._said = line
        sys.stderr.write(f"{line}\n")

    def _order_of_worker(self) -> WorkerOrder:
        order, place = self._order, self._place
        farm = sha256(order.join_token.encode()).hexdigest()[:12]
        folder = order.state.expanduser() / f"ray-{farm}" / place.name
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return WorkerOrder(
            state=folder,
            library=(OWN_LIBRARY,),
            join=JoinSettings(registries=(order.registry,), token=order.join_token, name=place.name, advertise=""),
            loopback_only=order.loopback_only,
            log_level=order.log_level,
            otel=None,
            settings=order.settings.model_copy(
                update={"most_instances": max(1, usual_capacity(folder) // max(1, place.of))}
            ),
            parent=os.getpid(),
        )

    async def _wait_for_former(self, folder: Path) -> None:
        """Wait for the worker of a killed actor, which finishes its calls."""
        with suppress(TimeoutError):
            async with asyncio.timeout(SECONDS_FOR_FORMER):
                while _is_used(folder):  # noqa: ASYNC110 - by another process
                    await asyncio.sleep(0.1)


def _is_used(folder: Path) -> bool:
    try:
        with locked(folder / "lock", unusable=RequestError, taken=RequestError):
            return False
    except RequestError:
        return True


def _listening(host: str, port: int) -> Iterator[socket.socket]:
    """The socket of a port, or none where another program has it."""
    with suppress(RequestError):
        yield listen(host, port)


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address
