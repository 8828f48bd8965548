"""The data plane: the instances of one machine, their state files, and the operations of the control door.

Everything that must survive a restart is in the state folder. Memory holds only what is in use.
"""

import asyncio
import base64
import hmac
import json
import logging
import re
import secrets
import shutil
import time
from collections.abc import AsyncGenerator, Callable, Collection, Generator, Iterable, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import apsw

from servers.bundle.environment import Environment
from servers.bundle_library import Library
from servers.errors import CapacityError, Conflict, NotFound, QueryError, StateError
from servers.files.private_files import LEFT_ALONE, keep_private, kept_secret, remove, write_private
from servers.guest.sqlite.image import LARGEST_IN_MEMORY, Image
from servers.guest.sqlite.sql_text import quoted
from servers.judge import judge
from servers.limits.fair_pool import FairLimit, FairThreadPool
from servers.limits.memory import limit_sqlite
from servers.limits.recent_values import RecentValues
from servers.limits.throttle import Pace
from servers.messages import (
    INSTANCE_ID,
    Assessment,
    CallAnswer,
    InstanceStatus,
    Judge,
    Launch,
    Page,
    QueryRows,
    StartTable,
    TableRows,
    Ticket,
)
from servers.perturb.tool_view import ToolView
from servers.perturb.tool_views import ToolViews
from servers.sandbox.guest_pool import Guests
from servers.sandbox.source_inspection import agree
from servers.scenario.checkpoints.checkpoint import NO_CALLS, calls_as_json
from servers.state.changeset_verification import LARGEST_ON_LOOP, Verification
from servers.state.readonly_query import Reader
from servers.state.row_diff import as_json
from servers.state.rows import LARGEST_ANSWER, cell
from servers.state.start_images import StartImage, Starts
from servers.state.state_file import FORMER_SUFFIX, SUFFIX, KeptCall, Origin, StateFile
from servers.state.state_index import StateIndex
from servers.telemetry.worker_events import WorkerEvents
from servers.worker.departures import Departures
from servers.worker.instance import Instance
from servers.worker.instance_cache import InstanceCache
from servers.worker.settings import ORDINARY, WorkerSettings
from servers.worker.start_tables import start_tables
from servers.worker.tool_changes import ToolChanges
from servers.worker.travelled_state import packed_for_travel, see_that_it_can_travel, see_that_it_is, unpacked

MOST_AGREED = 10_000
"""Versions of environments whose tools were found to agree with their descriptions, and are not asked again."""
MEMORY_SECONDS = 1.0
"""Seconds between measurements of guests' memory, and of the processor time of idle guests."""
FILES = re.compile(r"lock|secret|index|instances|starts|bundles|.*\.part")
"""The files of a worker in its state folder."""
MOST_CALLS = 1_000_000
LARGEST_PAGE = 1024 * 1024
"""Characters of the JSON of one page of a history, which has one call at least."""
YIELD_EVERY = 10
"""Small state files that are written before other work gets a turn."""
COPIES_OF_IMAGE = 4
"""Copies of the rows of an instance in memory while they are read, of those that are in memory at all.

The final ones and those of the start, and of each what SQLite makes of them.
"""
COPIES = 2
"""Copies of a history in memory while it is read, and of an answer."""
MOST_COPIED = 80 * 1024 * 1024
MOST_COPIED_EACH = 40 * 1024 * 1024
"""Bytes of the copies of states at one time: of all environments, and of one."""
DISK_SHARE = 0.5
"""The share of the free disk that one fork may use."""
SECONDS_TO_DEPART = 10.0
"""Seconds that a move waits for the calls of an instance that have begun."""
SECONDS_TO_ARRIVE = 20.0
"""Seconds in which the calls of an instance from another worker must be made once more."""
MOST_ARRIVALS = 2
"""Instances from other workers that are taken in at the same time. More wait."""
T = TypeVar("T")
log = logging.getLogger("farm.worker")


class Worker:
    """The instances of one state folder. Enter it with `async with`. Leaving it ends its guests and loses nothing."""

    def __init__(self, library: Library, folder: Path, settings: WorkerSettings = ORDINARY) -> None:
        self.library = library
        self.folder = folder
        self.settings = settings
        self.watch = WorkerEvents()
        self.guests = Guests(
            call_seconds=settings.call_seconds,
            walls_required=settings.walls_required is True,
            covering=settings.covering,
            folder=folder / "instances",
        )
        self.threads = FairThreadPool()
        self.copies = FairLimit(MOST_COPIED, MOST_COPIED_EACH)
        self.index = StateIndex(folder / "index")
        self.starts = Starts(folder / "starts", self.guests)
        self.verification = Verification(self.guests, self.threads)
        self.tool_changes = ToolChanges()
        self.views = ToolViews(library)
        self._holding = InstanceCache(self.guests, self.watch, settings.most_held)
        self._forgotten = 0
        self._opening: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # each is opened once
        self._ids: set[str] = set()
        self._suspended: set[str] = set()
        self.departures = Departures(folder / "instances")
        self._arriving = asyncio.Semaphore(MOST_ARRIVALS)
        self._agreed = RecentValues[str, bool](MOST_AGREED)  # digests of environments
        self._secret = b""
        self.standing_walls: tuple[str, ...] = ()
        self._tidying: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "Worker":
        limit_sqlite()
        try:
            keep_private(self.folder, FILES)
            keep_private(self.folder / "instances", others=LEFT_ALONE)
            keep_private(self.folder / "starts", others=LEFT_ALONE)
            self._secret = kept_secret(self.folder / "secret", secrets.token_bytes(32))
            for kept in ("instances", "starts"):
                for path in (self.folder / kept).glob("*.part*"):  # what a kill in the middle of writing left
                    remove(path)
            states = (path for path in (self.folder / "instances").iterdir() if path.suffix in (SUFFIX, FORMER_SUFFIX))
            self._ids = {path.stem for path in states if INSTANCE_ID.fullmatch(path.stem)}
            self._suspended = {path.stem for path in (self.folder / "instances").glob("*.over")} & self._ids
            self.departures.read(self._ids)
            self.index.open(self._ids)
            await asyncio.to_thread(self.starts.clear, self._needed_starts)
        except OSError as error:
            raise StateError(f"the state folder {self.folder} cannot be used: {error.strerror}") from None
        try:
            self.standing_walls = await self.guests.walls()
        except BaseException:
            await self.guests.close()
            await self.threads.close()
            self.index.close()
            raise
        self._tidying = asyncio.create_task(self._tidy())
        log.info("worker started", extra={"live": self.live, "walls": self.standing_walls})
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._tidying is not None:
            self._tidying.cancel()
        await self.guests.close()
        await self.threads.close()
        self._holding.close()
        self.index.close()
        self.verification.close()
        log.info("worker ended", extra={"live": self.live})

    def _needed_starts(self) -> set[str]:
        """The start images of all instances. Raises StateError if one cannot be read."""
        paths = (self.folder / "instances").glob(f"*{SUFFIX}")
        return {StateFile.origin_of(path).start for path in paths}

    @property
    def live(self) -> int:
        """The number of instances."""
        return len(self._ids)

    @property
    def in_use(self) -> Collection[Instance]:
        """The instances whose state file is open."""
        return self._holding.all()

    async def walls(self) -> list[str]:
        """The walls that stand around the guests of this worker."""
        return list(self.standing_walls)

    def ids(self) -> list[str]:
        return sorted(self._ids)

    @property
    def identity(self) -> str:
        """What tells this worker from others: the same after a restart, and nothing of its secret."""
        return hmac.digest(self._secret, b"identity of the worker", "sha256")[:16].hex()

    def token_of(self, instance_id: str) -> str:
        """The token of an instance's door: the same after a restart, and not stored."""
        digest = hmac.digest(self._secret, instance_id.encode(), "sha256")
        return base64.urlsafe_b64encode(digest[:24]).decode()

    async def launch(self, order: Launch) -> list[Ticket]:
        """Launch instances.

        Raises:
            NotFound, BundleError: no such environment, or it cannot be started.
            CapacityError: there is no room.
        """
        self._see_that_there_is_room(order.count)
        begin = time.perf_counter()
        origin = await self._origin_of(order)
        tickets = await self._created(origin, (), order.count)
        self.watch.launched(
            origin.environment, order.scenario, [one.instance for one in tickets], time.perf_counter() - begin
        )
        return tickets

    async def _origin_of(self, order: Launch) -> Origin:
        """The origin of the instances of a launch, whose start image is there. Raises like `launch`."""
        name = order.environment
        environment = self.library.current(name) or await asyncio.to_thread(self.library.environment, name)
        await self._see_that_it_agrees(environment)
        clock = order.clock or environment.description.clock
        start = await self.starts.build(environment, order.setup, clock)
        origin = Origin(
            "", environment.id, environment.digest, start.digest, start.content, order.scenario, clock, order.seed
        )._replace(tools=order.tools)
        if order.perturb:
            foreign = await asyncio.to_thread(self.views.foreign_to, environment, order.perturb)
            origin = origin._replace(perturb=order.perturb, foreign=foreign)
        return origin

    async def _see_that_it_agrees(self, environment: Environment) -> None:
        """Check once that the tools in the description are those of the code, and may run. Raises BundleError."""
        if self._agreed.find(environment.digest) is None:
            self.guests.expect(environment)
            await agree(environment, self.guests, gated=self.settings.gated is True)
            self._agreed.keep(environment.digest, True)

    def find(self, instance_id: str) -> Instance:
        """An instance, opened if it is idle. It blocks, so callers on an event loop use `opened`.

        Raises:
            NotFound: it was never launched, or it was closed.
            Conflict: its bundle has changed since.
            Moving: it leaves for another worker.
        """
        self.departures.see_that_it_stays(instance_id)
        instance = self._holding.find(instance_id)
        if instance is not None:
            return instance
        origin = self._origin(instance_id)
        environment = self.library.environment(origin.environment)
        _refuse_another(origin, environment)
        self.guests.expect(environment)
        start = self.starts.load_here(origin.start, origin.content)
        view = self.views.of(environment, origin.perturb, origin.foreign)
        return self._registered(StateFile.read(self._path(instance_id), self.index), environment, start, view)

    async def opened(self, instance_id: str) -> Instance:
        """An instance, opened if it is idle. A large file is read in a thread. Raises like `find`."""
        if self.departures.leaving:
            self.departures.see_that_it_stays(instance_id)
        instance = self._holding.find(instance_id)
        if instance is not None:
            return instance
        async with self._opening.setdefault(instance_id, asyncio.Lock()):
            return self._holding.find(instance_id) or await self._open(instance_id)

    def _origin(self, instance_id: str) -> Origin:
        self._see_that_it_is_there(instance_id)
        return StateFile.origin_of(self._path(instance_id))

    async def _open(self, instance_id: str) -> Instance:
        origin = self._origin(instance_id)
        name = origin.environment
        environment = self.library.current(name) or await asyncio.to_thread(self.library.environment, name)
        _refuse_another(origin, environment)
        view = await self._view(environment, origin)
        start = await self.starts.load(origin.start, origin.content)
        path, states = self._path(instance_id), list[StateFile]()
        try:
            await self.verification.read_history(
                name, self._size(path), lambda: states.append(StateFile.read(path, self.index))
            )
        except BaseException:
            for state in states:  # nobody waits for it any more
                state.close()
            self._see_that_it_is_there(instance_id)  # what was closed meanwhile is not damaged
            raise
        return self._registered(states.pop(), environment, start, view)

    async def _view(self, environment: Environment, origin: Origin) -> ToolView | None:
        """How an instance's tools are perturbed. None if they are not."""
        if not origin.perturb:
            return None
        return await asyncio.to_thread(self.views.of, environment, origin.perturb, origin.foreign)

    def _size(self, path: Path) -> int:
        """The bytes of a state file. 0 if it is missing, which opening it reports."""
        try:
            return path.lstat().st_size
        except OSError:
            return 0

    def _registered(
        self, state: StateFile, environment: Environment, start: StartImage, view: ToolView | None
    ) -> Instance:
        """The instance of an opened state file. Closes the file if the instance no longer exists."""
        try:
            self._see_that_it_is_there(state.origin.id)
            state.settle()
        except BaseException:
            state.close()
            raise
        most = self.settings.calls_per_second
        pace = None if most is None else Pace(most)
        instance = Instance(
            *(environment, start, state, self.guests, self.verification, self.watch, pace, view),
            leaving=self.departures.leaving,
        )
        self._let_go_of_forgotten()
        self._holding.hold(instance)
        return instance

    def _let_go_of_forgotten(self) -> None:
        """Close instances whose environments the library has freed: they would keep them in memory."""
        if self.library.forgotten != self._forgotten:
            self._forgotten = self.library.forgotten
            self._holding.let_go_of_others(lambda instance: self.library.keeps(instance.environment))

    def _see_that_it_is_there(self, instance_id: str) -> None:
        if instance_id not in self._ids:
            raise NotFound(f"there is no instance {instance_id!r} here; it was closed, or never launched")

    def has(self, instance_id: str) -> bool:
        return instance_id in self._ids

    async def suspend(self, instance_id: str) -> None:
        """Refuse the agent's calls from now on, also after a restart. The state stays.

        Raises:
            NotFound: it was closed before, or never launched.
        """
        self._see_that_it_is_there(instance_id)
        self._suspended.add(instance_id)
        self.tool_changes.end(instance_id)
        try:
            write_private(self._path(instance_id).with_suffix(".over"), b"")
        except OSError as error:
            raise StateError(f"instance {instance_id} cannot be marked as over: {error.strerror}") from None

    async def resume(self, instance_id: str) -> None:
        """Answer the agent's calls again."""
        self._suspended.discard(instance_id)
        self._path(instance_id).with_suffix(".over").unlink(missing_ok=True)

    def is_suspended(self, instance_id: str) -> bool:
        return instance_id in self._suspended

    async def suspended(self) -> list[str]:
        """The suspended instances."""
        return sorted(self._suspended)

    async def call(self, instance_id: str, tool: str, arguments: dict[str, Any]) -> CallAnswer:
        """Make a tool call for a person, as an agent would make it. It is in the history like any other."""
        outcome = await (await self.opened(instance_id)).call(tool, arguments)
        return CallAnswer(outcome=outcome.kind, text=outcome.text)

    async def marks(self, instances: Collection[str]) -> dict[str, str]:
        """A text for each instance that is here. It changes when the instance does. No state file is opened."""
        return {one: self.index.mark(one) for one in instances if one in self._ids}

    async def at_start(self, environment_id: str, rows: int) -> list[StartTable]:
        """The tables of an environment before any scenario's setup, with at most `rows` rows each.

        Raises:
            NotFound, BundleError: no such environment, or it cannot be started.
        """
        environment = await asyncio.to_thread(self.library.environment, environment_id)
        start = await self.starts.build(environment, "", environment.description.clock)
        reader = Reader(start.image, start.image)

        def told() -> list[StartTable]:
            with self._closed_after(reader, f"of the start of {environment_id}"):
                return start_tables(reader, rows)

        return await self.threads.run(environment_id, told, stop=reader.stop)

    async def standing(self, instance_id: str) -> InstanceStatus:
        instance = await self.opened(instance_id)
        origin = instance.state.origin
        return InstanceStatus(
            instance=instance_id,
            environment=origin.environment,
            scenario=origin.scenario,
            seed=origin.seed,
            calls=instance.state.last,
            now=instance.now(),
            digest=origin.digest,
        )

    async def reset(self, instance_id: str) -> None:
        """Restore an instance's start state. Its URL and token stay."""
        instance = await self.opened(instance_id)
        async with instance.in_turn():
            await self._rewound(instance, 0)
        self.watch.reset(instance_id)

    async def rewind(self, instance_id: str, seq: int) -> None:
        """Undo every call after call `seq`.

        Raises:
            Conflict: there is no such call.
        """
        instance = await self.opened(instance_id)
        async with instance.in_turn():
            await self._rewound(instance, seq)
        self.watch.rewound(instance_id, seq)

    async def mark_turn(self, instance_id: str) -> int:
        """Mark that the user begins a turn. Returns its number, from 0.

        Raises:
            Conflict: the scenario has no turns.
        """
        instance = await self.opened(instance_id)
        with self.tool_changes.noticing(instance):
            return await instance.mark_turn()

    async def fork(self, instance_id: str, count: int) -> list[Ticket]:
        """New instances with the state and history of an existing one."""
        self._see_that_there_is_room(count)
        begin = time.perf_counter()
        instance = await self.opened(instance_id)
        async with self._copied(instance), instance.in_turn():
            self._see_that_there_is_disk(count * instance.state.size)
            calls = await self._calls(instance, limit=MOST_CALLS)
            tickets = await self._created(instance.state.origin, calls, count, large=_is_large(instance))
        self.watch.forked(instance_id, [one.instance for one in tickets], time.perf_counter() - begin)
        return tickets

    def _see_that_there_is_room(self, count: int) -> None:
        """Refuse more instances than this worker holds. Raises CapacityError."""
        most = self.settings.most_instances
        if self.live + count > most:
            told = f"no room for {count} more instances ({self.live} live, at most {most})"
            raise CapacityError(f"{told}; close some and retry, or add a worker (`farm worker --capacity`)")

    async def export(self, instance_id: str) -> bytes:
        """The state of an instance for another worker, which forks it there.

        Raises:
            Conflict: it is too large to travel.
        """
        instance = await self.opened(instance_id)
        async with self._copied(instance), instance.in_turn():
            return await self.verification.read(instance.state, lambda: packed_for_travel(instance.state))

    async def depart(self, instance_id: str, copy: str) -> bytes:
        """Let an instance leave for another worker, where `copy` is made of it. Returns its state.

        Calls that have begun end first, and are in that state. From then on every door is shut: to calls of agents and
        of persons, to resets, forks, reads and scores, also after a restart, until `stay` or `leave`. If it fails,
        nothing has changed.

        Raises:
            Moving: it leaves already.
            Conflict: it is too large to travel.
            CapacityError: its calls did not end in time.
        """
        instance = await self.opened(instance_id)
        see_that_it_can_travel(instance.state)
        self.departures.begin(instance_id, copy)
        try:
            async with asyncio.timeout(SECONDS_TO_DEPART), self._copied(instance), instance.last_turn():
                self._see_that_it_is_there(instance_id)
                self.departures.keep(instance_id)
                state = await self.verification.read(instance.state, lambda: packed_for_travel(instance.state))
        except TimeoutError:
            self.departures.end(instance_id, copy)
            raise CapacityError(
                f"the calls of instance {instance_id} did not end within {SECONDS_TO_DEPART:g} s; move it later"
            ) from None
        except BaseException:
            self.departures.end(instance_id, copy)
            raise
        self.tool_changes.end(instance_id)
        return state

    async def stay(self, instance_id: str, copy: str) -> None:
        """Answer again for an instance that was to leave for `copy`. Whoever asks knows that it will never be that."""
        if self.departures.end(instance_id, copy):
            self.watch.stayed(instance_id)

    async def leave(self, instance_id: str, copy: str) -> None:
        """Delete an instance that has left: `copy` is the instance now. Its agent is told so.

        Raises:
            NotFound: it does not leave for this copy.
        """
        if self.departures.leaving.get(instance_id) != copy:
            raise NotFound(f"instance {instance_id} does not leave for {copy}")
        self.departures.leave(instance_id)
        await self.close(instance_id)

    async def leavers(self) -> dict[str, str]:
        """The instances that leave, each with the copy that is made of it."""
        return dict(self.departures.leaving)

    async def arrive(self, order: Launch, source: str, state: bytes, instances: Sequence[str]) -> list[Ticket]:
        """Make instances with these ids of the state of another worker's instance `source`, launched by `order`.

        Nothing in that state is believed: the instance is launched anew, and each call is made once more.

        Raises:
            CapacityError: there is no room, or it takes too long.
            Conflict: the state is of another instance, or the bundle here is another one.
            InfraError: it is no state, or a call does not end as it is said to have ended.
        """
        count = len(instances)
        self._see_that_there_is_room(count)
        self._see_that_there_is_disk(count * len(state))
        try:
            async with asyncio.timeout(SECONDS_TO_ARRIVE), self._arriving:
                return await self._arrived(order, source, state, instances)
        except TimeoutError:
            raise CapacityError(
                f"the calls of instance {source} could not be made once more within {SECONDS_TO_ARRIVE:g} s"
            ) from None

    async def _arrived(self, order: Launch, source: str, state: bytes, instances: Sequence[str]) -> list[Ticket]:
        begin, count = time.perf_counter(), len(instances)
        said = await self.threads.run(order.environment, lambda: unpacked(state))
        origin = await self._origin_of(order)
        see_that_it_is(said.origin, origin._replace(id=source))
        if not self._ids.isdisjoint(instances):
            raise Conflict(f"there is an instance {instances[0]} here already")
        tickets = await self._created(origin, (), 1, ids=instances)
        try:
            for call in said.calls:  # one waits for the guest like every other call
                await (await self.opened(instances[0])).repeat(call)
            if count > 1:
                large = len(state) > LARGEST_ON_LOOP
                tickets += await self._created(origin, said.calls, count - 1, ids=instances[1:], large=large)
        except BaseException:
            for ticket in tickets:
                with suppress(NotFound):  # whoever gave up on this has closed it
                    await self.close(ticket.instance)
            raise
        self.watch.arrived(source, list(instances), len(said.calls), time.perf_counter() - begin)
        return tickets

    def _see_that_there_is_disk(self, size: int) -> None:
        """Refuse what would fill the disk that stores calls. Raises CapacityError."""
        free = shutil.disk_usage(self.folder).free
        if size > free * DISK_SHARE:
            raise CapacityError(f"the copies take {size:,} bytes, and {free:,} are left; ask for fewer, or close some")

    async def close(self, instance_id: str) -> None:
        """End an instance and delete its state.

        Raises:
            NotFound: it was closed before, or never launched.
        """
        self._see_that_it_is_there(instance_id)
        self._ids.discard(instance_id)  # first, so that nobody opens it again while its last call ends
        self.tool_changes.end(instance_id)
        instance = self._holding.give_up(instance_id)
        if instance is not None:
            async with instance.last_turn():
                instance.state.close()
                self.verification.release(instance.start.digest, instance_id)
        for suffix in (SUFFIX, FORMER_SUFFIX, f"{FORMER_SUFFIX}-wal", f"{FORMER_SUFFIX}-shm"):
            remove(self._path(instance_id, suffix))
        self.index.remove(instance_id)
        await self.resume(instance_id)
        self.departures.forget(instance_id)
        self.watch.closed(instance_id)

    async def tables(self, instance_id: str) -> list[TableRows]:
        """The tables of the state, without rows."""

        def listed(reader: Reader) -> list[TableRows]:
            return [self._table(reader, name, Page(limit=1), with_rows=False) for name in reader.tables()]

        return await self._read(instance_id, listed)

    async def table(self, instance_id: str, name: str, page: Page) -> TableRows:
        """Rows of one table, by key.

        Raises:
            NotFound: there is no such table.
        """

        def told(reader: Reader) -> TableRows:
            tables = reader.tables()
            if name not in tables:
                raise NotFound(f"there is no table {name!r}; there are: {', '.join(tables)}")
            return self._table(reader, name, page, with_rows=True)

        return await self._read(instance_id, told)

    async def diff(self, instance_id: str) -> bytes:
        """The rows that differ from the start: a JSON list of `RowChange`."""
        return await self._read(
            instance_id, lambda reader: reader.changes_as_json().encode(), more=COPIES * LARGEST_ANSWER
        )

    async def history(self, instance_id: str, after: int = 0, limit: int = 100) -> bytes:
        """The calls so far, oldest first, with the changed rows of each: a JSON list of `CallRecord`.

        Raises:
            QueryError: the changed rows of the first one are too large.
        """
        instance = await self.opened(instance_id)
        async with self._copied(instance), instance.in_turn():
            calls = await self._calls(instance, after=after, limit=limit)
            return await self.threads.run(instance.environment.id, lambda: self._told(instance, calls))

    def _told(self, instance: Instance, calls: Sequence[KeptCall]) -> bytes:
        """Calls with their changed rows. Long ones make the page shorter."""
        told: list[str] = []
        room = LARGEST_PAGE
        for call in calls:
            try:
                text = _as_json(call, instance.changed_rows_as_json(call.changes))
            except QueryError as error:
                if told:
                    break
                raise QueryError(f"call {call.seq} changed very much, so its rows are not listed: {error}") from None
            room -= len(text)
            if told and room < 0:
                break
            told.append(text)
        return as_json(told).encode()

    async def query(self, instance_id: str, sql: str, limit: int = 1000) -> QueryRows:
        """Run one SELECT over `main` and `start`.

        Raises:
            QueryError: it is refused, or takes too much.
        """

        def told(reader: Reader) -> QueryRows:
            answer = reader.select(sql, rows=limit)
            rows = tuple(tuple(cell(value) for value in row) for row in answer.rows)
            return QueryRows(columns=answer.columns, rows=rows, more=answer.more)

        return await self._read(instance_id, told, more=COPIES * LARGEST_ANSWER)

    async def snapshot(self, instance_id: str) -> Image:
        """The current rows as a SQLite file. A large one is on the disk until nobody needs it any more."""
        instance = await self.opened(instance_id)
        async with self._copied(instance), instance.in_turn():
            return await instance.image(plain=True)

    async def judge(self, instance_id: str, order: Judge) -> Assessment:
        """Judge the current state by checkpoints.

        Raises:
            StateError: the state is damaged. Then no checkpoint is asked, as its verdict would not be about the agent.
            CheckpointError, GuestError: a checkpoint cannot be asked, or could not be finished.
        """
        instance = await self.opened(instance_id)
        async with self._copied(instance):
            async with instance.in_turn():
                reader = await self._reader(instance)
                reading = _judged if any(one.needs_calls for one in order.checkpoints) else _checked
                calls = await self.verification.read(instance.state, lambda: reading(instance))
            with self._closed_after(reader, instance_id):
                return await judge(
                    reader,
                    order.checkpoints,
                    answer=order.answer,
                    calls=calls,
                    now=reader.now,
                    guests=self.guests,
                    run=partial(self.threads.run, instance.environment.id, stop=reader.stop),
                    environment=instance.environment.digest,
                )

    async def _read(self, instance_id: str, job: Callable[[Reader], T], *, more: int = 0) -> T:
        """Read a private copy of a state beside its start. `more` is the memory for the answer.

        Raises:
            StateError: the state is damaged.
        """
        instance = await self.opened(instance_id)
        async with self._copied(instance, more=more):
            async with instance.in_turn():
                reader = await self._reader(instance)

            def done() -> T:
                with self._closed_after(reader, instance_id):
                    return job(reader)

            return await self.threads.run(instance.environment.id, done, stop=reader.stop)

    async def _reader(self, instance: Instance) -> Reader:
        """A reader of the current state, made within its turn. Nothing is opened yet."""
        return Reader(await instance.image(), instance.start.image, now=instance.now())

    @contextmanager
    def _closed_after(self, reader: Reader, instance_id: str) -> Generator[None]:
        try:
            yield
        except apsw.Error as error:
            raise StateError(f"the rows of instance {instance_id} cannot be read: {error}") from None
        finally:
            reader.close()

    @asynccontextmanager
    async def _copied(self, instance: Instance, *, more: int = 0) -> AsyncGenerator[None]:
        """Memory for the copies of an instance's rows and history. Take it before the turn, and never twice."""
        rows = COPIES_OF_IMAGE * min(len(instance.start.image), LARGEST_IN_MEMORY)
        size = rows + COPIES * instance.state.size + more
        with instance.in_use():
            async with self.copies.taken(instance.environment.id, size):
                yield

    def _table(self, reader: Reader, name: str, page: Page, *, with_rows: bool) -> TableRows:
        columns, keys = reader.columns(name)
        total = int(str(reader.connection.execute(f"SELECT count(*) FROM main.{quoted(name)}").get))
        rows: tuple[tuple[object, ...], ...] = ()
        if with_rows:
            order = ", ".join(map(quoted, keys))
            listed = ", ".join(map(quoted, columns))
            found = reader.connection.execute(
                f"SELECT {listed} FROM main.{quoted(name)} ORDER BY {order} LIMIT ? OFFSET ?", (page.limit, page.offset)
            )
            rows = _first_of((tuple(cell(value) for value in row) for row in found), LARGEST_ANSWER)
        return TableRows(name=name, columns=tuple(columns), rows=rows, total=total)

    async def _created(
        self, origin: Origin, calls: Sequence[KeptCall], count: int, *, large: bool = False, ids: Sequence[str] = ()
    ) -> list[Ticket]:
        """Create `count` instances, all or none. Large ones are written in threads. They may have ids already."""
        tickets: list[Ticket] = []
        try:
            while len(tickets) < count:
                instance_id = ids[len(tickets)] if ids else secrets.token_hex(8)
                path = self._path(instance_id)
                create = partial(StateFile.create, path, self.index, origin._replace(id=instance_id), calls)
                if large:
                    await self.threads.run(origin.environment, create)
                else:
                    create()
                self._ids.add(instance_id)
                tickets.append(self.ticket(instance_id))
                if len(tickets) % YIELD_EVERY == 0:
                    await asyncio.sleep(0)
        except BaseException:
            for ticket in tickets:
                await self.close(ticket.instance)
            raise
        return tickets

    def ticket(self, instance_id: str) -> Ticket:
        """The path and the token of an instance's door."""
        return Ticket(instance=instance_id, path=f"/i/{instance_id}/mcp", token=self.token_of(instance_id))

    def _path(self, instance_id: str, suffix: str = SUFFIX) -> Path:
        return self.folder / "instances" / f"{instance_id}{suffix}"

    async def _calls(self, instance: Instance, *, after: int = 0, limit: int) -> list[KeptCall]:
        """Calls of an instance, within its turn."""
        return await self.verification.read(instance.state, lambda: instance.state.calls(after=after, limit=limit))

    async def _rewound(self, instance: Instance, seq: int) -> None:
        with self.tool_changes.noticing(instance):
            await self.verification.read(instance.state, lambda: instance.state.rewind(seq))
            instance.marked = None
        if instance.guest is not None and instance.guest.instance is not None:
            instance.guest.kill("idle", "its only instance begins anew")

    async def _tidy(self) -> None:
        """Close idle instances, and end guests that use too much memory or processor time."""
        looked = time.monotonic()
        while True:
            await asyncio.sleep(min(MEMORY_SECONDS, self.settings.idle_seconds / 3))
            self.guests.end_excess()
            self.guests.end_restless()
            self._let_go_of_forgotten()
            if time.monotonic() - looked >= self.settings.idle_seconds / 3:
                looked = time.monotonic()
                self.guests.end_idle(self.settings.idle_guest_seconds)
                self._holding.let_go_of_idle(self.settings.idle_seconds)


def _as_json(call: KeptCall, changes: str) -> str:
    """A `CallRecord` as JSON, from parts that are JSON already, since arguments and changes may be long."""
    head = f'"seq":{call.seq},"tool":{json.dumps(call.tool)},"arguments":{call.arguments}'
    told = f'"outcome":{json.dumps(call.outcome)},"text":{json.dumps(call.text)},"detail":{json.dumps(call.detail)}'
    return f'{{{head},{told},"changes":{changes},"micros":{call.micros},"at":{call.at!r}}}'


def _refuse_another(origin: Origin, environment: Environment) -> None:
    """Refuse an instance of another version of its bundle. Raises Conflict."""
    if environment.digest != origin.digest:
        raise Conflict(
            f"the bundle {origin.environment} has changed since instance {origin.id} was launched; launch a new one"
        )


def _judged(instance: Instance) -> bytes:
    """The calls of a history for checkpoints, as JSON. Only a guest parses it, since agents wrote parts of it.

    Calls of perturbed tools are there as the environment knows them.
    """
    view = instance.view
    return calls_as_json(
        (*((call.tool, call.arguments) if view is None else view.own_text(call.tool, call.arguments)), call.outcome)
        for call in instance.state.every_call()
    )


def _checked(instance: Instance) -> bytes:
    """No calls. The history is read nevertheless, so that damage is always found."""
    instance.state.check()
    return NO_CALLS


def _first_of(rows: Iterable[tuple[Any, ...]], most: int) -> tuple[tuple[Any, ...], ...]:
    """The first rows that take at most `most` bytes together, and one at least."""
    found: list[tuple[Any, ...]] = []
    for row in rows:
        most -= sum(len(value) for value in row if isinstance(value, str))
        if found and most < 0:
            break
        found.append(row)
    return tuple(found)


def _is_large(instance: Instance) -> bool:
    """True if a copy of its history would block the event loop for long."""
    return instance.state.size > LARGEST_ON_LOOP
