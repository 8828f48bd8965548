"""The lease clock: counts seconds while the farm runs, independent of the wall clock.

A lease lasts as long as its holder could have extended it. So time in which the farm was stopped, or its machine slept,
does not count. Dates are for people only.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime

LONGEST_GAP = 10.0
"""The most seconds between two readings that count. A running farm reads its clock every few seconds."""
SLACK = 1.0
"""Seconds by which wall clock and lease clock may drift apart before dates are computed again."""
LATEST_DATE = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()
Reading = Callable[[], float]


class LeaseClock:
    """A clock that advances while the farm runs."""

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
        """The current time of the lease clock, in seconds. It never goes back and never jumps."""
        read_at = self._monotonic()
        self._now += min(max(read_at - self._read_at, 0.0), self._longest_gap)
        self._read_at = read_at
        return self._now

    def catch_up(self, moment: float) -> None:
        """Advance to a moment that another registry of this farm has reached."""
        self._now = max(self._now, moment)

    def wall(self) -> float:
        """Seconds since 1970 by the wall clock, for people."""
        return self._wall()

    def date(self, moment: float) -> datetime:
        """The date of a moment of this clock. It stays the same until the wall clock jumps."""
        ahead = self._wall() - self.now()
        if abs(ahead - self._ahead) > SLACK:
            self._ahead = ahead
        return dated(moment + self._ahead)


def dated(seconds: float) -> datetime:
    """The date of some seconds since 1970, within the years that dates can have."""
    return datetime.fromtimestamp(min(max(seconds, 0.0), LATEST_DATE), UTC)
