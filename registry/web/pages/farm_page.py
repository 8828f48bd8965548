"""The page of the farm itself: workers, leases, figures over time, drain."""

import asyncio

from starlette.responses import Response

from registry.ledger.database import LedgerError
from registry.web.app import Page, Visit
from registry.web.time_series import TimeSeries
from servers.errors import NotFound


class FarmPage:
    """The page of one farm."""

    def __init__(self, series: TimeSeries) -> None:
        self._series = series

    def routes(self) -> dict[str, Page]:
        return {"GET /farm": self.show, "POST /farm/drain": self.drain}

    async def show(self, visit: Visit) -> Response:
        """The farm as it is now."""
        registry = visit.registry
        try:
            standings = dict(await asyncio.to_thread(registry.ledger.standings, now=registry.clock.now()))
        except LedgerError:
            standings = {}
        outcomes, deaths = self._series.counted()
        return await visit.drawn(
            "farm.html",
            workers=await registry.workers(),
            seats=registry.fleet.seats,
            standings=standings,
            charts=self._series.charts(),
            environments=self._series.by_environment(),
            outcomes=outcomes,
            deaths=deaths,
        )

    async def drain(self, visit: Visit) -> Response:
        """Launch nothing more on a worker, or launch on it again. Its instances stay."""
        seat = visit.registry.fleet.seats.get(visit.form.get("worker", ""))
        if seat is None:
            raise NotFound("there is no such worker")
        seat.drains = visit.form.get("drains") == "1"
        return visit.go_to("/farm")
