"""Counters for the path of every call: plain numbers of one thread, converted into metrics on request."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate

from prometheus_client.metrics_core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

MOST_LABELS = 10_000
OTHERS = "others"
"""The label of what is counted together."""


class CounterCollector(Collector):
    """A collector of counts."""

    def __init__(self, name: str, documentation: str, labels: Sequence[str]) -> None:
        self._name, self._documentation, self._labels = name, documentation, labels
        self.counts: dict[tuple[str, ...], int] = {}
        """Each combination of labels and its count. To count one more of those that are there, increment its value."""

    def add(self, *labels: str) -> None:
        """Count one more. Above `MOST_LABELS` combinations of labels, the rest is counted together."""
        if len(self.counts) >= MOST_LABELS and labels not in self.counts:
            labels = (OTHERS,) * len(self._labels)
        self.counts[labels] = self.counts.get(labels, 0) + 1

    def collect(self) -> Iterator[Metric]:
        family = CounterMetricFamily(self._name, self._documentation, labels=self._labels)
        for labels, count in self.counts.items():
            family.add_metric(labels, count)
        yield family


class Durations(Collector):
    """A histogram of durations in seconds."""

    def __init__(self, name: str, documentation: str, bounds: Sequence[float]) -> None:
        self._name, self._documentation = name, documentation
        self._bounds = tuple(bounds)
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def add(self, seconds: float) -> None:
        self._counts[bisect_left(self._bounds, seconds)] += 1
        self._sum += seconds

    def collect(self) -> Iterator[Metric]:
        names = [*(str(float(bound)) for bound in self._bounds), "+Inf"]
        buckets = list(zip(names, accumulate(self._counts), strict=True))
        yield HistogramMetricFamily(self._name, self._documentation, buckets=buckets, sum_value=self._sum)
