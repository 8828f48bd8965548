"""The settings of a worker, passed as one value from the command line to the worker, also to another process.

A new setting is a field of `WorkerSettings` and an option of `farm up`.
"""

from pathlib import Path

from servers.limits.processor_budget import CALL_SECONDS
from servers.records import Record
from servers.telemetry.logs import Level

MOST_INSTANCES = 100_000
MOST_HELD = 4608
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
    most_instances: int = MOST_INSTANCES
    most_held: int = MOST_HELD
    """State files that are open at once, when those that were closed keep coming back."""
    idle_seconds: float = IDLE_SECONDS
    """Seconds until the file of an idle instance is closed."""
    idle_guest_seconds: float = IDLE_GUEST_SECONDS
    covering: bool = False
    """Whether guests record branch coverage, for proofs."""


ORDINARY = WorkerSettings()


class JoinSettings(Record):
    """Where a worker joins, and as what."""

    registries: tuple[str, ...]
    """The URLs of the registry, or of several of one farm: where one does not answer, the next is asked."""
    token: str
    """The join token, which the registry has too."""
    name: str
    advertise: str
    """The URL under which agents reach the worker."""
    reached_at: str = ""
    """The URL under which the registry reaches it, if it is another."""
    authority: Path | None = None
    """A file with the certificates that the registry's must be signed by. None: those that the system trusts."""


class WorkerOrder(Record):
    """How a worker process is to run. `farm up` sends it to its children's standard input, as it holds a token."""

    state: Path
    library: tuple[Path, ...]
    join: JoinSettings
    loopback_only: bool
    log_level: Level
    otel: str | None
    settings: WorkerSettings
    parent: int | None = None
    """The process id of `farm up`, with which its children end."""
