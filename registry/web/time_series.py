"""The farm's figures over the last hour: a sample of the workers' metrics every few seconds."""

import asyncio
import time
from collections import Counter, defaultdict, deque
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from registry.leases import Registry
from registry.workers.fleet import FleetMember
from servers.doors.operations import METRICS, EmptyOrder
from servers.errors import FarmError
from servers.telemetry.worker_events import FAULTS
from servers.worker.metrics import Family

SAMPLE_SECONDS = 5.0
SAMPLES = 720
ASK_SECONDS = 4.0
RECENT = 12
"""Samples of the last minute."""
POINTS = 60
"""The most points of the series of one environment."""
NATURAL = ("done", "idle", "closing")
"""Ends of guests that nobody need look at: they had nothing to do, or their farm has ended."""


@dataclass(frozen=True)
class FarmSample:
    """The sums over all workers at one moment. Counters count since the start of each worker."""

    at: float
    calls: Counter[str] = field(default_factory=Counter[str])
    """By environment."""
    outcomes: Counter[str] = field(default_factory=Counter[str])
    deaths: Counter[str] = field(default_factory=Counter[str])
    buckets: Counter[float] = field(default_factory=Counter[float])
    """Calls that took at most so many seconds."""
    buckets_of: dict[str, Counter[float]] = field(default_factory=dict[str, Counter[float]])
    """The same by environment."""
    faults: Counter[str] = field(default_factory=Counter[str])
    """Calls that ended with a fault of the tool or of its guest, by environment."""
    instances: float = 0
    guests: float = 0
    in_flight: float = 0


class Chart(NamedTuple):
    """A series as a picture: its newest value, and paths in a box of 600 by 100."""

    title: str
    value: str
    line: str
    area: str
    peak: str


class EnvironmentSeries(NamedTuple):
    """An environment's calls and faults since the start, its calls a second, and what 95 % of its calls kept."""

    name: str
    calls: int
    faults: int
    chart: Chart
    latency: Chart


class TimeSeries:
    """The samples of one farm."""

    def __init__(self, registry: Registry, *, clock: Callable[[], float] = time.time) -> None:
        self._registry = registry
        self._clock = clock
        self.samples: deque[FarmSample] = deque(maxlen=SAMPLES)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Take samples while the context is open."""
        task = asyncio.create_task(self._run())
        try:
            yield
        finally:
            task.cancel()

    async def _run(self) -> None:
        while True:
            await self.take()
            await asyncio.sleep(SAMPLE_SECONDS)

    async def take(self) -> None:
        """Take one sample. Workers that do not answer in time are left out."""
        seats = [seat for seat in self._registry.fleet.seats.values() if seat.answers]
        told = await asyncio.gather(*map(self._ask, seats))
        self.samples.append(_sample(self._clock(), [family for families in told for family in families]))

    async def _ask(self, seat: FleetMember) -> list[Family]:
        try:
            async with asyncio.timeout(ASK_SECONDS):
                return await seat.door.ask(METRICS, EmptyOrder())
        except (FarmError, TimeoutError):
            return []

    def charts(self) -> list[Chart]:
        """The series that the page shows."""
        samples = list(self.samples)
        pairs = list(pairwise(samples))
        calls = [_rate(a, b, sum(a.calls.values()), sum(b.calls.values())) for a, b in pairs]
        slow = [_quantile(a.buckets, b.buckets, 0.95) * 1000 for a, b in pairs]
        deaths = [max(0, _deaths(b) - _deaths(a)) for a, b in pairs]
        return [
            _chart("Calls a second", calls, "{:,.1f}"),
            _chart("Latency, p95, ms", slow, "{:,.1f}"),
            _chart("Instances", [one.instances for one in samples], "{:,.0f}"),
            _chart("Guest processes", [one.guests for one in samples], "{:,.0f}"),
            _chart("Calls in flight", [one.in_flight for one in samples], "{:,.0f}"),
            _chart(f"Guests that died, in {SAMPLE_SECONDS:.0f} s", deaths, "{:,.0f}"),
        ]

    def minutes(self) -> float:
        """The minutes that the series show."""
        return (self.samples[-1].at - self.samples[0].at) / 60 if self.samples else 0.0

    def by_environment(self) -> list[EnvironmentSeries]:
        """Environments by their calls, most first."""
        if not self.samples:
            return []
        last, before = self.samples[-1], self.samples[max(0, len(self.samples) - 1 - RECENT)]
        few = list(self.samples)[:: -max(1, len(self.samples) // POINTS)][::-1]
        found: list[EnvironmentSeries] = []
        for name, count in last.calls.most_common(50):
            rates = [_rate(a, b, a.calls[name], b.calls[name]) for a, b in pairwise(few)]
            recent = _rate(before, last, before.calls[name], count)
            chart = _chart(name, rates, "{:,.1f}")._replace(value=f"{recent:,.1f}")
            slow = [_quantile(a.buckets_of.get(name), b.buckets_of.get(name), 0.95) * 1000 for a, b in pairwise(few)]
            now = _quantile(before.buckets_of.get(name), last.buckets_of.get(name), 0.95) * 1000
            latency = _chart(name, slow, "{:,.1f}")._replace(value=f"{now:,.1f}")
            found.append(EnvironmentSeries(name, count, last.faults[name], chart, latency))
        return found

    def counted(self) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
        """The outcomes of calls, and the deaths of guests by cause, since the start."""
        if not self.samples:
            return [], []
        return self.samples[-1].outcomes.most_common(), self.samples[-1].deaths.most_common()


def _sample(at: float, families: Sequence[Family]) -> FarmSample:
    found = FarmSample(at)
    gauges: defaultdict[str, float] = defaultdict(float)
    for family in families:
        for figure in family.figures:
            labels, value = figure.labels, figure.value
            if figure.name == "farm_calls_total":
                found.calls[labels["environment"]] += int(value)
                found.outcomes[labels["outcome"]] += int(value)
                found.faults[labels["environment"]] += int(value) if labels["outcome"] in FAULTS else 0
            elif figure.name == "farm_call_seconds_bucket":
                bound = float(labels["le"])
                found.buckets[bound] += int(value)
                found.buckets_of.setdefault(labels["environment"], Counter[float]())[bound] += int(value)
            elif figure.name == "farm_guest_deaths_total":
                found.deaths[labels["cause"]] += int(value)
            elif not labels:
                gauges[figure.name] += value
    return FarmSample(
        at,
        found.calls,
        found.outcomes,
        found.deaths,
        found.buckets,
        found.buckets_of,
        found.faults,
        instances=gauges["farm_instances"],
        guests=gauges["farm_guests"],
        in_flight=gauges["farm_calls_in_flight"],
    )


def _deaths(sample: FarmSample) -> int:
    return sum(count for cause, count in sample.deaths.items() if cause not in NATURAL)


def _rate(before: FarmSample, after: FarmSample, was: float, now: float) -> float:
    """A counter's growth a second. A restart of a worker counts as no growth."""
    return max(0.0, now - was) / max(after.at - before.at, 0.001)


def _quantile(before: Counter[float] | None, after: Counter[float] | None, share: float) -> float:
    """The bound in seconds that a share of the calls between two samples kept. 0 without calls."""
    was, now = before or Counter[float](), after or Counter[float]()
    grown = {bound: max(0, now[bound] - was[bound]) for bound in sorted(now)}
    total = max(grown.values(), default=0)
    if not total:
        return 0.0
    bounds = [bound for bound, count in grown.items() if count >= share * total]
    finite = [bound for bound in grown if bound != float("inf")]
    return min(bounds[0], finite[-1]) if bounds and finite else 0.0


def _chart(title: str, values: Sequence[float], form: str) -> Chart:
    peak = max(values, default=0.0)
    step = 600 / max(len(values) - 1, 1)
    points = [f"{step * at:.1f},{96 - 88 * value / peak if peak else 96:.1f}" for at, value in enumerate(values)]
    line = f"M{' L'.join(points)}" if points else ""
    area = f"{line} V100 H0 Z" if points else ""
    return Chart(title, form.format(values[-1] if values else 0), line, area, form.format(peak))
