"""Live pages: who is told when an instance has changed, over server-sent events.

One task asks the workers about all watched instances together. It opens no state file. It asks less often the more
live pages there are and the more each costs, so that watching takes at most `SHARE` of the farm's time.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from registry.leases import Registry
from registry.web.app import Visit
from servers.doors.operations import MARKS, MarksOrder
from servers.errors import CapacityError, FarmError

LEAST_SECONDS, MOST_SECONDS = 0.4, 60.0
"""Seconds between two looks at what is watched. 64 pages of 15 ms each want 48."""
SHARE = 0.02
FIRST_COST = 0.01
"""Seconds of a refresh, until the first was measured."""
WEIGHT = 0.2
"""The weight of the last refresh in the average."""
SECONDS_OF_SILENCE = 10.0
"""Seconds after which a stream says that it is there, and looks whether its reader is."""
MOST_WATCHERS = 64
MOST_OF_ONE = 16
"""Live pages in all, and of one instance. A further page is reloaded by hand."""
SLICE = 4
"""Pages that are told of a change at once."""
SLICE_SECONDS = 0.005
ASK_SECONDS = 4.0


@dataclass(eq=False)
class LivePage:
    """One live page: what it watches, and the mark of what it shows. `mark` is empty once the instance is gone."""

    instance: str
    worker: str
    mark: str
    changed: asyncio.Event = field(default_factory=asyncio.Event)


class LiveFeed:
    """The live pages of one farm."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._watchers: set[LivePage] = set()
        self._looking: asyncio.Task[None] | None = None
        self._cost = FIRST_COST

    @property
    def watchers(self) -> int:
        return len(self._watchers)

    def spent(self, seconds: float) -> None:
        """Note what a refresh of a live page has cost, in seconds of the processor."""
        self._cost += WEIGHT * (min(seconds, 1.0) - self._cost)

    def pause(self) -> float:
        """Seconds until the next look."""
        return seconds_between(self.watchers, self._cost)

    def touch(self, instance: str) -> None:
        """Tell the pages of an instance that something else of it has changed."""
        for one in self._watchers:
            if one.instance == instance:
                one.changed.set()

    async def mark(self, instance: str, worker: str) -> str:
        """The mark of an instance, for a page that shows what it is now."""
        with suppress(FarmError):
            door = self._registry.fleet.seat(worker).door
            return (await door.ask(MARKS, MarksOrder(instances=(instance,)))).get(instance, "")
        return ""

    async def stream(self, visit: Visit, instance: str, worker: str) -> Response:
        """The events of one page, which shows the instance as it was at its mark.

        Raises:
            CapacityError: there are too many live pages.
        """
        self.see_that_there_is_room(instance)
        watcher = LivePage(instance, worker, visit.asked("mark"))
        self._watchers.add(watcher)  # now, so that many that come at once are counted
        self._begin()
        return _Stream(_events(visit, watcher), lambda: self._watchers.discard(watcher))

    def see_that_there_is_room(self, instance: str) -> None:
        """Raise CapacityError if there is none for another live page."""
        if self.watchers >= MOST_WATCHERS:
            raise CapacityError(f"{MOST_WATCHERS} live pages are open already; close some, or reload this one by hand")
        if sum(one.instance == instance for one in self._watchers) >= MOST_OF_ONE:
            raise CapacityError(
                f"{MOST_OF_ONE} live pages of this instance are open already; close some, or reload this one by hand"
            )

    def _begin(self) -> None:
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())

    async def _look(self) -> None:
        """Look at what is watched, for as long as there is something."""
        while self._watchers:
            by_worker: dict[str, list[LivePage]] = defaultdict(list)
            for one in self._watchers:
                by_worker[one.worker].append(one)
            await asyncio.gather(*(self._ask(worker, some) for worker, some in by_worker.items()))
            await asyncio.sleep(self.pause())

    async def _ask(self, worker: str, watchers: list[LivePage]) -> None:
        """Ask a worker for the marks of instances, and tell the pages that show something else."""
        instances = tuple({one.instance for one in watchers})
        with suppress(FarmError, TimeoutError):
            async with asyncio.timeout(ASK_SECONDS):
                marks = await self._registry.fleet.seat(worker).door.ask(MARKS, MarksOrder(instances=instances))
            await tell([one for one in watchers if marks.get(one.instance, "") != one.mark], marks)


def seconds_between(pages: int, cost: float) -> float:
    """The seconds between two looks, if each of some live pages then costs so many seconds."""
    return max(LEAST_SECONDS, min(MOST_SECONDS, cost * pages / SHARE))


async def tell(watchers: Sequence[LivePage], marks: Mapping[str, str]) -> None:
    """Give some pages their new marks, a few at once, so that other requests are answered between them."""
    for begin in range(0, len(watchers), SLICE):
        for one in watchers[begin : begin + SLICE]:
            one.mark = marks.get(one.instance, "")
            one.changed.set()
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
