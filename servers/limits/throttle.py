"""How fast work is taken: calls a second of an instance, and requests that start in one turn of the event loop."""

import asyncio
import time
from collections import deque
from collections.abc import Callable

MOST_STARTED = 8
"""Requests that start in one turn of the event loop. Between turns it serves other work."""


class Pace:
    """A token bucket: a number of calls a second, with a burst of the same size."""

    def __init__(self, per_second: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_second = per_second
        self._clock = clock
        self._most = max(per_second, 1.0)
        self._left = self._most
        self._seen = clock()

    def take(self) -> bool:
        """Take a token. False if there is none."""
        now = self._clock()
        self._left = min(self._most, self._left + (now - self._seen) * self.per_second)
        self._seen = now
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True


class Turns:
    """Starts requests in order, `most` in each turn of the event loop: a burst delays nobody else for long."""

    def __init__(self, most: int = MOST_STARTED) -> None:
        self._most = most
        self._started = 0
        self._waiting: deque[Callable[[], None]] = deque()

    def start(self, request: Callable[[], None]) -> None:
        """Start a request now, or in a later turn if this one is full."""
        if self._started >= self._most:
            self._waiting.append(request)
            return
        if not self._started:
            asyncio.get_running_loop().call_soon(self._next_turn)
        self._started += 1
        request()

    def _next_turn(self) -> None:
        self._started = 0
        for _ in range(min(self._most, len(self._waiting))):
            self.start(self._waiting.popleft())
