"""How a worker is to run: what an owner may set, passed whole from a command line to the worker, also to a process.

A new option of workers is a field of `WorkerSettings` and an option of `farm up`.
"""

from pathlib import Path

from servers.limits.processor_budget import CALL_SECONDS
from servers.records import Record
from servers.telemetry.logs import Level
from servers.worker.instance_cache import MOST_HELD

IDLE_SECONDS = 30.0
IDLE_GUEST_SECONDS = 300.0


class WorkerSettings(Record):
    """What may be set of a worker, with what ordinary ones have."""

    calls_per_second: float | None = None
    """The most calls a second that one instance takes; None: no limit."""
    walls_required: bool | None = None
    """Whether a missing wall around guests stops the start. None: a farm decides by its address."""
    gated: bool | None = None
    """Whether tools that the gate refuses are not launched. None: a farm refuses them, a worker by itself does not."""
    call_seconds: float = CALL_SECONDS
    most_instances: int = 100_000
    most_held: int = MOST_HELD
    """State files that are open at once, when those that were closed keep coming back."""
    idle_seconds: float = IDLE_SECONDS
    """Time until the file of an idle instance is closed."""
    idle_guest_seconds: float = IDLE_GUEST_SECONDS
    covering: bool = False
    """Whether guests note the branches that tools take, for proofs."""


ORDINARY = WorkerSettings()


class WorkerOrder(Record):
    """What a worker in a process of its own is told on its input. Tokens and passwords stand on no command line."""

    state: Path
    library: tuple[Path, ...]
    parent: int
    """The process of `farm up`, with which this one ends."""
    token: str
    """Opens its control door."""
    loopback_only: bool
    log_level: Level
    otel: str | None
    settings: WorkerSettings
