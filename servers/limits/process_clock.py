"""How much processor time another process has had, and whether it wants any: what the limits of guests are counted in.

Processor time is the process's own: it does not pass while the machine is busy with others, or while the process or
its worker is stopped.
"""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

CPU_CLOCK = 2
"""Linux: the clock of all threads of a process, see clock_getcpuclockid(3)."""
PF_EXITING = 0x4
"""Linux: in a process's flags while it is put away, whatever ended it."""
PATIENCE = 12
"""A guest is waited for this many times its processor time; then it was not let run."""
LEAST_LOOK = 0.2
"""Seconds between two looks at a guest that is late, or asleep."""
LONGEST_LOOK = 1.0
"""Seconds between two looks at a guest that is not late yet: one that somebody has stopped is given up soon."""
MOST_ASLEEP = 10
"""A guest that is asleep at so many looks in a row waits, even if it wakes now and then."""

Ending = Literal["late", "asleep", "stalled"]
"""It used up its processor time; it waits for what never comes; it was not let run."""


def cpu_seconds(pid: int) -> float:
    """The processor time that a process has had. Needs no permission.

    Raises:
        OSError: there is no such process any more.
    """
    return time.clock_gettime(~pid << 3 | CPU_CLOCK)


def is_asleep(pid: int) -> bool:
    """True if a process waits of its own will: it is neither running, nor ready to run, nor stopped, nor swapped."""
    told = _status(pid)
    return told is not None and told[0] == "S"


def is_stopped(pid: int) -> bool:
    """True if somebody has stopped a process by a signal, or traces it."""
    told = _status(pid)
    return told is not None and told[0] in "Tt"


def is_ending(pid: int) -> bool:
    """True if a process has ended, or the kernel is putting it away."""
    told = _status(pid)
    return told is None or bool(int(told[6]) & PF_EXITING)


def _status(pid: int) -> list[str] | None:
    """What the kernel says of a process after its name: see proc_pid_stat(5). None if there is no such process."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return told.rpartition(")")[2].split()


class Deadline:
    """Calls `on_end` when a process has had so much processor time for a request, sleeps, or is not let run for long.

    A process is asked one thing after another, so there is one such watch for each process. A request sets no timer
    while that of an earlier one is still there: it is looked at a little later then.

    What was waited for is counted in the waits of this event loop, so that a worker that was stopped does not count
    the time in which it was. `is_told` returns True once the process has been sent all that it was asked.
    """

    def __init__(self, pid: int, on_end: Callable[[Ending], None], *, is_told: Callable[[], bool]) -> None:
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
        """Watch a request that may take so many seconds of processor time beyond those that were had when it began."""
        self._seconds, self._begin = seconds, begin
        self._is_on = self._is_new = True
        if self._handle is None or seconds < self._pause:
            self._begin_to_look()

    def stop(self) -> None:
        """The request was answered."""
        self._is_on = False

    def close(self) -> None:
        """Look no more."""
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

    def _ending(self, used: float) -> Ending | None:
        if used >= self._seconds:
            return "late"
        if used == self._seen and is_stopped(self._pid):
            return "stalled"
        waits = self._waited > self._seconds and self._is_told() and is_asleep(self._pid)
        self._asleep = self._asleep + 1 if waits else 0
        if self._asleep and (used == self._seen or self._asleep >= MOST_ASLEEP):
            return "asleep"
        return "stalled" if self._waited >= PATIENCE * self._seconds else None
