"""The messages of the control door between a registry and a worker."""

import re
from typing import Annotated, Any, Literal, Self

from pydantic import FailFast, Field, model_validator

from servers.perturb.perturbation import PerturbLine
from servers.records import Clock, Moment, Name, Record
from servers.scenario.checkpoints.checkpoint import Role
from servers.scenario.checkpoints.kinds import Checkpoint
from servers.state.rows import Row, RowChange

INSTANCE_ID = re.compile(r"[a-z0-9]{8,40}")
MOST_COUNTED = 1_000_000_000
InstanceId = Annotated[str, Field(pattern=rf"^{INSTANCE_ID.pattern}$")]
OutcomeKind = Literal["ok", "refused", "invalid", "failed", "timeout", "died"]


class Launch(Record):
    """Instances to launch: environment and start."""

    environment: Name
    scenario: Name | None = None
    setup: str = ""
    clock: Clock | None = None
    seed: int = Field(default=0, ge=0, le=2**63 - 1)
    count: int = Field(default=1, ge=1, le=1000)
    tools: dict[str, int] | None = None
    """The tools of the scenario, by the turn from which the agent sees each."""
    perturb: PerturbLine = ""


class Ticket(Record):
    """A launched instance: the path of its agent's door on this worker, and its token."""

    instance: InstanceId
    path: str
    token: str = Field(pattern=r"^[A-Za-z0-9_-]{16,200}$")

    @model_validator(mode="after")
    def _is_its_own(self) -> Self:
        if self.path != f"/i/{self.instance}/mcp":
            raise ValueError("the path is not that of the instance")
        return self


class InstanceStatus(Record):
    """The state of an instance."""

    instance: InstanceId
    environment: Name
    scenario: str | None = Field(max_length=200)
    seed: int
    calls: int = Field(ge=0, le=MOST_COUNTED)
    now: Moment
    digest: str = Field(max_length=200)


class Page(Record):
    """A part of a long list."""

    offset: int = Field(default=0, ge=0)
    limit: int = Field(default=100, ge=1, le=1000)


class TableRows(Record):
    """Some rows of one table, by key."""

    name: str
    columns: Annotated[tuple[str, ...], FailFast()]
    rows: Annotated[tuple[Row, ...], FailFast()]
    total: int


class TableColumn(Record):
    """A column of a table. `references` names the column that a foreign key refers to: `members.id`."""

    name: str
    type: str
    key: bool
    needed: bool
    references: str | None = None


class StartTable(Record):
    """A table of an environment at its start, with some of its rows."""

    name: str
    columns: Annotated[tuple[TableColumn, ...], FailFast()]
    rows: Annotated[tuple[Row, ...], FailFast()]
    total: int


class CallAnswer(Record):
    """The answer to a call that a person makes: how it ended, and the text that an agent gets."""

    outcome: OutcomeKind
    text: str


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
    """The result of a query. `more` says that rows were left out."""

    columns: Annotated[tuple[str, ...], FailFast()]
    rows: Annotated[tuple[Row, ...], FailFast()]
    more: bool


class Verdict(Record):
    """The result of one checkpoint on a final state. `error` says why a broken one does not hold."""

    checkpoint: str
    role: Role
    question: str
    weight: float
    holds: bool
    seen: str = ""
    error: str | None = None


class Assessment(Record):
    """The verdicts over a final state, the reward in 0..1, and whether everything holds."""

    verdicts: Annotated[tuple[Verdict, ...], FailFast()]
    reward: float = Field(ge=0, le=1)
    success: bool


class Judge(Record):
    """A state to judge: the checkpoints, and the agent's last words."""

    checkpoints: tuple[Checkpoint, ...]
    answer: str = ""
