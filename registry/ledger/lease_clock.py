"""The clock of leases: it counts the seconds in which the farm ran, and no clock of the wall moves it.

A lease ends after so many seconds in which its holder could have prolonged it. So the time in which the farm was
stopped, or its machine slept, does not count. Dates are for people alone.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime

LONGEST_GAP = 10.0
"""Seconds between two readings that count at most. A farm that runs reads its clock every few seconds."""
SLACK = 1.0
"""Seconds by which the wall clock and this one may drift apart before dates are told anew."""
LATEST_DATE = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()
Reading = Callable[[], float]


class LeaseClock:
    """Seconds that pass while the farm runs, from a beginning on."""

    def __init__(
        self,
        begin: float,
        *,
        monotonic: Reading = time.monotonic,
        wall: Reading = time.time,
        longest_gap: float = LONGEST_GAP,
    ) -> None:
        self._now = begin
        self._monotonic = monotonic
        self._read_at = monotonic()
        self._wall = wall
        self._ahead = wall() - begin
        self._longest_gap = longest_gap

    def now(self) -> float:
        """The time by which leases end. It never goes back, and never jumps."""
        read_at = self._monotonic()
        self._now += min(max(read_at - self._read_at, 0.0), self._longest_gap)
        self._read_at = read_at
        return self._now

    def wall(self) -> float:
        """Seconds since 1970 by the wall clock, for what people read."""
        return self._wall()

    def date(self, moment: float) -> datetime:
        """The date of a moment of this clock, as the wall clock stands now. It stays the same until that jumps."""
        ahead = self._wall() - self.now()
        if abs(ahead - self._ahead) > SLACK:
            self._ahead = ahead
        return dated(moment + self._ahead)


def dated(seconds: float) -> datetime:
    """The date of seconds since 1970, within the years that dates have."""
    return datetime.fromtimestamp(min(max(seconds, 0.0), LATEST_DATE), UTC)
