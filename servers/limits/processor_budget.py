"""A budget of processor seconds that several pieces of work share."""

import math
import time
from collections.abc import Generator
from contextlib import contextmanager

from servers.limits.process_clock import PATIENCE

MOST_STEPS = 50_000_000
"""Steps of SQLite's virtual machine: about half a second of ordinary ones, and the same number on every machine."""
CALL_SECONDS = 5.0
"""Processor seconds of a call, or of a Python checkpoint."""
CALLS_A_JUDGEMENT = 4
"""The budget of a judgement, as a number of calls: 20 s of processor time."""
LONGEST_JUDGEMENT = CALLS_A_JUDGEMENT * CALL_SECONDS * PATIENCE
"""Seconds to wait for a judgement. After that it counts as not scheduled."""


class ProcessorBudget:
    """A budget that counts down. Work that began with time left is charged in full, so `left` may become negative."""

    def __init__(self, seconds: float = math.inf) -> None:
        self.seconds = seconds
        self._charged = 0.0
        self._since: float | None = None  # the processor time of the thread that is being charged

    @property
    def left(self) -> float:
        """The remaining seconds. While a thread is charged, only that thread may ask."""
        running = 0.0 if self._since is None else time.thread_time() - self._since
        return self.seconds - self._charged - running

    @property
    def charged(self) -> float:
        """The seconds that were charged."""
        return self._charged

    @property
    def is_used_up(self) -> bool:
        return self.left <= 0

    def charge(self, seconds: float) -> None:
        self._charged += seconds

    @contextmanager
    def charging_this_thread(self) -> Generator[None]:
        """Charge the processor time of this thread. Nested charges count once."""
        if self._since is not None:
            yield
            return
        self._since = begin = time.thread_time()
        try:
            yield
        finally:
            self._since = None
            self.charge(time.thread_time() - begin)
