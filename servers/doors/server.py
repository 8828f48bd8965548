"""A server: one socket, one ASGI application, and an orderly end."""

import asyncio
import errno
import resource
import socket
import sys
from collections.abc import AsyncGenerator, Coroutine, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import uvicorn
import uvloop
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from servers.doors.http_limits import ServerConnections
from servers.errors import RequestError
from servers.telemetry.loop_watchdog import watched_loop

BACKLOG = 2048
LEAST_FILES = 128
"""Open files that a server needs: for its modules, its sockets, its guests, and some connections."""
ACCEPTED_A_TURN = 16
"""Connections accepted in one turn of the event loop, which accepts one for each descriptor of a socket."""
IDLE_SECONDS = 75
"""The time for which a connection that nobody uses stays open. Node's fetch and httpx keep one for 4 or 5 s. If the
farm kept it no longer, the next request and the end of the connection could cross."""
SECONDS_TO_DRAIN = 5
STOPPING = {"error": {"kind": "capacity", "message": "the farm is stopping; try again when it is back"}}
SWITCH_SECONDS = 0.0005
"""Seconds for which a thread keeps the interpreter while the event loop waits. Python's default is ten times that."""


def run_served(program: Coroutine[Any, Any, None]) -> None:
    """Run a server program on libuv's event loop: a call takes a third less than on asyncio's own."""

    async def watched() -> None:
        with watched_loop():
            await program

    sys.setswitchinterval(SWITCH_SECONDS)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(watched())


def listen(host: str, port: int) -> socket.socket:
    """A listening socket. Port 0 takes a free one.

    Raises:
        RequestError: the address is taken, or does not belong to this machine, or there is no room for connections.
    """
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files < LEAST_FILES:
        raise RequestError(f"a server needs {LEAST_FILES} open files, and this shell allows {files}: see `ulimit -n`")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol or socket.IPPROTO_TCP)
    except OSError as error:
        raise RequestError(f"{host}: {error.strerror or error}; choose another address with --host") from None
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(address)
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        option = "--host" if error.errno == errno.EADDRNOTAVAIL else "--port"
        raise RequestError(f"cannot listen on {host}:{port}: {error.strerror}; choose another with {option}") from None
    return listening


def url_of(listening: socket.socket) -> str:
    """The URL under which this machine reaches a listening socket."""
    host, port = listening.getsockname()[:2]
    if host in ("0.0.0.0", "::"):  # noqa: S104 - this is read, not bound
        host = "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class _Quiet(uvicorn.Server):
    """A server that installs no signal handlers."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


class _Ending:
    """ASGI middleware: a disconnected client or a stopping server is not an error of the application."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def noticing(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, noticing)
        except ClientDisconnect:
            return
        except asyncio.CancelledError:
            if not started:
                await JSONResponse(STOPPING, status_code=503)(scope, receive, send)


@asynccontextmanager
async def serving(
    app: ASGIApp, listening: socket.socket, connections: ServerConnections | None = None
) -> AsyncGenerator[None]:
    """Serve while the context is open. On exit, finish requests in progress and close the socket."""
    connections = ServerConnections() if connections is None else connections
    config = uvicorn.Config(
        _Ending(app),
        lifespan="off",
        log_config=None,
        log_level="warning",
        access_log=False,
        http=connections.protocol,  # pyright: ignore[reportArgumentType] - it is called, and need be no class
        ws="none",
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=SECONDS_TO_DRAIN,
        server_header=False,
        proxy_headers=False,
    )
    server = _Quiet(config)
    descriptors = [listening, *(listening.dup() for _ in range(ACCEPTED_A_TURN - 1))]
    task = asyncio.create_task(server.serve(sockets=descriptors))
    watching = asyncio.create_task(connections.watched())
    try:
        while not server.started:
            if task.done():
                await task
            await asyncio.sleep(0.001)
        yield
    finally:
        server.should_exit = True
        await task
        watching.cancel()
