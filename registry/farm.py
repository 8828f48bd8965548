"""A running farm: the registry and its workers, from start to Ctrl-C.

One worker shares this process and port. With more, each worker is a process with a port of its own. Agents talk to it
directly, and it is restarted when it dies.
"""

import asyncio
import logging
import os
import re
import secrets
import socket
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from starlette.types import ASGIApp

from registry.fleet import EmbeddedWorker, Fleet, FleetMember
from registry.http.app import control_app
from registry.leases import KEEP_SECONDS, Registry
from registry.ledger.farm_identity import claim
from registry.ledger.lease_clock import LeaseClock
from registry.ledger.store import Ledger
from registry.messages import HEALTH
from registry.remote_worker import RemoteWorker
from registry.site import site
from registry.watchdog import Watchdog, WatchedWorker
from registry.web.app import Pages
from servers.bundle_library import Library
from servers.doors.http_limits import ServerConnections
from servers.doors.mcp import no_instances
from servers.doors.operations import IDS, EmptyOrder
from servers.doors.server import SECONDS_TO_DRAIN, listen, serving, url_of
from servers.doors.worker_process import Doors, opened, sole_user
from servers.errors import CapacityError, InfraError, NotFound, RequestError, StateError
from servers.files.private_files import kept_secret, write_private
from servers.files.scratch_folder import scratch_folder
from servers.files.trouble import trouble
from servers.guest.walls import WALLS
from servers.telemetry.logs import Level
from servers.worker.settings import ORDINARY, WorkerOrder, WorkerSettings

LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")
EVERY_ADDRESS = ("0.0.0.0", "::")  # noqa: S104 - this is read, not bound
START_SECONDS = 30.0
END_SECONDS = 2.0 * SECONDS_TO_DRAIN
TOKEN_FILE = "token"  # noqa: S105 - its name, not its content
URL_FILE = "url"
FILES = re.compile(r"lock|url|token|farm|ledger\.db.*|worker-\d+|.*\.part")
"""The files of a farm in its state folder."""
RESTART_SECONDS = 0.2
log = logging.getLogger("farm.up")


@dataclass(frozen=True)
class Options:
    """The options of a farm. Without a `token`, one is made and kept in the state folder."""

    library: tuple[Path, ...]
    state: Path
    host: str = "127.0.0.1"
    port: int = 8700
    workers: int = 1
    ledger: str | None = None
    token: str | None = None
    public_host: str | None = None
    worker: WorkerSettings = ORDINARY
    log_level: Level = "info"
    otel: str | None = None
    keep_seconds: int = KEEP_SECONDS
    web: bool = True
    """Whether there are pages for a browser."""
    runs: tuple[Path, ...] = ()
    """Folders whose runs the pages show."""

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


@dataclass(frozen=True)
class Address:
    """The URL of a farm, and its control token."""

    url: str
    token: str
    missing_walls: tuple[str, ...] = ()


@asynccontextmanager
async def running(options: Options) -> AsyncGenerator[Address]:
    """Run a farm. It answers requests while the context is open.

    Raises:
        RequestError: the port is taken, or another farm uses the state folder or the ledger.
        StateError: the state folder cannot be used.
    """
    async with AsyncExitStack() as stack:
        listening = stack.enter_context(_listening(options))
        stack.enter_context(sole_user(options.state, FILES))
        token = options.token or kept_token(options.state)
        library = Library(list(options.library))
        ledger = Ledger.open(options.ledger or f"sqlite:///{options.state.resolve() / 'ledger.db'}")
        stack.callback(ledger.close)
        begin = claim(ledger, options.state)
        registry = Registry(library, ledger, Fleet(), clock=LeaseClock(begin), keep_seconds=options.keep_seconds)
        control = control_app(registry, token=token, loopback_only=options.loopback_only)
        url = _public(options, url_of(listening))
        others: ASGIApp = control
        pages: Pages | None = None
        if options.web:
            found = await stack.enter_async_context(
                site(registry, control, token=token, loopback_only=options.loopback_only, runs=options.runs)
            )
            others, pages = found.app, found.pages
        if options.workers == 1:
            worker, agents = await stack.enter_async_context(
                opened(library, options.state / "worker-1", options.settings, loopback_only=options.loopback_only)
            )
            await registry.join(FleetMember("worker-1", url, EmbeddedWorker(worker)))
            root: ASGIApp = Doors(agents, others)
        else:
            root = Doors(no_instances, others)
            watched: list[WatchedWorker] = []
            for process in await _worker_processes(options, stack):
                door, probe = (RemoteWorker(process.url, process.token) for _ in range(2))
                stack.push_async_callback(door.aclose)
                stack.push_async_callback(probe.aclose)
                seat = FleetMember(process.name, _public(options, process.url), door)
                await registry.join(seat)
                watched.append(WatchedWorker(seat, probe, process.kill))
            await stack.enter_async_context(Watchdog(watched))
        await stack.enter_async_context(control.router.lifespan_context(control))
        await stack.enter_async_context(serving(root, listening, ServerConnections(at_once=frozenset({HEALTH}))))
        if pages is not None:
            stack.callback(pages.stop)  # before the server ends: live pages would keep it waiting
        stack.callback(asyncio.create_task(registry.catalogue.read_ahead()).cancel)
        _leave_url(options.state / URL_FILE, url)
        standing = [seat.walls for seat in registry.fleet.seats.values()]
        missing = tuple(wall for wall in WALLS if any(wall not in walls for walls in standing))
        yield Address(url, token, missing)


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


def address_of(state: Path, token: str | None = None) -> Address:
    """The URL and control token of a state folder's farm. A given token wins over the stored one.

    Raises:
        NotFound: no farm was ever started on this folder, or it stores no token.
    """
    try:
        url = (state / URL_FILE).read_text(encoding="utf-8").strip()
    except OSError:
        if state.is_file():
            raise NotFound(f"{state} is a file; the state of a farm is a folder") from None
        raise NotFound(f"no farm was started on {state}; `farm up --state {state}` starts one") from None
    try:
        return Address(url, token or (state / TOKEN_FILE).read_text(encoding="utf-8").strip())
    except OSError:
        raise NotFound(
            f"the farm of {state} was given its token; give it here too, with FARM_TOKEN or --token-file"
        ) from None


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


class WorkerProcess:
    """A worker in a process of its own. This process owns its socket, so agents' connections wait during a restart."""

    def __init__(self, options: Options, name: str, listening: socket.socket) -> None:
        self.name = name
        self.url = url_of(listening)
        self.token = secrets.token_urlsafe(24)
        self._options = options
        self._listening = listening
        self._process: asyncio.subprocess.Process | None = None
        self._keeping: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Run the process until `end`, and restart it when it dies."""
        self._keeping = asyncio.create_task(self._keep())

    async def end(self) -> None:
        """End the process. Calls under way may finish."""
        with self._listening:
            if self._keeping is not None:
                self._keeping.cancel()
                await asyncio.gather(self._keeping, return_exceptions=True)
            if self._process is not None and self._process.returncode is None:
                await _end(self._process)

    def kill(self) -> None:
        """Kill the process with SIGKILL. It is restarted."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()

    async def _keep(self) -> None:
        while True:
            self._process = await self._start()
            code = await self._process.wait()
            log.error("worker process ended", extra={"worker": self.name, "code": code})
            await asyncio.sleep(RESTART_SECONDS)

    async def _start(self) -> asyncio.subprocess.Process:
        command = [sys.executable, "-m", "farm", "worker", "--fd", str(self._listening.fileno())]
        process = await asyncio.create_subprocess_exec(
            *command, pass_fds=[self._listening.fileno()], stdin=asyncio.subprocess.PIPE, start_new_session=True
        )
        log.info("worker process started", extra={"worker": self.name, "pid": process.pid})
        if process.stdin is not None:
            process.stdin.write(self._order().model_dump_json().encode())
            process.stdin.close()
        return process

    def _order(self) -> WorkerOrder:
        return WorkerOrder(
            state=self._options.state / self.name,
            library=self._options.library,
            parent=os.getpid(),
            token=self.token,
            loopback_only=self._options.loopback_only,
            log_level=self._options.log_level,
            otel=self._options.otel,
            settings=self._options.settings,
        )

    async def answers(self) -> None:
        """Wait for its first answer.

        Raises:
            InfraError: it does not answer.
        """
        door = RemoteWorker(self.url, self.token)
        try:
            async with asyncio.timeout(START_SECONDS):
                while True:
                    try:
                        await door.ask(IDS, EmptyOrder())
                        return
                    except CapacityError:
                        await asyncio.sleep(0.02)
        except TimeoutError:
            raise InfraError(
                f"{self.name} does not answer after {START_SECONDS:g} s; its own output says why"
            ) from None
        finally:
            await door.aclose()


async def _worker_processes(options: Options, stack: AsyncExitStack) -> list[WorkerProcess]:
    """Start all worker processes concurrently, wait until each answers, and end them concurrently."""
    processes: list[WorkerProcess] = []
    stack.push_async_callback(_end_all, processes)
    for number in range(1, options.workers + 1):
        port = options.port + number if options.port else 0
        processes.append(WorkerProcess(options, f"worker-{number}", listen(options.host, port)))
        processes[-1].start()
    for process in processes:
        await process.answers()
    return processes


async def _end_all(processes: Sequence[WorkerProcess]) -> None:
    """End worker processes concurrently: this takes as long as the slowest one."""
    await asyncio.gather(*(process.end() for process in processes))


async def _end(process: asyncio.subprocess.Process) -> None:
    """End a worker process. Calls under way may finish."""
    process.terminate()
    try:
        async with asyncio.timeout(END_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


def kept_token(state: Path) -> str:
    """The control token of a state folder, made on first use. Only its owner can read it."""
    path = state / TOKEN_FILE
    try:
        return kept_secret(path, f"{secrets.token_urlsafe(24)}\n".encode()).decode().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise StateError(f"{path}: the token cannot be kept or read: {trouble(error)}") from None
