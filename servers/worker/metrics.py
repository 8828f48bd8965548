"""The metrics of a worker for `/metrics`, as plain records that can be sent between processes."""

from collections.abc import Iterator
from typing import Literal

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from servers.guest.walls import WALLS
from servers.records import Record
from servers.worker.worker import Worker


class Figure(Record):
    """One value."""

    name: str
    labels: dict[str, str]
    value: float


class Family(Record):
    """Samples of one kind, with a description."""

    name: str
    help: str
    kind: Literal["counter", "gauge", "histogram"]
    figures: tuple[Figure, ...]


class GaugeCollector(Collector):
    """Gauges that are computed on request."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    def collect(self) -> Iterator[Metric]:
        worker, guests = self._worker, self._worker.guests
        yield GaugeMetricFamily("farm_instances", "Instances that live here.", worker.live)
        yield GaugeMetricFamily("farm_open_state_files", "State files held open.", len(worker.in_use))
        waiting = sum(instance.waiting for instance in worker.in_use)
        yield GaugeMetricFamily("farm_calls_in_flight", "Tool calls that are not answered yet.", waiting)
        yield GaugeMetricFamily("farm_guest_queue", "Requests that wait for a busy guest.", guests.waiting)
        yield GaugeMetricFamily("farm_guests", "Guest processes.", guests.alive)
        yield GaugeMetricFamily("farm_guest_memory_bytes", "Own memory of all guests, measured.", guests.memory)
        yield GaugeMetricFamily("farm_thread_queue", "Queries, diffs and scores that wait.", worker.threads.waiting)
        yield CounterMetricFamily("farm_guest_starts", "Guests forked.", guests.started)
        deaths = CounterMetricFamily("farm_guest_deaths", "Guests that ended, by cause.", labels=["cause"])
        for cause, count in guests.deaths.items():
            deaths.add_metric([cause], count)
        yield deaths
        walls = GaugeMetricFamily("farm_wall", "1 for a wall that stands around guests.", labels=["wall"])
        for wall in WALLS:
            walls.add_metric([wall], wall in worker.standing_walls)
        yield walls


def families_of(worker: Worker) -> list[Family]:
    """All metrics of a worker: its counters, its state, and its process's resources."""
    now = CollectorRegistry()
    now.register(GaugeCollector(worker))
    ProcessCollector(registry=now)
    return [*families_in(worker.watch.counters), *families_in(now)]


def families_in(registry: CollectorRegistry) -> list[Family]:
    """The current counters, without creation times."""
    return [_family(metric) for metric in registry.collect()]


def _family(metric: Metric) -> Family:
    figures = tuple(
        Figure(name=sample.name, labels=sample.labels, value=sample.value)
        for sample in metric.samples
        if not sample.name.endswith("_created")
    )
    return Family.model_validate(
        {"name": metric.name, "help": metric.documentation, "kind": metric.type, "figures": figures}
    )
