"""Live pages: who is told when an instance has changed, over server-sent events.

One task asks the workers about all watched instances together. It opens no state file. A page that is told fetches
itself again, and that has its price: so pages are told, those that wait longest first, as long as watching takes at
most `SHARE` of the farm's time.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from registry.leases import Registry
from registry.ledger.store import KeptLease
from registry.web.app import Visit
from servers.doors.operations import MARKS, MarksOrder
from servers.errors import CapacityError, FarmError

SECONDS_BETWEEN = 0.4
"""Seconds between two looks at what is watched."""
SHARE = 0.02
MOST_SAVED = 0.1
"""Seconds of the processor that are saved up while nothing changes, so that a few pages are told at once."""
FIRST_COST = 0.01
"""Seconds of a refresh, until the first was measured."""
WEIGHT = 0.2
"""The weight of the last refresh in the average."""
SECONDS_OF_SILENCE = 20.0
"""Seconds after which a stream says that it is there, and looks whether its reader is."""
MOST_WATCHERS = 256
"""Live pages in all. A further page is reloaded by hand."""
SLICE = 4
"""Pages that are told of a change at once."""
SLICE_SECONDS = 0.005
ASK_SECONDS = 4.0


@dataclass(eq=False)
class LivePage:
    """One live page: what it watches, and the mark of what it shows. `latest` is empty once the instance is gone."""

    instance: str
    worker: str
    mark: str
    latest: str = ""
    behind_since: float | None = None
    """When it was seen that the page shows something old, in seconds of `time.monotonic`."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    copy: str = ""
    """The id of the instance at its worker."""

    def __post_init__(self) -> None:
        self.latest = self.latest or self.mark
        self.copy = self.copy or self.instance

    def falls_behind(self) -> None:
        """Let the page wait for its turn to be told."""
        if self.behind_since is None:
            self.behind_since = time.monotonic()

    def tell(self) -> None:
        """Tell the page that it shows something old."""
        self.mark, self.behind_since = self.latest, None
        self.changed.set()


class RefreshAllowance:
    """The seconds of the processor that refreshes may still take. It grows as time passes, up to `MOST_SAVED`."""

    def __init__(self) -> None:
        self.seconds = MOST_SAVED
        self.cost = FIRST_COST

    def grow(self, passed: float) -> None:
        """Add the share of some time that has passed."""
        self.seconds = min(MOST_SAVED, self.seconds + SHARE * passed)

    def spent(self, seconds: float) -> None:
        """Note what a refresh of a live page has cost, in seconds of the processor."""
        self.cost += WEIGHT * (min(seconds, 1.0) - self.cost)

    def take(self, waiting: int) -> int:
        """The number of waiting pages that may be refreshed now. What they cost is taken.

        One page may take more than there is left: the next ones wait until that has grown again.
        """
        pages = 0
        while pages < waiting and self.seconds > 0:
            self.seconds -= self.cost
            pages += 1
        return pages


class LiveFeed:
    """The live pages of one farm."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._watchers: set[LivePage] = set()
        self._looking: asyncio.Task[None] | None = None
        self._allowance = RefreshAllowance()

    @property
    def watchers(self) -> int:
        return len(self._watchers)

    def spent(self, seconds: float) -> None:
        """Note what a refresh of a live page has cost, in seconds of the processor."""
        self._allowance.spent(seconds)

    def touch(self, instance: str) -> None:
        """Tell the pages of an instance, in their turn, that something else of it has changed."""
        for one in self._watchers:
            if one.instance == instance:
                one.falls_behind()

    async def mark(self, kept: KeptLease) -> str:
        """The mark of an instance, for a page that shows what it is now."""
        with suppress(FarmError):
            door = self._registry.fleet.seat(kept.worker).door
            return (await door.ask(MARKS, MarksOrder(instances=(kept.copy,)))).get(kept.copy, "")
        return ""

    async def stream(self, visit: Visit, kept: KeptLease) -> Response:
        """The events of one page, which shows the instance as it was at its mark.

        Raises:
            CapacityError: there are too many live pages.
        """
        self.see_that_there_is_room()
        watcher = LivePage(kept.instance, kept.worker, visit.asked("mark"), copy=kept.copy)
        self._watchers.add(watcher)  # now, so that many that come at once are counted
        self._begin()
        return _Stream(_events(visit, watcher), lambda: self._watchers.discard(watcher))

    def see_that_there_is_room(self) -> None:
        """Raise CapacityError if there is none for another live page."""
        if self.watchers >= MOST_WATCHERS:
            raise CapacityError(f"{MOST_WATCHERS} live pages are open already; close some, or reload this one by hand")

    def _begin(self) -> None:
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())

    async def _look(self) -> None:
        """Look at what is watched, for as long as there is something."""
        before = time.monotonic()
        while self._watchers:
            by_worker: dict[str, list[LivePage]] = defaultdict(list)
            for one in self._watchers:
                by_worker[one.worker].append(one)
            await asyncio.gather(*(self._ask(worker, some) for worker, some in by_worker.items()))
            now = time.monotonic()
            self._allowance.grow(now - before)
            before = now
            behind = longest_behind(self._watchers)
            await tell(behind[: self._allowance.take(len(behind))])
            await asyncio.sleep(SECONDS_BETWEEN)

    async def _ask(self, worker: str, watchers: list[LivePage]) -> None:
        """Ask a worker for the marks of instances, and note which pages show something else."""
        instances = tuple({one.copy for one in watchers})
        with suppress(FarmError, TimeoutError):
            async with asyncio.timeout(ASK_SECONDS):
                marks = await self._registry.fleet.seat(worker).door.ask(MARKS, MarksOrder(instances=instances))
            for one in watchers:
                one.latest = marks.get(one.copy, "")
                if one.latest != one.mark:
                    one.falls_behind()


def longest_behind(watchers: Iterable[LivePage]) -> list[LivePage]:
    """The pages that wait to be told, those that have waited longest first."""
    waiting = [(one.behind_since, one) for one in watchers if one.behind_since is not None]
    return [one for _, one in sorted(waiting, key=lambda told: told[0])]


async def tell(watchers: Sequence[LivePage]) -> None:
    """Tell some pages, a few at once, so that other requests are answered between them."""
    for begin in range(0, len(watchers), SLICE):
        for one in watchers[begin : begin + SLICE]:
            one.tell()
        await asyncio.sleep(SLICE_SECONDS)


class _Stream(StreamingResponse):
    """Events, and what is done when they are over, also if nobody has read one."""

    def __init__(self, events: AsyncIterator[bytes], at_end: Callable[[], None]) -> None:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(events, media_type="text/event-stream", headers=headers)
        self._at_end = at_end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._at_end()


async def _events(visit: Visit, watcher: LivePage) -> AsyncIterator[bytes]:
    yield b"retry: 2000\n\n"
    while not visit.pages.stopping.is_set() and visit.session.expires > time.time():
        await _either(watcher.changed, visit.pages.stopping)
        if await visit.request.is_disconnected():
            return
        if not watcher.changed.is_set():
            yield b": here\n\n"
            continue
        watcher.changed.clear()
        yield b"event: changed\ndata:\n\n" if watcher.mark else b"event: over\ndata:\n\n"


async def _either(*events: asyncio.Event) -> None:
    """Wait for one of some events, or for the end of the silence."""
    waiting = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, timeout=SECONDS_OF_SILENCE, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for one in waiting:
            one.cancel()
