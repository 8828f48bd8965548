"""Requests that are started in turns, so that a burst of them holds nobody else up for long."""

import asyncio
from collections import deque
from collections.abc import Callable

MOST_STARTED = 8
"""Requests that are started in one turn of the event loop. Between two turns it serves whatever else is ready."""


class Turns:
    """Starts requests in the order in which they came, `most` in each turn of the event loop."""

    def __init__(self, most: int = MOST_STARTED) -> None:
        self._most = most
        self._started = 0
        self._waiting: deque[Callable[[], None]] = deque()

    def start(self, request: Callable[[], None]) -> None:
        """Start a request now, or in a later turn when this one has started enough."""
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
