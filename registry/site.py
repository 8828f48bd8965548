"""All pages of a farm, put together."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from starlette.types import ASGIApp

from registry.leases import Registry
from registry.web.app import Pages, WebOrApi, log_out, web_app
from registry.web.live import LiveFeed
from registry.web.pages.catalogue_pages import CataloguePages
from registry.web.pages.farm_page import FarmPage
from registry.web.pages.model_plays import ModelPlays
from registry.web.pages.playground_pages import PlaygroundPages
from registry.web.pages.run_pages import RunPages
from registry.web.pages.run_questions import RunReaderProcess
from registry.web.pages.state_pages import StatePages
from registry.web.session import Sessions
from registry.web.time_series import TimeSeries


@dataclass(frozen=True)
class Site:
    """The pages beside the API."""

    app: ASGIApp
    pages: Pages


@asynccontextmanager
async def site(
    registry: Registry, api: ASGIApp, *, token: str, loopback_only: bool, runs: tuple[Path, ...] = ()
) -> AsyncGenerator[Site]:
    """The pages of a registry and of the runs below some folders, while the context is open.

    Call `Pages.stop` before the server ends.
    """
    pages = Pages(registry, Sessions(token))
    feed = LiveFeed(registry)
    plays = ModelPlays(feed.touch)
    series = TimeSeries(registry)
    reader = RunReaderProcess(runs)
    routes = {
        **CataloguePages(registry.catalogue, reader).routes(),
        **StatePages().routes(),
        **PlaygroundPages(feed, plays).routes(),
        **FarmPage(series).routes(),
        **RunPages(reader).routes(),
        "POST /logout": log_out,
    }
    app = web_app(pages, routes, api, loopback_only=loopback_only)
    async with series.running():
        try:
            yield Site(WebOrApi(app, api), pages)
        finally:
            pages.stop()
            await plays.end_all()
            await reader.end()
