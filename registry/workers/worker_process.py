"""A worker that `farm up` runs in a process of its own, and starts again when it dies."""

import asyncio
import logging
import socket
import sys
from collections.abc import Callable, Container, Sequence

from servers.doors.server import SECONDS_TO_DRAIN
from servers.errors import InfraError
from servers.limits.process_clock import cpu_seconds
from servers.worker.settings import WorkerOrder

END_SECONDS = 2.0 * SECONDS_TO_DRAIN
RESTART_SECONDS = 0.2
LONGEST_LINE = 1024 * 1024
"""Bytes of a line of a worker's log that is read here."""
PATIENCE_TO_JOIN = 30.0
"""Seconds of processor time in which a worker joins its farm, and seconds that it may use none before it has joined.

So a busy machine, where it takes longer, does not count as a worker that cannot start.
"""
LOOK_SECONDS = 0.02
log = logging.getLogger("farm.up")


class WorkerProcess:
    """A worker in a process of its own. This process owns its socket, so agents' connections wait during a restart."""

    def __init__(
        self, order: WorkerOrder, listening: socket.socket, *, on_line: Callable[[str], None] | None = None
    ) -> None:
        self.name = order.join.name
        self._order = order
        self._listening = listening
        self._on_line = on_line
        """What gets each line of the process's log. None: it goes to this process's standard error."""
        self._process: asyncio.subprocess.Process | None = None
        self._keeping: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Run the process until `end`, and restart it when it dies."""
        self._keeping = asyncio.create_task(self._keep())

    @property
    def processor_seconds(self) -> float:
        """What the process that runs now has used. 0 if none runs."""
        try:
            return cpu_seconds(self._process.pid) if self._process is not None else 0.0
        except OSError:
            return 0.0

    async def joined(self, seats: Container[str]) -> None:
        """Wait until the process has a seat under its name.

        Raises:
            InfraError: it does not join.
        """
        used = idle = seen = 0.0
        while self.name not in seats:
            await asyncio.sleep(LOOK_SECONDS)
            now = self.processor_seconds
            idle = idle + LOOK_SECONDS if now == seen else 0.0
            used += now - seen if now >= seen else now  # less than before: it has been started again
            seen = now
            if max(used, idle) >= PATIENCE_TO_JOIN:
                raise InfraError(
                    f"{self.name} has not joined: it used {used:.1f} s of processor time, and none for the last"
                    f" {idle:.1f} s; its own output says why"
                )

    async def once(self) -> int:
        """Run the process once. Returns its exit code."""
        self._process = await self._start()
        if self._process.stderr is not None and self._on_line is not None:
            async for line in self._process.stderr:
                self._on_line(line.decode("utf-8", "replace").rstrip())
        return await self._process.wait()

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
            code = await self.once()
            log.error("worker process ended", extra={"worker": self.name, "code": code})
            await asyncio.sleep(RESTART_SECONDS)

    async def _start(self) -> asyncio.subprocess.Process:
        fd = str(self._listening.fileno())
        command = [sys.executable, "-m", "farm", "worker", "--fd", fd, "--name", self.name]  # the name is for `ps`
        process = await asyncio.create_subprocess_exec(
            *command,
            pass_fds=[self._listening.fileno()],
            stdin=asyncio.subprocess.PIPE,
            stderr=None if self._on_line is None else asyncio.subprocess.PIPE,
            start_new_session=True,
            limit=LONGEST_LINE,
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
