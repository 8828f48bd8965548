"""A value that crosses a disk or a wire does not change and refuses keys that it does not know; types of its fields."""

import re
from datetime import datetime
from typing import Annotated
from urllib.parse import urlsplit

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

SECRET = re.compile(r"//[^/?#]*@|[?&](password|token|key|api_key)=", re.IGNORECASE)
OPENAI = "https://api.openai.com/v1"
"""The endpoint of those who name none."""


def checked_url(url: str) -> str:
    """A URL that a request can be sent to, and that may be shown and stored. Raises ValueError."""
    if SECRET.search(url):
        raise ValueError("there is a user, password or key in it; give the key apart, as OPENAI_API_KEY")
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError as error:
        raise ValueError(f"{url!r} is no URL: {error}") from None
    if parts.scheme not in ("http", "https"):
        raise ValueError(f"{url!r} is no URL of an endpoint: it begins with http:// or https://")
    if not has_host or not url.isprintable() or " " in url:
        raise ValueError(f"{url!r} is no URL of an endpoint: one looks like http://127.0.0.1:8000/v1")
    return url


EndpointUrl = Annotated[str, AfterValidator(checked_url)]
"""The URL of a model's endpoint, looked at before anything is asked there."""
