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
    """Histograms of durations in seconds, one for each value of a label. Without a label there is one."""

    def __init__(self, name: str, documentation: str, bounds: Sequence[float], *, label: str = "") -> None:
        self._name, self._documentation, self._label = name, documentation, label
        self._bounds = tuple(bounds)
        self._counts: dict[str, list[int]] = {} if label else {"": self._none()}
        self._sums: dict[str, float] = {} if label else {"": 0.0}

    def add(self, seconds: float, of: str = "") -> None:
        """Count a duration. Above `MOST_LABELS` values of the label, the rest is counted together."""
        if of not in self._counts:
            of = of if len(self._counts) < MOST_LABELS else OTHERS
            self._counts.setdefault(of, self._none())
            self._sums.setdefault(of, 0.0)
        self._counts[of][bisect_left(self._bounds, seconds)] += 1
        self._sums[of] += seconds

    def collect(self) -> Iterator[Metric]:
        names = [*(str(float(bound)) for bound in self._bounds), "+Inf"]
        family = HistogramMetricFamily(self._name, self._documentation, labels=[self._label] if self._label else [])
        for of, counts in self._counts.items():
            buckets = list(zip(names, accumulate(counts), strict=True))
            family.add_metric([of] if self._label else [], buckets, self._sums[of])
        yield family

    def _none(self) -> list[int]:
        return [0] * (len(self._bounds) + 1)
