"""An optional limit on the calls a second of an instance."""

import time
from collections.abc import Callable


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
