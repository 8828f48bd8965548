"""The clock and the chances of one call: the same call at the same place in the same instance draws the same."""

import hashlib
import random
from datetime import datetime, timedelta

READING = timedelta(milliseconds=1)
"""How far each reading of the clock is after the one before it: ids that are made of times differ within a call."""


class _Moment:
    """What the call that runs now is told."""

    def __init__(self) -> None:
        self.now = datetime(1970, 1, 1)
        self.seed = ""
        self.drawn = 0


_moment = _Moment()


def begin(now: str, seed: str) -> None:
    """Set the clock to `YYYY-MM-DD HH:MM:SS`, and all chances to a seed."""
    _moment.now, _moment.seed, _moment.drawn = datetime.fromisoformat(now), seed, 0
    random.seed(seed)


def read_clock() -> datetime:
    """The time, in UTC and without a zone."""
    now = _moment.now
    _moment.now += READING
    return now


def draw(size: int) -> bytes:
    """So many bytes (64 at most) that nothing drew before in this call."""
    _moment.drawn += 1
    return hashlib.blake2b(f"{_moment.seed}/{_moment.drawn}".encode(), digest_size=size).digest()
