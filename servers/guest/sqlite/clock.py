"""SQLite's clock and chances for untrusted SQL: the instance's time, and random numbers that repeat.

So `datetime('now')` gives the same in each replay, and so does the id that SQLite draws after the largest possible one.
The time is set for the current thread before each statement.
"""

import hashlib
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
    seed = ""

    @property
    def julian_ms(self) -> int:
        """The time as SQLite wants it. It is parsed on demand, which is rare."""
        return UNIX_EPOCH_IN_JULIAN_MS + (datetime.fromisoformat(self.now) - EPOCH) // MILLISECOND


class InstanceClock(apsw.VFS):
    """The default VFS with a settable time."""

    def __init__(self, name: str = VFS_NAME) -> None:
        super().__init__(name, "")

    def xCurrentTime(self) -> float:  # noqa: N802
        return _time.julian_ms / 86_400_000

    def xCurrentTimeInt64(self) -> int:  # noqa: N802
        return _time.julian_ms

    def xRandomness(self, numbytes: int) -> bytes:  # noqa: N802
        """What SQLite seeds its random numbers with, if this VFS is the process's default one."""
        return hashlib.shake_256(_time.seed.encode()).digest(numbytes)


_time = _Time()
_clock = InstanceClock()


def set_time(now: str) -> None:
    """Set this thread's time to `YYYY-MM-DD HH:MM:SS` (no zone, as everywhere in an instance)."""
    _time.now = now


def rule_this_process() -> None:
    """Take SQLite's random numbers from `set_chances` alone. A guest does this, and no process of the farm's own."""
    apsw.set_default_vfs(VFS_NAME)


def set_chances(seed: str) -> None:
    """Have SQLite's random numbers begin anew, from a seed."""
    _time.seed = seed
    apsw.randomness(0)
