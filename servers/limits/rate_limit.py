"""How many calls a second an instance takes, where that is limited."""

import time
from collections.abc import Callable


class Pace:
    """Lets through so many calls a second, and as many at once after a while without any."""

    def __init__(self, per_second: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_second = per_second
        self._clock = clock
        self._most = max(per_second, 1.0)
        self._left = self._most
        self._seen = clock()

    def take(self) -> bool:
        """Whether one more call may be made now; if so, it counts."""
        now = self._clock()
        self._left = min(self._most, self._left + (now - self._seen) * self.per_second)
        self._seen = now
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True
