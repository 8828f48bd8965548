"""What a farm's pages ask about runs, and the process that answers: it is started with the first question.

What runs hold is read by floors above this one, so it is asked over pipes. A page that wants JSON gets the answer as it
came, compressed: the farm reads nothing of it.
"""

import asyncio
import gzip
import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from servers.errors import InfraError, NotFound, RequestError
from servers.records import Record

MOST_COMPARED = 6
MOST_WAITING = 200
SECONDS = 120.0
LONGEST_HEAD = 64 * 1024
RunQuestionKind = Literal[
    "list", "data", "rollout", "subject", "training", "episodes", "synthesis", "environment", "exchange", "words"
]


class RunsOrder(Record):
    """The first line for the process: the farm's process, and the folders with runs."""

    parent: int
    shelves: tuple[Path, ...]


class RunQuestion(Record):
    """A question about runs. With the `mark` of an earlier answer, the answer may be that all is the same.

    `words` asks all runs: `name` is the digest of what `model` was asked for an environment.
    """

    id: int = 0
    kind: RunQuestionKind
    runs: tuple[str, ...] = ()
    name: str = ""
    model: str = ""
    environment: str = ""
    offset: int = 0
    mark: str = ""


class RunAnswer(Record):
    """The head of an answer. `length` bytes of gzipped JSON follow."""

    id: int
    status: Literal["told", "same", "missing", "refused"]
    message: str = ""
    length: int = 0


class RunReaderProcess:
    """The process that reads the runs below some folders."""

    def __init__(self, shelves: tuple[Path, ...]) -> None:
        self.shelves = shelves
        self._process: asyncio.subprocess.Process | None = None
        self._following: asyncio.Task[None] | None = None
        self._waiting: dict[int, asyncio.Future[bytes | None]] = {}
        self._starting = asyncio.Lock()  # protects the start: there is one process
        self._number = 0

    @property
    def pid(self) -> int | None:
        """The number of the process, once it was started."""
        return None if self._process is None else self._process.pid

    async def packed(self, asked: RunQuestion) -> bytes | None:
        """The answer as gzipped JSON. None if nothing has changed since the mark.

        Raises:
            NotFound: there is no such run, or nothing of this name in it.
            RequestError: the run cannot be read.
            InfraError: the process does not answer.
        """
        if len(self._waiting) >= MOST_WAITING:
            raise InfraError(f"{MOST_WAITING} pages wait for runs to be read; load this one again later")
        process = await self._running()
        self._number += 1
        question = asked.model_copy(update={"id": self._number})
        answer: asyncio.Future[bytes | None] = asyncio.get_running_loop().create_future()
        self._waiting[question.id] = answer
        try:
            if process.stdin is not None:
                process.stdin.write(question.model_dump_json().encode() + b"\n")
            async with asyncio.timeout(SECONDS):
                return await answer
        except TimeoutError:
            raise InfraError(f"the run was not read within {SECONDS:g} s; `farm report` reads it, too") from None
        finally:
            del self._waiting[question.id]

    async def told(self, asked: RunQuestion) -> dict[str, Any]:
        """The answer, unpacked in a thread. Raises as `packed` does."""
        body = await self.packed(asked)
        return await asyncio.to_thread(lambda: json.loads(gzip.decompress(body or gzip.compress(b"{}"))))

    async def end(self) -> None:
        """End the process."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()
        if self._following is not None:
            await asyncio.gather(self._following, return_exceptions=True)

    async def _running(self) -> asyncio.subprocess.Process:
        async with self._starting:
            if self._process is None or self._process.returncode is not None:
                self._process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-m", "farm", "read-runs"),
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.DEVNULL,
                    start_new_session=True,
                    limit=LONGEST_HEAD,
                )
                order = RunsOrder(parent=os.getpid(), shelves=self.shelves)
                if self._process.stdin is not None:
                    self._process.stdin.write(order.model_dump_json().encode() + b"\n")
                self._following = asyncio.create_task(self._follow(self._process))
            return self._process

    async def _follow(self, process: asyncio.subprocess.Process) -> None:
        """Hand out the answers until the process ends. Whoever still waits then is told so."""
        try:
            if process.stdout is not None:
                while line := await process.stdout.readline():
                    head = RunAnswer.model_validate_json(line)
                    self._hand_out(head, await process.stdout.readexactly(head.length))
        except (ValidationError, ValueError, EOFError):
            pass  # it died in the middle of an answer
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(InfraError("the process that reads runs ended; load the page again"))

    def _hand_out(self, head: RunAnswer, body: bytes) -> None:
        answer = self._waiting.get(head.id)
        if answer is None or answer.done():
            return
        match head.status:
            case "told":
                answer.set_result(body)
            case "same":
                answer.set_result(None)
            case "missing":
                answer.set_exception(NotFound(head.message))
            case "refused":
                answer.set_exception(RequestError(head.message))
