"""`GET /metrics`: counters of the registry and its workers, in Prometheus' text format."""

import asyncio
from collections.abc import Iterator

from fastapi import APIRouter
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, CollectorRegistry, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from registry.http.dependencies import FarmRegistry
from registry.leases import Registry
from registry.ledger.database import LedgerError
from registry.workers.fleet import FleetMember
from servers.doors.operations import METRICS, EmptyOrder
from servers.errors import FarmError
from servers.worker.metrics import Family, families_in

SECONDS_TO_ANSWER = 4.0
"""Seconds to wait for a worker. Prometheus gives up a scrape after 10 s by default."""

Source = tuple[dict[str, str], list[Family]]
"""Counters of one process, with the labels that name it."""

routes = APIRouter()


class Gathered(Collector):
    """The metrics at the time of a scrape."""

    def __init__(self, metrics: list[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        yield from self._metrics


@routes.get("/metrics", include_in_schema=False)
async def metrics(registry: FarmRegistry) -> Response:
    """The metrics of the registry, and of each worker that answers, with the label `worker`."""
    seats = list(registry.fleet.seats.values())
    told, leases = await asyncio.gather(asyncio.gather(*map(_told, seats)), _leases(registry))
    answers = dict(zip((seat.name for seat in seats), told, strict=True))
    sources: list[Source] = [({}, families_in(registry.watch.counters))]
    sources += [({"worker": worker}, said) for worker, said in answers.items() if said is not None]
    metrics = [leases, _answering(answers), _restarts(seats), *_merged(sources)]
    return Response(await asyncio.to_thread(_as_text, metrics), media_type=CONTENT_TYPE_PLAIN_0_0_4)


async def _told(seat: FleetMember) -> list[Family] | None:
    """The metrics of a worker. None if it does not answer in time."""
    try:
        async with asyncio.timeout(SECONDS_TO_ANSWER):
            return await seat.door.ask(METRICS, EmptyOrder())
    except (FarmError, TimeoutError):
        return None


async def _leases(registry: Registry) -> Metric:
    """The number of leases by status. Empty if the ledger cannot be read."""
    found = GaugeMetricFamily("farm_leases", "Leases by status, ended ones too.", labels=["status"])
    try:
        counts = await asyncio.to_thread(registry.ledger.standings, now=registry.clock.now())
    except LedgerError:
        return found
    for status, count in counts.items():
        found.add_metric([status], count)
    return found


def _answering(answers: dict[str, list[Family] | None]) -> Metric:
    answering = GaugeMetricFamily("farm_worker_answers", "1 for a worker that answered now.", labels=["worker"])
    for worker, said in answers.items():
        answering.add_metric([worker], said is not None)
    return answering


def _restarts(seats: list[FleetMember]) -> Metric:
    found = CounterMetricFamily("farm_worker_restarts", "Workers started anew: they were silent.", labels=["worker"])
    for seat in seats:
        found.add_metric([seat.name], seat.restarts)
    return found


def _merged(sources: list[Source]) -> Iterator[Metric]:
    """Merge families of the same name. Each sample gets the labels of its process."""
    merged: dict[str, Metric] = {}
    for labels, families in sources:
        for family in families:
            metric = merged.setdefault(family.name, Metric(family.name, family.help, family.kind))
            for figure in family.figures:
                metric.add_sample(figure.name, {**figure.labels, **labels}, figure.value)
    yield from merged.values()


def _as_text(metrics: list[Metric]) -> bytes:
    gathered = CollectorRegistry()
    gathered.register(Gathered(metrics))
    return generate_latest(gathered)
