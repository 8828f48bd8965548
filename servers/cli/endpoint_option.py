"""The option of a command that takes the URL of a model's endpoint."""

from typing import Annotated

import typer

from servers.cli.endpoint_url import checked_url
from servers.errors import RequestError


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
