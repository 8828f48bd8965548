"""SQLite's clock inside a guest: it tells the instance's time, so `CURRENT_TIMESTAMP` and `datetime('now')` repeat."""

from datetime import datetime

import apsw

VFS_NAME = "farm"
UNIX_EPOCH_IN_JULIAN_MS = 210866760000000


class _Clock(apsw.VFS):
    """The default VFS with a time that is set before each call."""

    def __init__(self) -> None:
        self.julian_ms = UNIX_EPOCH_IN_JULIAN_MS
        super().__init__(VFS_NAME, "")

    def xCurrentTime(self) -> float:  # noqa: N802
        return self.julian_ms / 86_400_000

    def xCurrentTimeInt64(self) -> int:  # noqa: N802
        return self.julian_ms


_clock = _Clock()


def set_time(now: str) -> None:
    """Set the time to `YYYY-MM-DD HH:MM:SS` (no zone, as everywhere in an instance)."""
    since = datetime.fromisoformat(now) - datetime(1970, 1, 1)
    _clock.julian_ms = UNIX_EPOCH_IN_JULIAN_MS + round(since.total_seconds() * 1000)
