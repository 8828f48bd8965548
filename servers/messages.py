"""What a registry asks of a worker, and what it is told: the records of the control door."""

from typing import Annotated, Any, Literal

from pydantic import Field

from servers.records import Clock, Moment, Name, Record
from servers.scenario.checkpoints.kinds import Checkpoint
from servers.state.rows import RowChange

InstanceId = Annotated[str, Field(pattern=r"^[a-z0-9]{8,40}$")]
OutcomeKind = Literal["ok", "refused", "invalid", "failed", "timeout", "died"]


class Launch(Record):
    """Instances to launch: of which environment, from which start."""

    environment: Name
    scenario: Name | None = None
    setup: str = ""
    clock: Clock | None = None
    seed: int = Field(default=0, ge=0, le=2**63 - 1)
    count: int = Field(default=1, ge=1, le=1000)


class Ticket(Record):
    """A launched instance: the path of its agent's door on this worker, and the token that opens it."""

    instance: InstanceId
    path: str
    token: str


class InstanceStatus(Record):
    """Where an instance stands."""

    instance: InstanceId
    environment: Name
    scenario: str | None
    seed: int
    calls: int
    now: Moment
    digest: str


class Page(Record):
    """Which part of a long list is wanted."""

    offset: int = Field(default=0, ge=0)
    limit: int = Field(default=100, ge=1, le=1000)


class TableRows(Record):
    """One table of a state: some of its rows, by key."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    total: int


class CallRecord(Record):
    """One call of an instance's history."""

    seq: int
    tool: str
    arguments: Any
    outcome: OutcomeKind
    text: str
    detail: str | None
    changes: tuple[RowChange, ...]
    micros: int
    at: float


class QueryRows(Record):
    """What a query gave. `more` says that rows were left out."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool


class Verdict(Record):
    """What one checkpoint says of a final state. `error` says why it could not hold, when it broke."""

    checkpoint: str
    role: Literal["goal", "guard"]
    question: str
    weight: float
    holds: bool
    seen: str = ""
    error: str | None = None


class Assessment(Record):
    """The verdicts over a final state, the reward in 0..1, and whether everything holds."""

    verdicts: tuple[Verdict, ...]
    reward: float
    success: bool


class Judge(Record):
    """A state to judge: by which checkpoints, after which last words of the agent."""

    checkpoints: tuple[Checkpoint, ...]
    answer: str = ""
