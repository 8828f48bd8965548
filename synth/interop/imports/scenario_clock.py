"""The time at which a scenario begins, from the dates in its config: recorded ones are past, planned ones ahead."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from servers.text.json_values import is_list, is_object

DATE = re.compile(r"(?<!\d)((?:19|20)\d\d)-([01]\d)-([0-3]\d)(?!\d)")
PLANNED = re.compile(r"due|expir|schedul|plan|until|deadline|next|end|target|expected|estimated|renew|remind|appoint")
"""Parts of the keys of dates that may lie ahead."""
IGNORED = re.compile(r"birth|dob|(^|_)id$")
"""Parts of the keys of dates that say nothing about today."""
HOUR = "09:00:00"
DAY = timedelta(days=1)


@dataclass(frozen=True)
class Dates:
    """The dates in a config: the latest that is recorded, and the first that is planned. With their keys."""

    recorded: tuple[date, str] | None
    planned: tuple[date, str] | None

    @property
    def clock(self) -> str | None:
        """The morning after the last record, or before the first plan. None if there is no date."""
        if self.recorded is not None:
            return f"{self.recorded[0] + DAY} {HOUR}"
        return None if self.planned is None else f"{self.planned[0] - DAY} {HOUR}"

    def misfit(self, clock: str) -> str | None:
        """What is wrong with a clock that somebody chose. None if it fits."""
        if self.recorded is None or datetime.fromisoformat(clock).date() >= self.recorded[0]:
            return None
        return f"its clock, {clock}, is before what is recorded: {self.recorded[1]} {self.recorded[0]}"


def dates_of(config: Any) -> Dates:
    """The dates in a config."""
    found = [(day, key) for key, day in _dates(config, "") if not IGNORED.search(key.lower())]
    recorded = [one for one in found if not PLANNED.search(one[1].lower())]
    planned = [one for one in found if PLANNED.search(one[1].lower())]
    return Dates(max(recorded, default=None), min(planned, default=None))


def _dates(value: Any, key: str) -> Iterator[tuple[str, date]]:
    if is_object(value):
        for name, part in value.items():
            yield from _dates(part, name)
    elif is_list(value):
        for part in value:
            yield from _dates(part, key)
    elif isinstance(value, str):
        for year, month, day in DATE.findall(value):
            try:
                yield key, date(int(year), int(month), int(day))
            except ValueError:
                continue  # such as 2024-02-30
