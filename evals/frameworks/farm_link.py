"""A farm for frameworks that have an event loop of their own, or none: it runs on a loop in another thread.

The farm is one of its own, in a process that ends with this one, or a running one by its state folder or URL.
"""

import asyncio
import atexit
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Coroutine, Generator, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx2

from agent_client.wire import shared_http
from evals.programs.program import SUPERVISOR
from registry.client import URL_FILE, Address, FarmClient, address_of
from servers.cli.secret_options import token_from
from servers.errors import InfraError
from servers.files.scratch_folder import scratch_folder

CONNECTIONS = 256
START_SECONDS = 120.0
ANY = 2**62
"""No limit on the processes and the memory of a farm of ours."""
Got = TypeVar("Got")


class FarmLink:
    """An open link to a farm, used from any thread. It ends with the process, or with `close`.

    Args:
        farm: a state folder (`~/.envfarm`), or the URL or the address of a running farm. Empty: a farm of its own.
        token_file: a file with the control token, for a URL.
        library: folders of bundles, for a farm of its own.
    """

    client: FarmClient
    http: httpx2.AsyncClient

    def __init__(self, farm: str | Address = "", *, token_file: str = "", library: tuple[str, ...] = ()) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="farm", daemon=True)
        self._thread.start()
        self._stack = AsyncExitStack()
        try:
            address = _address(farm, token_file) or self._stack.enter_context(own_farm([*library]))
            self.wait(self._open(address))
        except BaseException:
            self.close()
            raise
        atexit.register(self.close)

    def wait(self, work: Coroutine[Any, Any, Got]) -> Got:
        """Do some work on the farm's loop, and block until it is done."""
        return self._begun(work).result()

    async def do(self, work: Coroutine[Any, Any, Got]) -> Got:
        """Do some work on the farm's loop, and wait for it on the caller's."""
        return await asyncio.wrap_future(self._begun(work))

    def close(self) -> None:
        """End the link, and the farm if it is its own. A second time does nothing."""
        if self._loop.is_closed():
            return
        self.wait(self._stack.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _begun(self, work: Coroutine[Any, Any, Got]) -> Future[Got]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _open(self, address: Address) -> None:
        self.client = await self._stack.enter_async_context(FarmClient(address.url, address.token))
        self.http = await self._stack.enter_async_context(shared_http(CONNECTIONS))


@contextmanager
def own_farm(library: Sequence[str]) -> Generator[Address]:
    """A farm in a process of its own, on a free port. It ends with the context, or with this process.

    Raises:
        InfraError: it does not start.
    """
    with scratch_folder("state") as folder:
        state = folder / "state"
        shelves = [word for shelf in library for word in ("--library", str(Path(shelf).expanduser().resolve()))]
        command = [
            sys.executable,
            "-m",
            "farm",
            "up",
            "--state",
            str(state),
            "--port",
            "0",
            "--log-level",
            "error",
            *shelves,
        ]
        order: dict[str, object] = {
            "command": command,
            "environment": {},
            "walls": None,
            "processes": ANY,
            "memory": ANY,
        }
        told, tells = os.pipe()
        with subprocess.Popen(
            SUPERVISOR, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, pass_fds=[tells], start_new_session=True
        ) as process:
            os.close(tells)
            if process.stdin is None:
                raise InfraError("the process around a farm has no input")
            process.stdin.write(json.dumps({**order, "tells": tells}).encode() + b"\n")
            process.stdin.flush()
            try:
                yield _started(state, process)
            finally:
                process.stdin.close()
                process.wait()
                os.close(told)


def _started(state: Path, process: subprocess.Popen[bytes]) -> Address:
    """The address of a farm, once it listens."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        if (state / URL_FILE).exists():
            return address_of(state)
        time.sleep(0.05)
    raise InfraError("the farm did not start; its own output says why")


def _address(farm: str | Address, token_file: str) -> Address | None:
    """The running farm that is meant, if one is."""
    if isinstance(farm, Address):
        return farm
    if not farm:
        return None
    if farm.startswith(("http://", "https://")):
        return Address(farm, token_from(None, Path(token_file).expanduser() if token_file else None) or "")
    return address_of(Path(farm).expanduser())
