"""A bundle in this process, played by the farm's own runtime: for proofs, certificates and generators.

A stage has a worker over a folder of its own, which is gone afterwards. Whatever is not trusted runs in its guests.
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
    """An environment that is ready to be played. Entered with `async with`; leaving it ends all its scenes.

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
        """The branches of tools.py that were taken so far, by number, on a stage that covers."""
        return self._taken | await self.worker.guests.taken(self.environment)

    async def renew_guests(self) -> None:
        """End the guests, so that the next call is made in a process that knows nothing of those before."""
        self._taken = await self.taken()
        self.worker.guests.forget(self.environment.digest)

    async def launch(self, *, setup: str = "", clock: str | None = None, seed: int = 0) -> "Session":
        """A fresh instance. The same setup, clock and seed begin the same."""
        order = Launch(environment=self.environment.id, setup=setup, clock=clock, seed=seed)
        [ticket] = await self.worker.launch(order)
        return Session(self.worker, ticket.instance)


class Session:
    """One instance on a stage: called, read, judged, and put back to where it began."""

    def __init__(self, worker: Worker, instance_id: str) -> None:
        self.id = instance_id
        self._worker = worker
        self._viewed = ("", View({}))

    @property
    def instance(self) -> Instance:
        """The instance itself; its worker may let go of it while it is idle, so it is not to be kept."""
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
        """Make one call, as an agent's would be made."""
        return await self.instance.call(tool, arguments)

    def changed(self, outcome: CallOutcome) -> list[RowChange]:
        """The rows that a call changed."""
        return self.instance.changed_rows(outcome.changes)

    async def rewind(self, seq: int = 0) -> None:
        """Undo every call after call `seq`; by default all. The same calls will then do the same."""
        await self._worker.rewind(self.id, seq)

    async def fork(self, count: int = 1) -> "list[Session]":
        """Scenes of their own that stand where this one stands."""
        return [Session(self._worker, ticket.instance) for ticket in await self._worker.fork(self.id, count)]

    @asynccontextmanager
    async def reading(self) -> AsyncGenerator[Reader]:
        """A private copy of the rows as they are now (`main`), beside those at the beginning (`start`)."""
        instance = self.instance
        async with instance.in_turn():
            image = await instance.image()
        reader = Reader(image, instance.start.image, now=instance.now())
        try:
            yield reader
        finally:
            reader.close()

    async def shape(self) -> SchemaShape:
        """What the schema says of the tables."""
        async with self.reading() as reader:
            return shape_of(reader)

    async def view(self, shape: SchemaShape) -> View:
        """The rows as they are now, for a drawer. Not read again while they have not changed."""
        revision = self.instance.state.revision
        if self._viewed[0] != revision:
            async with self.reading() as reader:
                self._viewed = (revision, view_of(reader, shape))
        return self._viewed[1]

    async def diff(self) -> list[RowChange]:
        """The rows that differ from the beginning."""
        async with self.reading() as reader:
            return reader.changes()

    async def digest(self) -> str:
        """A digest of all rows: the same for the same rows, however they came about."""
        async with self.reading() as reader:
            return digest_of(reader)

    async def judge(self, checkpoints: Sequence[Checkpoint], *, answer: str = "") -> Assessment:
        """What checkpoints say of the rows as they are now."""
        return await self._worker.judge(self.id, Judge(checkpoints=tuple(checkpoints), answer=answer))

    async def close(self) -> None:
        """End it. A scene that is not closed ends with its stage."""
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
