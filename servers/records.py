"""A value that crosses a disk or a wire: it does not change, and refuses keys that it does not know."""

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field


class Record(BaseModel):
    """The base of such values."""

    model_config = ConfigDict(frozen=True, extra="forbid")


NAME = r"^[a-z][a-z0-9_]{0,63}$"
Name = Annotated[str, Field(pattern=NAME)]
"""A name of ours: environments, scenarios, checkpoints, tools, tables."""

LATEST_YEAR = 9899
"""The last year in which an instance may begin: its clock moves with each call, and dates end with the year 9999."""


def _is_date(text: str) -> str:
    """Refuse what looks like a date and is none. Raises ValueError, which says why."""
    if datetime.fromisoformat(text).year > LATEST_YEAR:
        raise ValueError(f"year must be in 1..{LATEST_YEAR}, so that there is time for the calls")
    return text


Moment = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$")]
"""What the clock of an instance says, `YYYY-MM-DD HH:MM:SS`."""

Clock = Annotated[Moment, AfterValidator(_is_date)]
"""When an instance begins: a moment that the calendar has, without a time zone."""
