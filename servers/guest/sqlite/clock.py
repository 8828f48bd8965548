"""SQLite's clock for untrusted SQL: it returns the instance's time, so that `datetime('now')` repeats.

The time is set for the current thread before each statement.
"""

import threading
from datetime import datetime, timedelta

import apsw

VFS_NAME = "farm"
UNIX_EPOCH_IN_JULIAN_MS = 210866760000000
BEGINNING = "1970-01-01 00:00:00"
EPOCH = datetime.fromisoformat(BEGINNING)
MILLISECOND = timedelta(milliseconds=1)


class _Time(threading.local):
    """The time of a thread."""

    now = BEGINNING

    @property
    def julian_ms(self) -> int:
        """The time as SQLite wants it. It is parsed on demand, which is rare."""
        return UNIX_EPOCH_IN_JULIAN_MS + (datetime.fromisoformat(self.now) - EPOCH) // MILLISECOND


class Clock(apsw.VFS):
    """The default VFS with a settable time."""

    def __init__(self, name: str = VFS_NAME) -> None:
        super().__init__(name, "")

    def xCurrentTime(self) -> float:  # noqa: N802
        return _time.julian_ms / 86_400_000

    def xCurrentTimeInt64(self) -> int:  # noqa: N802
        return _time.julian_ms


_time = _Time()
_clock = Clock()


def set_time(now: str) -> None:
    """Set this thread's time to `YYYY-MM-DD HH:MM:SS` (no zone, as everywhere in an instance)."""
    _time.now = now
