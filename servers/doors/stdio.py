"""JSON-RPC over standard input and output, one message a line. Every request gets an answer, also an invalid one."""

import asyncio
import json
import os
import sys
import threading
from collections.abc import AsyncGenerator, Generator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, BinaryIO, NamedTuple

import anyio
from anyio import to_thread

from servers.doors.json_rpc import (
    EDGE,
    INVALID_REQUEST,
    MessageId,
    MessageProblem,
    error_body,
    id_at_edge,
    problem_of,
)


class LongLine(NamedTuple):
    """The edges of a line that is too long to be read."""

    begin: bytes
    end: bytes


class LineWire:
    """Messages to and from one client over two streams. `longest` is the most bytes of a line."""

    def __init__(self, incoming: BinaryIO, outgoing: BinaryIO, *, longest: int) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._longest = longest
        self._writing = anyio.Lock()  # protects a line from others in its middle
        self._open: set[MessageId] = set()
        self._answered = anyio.Event()

    async def messages(self) -> AsyncGenerator[dict[str, Any]]:
        """The client's messages, until it disconnects and every request is answered."""
        async for line in self._lines():
            problem = self._too_long(line) if isinstance(line, LongLine) else problem_of(line)
            if problem is not None:
                await self._write(error_body(problem))
            elif isinstance(line, bytes):
                message: dict[str, Any] = json.loads(line)
                self._note(message)
                yield message
        while self._open:
            self._answered = anyio.Event()
            await self._answered.wait()

    async def send(self, message: dict[str, Any]) -> None:
        """Send one message to the client."""
        await self._write(json.dumps(message).encode())  # ASCII: what is no Unicode does not end the wire
        if "method" not in message:
            self._open.discard(message.get("id"))
            self._answered.set()

    async def _lines(self) -> AsyncGenerator[bytes | LongLine]:
        """The lines that are not blank."""
        while line := await self._read(self._longest + 1):
            if len(line) > self._longest and not line.endswith(b"\n"):
                begin, end = line[:EDGE], line[-EDGE:]
                while line and not line.endswith(b"\n"):
                    line = await self._read(self._longest)
                    end = (end + line)[-EDGE:]
                yield LongLine(begin, end)
            elif line.strip():
                yield line

    async def _read(self, most: int) -> bytes:
        """Read in a thread that the end of the process does not wait for: such a read cannot be called off."""
        line: Future[bytes] = Future()
        threading.Thread(target=self._read_into, args=(line, most), daemon=True).start()
        return await asyncio.wrap_future(line)

    def _read_into(self, line: "Future[bytes]", most: int) -> None:
        if line.set_running_or_notify_cancel():
            try:
                line.set_result(self._incoming.readline(most))
            except (OSError, ValueError) as error:  # ValueError: the stream is closed
                line.set_exception(error)

    def _too_long(self, line: LongLine) -> MessageProblem:
        number = id_at_edge(line.begin, line.end)
        return MessageProblem(number, INVALID_REQUEST, f"a message has at most {self._longest // 1024 // 1024} MiB")

    def _note(self, message: dict[str, Any]) -> None:
        """Track which requests wait for an answer. A cancelled one gets none."""
        match message:
            case {"method": "notifications/cancelled", "params": {"requestId": int() | str() as number}}:
                self._open.discard(number)
            case {"method": str(), "id": int() | str() as number}:
                self._open.add(number)
            case _:
                pass

    async def _write(self, line: bytes) -> None:
        async with self._writing:
            await to_thread.run_sync(self._outgoing.write, line + b"\n")
            await to_thread.run_sync(self._outgoing.flush)


@contextmanager
def standard_streams() -> Generator[tuple[BinaryIO, BinaryIO]]:
    """Standard input and output for the protocol alone. Other output goes to standard error meanwhile."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with os.fdopen(kept, "wb", closefd=False) as outgoing:
            yield os.fdopen(0, "rb", closefd=False), outgoing  # not `sys.stdin`: Python's end waits for its readers
    finally:
        os.dup2(kept, 1)
        os.close(kept)
