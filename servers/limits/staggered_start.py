"""Requests that start in turns, so that a burst delays nobody else for long."""

import asyncio
from collections import deque
from collections.abc import Callable

MOST_STARTED = 8
"""Requests that start in one turn of the event loop. Between turns it serves other work."""


class Turns:
    """Starts requests in order, `most` in each turn of the event loop."""

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
