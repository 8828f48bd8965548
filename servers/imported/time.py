"""The standard `time`, on the clock of the call: what an imported `import time` is given. Nothing sleeps."""

import calendar
import time as _real
from time import struct_time

from servers.imported.moment import read_clock

__all__ = [
    "altzone", "asctime", "ctime", "daylight", "gmtime", "localtime", "mktime", "monotonic", "monotonic_ns",
    "perf_counter", "perf_counter_ns", "process_time", "sleep", "strftime", "strptime", "struct_time", "time",
    "time_ns", "timezone", "tzname",
]  # fmt: skip

altzone = daylight = timezone = 0
tzname = ("UTC", "UTC")
strptime = _real.strptime


def time_ns() -> int:
    now = read_clock()
    return (calendar.timegm(now.timetuple()) * 1_000_000 + now.microsecond) * 1000


def time() -> float:
    return time_ns() / 1_000_000_000


monotonic = perf_counter = process_time = time
monotonic_ns = perf_counter_ns = time_ns


def gmtime(seconds: float | None = None) -> struct_time:
    return _real.gmtime(time() if seconds is None else seconds)


localtime = gmtime


def mktime(moment: struct_time) -> float:
    return float(calendar.timegm(moment))


def strftime(form: str, moment: struct_time | None = None) -> str:
    return _real.strftime(form, gmtime() if moment is None else moment)


def asctime(moment: struct_time | None = None) -> str:
    return _real.asctime(gmtime() if moment is None else moment)


def ctime(seconds: float | None = None) -> str:
    return asctime(gmtime(seconds))


def sleep(seconds: float) -> None:
    """Wait for nothing: nobody is kept waiting by a clock that stands still."""
