"""The events of a registry. Each is counted for `/metrics` and logged, in one place."""

import logging

from prometheus_client import CollectorRegistry, Counter, Histogram

from registry.messages import Score
from servers.errors import FarmError

SCORE_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 5, 20)
log = logging.getLogger("farm.registry")


class RegistryEvents:
    """The counters of one registry. Their labels take few values, as a worker's do."""

    def __init__(self) -> None:
        self.counters = counters = CollectorRegistry()
        self._scores = Counter("farm_scores", "Scores given.", ["environment", "outcome"], registry=counters)
        self._score_seconds = Histogram(
            "farm_score_seconds", "How long a score took.", registry=counters, buckets=SCORE_SECONDS
        )
        self._expired = Counter("farm_leases_expired", "Orphans: leases that ended by their time.", registry=counters)
        self._lost = Counter("farm_leases_lost", "Leases that ended with their worker.", registry=counters)
        self._strangers = Counter("farm_strangers_closed", "Instances closed that had no lease.", registry=counters)
        self._dropped = Counter("farm_leases_dropped", "Leases closed that had no instance.", registry=counters)
        self._errors = Counter("farm_registry_errors", "Requests that the farm failed at.", ["kind"], registry=counters)
        self._refused = Counter(
            "farm_registry_refused_requests", "HTTP requests that were turned away.", ["status"], registry=counters
        )

    def scored(self, environment: str, score: Score, seconds: float) -> None:
        self._scores.labels(environment, score.outcome).inc()
        self._score_seconds.observe(seconds)
        fields = {
            "instance": score.instance,
            "environment": environment,
            "scenario": score.scenario,
            "outcome": score.outcome,
            "reward": score.reward,
            "success": score.success,
            "seconds": seconds,
            "error": score.error,
        }
        log.log(logging.ERROR if score.error is not None else logging.INFO, "scored", extra=fields)

    def expired(self, instances: list[str]) -> None:
        if instances:
            self._expired.inc(len(instances))
            log.info("leases expired", extra={"instances": instances})

    def forgotten(self, instances: list[str]) -> None:
        if instances:
            log.info("states deleted", extra={"instances": instances})

    def lost(self, worker: str, instances: list[str]) -> None:
        """A worker was given up on, with the leases that it had."""
        self._lost.inc(len(instances))
        log.error("worker is lost", extra={"worker": worker, "instances": instances})

    def came_back(self, worker: str, leases: int) -> None:
        if leases:
            log.info("lost leases live again", extra={"worker": worker, "leases": leases})

    def moved(self, instance: str, before: str, worker: str) -> None:
        log.info("moved", extra={"instance": instance, "from": before, "worker": worker})

    def reconciled(self, worker: str, *, closed: int, dropped: int) -> None:
        if closed or dropped:
            self._strangers.inc(closed)
            self._dropped.inc(dropped)
            log.warning("reconciled", extra={"worker": worker, "closed": closed, "dropped": dropped})

    def unreconciled(self, worker: str, error: FarmError) -> None:
        log.error("worker cannot be reconciled", extra={"worker": worker, "error": str(error)})

    def failed_at(self, path: str, error: FarmError) -> None:
        """A request failed because of the farm itself."""
        self._errors.labels(type(error).__name__).inc()
        log.error("request failed", extra={"path": path, "kind": type(error).__name__, "error": str(error)})

    def refused(self, status: int) -> None:
        self._refused.labels(str(status)).inc()
