"""The verification of changesets before they are stored, and the rows that result from them.

Small changes under cheap rules are verified in this process, within milliseconds. Others go to a guest without tools:
one for each environment, which its instances share in turn, and which is killed if it takes too long.
"""

import math
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import apsw

from servers.bundle.environment import Environment
from servers.errors import GuestDied, GuestError
from servers.guest.changeset_verifier import VerifiedRows, canonical
from servers.guest.sqlite.image import Image
from servers.guest.sqlite.instance_rows import OWN_BYTES
from servers.guest.sqlite.tables import LARGEST_CHANGES, ChangesError
from servers.limits.fair_pool import FairLimit, FairThreadPool
from servers.sandbox.guest_pool import START_SECONDS, AnswerT, Guest, Guests, GuestStalled
from servers.state.start_images import StartImage
from servers.state.state_file import StateFile

MOST_SECONDS = 0.01
"""Seconds of processor time for which a verification may block this process. A longer one is repeated in a guest."""
STEPS_BETWEEN_CHECKS = 20
"""SQLite steps between two checks of the time, about those of one row: it looks only between rows."""
LARGEST_HERE = 16 * 1024
"""Bytes of changes that are verified here."""
LARGEST_VALUE_HERE = 16 * 1024
"""Bytes of a value, and of a row, that are written here."""
LARGEST_NET_HERE = 32 * 1024
"""Bytes of the changes since the start up to which rows are built here."""
LARGEST_PLAIN_HERE = 1024 * 1024
"""Bytes of a start up to which rows are written here in the order of their keys, which takes several copies."""
MOST_CHANGED_HERE = 2 * LARGEST_NET_HERE
"""Bytes of changes that rows here take before they are rebuilt from the changes since the start."""
MOST_HELD = 24 * 1024 * 1024
"""Bytes of rows held here: for each instance its changes, and a connection. Its start image is shared."""
MOST_IMAGES = 16 * 1024 * 1024
"""Bytes of the start images that these rows share, of all starts. The one in use is held in any case."""
LARGEST_ON_LOOP = 256 * 1024
"""Bytes of a history that are read on the event loop. A longer one is read in a thread."""
COPIES_OF_HISTORY = 2
"""Copies of a history in memory while it is read."""
MOST_HISTORIES = 76 * 1024 * 1024
MOST_HISTORIES_EACH = 38 * 1024 * 1024
"""Bytes of the histories that are read concurrently: of all environments, and of one."""
T = TypeVar("T")


class Verification:
    """Verifies the changes that guests report, and builds the rows of instances."""

    def __init__(self, guests: Guests, threads: FairThreadPool) -> None:
        self._guests = guests
        self._threads = threads
        self._histories = FairLimit(MOST_HISTORIES, MOST_HISTORIES_EACH)  # who holds some waits for nothing else
        self._held: OrderedDict[str, _Desk] = OrderedDict()

    async def verify(
        self, environment: Environment, start: StartImage, state: StateFile, changes: bytes, *, now: str
    ) -> bytes:
        """Verify changes to an instance's rows within its turn. Returns the stored form.

        `now` is the instance's time at the call that made them.

        Raises:
            ChangesError: they do not fit, or break the schema.
            GuestLate: the rules of the schema take too long.
            GuestError: no guest could verify them.
        """
        if len(changes) > LARGEST_CHANGES:
            raise ChangesError(f"it says that it changed {len(changes)} bytes")
        if start.schema.is_cheap and len(changes) <= LARGEST_HERE and state.net_joined <= LARGEST_NET_HERE:
            kept = await self._verified_here(start, state, changes, now)
            if kept is not None:
                return kept
        head = {"do": "verify", "next_revision": state.next_revision, "now": now}
        seconds = self._guests.call_seconds
        said, [kept] = await self._asked(Guest.ask, environment, start, state, head, changes, seconds=seconds)
        if said["wrong"] is not None:
            raise ChangesError(str(said["wrong"])[:500])
        return kept

    async def image(
        self, environment: Environment, start: StartImage, state: StateFile, *, plain: bool = False
    ) -> Image:
        """The current rows, as the bytes of a SQLite database. With `plain`, equal rows give equal bytes.

        Raises:
            StateError: the history is damaged, or the disk is full.
            GuestError: no guest could build them.
        """
        net = await self.changes_since_start(state)
        is_small = not plain or len(start.image) <= LARGEST_PLAIN_HERE
        if start.schema.is_cheap and len(net) <= LARGEST_NET_HERE and is_small:
            try:
                image = _rows_here(start, net)
                return await self._threads.run(environment.id, lambda: canonical(image[:])) if plain else image
            except (ChangesError, apsw.Error):
                pass  # a guest has more room
        if not net and not plain:
            return start.image
        _, image = await self._asked(Guest.ask_for_image, environment, start, state, {"do": "rows", "canonical": plain})
        return image

    async def changes_since_start(self, state: StateFile) -> bytes:
        """All changes of the calls, as one changeset."""
        if state.net is None:
            return await self.read(state, state.changes_since_start)
        return state.changes_since_start()

    async def read(self, state: StateFile, job: Callable[[], T]) -> T:
        """Run a job that reads a whole history. A long one runs in a thread, within a memory budget."""
        return await self.read_history(state.origin.environment, state.size, job)

    async def read_history(self, environment: str, size: int, job: Callable[[], T]) -> T:
        """The same, for a history of `size` bytes of an environment."""
        if size <= LARGEST_ON_LOOP:
            return job()
        async with self._histories.taken(environment, COPIES_OF_HISTORY * size):
            return await self._threads.run(environment, job)

    def release(self, start: str, instance: str) -> None:
        """Forget the rows of a closed instance."""
        desk = self._held.get(start)
        if desk is not None:
            desk.release(instance)

    def close(self) -> None:
        while self._held:
            self._held.popitem()[1].close()

    async def _verified_here(self, start: StartImage, state: StateFile, changes: bytes, now: str) -> bytes | None:
        """Verify changes in this process. None leaves them to a guest."""
        instance = state.origin.id
        desk = self._held.get(start.digest)
        is_seated = desk is not None and desk.has(instance, state.revision)
        net = b"" if is_seated else await self.changes_since_start(state)
        if len(net) > LARGEST_NET_HERE:
            return None
        try:
            desk = self._desk(start)
            desk.short.begin()
            if not is_seated:
                desk.seat(instance, net)
                self._keep_to_most_held()
            return desk.apply(instance, changes, state.next_revision, now)
        except (ChangesError, apsw.Error):
            self.release(start.digest, instance)
            return None

    def _desk(self, start: StartImage) -> "_Desk":
        desk = self._held.get(start.digest)
        if desk is None:
            desk = self._held[start.digest] = _Desk(start)
        self._held.move_to_end(start.digest)
        return desk

    def _keep_to_most_held(self) -> None:
        """Evict rows of the least recently used start. The last ones are in use."""
        while len(self._held) > 1 and sum(len(desk.start.image) for desk in self._held.values()) > MOST_IMAGES:
            self._held.popitem(last=False)[1].close()
        held = sum(desk.size for desk in self._held.values())
        while held > MOST_HELD:
            digest, desk = next(iter(self._held.items()))
            if len(self._held) == len(desk) == 1:
                return
            held -= desk.size
            if len(desk):
                desk.forget_one()
            held += desk.size
            if not len(desk):
                del self._held[digest]

    async def _asked(
        self,
        ask: Callable[..., Awaitable[AnswerT]],
        environment: Environment,
        start: StartImage,
        state: StateFile,
        head: dict[str, Any],
        *parts: bytes,
        seconds: float = START_SECONDS,
    ) -> AnswerT:
        """Ask the verifying guest of an environment. One that ends, or is not scheduled, is replaced once.

        Raises:
            GuestDied: the second one ended by its own doing, for what it was told to evaluate.
            GuestLate: the rules of the schema take too long.
            GuestError: it was killed from outside, or not scheduled. That is nobody's fault.
        """
        head = {**head, "instance": state.origin.id, "revision": state.revision}
        for attempt in range(2):
            guest = await self._guests.verifier(environment)
            try:
                async with guest.turn():
                    reply = await ask(guest, head, *parts, seconds=seconds)
                    if "need" in reply[0]:
                        await self._stand(guest, start, state)
                        reply = await ask(guest, head, *parts, seconds=seconds)
                    return reply
            except GuestStalled:
                if attempt:
                    raise
            except GuestDied as error:
                if not attempt:
                    continue
                if await self._guests.own_doing(guest):
                    raise
                raise GuestError(f"{error} ({guest.cause or 'killed from outside'})") from None
        raise GuestError("unreachable")

    async def _stand(self, guest: Guest, start: StartImage, state: StateFile) -> None:
        """Send a guest the rows of an instance."""
        changes = await self.changes_since_start(state)
        head = {"do": "stand", "instance": state.origin.id, "revision": state.revision, "image": start.digest}
        reply, _ = await guest.ask(head, changes, seconds=START_SECONDS)
        if "need" in reply:
            await guest.ask({"do": "image", "digest": start.digest}, start.image, seconds=START_SECONDS)
            await guest.ask(head, changes, seconds=START_SECONDS)


class _ShortTime:
    """The processor time of one verification in this process.

    The processor clock is read only after half as much wall-clock time, and gives the other half: a busy machine is no
    reason to give up, and most verifications never ask the kernel.
    """

    def __init__(self) -> None:
        self._until = 0.0
        self._until_used: float | None = None
        self.begin()

    def begin(self) -> None:
        self._until = time.monotonic() + MOST_SECONDS / 2
        self._until_used = None

    def is_over(self) -> bool:
        if time.monotonic() <= self._until:
            return False
        used = time.thread_time()
        if self._until_used is None:
            self._until_used = used + MOST_SECONDS / 2
        return used > self._until_used

    @contextmanager
    def without_end(self) -> Generator[None]:
        until, self._until = self._until, math.inf
        try:
            yield
        finally:
            self._until = until


@dataclass(slots=True)
class _Seat:
    """Rows at one revision of an instance."""

    rows: VerifiedRows
    revision: str
    changed: int
    """Bytes of the changes applied since the start."""


@dataclass
class _Desk:
    """Rows of instances with one start. Each is that start plus changes in a transaction that never commits."""

    start: StartImage
    short: _ShortTime = field(default_factory=_ShortTime)
    seats: OrderedDict[str, _Seat] = field(default_factory=OrderedDict[str, _Seat])
    free: list[VerifiedRows] = field(default_factory=list[VerifiedRows])
    changed: int = 0
    """Bytes of changes applied to the rows of all seats."""

    def __len__(self) -> int:
        return len(self.seats) + len(self.free)

    @property
    def size(self) -> int:
        return len(self) * self._each + self.changed

    @property
    def _each(self) -> int:
        """Bytes of rows without changes."""
        return OWN_BYTES

    def has(self, instance: str, revision: str) -> bool:
        """True if the current rows of an instance are here, and have not grown too large."""
        seat = self.seats.get(instance)
        return seat is not None and seat.revision == revision and seat.changed <= MOST_CHANGED_HERE

    def seat(self, instance: str, net: bytes) -> None:
        """Build the rows of an instance from its changes."""
        self.release(instance)
        if not self.free and self.seats and self.size + self._each > MOST_HELD:
            self.release(next(iter(self.seats)))
        rows = self.free.pop() if self.free else _opened(self.start, self.short)
        self.seats[instance] = _Seat(rows, "", len(net))
        self.changed += len(net)
        if net:
            rows.restore(net)

    def apply(self, instance: str, changes: bytes, revision: str, now: str) -> bytes:
        """Apply changes to the rows of an instance, which then have a new revision.

        Raises:
            ChangesError, apsw.Error: they do not fit, or time is up. The rows must be released.
        """
        seat = self.seats[instance]
        self.seats.move_to_end(instance)
        kept = seat.rows.apply(changes, now=now)
        seat.revision = revision
        seat.changed += len(kept)
        self.changed += len(kept)
        return kept

    def release(self, instance: str) -> None:
        """Roll the rows of an instance back to the start, for reuse."""
        seat = self.seats.pop(instance, None)
        if seat is not None:
            with self.short.without_end():  # undoing runs no rule, and is never cut short
                seat.rows.undo()
            self.changed -= seat.changed
            self.free.append(seat.rows)

    def forget_one(self) -> None:
        """Close unused rows, or those used least recently."""
        if not self.free:
            self.release(next(iter(self.seats)))
        self.free.pop().close()

    def close(self) -> None:
        for rows in [*self.free, *(seat.rows for seat in self.seats.values())]:
            rows.close()
        self.free.clear()
        self.seats.clear()


def _opened(start: StartImage, short: _ShortTime) -> VerifiedRows:
    """Rows that this process writes until `short` is over."""
    rows = VerifiedRows(start.image, start.tables, largest_value=LARGEST_VALUE_HERE)
    rows.connection.set_progress_handler(short.is_over, STEPS_BETWEEN_CHECKS)
    return rows


def _rows_here(start: StartImage, net: bytes) -> Image:
    """The image of the rows after verified changes, built within a time limit.

    Raises:
        ChangesError, apsw.Error: a guest has more room and time.
    """
    if not net:
        return start.image
    with closing(_opened(start, _ShortTime())) as rows:
        rows.restore(net)
        rows.keep()
        return rows.image()
