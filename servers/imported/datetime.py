"""The standard `datetime`, on the clock of the call: what an imported `import datetime` is given."""

import datetime as _real
from datetime import MAXYEAR, MINYEAR, UTC, time, timedelta, timezone, tzinfo
from typing import Any

from servers.imported.moment import read_clock

__all__ = ["MAXYEAR", "MINYEAR", "UTC", "date", "datetime", "time", "timedelta", "timezone", "tzinfo"]


class _AnyDate(type):
    """Lets `isinstance(value, date)` hold for the dates that the standard classes make: only a metaclass can."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, _real.date)


class _AnyDatetime(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, _real.datetime)


class date(_real.date, metaclass=_AnyDate):  # noqa: N801 - the name that it stands in for
    """A date; `today()` is the call's."""

    @classmethod
    def today(cls) -> Any:
        now = read_clock()
        return cls(now.year, now.month, now.day)

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, handler: Any) -> Any:
        """For a model with such a field: pydantic takes it for the standard class."""
        return handler.generate_schema(_real.date)


class datetime(_real.datetime, metaclass=_AnyDatetime):  # noqa: N801 - the name that it stands in for
    """A time; `now()`, `utcnow()` and `today()` are the call's. It is UTC everywhere."""

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, handler: Any) -> Any:
        return handler.generate_schema(_real.datetime)

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Any:
        now = read_clock()
        if tz is not None:
            now = now.replace(tzinfo=UTC).astimezone(tz)
        return cls.combine(now.date(), now.timetz())

    @classmethod
    def utcnow(cls) -> Any:
        return cls.now()

    @classmethod
    def today(cls) -> Any:
        return cls.now()
