"""The processor time of another process, and its scheduling state: the basis of the limits of guests.

Processor time does not pass while the machine is busy with others, or while the process or its worker is stopped.
"""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

CPU_CLOCK = 2
"""Linux: the clock of all threads of a process, see clock_getcpuclockid(3)."""
PF_EXITING = 0x4
"""Linux: the flag of a process that is exiting."""
PATIENCE = 12
"""A guest may wait this many times its processor time. After that it counts as not scheduled."""
LEAST_LOOK = 0.2
"""Seconds between two looks at a guest that is late, or asleep."""
LONGEST_LOOK = 1.0
"""Seconds between two looks at a guest that is not late yet, so that a stopped one is given up soon."""
MOST_ASLEEP = 10
"""Looks in a row at which a guest may be asleep. After that it counts as waiting, even if it wakes now and then."""

ClockEnding = Literal["late", "asleep", "stalled"]
"""Why a guest's time ended: it used up its processor time, waits for ever, or was not scheduled."""


def cpu_seconds(pid: int) -> float:
    """The processor seconds of a process. Needs no permission.

    Raises:
        OSError: the process no longer exists.
    """
    return time.clock_gettime(~pid << 3 | CPU_CLOCK)


def is_asleep(pid: int) -> bool:
    """True if a process sleeps: it is not running, runnable, stopped or swapped."""
    told = _status(pid)
    return told is not None and told[0] == "S"


def is_stopped(pid: int) -> bool:
    """True if a process is stopped by a signal, or traced."""
    told = _status(pid)
    return told is not None and told[0] in "Tt"


def is_ending(pid: int) -> bool:
    """True if a process has ended or is exiting."""
    told = _status(pid)
    return told is None or bool(int(told[6]) & PF_EXITING)


def _status(pid: int) -> list[str] | None:
    """The fields of a process after its name, see proc_pid_stat(5). None if it does not exist."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return told.rpartition(")")[2].split()


class Deadline:
    """Calls `on_end` if a process exceeds its processor time for a request, sleeps, or is not scheduled for long.

    A process answers one request after another, so it has one watch. A request does not set a new timer while an
    earlier one is pending: it is checked a little later then.

    Waits are counted in ticks of this event loop, so that a stopped worker does not count its own pause. `is_told`
    returns True once the whole request was sent.
    """

    def __init__(self, pid: int, on_end: Callable[[ClockEnding], None], *, is_told: Callable[[], bool]) -> None:
        self._pid = pid
        self._on_end = on_end
        self._is_told = is_told
        self._is_on = self._is_new = False
        self._seconds = self._begin = self._waited = 0.0
        self._seen = -1.0
        self._asleep = 0
        self._loop = asyncio.get_running_loop()
        self._pause = 0.0
        self._handle: asyncio.TimerHandle | None = None

    def start(self, seconds: float, begin: float) -> None:
        """Watch a request that may take `seconds` of processor time beyond `begin`."""
        self._seconds, self._begin = seconds, begin
        self._is_on = self._is_new = True
        if self._handle is None or seconds < self._pause:
            self._begin_to_look()

    def stop(self) -> None:
        """The request was answered."""
        self._is_on = False

    def close(self) -> None:
        """Stop watching."""
        self._is_on = False
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _begin_to_look(self) -> None:
        self._is_new = False
        self._seen, self._asleep, self._waited = -1.0, 0, 0.0
        self._wait(min(self._seconds, LONGEST_LOOK))

    def _wait(self, pause: float) -> None:
        if self._handle is not None:
            self._handle.cancel()
        self._pause = pause
        self._handle = self._loop.call_later(pause, self._look)

    def _look(self) -> None:
        self._handle = None
        if not self._is_on:
            return
        if self._is_new:  # the timer was set for an earlier request
            self._begin_to_look()
            return
        self._waited += self._pause
        try:
            used = cpu_seconds(self._pid) - self._begin
        except OSError:
            return  # it has ended, which its socket tells
        ending = self._ending(used)
        if ending is not None:
            self._on_end(ending)
            return
        self._seen = used
        self._wait(LEAST_LOOK if self._asleep else min(max(self._seconds - used, LEAST_LOOK), LONGEST_LOOK))

    def _ending(self, used: float) -> ClockEnding | None:
        if used >= self._seconds:
            return "late"
        if used == self._seen and is_stopped(self._pid):
            return "stalled"
        waits = self._waited > self._seconds and self._is_told() and is_asleep(self._pid)
        self._asleep = self._asleep + 1 if waits else 0
        if self._asleep and (used == self._seen or self._asleep >= MOST_ASLEEP):
            return "asleep"
        return "stalled" if self._waited >= PATIENCE * self._seconds else None
