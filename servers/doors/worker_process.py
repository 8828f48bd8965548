"""A worker process: the two doors of its instances on one socket, each with its own token."""

import asyncio
import logging
import os
import re
import resource
import signal
import socket
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing, asynccontextmanager, contextmanager
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from servers.bundle_library import Library
from servers.doors.control import ControlDoor, only_reads
from servers.doors.disconnect import EndsWithClient
from servers.doors.mcp import AgentDoor
from servers.doors.server import serving
from servers.errors import RequestError
from servers.files.file_lock import locked
from servers.files.private_files import keep_private
from servers.joining.fetched_bundles import FETCHED
from servers.joining.member import FarmMember
from servers.joining.proofs import ControlTokens
from servers.limits.garbage_collection import settle
from servers.worker.settings import WorkerOrder, WorkerSettings
from servers.worker.worker import FILES, Worker

SECONDS_TO_END = 30.0
"""Seconds after a signal until a process that is still running is killed."""
log = logging.getLogger("farm.process")


def _nothing() -> None:
    """What is done about having joined, unless somebody says otherwise."""


class WorkerDoors:
    """An ASGI application: the agents' door under `/i/`, the control door elsewhere."""

    def __init__(self, agents: ASGIApp, others: ASGIApp) -> None:
        self._agents = agents
        self._others = others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._agents if scope["type"] == "http" and scope["path"].startswith("/i/") else self._others
        await app(scope, receive, send)


@asynccontextmanager
async def opened(
    library: Library, folder: Path, settings: WorkerSettings, *, loopback_only: bool
) -> AsyncGenerator[tuple[Worker, AgentDoor]]:
    """An open worker with exclusive use of a state folder, and its agents' door."""
    raise_file_limit()
    with sole_user(folder, FILES):
        async with Worker(library, folder, settings) as worker:
            door = AgentDoor(worker, loopback_only=loopback_only)
            async with door.running():
                yield worker, door


async def serve_worker(order: WorkerOrder, listening: socket.socket, on_joined: Callable[[], None] = _nothing) -> None:
    """Join the registry, and serve until a SIGTERM or SIGINT, or until the registry lets a drained worker leave.

    Raises:
        RequestError: the registry refuses this worker, or does not prove itself.
    """
    library, tokens = Library([*order.library, order.state / FETCHED]), ControlTokens()
    async with opened(library, order.state, order.settings, loopback_only=order.loopback_only) as (worker, door):
        control = EndsWithClient(ControlDoor(worker, tokens, loopback_only=order.loopback_only), only_reads)
        async with (
            serving(WorkerDoors(door, control), listening),
            aclosing(FarmMember(worker, order.join, tokens)) as member,
        ):
            with ending_on_signals() as stop:
                belonging = asyncio.create_task(_belong(member, stop, on_joined))
                try:
                    await stop.wait()
                finally:
                    belonging.cancel()
                    await asyncio.gather(belonging, return_exceptions=True)
            await member.leave()
            worker.tool_changes.end_all()  # streams would keep the server waiting
    if not belonging.cancelled() and (refused := belonging.exception()) is not None:
        raise refused


async def _belong(member: FarmMember, stop: asyncio.Event, on_joined: Callable[[], None]) -> None:
    """Be a member of the farm. Afterwards the process ends."""
    try:
        await member.join()
        settle()
        on_joined()
        await member.beat()
    finally:
        stop.set()


@contextmanager
def ending_on_signals(*, seconds_to_end: float = SECONDS_TO_END) -> Generator[asyncio.Event]:
    """Yield an event that SIGTERM and SIGINT set. After the block the process ends within `seconds_to_end` seconds.

    Whoever says that the process is there says so inside the block: a signal may follow at once. After the block
    further SIGINTs are ignored: one more would come in the middle of the orderly end.
    """
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told.set)
    try:
        yield told
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    last = threading.Timer(seconds_to_end, _end_now, (seconds_to_end,))
    last.daemon = True  # a process that ends by itself is not kept waiting
    last.start()


def _end_now(seconds: float) -> None:
    """End the process. Answered calls are on disk, so it needs no orderly end."""
    log.error("process did not end and is ended", extra={"seconds": seconds})
    os._exit(1)


@contextmanager
def sole_user(folder: Path, known: re.Pattern[str]) -> Generator[None]:
    """Lock a state folder against a second process, and close it to other users.

    Raises:
        RequestError: another process has it, it cannot be used, or others may have written into it.
    """
    keep_private(folder, known)
    with locked(
        folder / "lock",
        unusable=lambda why: RequestError(f"the state folder {folder} cannot be used: {why}"),
        taken=lambda holder: RequestError(
            f"another farm uses the state folder {folder} (process {holder}); stop it, or choose another folder"
        ),
    ):
        yield


def raise_file_limit() -> None:
    """Raise this process's limit of open files to its maximum: connections and state files each need some."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
