"""The settings of a worker, passed as one value from the command line to the worker, also to another process.

A new setting is a field of `WorkerSettings` and an option of `farm up`.
"""

from pathlib import Path

from servers.limits.processor_budget import CALL_SECONDS
from servers.records import Record
from servers.telemetry.logs import Level
from servers.worker.instance_cache import MOST_HELD

IDLE_SECONDS = 30.0
IDLE_GUEST_SECONDS = 300.0


class WorkerSettings(Record):
    """The settings of a worker, with defaults."""

    calls_per_second: float | None = None
    """The most calls a second of one instance. None means no limit."""
    walls_required: bool | None = None
    """Whether a missing wall around guests stops the start. None lets a farm decide by its address."""
    gated: bool | None = None
    """Whether tools that the gate refuses are not launched. None: a farm refuses them, a worker by itself does not."""
    call_seconds: float = CALL_SECONDS
    most_instances: int = 100_000
    most_held: int = MOST_HELD
    """State files that are open at once, when those that were closed keep coming back."""
    idle_seconds: float = IDLE_SECONDS
    """Seconds until the file of an idle instance is closed."""
    idle_guest_seconds: float = IDLE_GUEST_SECONDS
    covering: bool = False
    """Whether guests record branch coverage, for proofs."""


ORDINARY = WorkerSettings()


class WorkerOrder(Record):
    """The start message of a worker process, on its standard input. The command line has no tokens and passwords."""

    state: Path
    library: tuple[Path, ...]
    parent: int
    """The process id of `farm up`. The worker ends with it."""
    token: str
    """The token of its control door."""
    loopback_only: bool
    log_level: Level
    otel: str | None
    settings: WorkerSettings
