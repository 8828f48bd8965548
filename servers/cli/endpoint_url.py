"""The URL of a model's endpoint, looked at before anything is asked there: in a record, and as an option."""

import re
from typing import Annotated
from urllib.parse import urlsplit

import typer
from pydantic import AfterValidator

from servers.errors import RequestError

SECRET = re.compile(r"//[^/?#]*@|[?&](password|token|key|api_key)=", re.IGNORECASE)
OPENAI = "https://api.openai.com/v1"


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
"""A field of a record."""


def well_formed(_: typer.Context, parameter: typer.CallbackParam, value: str | None) -> str | None:
    """The callback of an option whose value is such a URL."""
    if value in (None, parameter.default):
        return value
    try:
        return checked_url(value)
    except ValueError as error:
        raise RequestError(f"{parameter.opts[0]}: {error}") from None


BaseUrl = Annotated[
    str, typer.Option(envvar="OPENAI_BASE_URL", callback=well_formed, help="An OpenAI-compatible endpoint.")
]
"""An option of a command; its default is `OPENAI`."""
