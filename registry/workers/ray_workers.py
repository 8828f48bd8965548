"""Workers on a Ray cluster, as `farm up` has them: one child process keeps them, and is started again when it dies."""

import asyncio
import logging
import sys
from contextlib import suppress
from typing import Self

from pydantic import ValidationError

from registry.workers.ray_node import ClusterAnswer, RayOrder
from servers.errors import InfraError

SECONDS_TO_START = 60.0
"""Seconds for the cluster to be there."""
SECONDS_TO_END = 30.0
AGAIN_SECONDS = 5.0
"""Seconds until a cluster that went away is looked for again."""
LONGEST_LINE = 64 * 1024
log = logging.getLogger("farm.ray")


class RayWorkers:
    """The workers of a farm on a cluster, while the context is open."""

    def __init__(self, order: RayOrder) -> None:
        self._order = order
        self._process: asyncio.subprocess.Process | None = None
        self._keeping: asyncio.Task[None] | None = None
        self.address = ""
        """The address of the cluster."""

    async def __aenter__(self) -> Self:
        """Find the cluster. Raises InfraError if there is none."""
        await self._start()
        self._keeping = asyncio.create_task(self._keep())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.gather(self._keeping, return_exceptions=True)
        await self._end()

    async def _keep(self) -> None:
        while self._process is not None:
            code = await self._process.wait()
            log.error("the workers' Ray cluster is gone", extra={"code": code})
            await asyncio.sleep(AGAIN_SECONDS)
            while True:
                try:
                    await self._start()
                    break
                except InfraError as error:
                    log.error("no Ray cluster yet", extra={"error": str(error)})
                    await asyncio.sleep(AGAIN_SECONDS)
            log.info("the Ray cluster is there again")

    async def _start(self) -> None:
        """Start the child process, and wait for its first words."""
        self._process = process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "registry.workers.ray_keeper"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,  # what a terminal sends on Ctrl-C comes to us, and we end it
            limit=LONGEST_LINE,
        )
        if process.stdin is None or process.stdout is None:
            raise InfraError("--engine ray: the process that speaks to the cluster has no pipes")
        process.stdin.write(self._order.model_dump_json().encode() + b"\n")
        try:
            async with asyncio.timeout(SECONDS_TO_START):
                answer = ClusterAnswer.model_validate_json(await process.stdout.readline())
        except (TimeoutError, ValidationError, ValueError, ConnectionError):
            await self._end()
            raise InfraError("--engine ray: the process that speaks to the cluster ended before it did") from None
        if answer.problem:
            await self._end()
            raise InfraError(answer.problem)
        self.address = answer.address

    async def _end(self) -> None:
        """End the child process. It ends the workers before."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        if process.stdin is not None:
            with suppress(ConnectionError):
                process.stdin.close()
        try:
            async with asyncio.timeout(SECONDS_TO_END):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
