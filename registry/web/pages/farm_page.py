"""The page of the farm itself: workers, leases, figures over time, drain."""

import asyncio

from starlette.responses import Response

from registry.ledger.database import LedgerError
from registry.web.app import PageView, Visit
from registry.web.time_series import TimeSeries

MOST_UNCALLED = 200
"""Environments with live instances and without calls that the page lists."""


class FarmPage:
    """The page of one farm."""

    def __init__(self, series: TimeSeries) -> None:
        self._series = series

    def routes(self) -> dict[str, PageView]:
        return {"GET /farm": self.show, "POST /farm/drain": self.drain}

    async def show(self, visit: Visit) -> Response:
        """The farm as it is now."""
        registry = visit.registry
        try:
            standings = dict(await asyncio.to_thread(registry.ledger.standings, now=registry.clock.now()))
            live = await asyncio.to_thread(registry.ledger.live_by_environment, now=registry.clock.now())
        except LedgerError:
            standings, live = {}, {}
        called = self._series.by_environment()
        known = {one.name for one in called}
        outcomes, deaths = self._series.counted()
        return await visit.drawn(
            "farm.html",
            workers=await registry.workers(),
            standings=standings,
            charts=self._series.charts(),
            minutes=self._series.minutes(),
            environments=called,
            live=live,
            uncalled=sorted(name for name in live if name not in known)[:MOST_UNCALLED],
            outcomes=outcomes,
            deaths=deaths,
        )

    async def drain(self, visit: Visit) -> Response:
        """Launch nothing more on a worker, or launch on it again. Its instances stay."""
        await visit.registry.drain(visit.form.get("worker", ""), drains=visit.form.get("drains") == "1")
        return visit.go_to("/farm")
