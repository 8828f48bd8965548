"""The dependencies of routes: the registry of their app, a page, validated ids."""

import re
from typing import Annotated, Any

from fastapi import Depends, Path, Query, Request
from pydantic import BeforeValidator, Field

from registry.leases import Registry
from registry.reaper import Reaper
from servers.joining.messages import WorkerName
from servers.messages import InstanceId, Page
from servers.records import Name

FURTHEST = 1_000_000_000
DIGITS = re.compile(r"0|-?[1-9][0-9]{0,30}")


def _in_digits(value: Any) -> Any:
    """Accept a number of a query in plain digits only, though Python reads other forms too."""
    if isinstance(value, str):
        if not DIGITS.fullmatch(value):
            raise ValueError("an integer is written in digits")
        return int(value)
    return value


InDigits = BeforeValidator(_in_digits)
Offset = Annotated[int, Field(ge=0, le=FURTHEST), InDigits, Query(description="How many to leave out.")]
After = Annotated[
    int, Field(ge=0, le=FURTHEST), InDigits, Query(description="The call after which to begin; 0 is the start.")
]
Limit = Annotated[int, Field(ge=1, le=1000), InDigits, Query(description="How many at most.")]


async def _registry(request: Request) -> Registry:
    return request.app.state.registry


async def _reaper(request: Request) -> Reaper:
    return request.app.state.reaper


async def _page(
    offset: Offset = 0,
    limit: Limit = 100,
) -> Page:
    return Page(offset=offset, limit=limit)


FarmRegistry = Annotated[Registry, Depends(_registry)]
Watching = Annotated[Reaper, Depends(_reaper)]
WantedPage = Annotated[Page, Depends(_page)]
Search = Annotated[str, Query(max_length=200, description="A text that must be in it, in any case.", examples=["loan"])]
InstanceInPath = Annotated[InstanceId, Path(description="An instance's id.", examples=["a3f09c51e77b2d40"])]
WorkerInPath = Annotated[WorkerName, Path(description="A worker's name.", examples=["worker-1"])]
EnvironmentInPath = Annotated[Name, Path(description="An environment's id.", examples=["library_loans"])]
ScenarioInPath = Annotated[Name, Path(description="A scenario's id.", examples=["renew_before_due"])]
