"""A bundle in this process, played by the farm's own runtime: for proofs, certificates and generators.

A playground has a worker with a temporary folder. Untrusted code runs in its guests.
"""

import hashlib
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from servers.bundle.environment import Environment
from servers.bundle_library import Library
from servers.guest.sqlite.sql_text import quoted
from servers.messages import Assessment, Judge, Launch
from servers.sandbox.guest_pool import CALL_SECONDS
from servers.scenario.checkpoints.kinds import Checkpoint
from servers.state.readonly_query import Reader
from servers.state.rows import RowChange
from servers.worker.instance import CallOutcome, Instance
from servers.worker.settings import WorkerSettings
from servers.worker.worker import Worker
from synth.play.row_view import (
    SchemaShape,
    View,
    shape_of,
    view_of,
)


class Playground:
    """A playable environment. Enter it with `async with`. Leaving it ends all its sessions.

    Raises:
        BundleError: the bundle cannot be read, or does not start.
    """

    def __init__(self, folder: Path, *, call_seconds: float = CALL_SECONDS, covering: bool = False) -> None:
        self.folder = folder.resolve()
        self._covering = covering
        self._call_seconds = call_seconds
        self._stack = AsyncExitStack()
        self._taken: set[int] = set()

    async def __aenter__(self) -> "Playground":
        library = Library([self.folder.parent])
        self.environment: Environment = library.environment(self.folder.name)
        async with AsyncExitStack() as stack:
            state = stack.enter_context(tempfile.TemporaryDirectory(prefix="farm-stage-"))
            worker = Worker(
                library, Path(state), WorkerSettings(call_seconds=self._call_seconds, covering=self._covering)
            )
            self.worker = await stack.enter_async_context(worker)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def taken(self) -> set[int]:
        """The numbers of the branches of tools.py that were taken so far, if coverage is on."""
        return self._taken | await self.worker.guests.taken(self.environment)

    async def renew_guests(self) -> None:
        """End the guests, so that the next call runs in a process without earlier calls."""
        self._taken = await self.taken()
        self.worker.guests.forget(self.environment.digest)

    async def launch(self, *, setup: str = "", clock: str | None = None, seed: int = 0) -> "Session":
        """A fresh instance. Equal setup, clock and seed give equal starts."""
        order = Launch(environment=self.environment.id, setup=setup, clock=clock, seed=seed)
        [ticket] = await self.worker.launch(order)
        return Session(self.worker, ticket.instance)


class Session:
    """One instance of a playground: call, read, judge, rewind."""

    def __init__(self, worker: Worker, instance_id: str) -> None:
        self.id = instance_id
        self._worker = worker
        self._viewed = ("", View({}))

    @property
    def instance(self) -> Instance:
        """The instance. Do not keep it: the worker closes idle instances."""
        return self._worker.find(self.id)

    @property
    def calls(self) -> int:
        """How many calls have been made."""
        return self.instance.state.last

    @property
    def now(self) -> str:
        """The time that the next call will see."""
        return self.instance.now()

    async def call(self, tool: str, arguments: dict[str, Any]) -> CallOutcome:
        """Make one call, like an agent's."""
        return await self.instance.call(tool, arguments)

    def changed(self, outcome: CallOutcome) -> list[RowChange]:
        """The rows that a call changed."""
        return self.instance.changed_rows(outcome.changes)

    async def rewind(self, seq: int = 0) -> None:
        """Undo every call after call `seq`, by default all. The same calls will then have the same effect."""
        await self._worker.rewind(self.id, seq)

    async def fork(self, count: int = 1) -> "list[Session]":
        """Independent sessions with the present state."""
        return [Session(self._worker, ticket.instance) for ticket in await self._worker.fork(self.id, count)]

    @asynccontextmanager
    async def reading(self) -> AsyncGenerator[Reader]:
        """A private copy of the current rows (`main`), and of those at the start (`start`)."""
        instance = self.instance
        async with instance.in_turn():
            image = await instance.image()
        reader = Reader(image, instance.start.image, now=instance.now())
        try:
            yield reader
        finally:
            reader.close()

    async def shape(self) -> SchemaShape:
        """The tables by the schema."""
        async with self.reading() as reader:
            return shape_of(reader)

    async def view(self, shape: SchemaShape) -> View:
        """The current rows for sampling. Unchanged rows are not read again."""
        revision = self.instance.state.revision
        if self._viewed[0] != revision:
            async with self.reading() as reader:
                self._viewed = (revision, view_of(reader, shape))
        return self._viewed[1]

    async def diff(self) -> list[RowChange]:
        """The rows that differ from the start."""
        async with self.reading() as reader:
            return reader.changes()

    async def digest(self) -> str:
        """A digest of all rows, independent of how they came about."""
        async with self.reading() as reader:
            return digest_of(reader)

    async def judge(self, checkpoints: Sequence[Checkpoint], *, answer: str = "") -> Assessment:
        """The verdicts of checkpoints on the current rows."""
        return await self._worker.judge(self.id, Judge(checkpoints=tuple(checkpoints), answer=answer))

    async def close(self) -> None:
        """End it. An open session ends with its playground."""
        await self._worker.close(self.id)


def digest_of(reader: Reader) -> str:
    """A digest of all rows of `main`."""
    digest = hashlib.sha256()
    for table in reader.tables():
        _, keys = reader.columns(table)
        order = ", ".join(map(quoted, keys))
        rows = reader.connection.execute(f"SELECT * FROM main.{quoted(table)} ORDER BY {order}").fetchall()
        digest.update(f"{table} {len(rows)}\n{rows!r}\n".encode())
    return digest.hexdigest()
