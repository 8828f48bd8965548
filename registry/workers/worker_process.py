"""A worker that `farm up` runs in a process of its own, and starts again when it dies."""

import asyncio
import logging
import socket
import sys
from collections.abc import Sequence

from servers.doors.server import SECONDS_TO_DRAIN
from servers.worker.settings import WorkerOrder

END_SECONDS = 2.0 * SECONDS_TO_DRAIN
RESTART_SECONDS = 0.2
log = logging.getLogger("farm.up")


class WorkerProcess:
    """A worker in a process of its own. This process owns its socket, so agents' connections wait during a restart."""

    def __init__(self, order: WorkerOrder, listening: socket.socket) -> None:
        self.name = order.join.name
        self._order = order
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
        fd = str(self._listening.fileno())
        command = [sys.executable, "-m", "farm", "worker", "--fd", fd, "--name", self.name]  # the name is for `ps`
        process = await asyncio.create_subprocess_exec(
            *command, pass_fds=[self._listening.fileno()], stdin=asyncio.subprocess.PIPE, start_new_session=True
        )
        log.info("worker process started", extra={"worker": self.name, "pid": process.pid})
        if process.stdin is not None:
            process.stdin.write(self._order.model_dump_json().encode())
            process.stdin.close()
        return process


async def end_all(processes: Sequence[WorkerProcess]) -> None:
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
