"""What routes are given: the registry of their app, a page, and ids that are ids."""

from typing import Annotated

from fastapi import Depends, Path, Query, Request

from registry.leases import Registry
from registry.reaper import Reaper
from servers.orders import InstanceId, Page
from servers.record import Name

FURTHEST = 1_000_000_000


async def _registry(request: Request) -> Registry:
    return request.app.state.registry


async def _reaper(request: Request) -> Reaper:
    return request.app.state.reaper


async def _page(
    offset: Annotated[int, Query(ge=0, le=FURTHEST, description="How many to leave out.")] = 0,
    limit: Annotated[int, Query(ge=1, le=1000, description="How many at most.")] = 100,
) -> Page:
    return Page(offset=offset, limit=limit)


Known = Annotated[Registry, Depends(_registry)]
Watching = Annotated[Reaper, Depends(_reaper)]
Wanted = Annotated[Page, Depends(_page)]
Search = Annotated[str, Query(max_length=200, description="A text that must be in it, in any case.", examples=["loan"])]
InstanceInPath = Annotated[InstanceId, Path(description="An instance's id.", examples=["a3f09c51e77b2d40"])]
EnvironmentInPath = Annotated[Name, Path(description="An environment's id.", examples=["library_loans"])]
ScenarioInPath = Annotated[Name, Path(description="A scenario's id.", examples=["renew_before_due"])]
