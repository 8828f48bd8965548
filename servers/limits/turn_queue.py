"""One at a time, in the order in which they came; who is not patient does not wait for one that takes long.

A lock with a time-out does the same for each who waits. Here one timer serves all who wait, and none is set and
cancelled for each call.
"""

import asyncio
import time
from collections import deque


class TurnQueue:
    """An exclusive right that passes to the longest waiter."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._loop = asyncio.get_running_loop()
        self.since: float | None = None
        """When the present turn began, on the monotonic clock."""
        self._waiting: deque[tuple[bool, asyncio.Future[bool]]] = deque()  # whether each is patient
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_held(self) -> bool:
        """True if the present turn takes long."""
        return self.since is not None and time.monotonic() - self.since > self._patience

    def take(self) -> bool:
        """Take the right without waiting. False if somebody else has it."""
        if self.since is not None:
            return False
        self.since = time.monotonic()
        return True

    async def wait(self, *, patient: bool) -> bool:
        """Wait for a turn. False if another's takes so long that who is not patient gives up."""
        mine: asyncio.Future[bool] = self._loop.create_future()
        self._waiting.append((patient, mine))
        if not patient and self._timer is None:
            self._timer = self._loop.call_later(self._patience, self._look)
        try:
            return await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled() and mine.result():
                self.pass_on()  # it came in the moment in which its waiter was cancelled
            raise

    def pass_on(self) -> None:
        """Release the right."""
        while self._waiting:
            _, next_one = self._waiting.popleft()
            if not next_one.done():
                self.since = time.monotonic()
                next_one.set_result(True)
                return
        self.since = None

    def _look(self) -> None:
        """Tell those who are not patient if the present turn takes long, or look again when it will."""
        self._timer = None
        impatient = [one for patient, one in self._waiting if not patient and not one.done()]
        if not impatient or self.since is None:
            return
        left = self.since + self._patience - time.monotonic()
        if left > 0:
            self._timer = self._loop.call_later(left, self._look)
            return
        for one in impatient:
            one.set_result(False)
