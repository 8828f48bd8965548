"""One at a time, in the order in which they came; who is not patient does not wait for long.

A lock with a time-out does the same for each who waits. Here one timer serves all who wait, and none is set and
cancelled for each call.
"""

import asyncio
import math
from collections import deque


class TurnQueue:
    """The right to something that one may have at a time. Who has it passes it on to whoever has waited longest."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._loop = asyncio.get_running_loop()
        self._is_taken = False
        self._waiting: deque[tuple[float, asyncio.Future[bool]]] = deque()  # until when each waits
        self._timer: asyncio.TimerHandle | None = None

    def take(self) -> bool:
        """Take a turn at once. False if somebody else has it."""
        if self._is_taken:
            return False
        self._is_taken = True
        return True

    async def wait(self, *, patient: bool) -> bool:
        """Wait for a turn. False if it did not come within the patience of who is not patient."""
        mine: asyncio.Future[bool] = self._loop.create_future()
        self._waiting.append((math.inf if patient else self._loop.time() + self._patience, mine))
        if not patient and self._timer is None:
            self._timer = self._loop.call_later(self._patience, self._lose_patience)
        try:
            return await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled() and mine.result():
                self.pass_on()  # it came in the moment in which its waiter was cancelled
            raise

    def pass_on(self) -> None:
        """End one's turn."""
        while self._waiting:
            _, next_one = self._waiting.popleft()
            if not next_one.done():
                next_one.set_result(True)
                return
        self._is_taken = False

    def _lose_patience(self) -> None:
        """Tell those who have waited long enough, and look again when the next one will have."""
        self._timer = None
        now = self._loop.time()
        left: list[float] = []
        for until, one in self._waiting:
            if one.done() or until == math.inf:
                continue
            if until <= now:
                one.set_result(False)
            else:
                left.append(until)
        if left:
            self._timer = self._loop.call_at(min(left), self._lose_patience)
