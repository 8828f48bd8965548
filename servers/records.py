"""The base of stored and sent records: frozen, without unknown keys. Also the types of their fields."""

import re
from datetime import datetime
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field


class Record(BaseModel):
    """The base of such records."""

    model_config = ConfigDict(frozen=True, extra="forbid")


NAME = r"^[a-z][a-z0-9_]{0,63}$"
Name = Annotated[str, Field(pattern=NAME)]
"""A name: of an environment, a scenario, a checkpoint, a tool or a table."""

LATEST_YEAR = 9899
"""The last year in which an instance may begin: its clock advances, and dates end with the year 9999."""


def _is_date(text: str) -> str:
    """Refuse a text in the form of a date that is not one. Raises ValueError with the reason."""
    moment = datetime.fromisoformat(text)
    if moment.isoformat(sep=" ") != text:  # from Python 3.13 on, 24:00 is the next day
        raise ValueError("hour must be in 0..23")
    if moment.year > LATEST_YEAR:
        raise ValueError(f"year must be in 1..{LATEST_YEAR}, so that there is time for the calls")
    return text


Moment = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$")]
"""A time of an instance's clock, `YYYY-MM-DD HH:MM:SS`."""

Clock = Annotated[Moment, AfterValidator(_is_date)]
"""The start time of an instance: a valid date and time without a time zone."""

SECRET = re.compile(r"//[^/?#]*@|[?&](password|token|key|api_key)=", re.IGNORECASE)
AnswerFormat = Literal["text", "json"]
"""How an agent is asked to answer: in prose, or in one JSON object."""
OPENAI = "https://api.openai.com/v1"
"""The default endpoint."""
KEY, USER_KEY = "OPENAI_API_KEY", "USER_OPENAI_API_KEY"
"""The variables that hold an endpoint's key, and that of the simulated user's."""


def checked_url(url: str) -> str:
    """A URL that can be requested, shown and stored. Raises ValueError."""
    if SECRET.search(url):
        raise ValueError("there is a user, password or key in it; give the key apart, as OPENAI_API_KEY")
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError as error:
        raise ValueError(f"{url!r} is no URL: {error}") from None
    if parts.scheme not in ("http", "https"):
        raise ValueError(f"{url!r} is no URL: one begins with http:// or https://")
    if not has_host or not url.isprintable() or " " in url:
        raise ValueError(f"{url!r} is no URL: one looks like http://127.0.0.1:8000/v1")
    return url


def checked_secret(name: str, secret: str) -> str:
    """A key or a token that an HTTP header can carry. Raises ValueError, which never shows it."""
    if secret != secret.strip() or not all(" " <= character <= "~" for character in secret):
        raise ValueError(
            f"{name} has a character that no key has: a line end, a blank at an end, or one that is not ASCII"
        )
    return secret


EndpointUrl = Annotated[str, AfterValidator(checked_url)]
"""The URL of a model's endpoint, validated before use."""
