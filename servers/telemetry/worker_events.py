"""The events of a worker. Each is counted for `/metrics` and logged, in one place."""

import logging

from prometheus_client import CollectorRegistry, Counter, Histogram

from servers.errors import FarmError
from servers.messages import OutcomeKind
from servers.telemetry.counters import CounterCollector, Durations

FAULTS: frozenset[OutcomeKind] = frozenset({"failed", "timeout", "died"})
"""Outcomes that are no agent's fault."""
INSTANCES_A_LINE = 100
CALL_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
GUEST_SECONDS = (0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.2, 1, 5)
LAUNCH_SECONDS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 20)

log = logging.getLogger("farm.worker")


class WorkerEvents:
    """The counters of one worker, in a registry of their own, so that two workers' counts never mix.

    Labels take few values: environments of the library, outcomes, HTTP statuses, names of errors.
    """

    def __init__(self) -> None:
        self.counters = counters = CollectorRegistry()
        self._launches = Counter("farm_launches", "Instances launched.", ["environment"], registry=counters)
        self._launch_seconds = Histogram(
            "farm_launch_seconds",
            "How long a launch took, of all its instances.",
            registry=counters,
            buckets=LAUNCH_SECONDS,
        )
        self._forks = Counter("farm_forks", "Instances made by forking another.", registry=counters)
        self._resets = Counter("farm_resets", "Instances put back to their start.", registry=counters)
        self._rewinds = Counter("farm_rewinds", "Instances taken back to a call.", registry=counters)
        self._closes = Counter("farm_closes", "Instances ended.", registry=counters)
        self._calls = CounterCollector("farm_calls", "Tool calls answered.", ["environment", "outcome"])
        self._call_seconds = Durations(
            "farm_call_seconds", "How long a tool call took, waiting included.", CALL_SECONDS, label="environment"
        )
        self._guest_seconds = Durations("farm_call_guest_seconds", "How long the tool itself ran.", GUEST_SECONDS)
        for one in (self._calls, self._call_seconds, self._guest_seconds):
            counters.register(one)
        self._errors = Counter("farm_infra_errors", "What the farm could not do.", ["kind"], registry=counters)
        self._refused = Counter(
            "farm_refused_requests", "HTTP requests that were turned away.", ["door", "status"], registry=counters
        )

    def launched(self, environment: str, scenario: str | None, instances: list[str], seconds: float) -> None:
        self._launches.labels(environment).inc(len(instances))
        self._launch_seconds.observe(seconds)
        for some in _parts(instances):
            fields = {"environment": environment, "scenario": scenario, "instances": some, "seconds": seconds}
            log.info("launched", extra=fields)

    def forked(self, instance: str, instances: list[str], seconds: float) -> None:
        self._forks.inc(len(instances))
        for some in _parts(instances):
            log.info("forked", extra={"instance": instance, "instances": some, "seconds": seconds})

    def arrived(self, source: str, instances: list[str], calls: int, seconds: float) -> None:
        for some in _parts(instances):
            log.info("arrived", extra={"instance": source, "instances": some, "calls": calls, "seconds": seconds})

    def stayed(self, instance: str) -> None:
        log.info("stays", extra={"instance": instance})

    def reset(self, instance: str) -> None:
        self._resets.inc()
        log.info("reset", extra={"instance": instance})

    def rewound(self, instance: str, seq: int) -> None:
        self._rewinds.inc()
        log.info("rewound", extra={"instance": instance, "to": call_id(instance, seq)})

    def closed(self, instance: str) -> None:
        self._closes.inc()
        log.info("closed", extra={"instance": instance})

    def called(
        self,
        environment: str,
        tool: str,
        outcome: OutcomeKind,
        *,
        instance: str,
        seq: int,
        seconds: float,
        micros: int,
        guest: int | None = None,
        detail: str | None = None,
    ) -> None:
        """A call was answered. This is on the path of every call, and takes a microsecond or two."""
        try:
            self._calls.counts[environment, outcome] += 1  # no function is entered for it
        except KeyError:
            self._calls.add(environment, outcome)
        self._call_seconds.add(seconds, environment)
        if micros:
            self._guest_seconds.add(micros / 1e6)
        level = logging.WARNING if outcome in FAULTS else logging.DEBUG
        if log.isEnabledFor(level):
            fields = {
                "call": call_id(instance, seq),
                "environment": environment,
                "tool": tool,
                "outcome": outcome,
                "seconds": seconds,
                "guest_seconds": micros / 1e6,
                "guest": guest,
                "detail": detail,
            }
            log.log(level, "called", extra=fields)

    def could_not(self, what: str, error: FarmError, *, instance: str, seq: int | None = None) -> None:
        """The farm itself failed at something."""
        kind = type(error).__name__
        self._errors.labels(kind).inc()
        call = None if seq is None else call_id(instance, seq)
        log.error("could not %s", what, extra={"instance": instance, "call": call, "kind": kind, "error": str(error)})

    def refused(self, door: str, status: int) -> None:
        self._refused.labels(door, status).inc()


def call_id(instance: str, seq: int) -> str:
    """The name of a call: its instance, and its number in the history."""
    return f"{instance}/{seq}"


def _parts(instances: list[str]) -> list[list[str]]:
    """Batches that keep a log line short."""
    return [instances[at : at + INSTANCES_A_LINE] for at in range(0, len(instances), INSTANCES_A_LINE)]
