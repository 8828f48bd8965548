"""A running farm: the registry and its workers, from start to Ctrl-C.

One worker shares this process and port. With more, each worker is a process with a port of its own, which joins as
workers of other machines do. Agents talk to it directly, and it is restarted when it dies.
"""

import asyncio
import math
import os
import re
import secrets
import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fastapi import FastAPI
from starlette.types import ASGIApp

from registry.client import TOKEN_FILE, URL_FILE, Address
from registry.http.app import control_app
from registry.http.join_door import JoinDoor
from registry.joining import Joining
from registry.leases import Registry
from registry.ledger.farm_identity import claim, shared_identity
from registry.ledger.lease_clock import LeaseClock
from registry.ledger.store import Ledger
from registry.messages import HEALTH, KEEP_SECONDS
from registry.replicas import Replicas
from registry.site import site
from registry.web.app import Pages
from registry.workers.fleet import EmbeddedWorker, Fleet, FleetMember
from registry.workers.ray_node import RayOrder
from registry.workers.ray_workers import RayWorkers
from registry.workers.watchdog import Watchdog
from registry.workers.worker_process import WorkerProcess, end_all
from servers.bundle_library import Library
from servers.doors.http_limits import ServerConnections
from servers.doors.mcp import no_instances
from servers.doors.server import listen, serving, url_of
from servers.doors.worker_process import WorkerDoors, opened, sole_user
from servers.errors import RequestError, StateError
from servers.files.private_files import SHORTEST_SECRET, kept_secret, weakness, write_private
from servers.files.scratch_folder import scratch_folder
from servers.files.trouble import trouble
from servers.guest.walls import WALLS
from servers.joining.proofs import SHORTEST_TOKEN
from servers.telemetry.logs import Level
from servers.worker.settings import ORDINARY, JoinSettings, WorkerOrder, WorkerSettings
from servers.worker.worker import Worker

LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")
EVERY_ADDRESS = ("0.0.0.0", "::")  # noqa: S104 - this is read, not bound
JOIN_FILE = "join-token"
WorkerEngine = Literal["processes", "ray"]
IN_MEMORY = ("sqlite://", "sqlite:///", "sqlite:///:memory:")
FILES = re.compile(r"lock|url|token|join-token|farm|ledger\.db.*|worker-\d+|.*\.part")
"""The files of a farm in its state folder."""


@dataclass(frozen=True)
class Options:
    """The options of a farm. Without a `token` or `join_token`, one is made and kept in the state folder.

    With no workers of its own, the farm has those that join it.
    """

    library: tuple[Path, ...]
    state: Path
    host: str = "127.0.0.1"
    port: int = 8700
    workers: int = 1
    ledger: str | None = None
    token: str | None = None
    join_token: str | None = None
    replica: bool = False
    """Whether this is one of several registries on one PostgreSQL ledger."""
    authority: Path | None = None
    """Certificates of which one signed those of workers that join with an https URL."""
    public_host: str | None = None
    engine: WorkerEngine = "processes"
    """Where its workers run: as processes of this machine, or on the nodes of a Ray cluster."""
    address: str = ""
    """The address of the cluster. Empty: a local one."""
    cores_each: int | None = None
    """The cores of a node for each of its workers. None: one worker for each node."""
    worker: WorkerSettings = ORDINARY
    log_level: Level = "info"
    otel: str | None = None
    keep_seconds: int = KEEP_SECONDS
    web: bool = True
    """Whether there are pages for a browser."""
    runs: tuple[Path, ...] = ()
    """Folders whose runs the pages show."""

    @property
    def own_workers(self) -> int:
        """The number of workers on this machine that are its own."""
        return 0 if self.engine == "ray" else self.workers

    @property
    def loopback_only(self) -> bool:
        return self.host in LOOPBACK_HOSTS

    @property
    def nameless(self) -> bool:
        """True if other machines can reach the farm, but leases carry no host name for them."""
        return self.host in EVERY_ADDRESS and self.public_host is None

    @property
    def settings(self) -> WorkerSettings:
        """The settings of its workers. By default a missing wall stops a farm that other machines can reach.

        Also by default, tools that the gate refuses are not launched.
        """
        given = self.worker
        required = not self.loopback_only if given.walls_required is None else given.walls_required
        gated = True if given.gated is None else given.gated
        return given.model_copy(update={"walls_required": required, "gated": gated})


@asynccontextmanager
async def running(options: Options) -> AsyncGenerator[Address]:
    """Run a farm. It answers requests while the context is open.

    Raises:
        RequestError: the port is taken, or another farm uses the state folder or the ledger.
        StateError: the state folder cannot be used.
    """
    _see_to_replica(options)
    _see_to_engine(options)
    _see_to_secrets(options)
    async with AsyncExitStack() as stack:
        listening = stack.enter_context(_listening(options))
        stack.enter_context(sole_user(options.state, FILES))
        token = options.token or kept_secret_of(options.state / TOKEN_FILE)
        library = Library(list(options.library))
        join_token = options.join_token or kept_secret_of(options.state / JOIN_FILE)
        ledger, begin = stack.enter_context(_claimed_ledger(options, join_token))
        registry = Registry(library, ledger, Fleet(), clock=LeaseClock(begin), keep_seconds=options.keep_seconds)
        control = control_app(registry, token=token, loopback_only=options.loopback_only)
        url = _public(options, url_of(listening))
        worker: Worker | None = None
        others, pages = await stack.enter_async_context(_faced(options, registry, control, token))
        joining = Joining(
            registry, join_token, authority=options.authority, shared=options.replica, folder=options.state
        )
        stack.push_async_callback(joining.aclose)
        await _forget_former(registry, options)
        opened_door = asyncio.Event()
        processes: list[WorkerProcess] = []
        if options.own_workers == 1:
            worker, agents = await stack.enter_async_context(
                opened(library, options.state / "worker-1", options.settings, loopback_only=options.loopback_only)
            )
            await registry.join(FleetMember("worker-1", url, EmbeddedWorker(worker), identity=worker.identity))
            root: ASGIApp = WorkerDoors(agents, others)
        else:
            root = WorkerDoors(no_instances, others)
            stack.push_async_callback(end_all, processes)
            home = url_of(listening)
            processes.extend(_child(options, joining, number, home) for number in range(1, options.own_workers + 1))
        root = JoinDoor(root, joining, opened_door, loopback_only=options.loopback_only)
        if options.replica:
            await stack.enter_async_context(Replicas(joining))
        await stack.enter_async_context(Watchdog(registry.fleet, registry.lose))
        await stack.enter_async_context(control.router.lifespan_context(control))
        await stack.enter_async_context(serving(root, listening, ServerConnections(at_once=frozenset({HEALTH}))))
        for process in processes:
            process.start()
        for process in processes:
            await process.joined(registry.fleet.seats)
        opened_door.set()
        cluster = await stack.enter_async_context(_on_cluster(options, join_token, listening))
        if pages is not None:
            stack.callback(pages.stop)  # before the server ends: live pages would keep it waiting
        if worker is not None:
            stack.callback(worker.tool_changes.end_all)  # so would streams
        stack.callback(asyncio.create_task(registry.catalogue.read_ahead()).cancel)
        _leave_url(options.state / URL_FILE, url)
        standing = [seat.walls for seat in registry.fleet.seats.values()]
        missing = tuple(wall for wall in WALLS if any(wall not in walls for walls in standing))
        yield Address(url, token, missing, cluster)


@asynccontextmanager
async def _faced(
    options: Options, registry: Registry, control: FastAPI, token: str
) -> AsyncGenerator[tuple[ASGIApp, Pages | None]]:
    """The API, and the pages in front of it if there are any."""
    if not options.web:
        yield control, None
        return
    async with site(registry, control, token=token, loopback_only=options.loopback_only, runs=options.runs) as found:
        yield found.app, found.pages


@contextmanager
def _claimed_ledger(options: Options, join_token: str) -> Generator[tuple[Ledger, float]]:
    """The farm's ledger, and the last reading of its lease clock."""
    if options.ledger in IN_MEMORY:
        raise RequestError("a ledger in memory would be lost: name its file, as in sqlite:///ledger.db")
    url = options.ledger or f"sqlite:///{options.state.resolve() / 'ledger.db'}"
    with closing(Ledger.open(url, shared=options.replica)) as ledger:
        known_as = shared_identity(join_token) if options.replica else None
        begin = claim(ledger, options.state, known_as=known_as)
        if not options.replica:
            ledger.end_moves(begun_before=math.inf)  # whoever began them has ended
        yield ledger, begin


def _see_to_replica(options: Options) -> None:
    """Refuse a replica that could not do what another registry of its farm does."""
    if not options.replica:
        return
    lacking = [
        what
        for what, given in (
            ("--ledger postgresql://…", options.ledger),
            ("--join-token-file", options.join_token),
            ("--token-file", options.token),
        )
        if not given
    ]
    if lacking:
        raise RequestError(f"a replica needs {' and '.join(lacking)}, the same as the other registries of its farm")
    if options.workers != 0:
        raise RequestError("a replica has no workers of its own: give --workers 0, and join workers by `farm worker`")


def _see_to_secrets(options: Options) -> None:
    """Refuse a token that a stranger could guess. Who guesses one may do everything."""
    for name, token, shortest in (
        ("control token", options.token, SHORTEST_SECRET),
        ("join token", options.join_token, SHORTEST_TOKEN),
    ):
        weak = weakness(token.encode(), shortest=shortest) if token else None
        if weak is not None:
            raise RequestError(f"the {name} could be guessed: {weak}; give a longer one, or none, and one is made")


def _see_to_engine(options: Options) -> None:
    """Refuse options of one engine with the other."""
    if options.engine != "ray":
        if options.address or options.cores_each is not None:
            raise RequestError("--address and --cores-per-worker are for --engine ray")
        return
    if options.workers != 1 or options.replica:
        raise RequestError("--engine ray puts workers on each node of a cluster: leave --workers and --replica out")
    host = options.address.removeprefix("ray://").rpartition(":")[0]
    if options.loopback_only and host not in ("", *LOOPBACK_HOSTS):
        raise RequestError(
            f"--engine ray --address {options.address}: workers there cannot reach {options.host}; give --host 0.0.0.0,"
            " or the address at which the nodes reach this machine"
        )


@asynccontextmanager
async def _on_cluster(options: Options, join_token: str, listening: socket.socket) -> AsyncGenerator[str]:
    """Have workers on a Ray cluster while the context is open, if the farm is to. Yields the cluster's address."""
    if options.engine != "ray":
        yield ""
        return
    home = _public(options, url_of(listening))
    if options.nameless:
        home = f"http://{{host}}:{listening.getsockname()[1]}"
    order = RayOrder(
        address=options.address,
        registry=home,
        join_token=join_token,
        port=options.port,
        cores_each=options.cores_each,
        loopback_only=options.loopback_only,
        log_level=options.log_level,
        settings=options.settings,
    )
    async with RayWorkers(order) as workers:
        yield workers.address


async def _forget_former(registry: Registry, options: Options) -> None:
    """Forget the workers of an earlier start with more of them, unless they have instances."""
    now = {f"worker-{number}" for number in range(1, options.own_workers + 1)}
    for folder in () if options.replica else options.state.glob("worker-*"):
        if folder.name not in now:
            await registry.forget(folder.name)


def _child(options: Options, joining: Joining, number: int, registry: str) -> WorkerProcess:
    """A worker process of this farm, which is not started yet. It joins the registry as any other worker does."""
    name = f"worker-{number}"
    listening = listen(options.host, options.port + number if options.port else 0)
    order = WorkerOrder(
        state=options.state / name,
        library=options.library,
        join=JoinSettings(
            registries=(registry,),
            token=joining.key.decode(),
            name=name,
            advertise=_public(options, url_of(listening)),
            reached_at=url_of(listening),
        ),
        loopback_only=options.loopback_only,
        log_level=options.log_level,
        otel=options.otel,
        settings=options.settings,
        parent=os.getpid(),
    )
    process = WorkerProcess(order, listening)
    joining.children[name] = process.kill
    return process


def _listening(options: Options) -> socket.socket:
    """The farm's socket. Where the port is taken by a farm on the same state folder, the error says that first."""
    try:
        return listen(options.host, options.port)
    except RequestError:
        if (options.state / "lock").exists():
            with sole_user(options.state, FILES):
                pass
        raise


@asynccontextmanager
async def private(library: tuple[Path, ...]) -> AsyncGenerator[Address]:
    """Run a temporary farm on a free port. It leaves nothing behind."""
    with scratch_folder("state") as state:
        async with running(Options(library=library, state=state, port=0)) as address:
            yield address


def _leave_url(path: Path, url: str) -> None:
    """Write the farm's URL where the other commands look for it."""
    try:
        write_private(path, f"{url}\n".encode())
    except OSError as error:
        raise StateError(f"{path}: cannot be written: {trouble(error)}") from None


def _public(options: Options, url: str) -> str:
    """The URL that leases carry: under the public host name, if one is given."""
    if options.public_host is None:
        return url
    return f"http://{options.public_host}:{url.rpartition(':')[2]}"


def kept_secret_of(path: Path) -> str:
    """A token in a state folder, made on first use. Only its owner can read it."""
    try:
        return kept_secret(path, f"{secrets.token_urlsafe(24)}\n".encode()).decode().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise StateError(f"{path}: the token cannot be kept or read: {trouble(error)}") from None
