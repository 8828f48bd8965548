"""The messages between a registry and its clients: the records of the API under `/v1`.

Light to import, because clients import it too.
"""

from hashlib import blake2b
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import AwareDatetime, BeforeValidator, ConfigDict, Field

from servers.bundle.description import Provenance, Tool
from servers.errors import InfraError
from servers.joining.messages import WorkerName
from servers.messages import CallRecord, InstanceId, TableRows, Verdict
from servers.perturb.perturbation import PerturbLine
from servers.records import Clock, Name, Record
from servers.scenario.scenario import Scenario
from servers.state.rows import RowChange

KEEP_SECONDS = 3600
"""Seconds for which the state of an expired lease is kept: one hour, unless `farm up --keep` changes it."""

HEALTH = "/v1/health"
"""The one path that answers without the token, to HEAD as to GET."""

LARGEST_BODY = 4 * 1024 * 1024
"""Bytes of the body of a score request, which holds an answer."""
LARGEST_QUERY_BODY = 1024 * 1024
LARGEST_ORDER = 64 * 1024
"""Bytes of every other request body."""
LARGEST_BODIES = {"score": LARGEST_BODY, "query": LARGEST_QUERY_BODY}
"""Exceptions to `LARGEST_ORDER`, by the last part of the path."""
MOST_VALUES = 1000
"""The most values in one body: JSON is parsed on the event loop in one step."""
LARGEST_ANSWER = 1_000_000
LARGEST_QUERY = 100_000
LARGEST_NUMBER = 2**53 - 1
"""The largest integer in a request: every JSON reader represents it exactly."""


def _as_integer(value: Any) -> Any:
    """Accept 1.0 for an integer: JSON has one kind of number."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) <= LARGEST_NUMBER else value


AsInteger = BeforeValidator(_as_integer)
ItemT = TypeVar("ItemT")
LeaseStatus = Literal["live", "closed", "expired", "lost"]
ErrorKind = Literal[
    "invalid",
    "unauthorized",
    "misled",
    "not_found",
    "method_not_allowed",
    "conflict",
    "too_large",
    "bundle",
    "capacity",
    "infra",
]

EnvironmentId = Annotated[Name, Field(description="An environment's id.", examples=["library_loans"])]
ScenarioId = Annotated[Name, Field(description="A scenario's id.", examples=["renew_before_due"])]
Digest = Annotated[str, Field(description="SHA-256 of what it was made from.", examples=["9f2c…"])]
InstanceCount = Annotated[int, Field(ge=1, le=1000), AsInteger]
Ttl = Annotated[
    int, Field(ge=10, le=604_800, description="Seconds without a heartbeat until the lease ends."), AsInteger
]
LaunchKey = Annotated[str, Field(pattern=r"^[A-Za-z0-9._:-]{1,64}$")]
IdSeed = Annotated[int, Field(ge=0, description="What the ids that the tools make are drawn from.")]


class Problem(Record):
    """An error: a word for programs and a sentence for people."""

    kind: ErrorKind = Field(examples=["not_found"])
    message: str = Field(examples=["there is no instance 'a3f09c51e77b2d40'; it was never launched"])


class Error(Record):
    """The body of every error answer."""

    error: Problem


class Part(Record, Generic[ItemT]):
    """One page of a longer list."""

    items: tuple[ItemT, ...]
    total: int = Field(description="How many there are in all.", examples=[42])
    offset: int = Field(description="How many were left out before the first of these.", examples=[0])
    limit: int = Field(description="How many were asked for at most.", examples=[100])


class EnvironmentCard(Record):
    """An environment in a list."""

    id: EnvironmentId
    title: str = Field(examples=["City library"])
    description: str
    version: str = Field(examples=["1.0.0"])
    tools: int = Field(description="How many tools it has.", examples=[17])
    scenarios: int = Field(description="How many scenarios it has.", examples=[8])
    digest: Digest


class EnvironmentPart(Part[EnvironmentCard]):
    """Environments, and the bundles that cannot be read."""

    broken: dict[str, str] = Field(
        description="Bundles that cannot be served: their id, and the first thing that is wrong with them.",
        examples=[{"half_written": "half_written/policy.md: the file is missing"}],
    )


class EnvironmentDetail(Record):
    """An environment without its scenarios and its code."""

    id: EnvironmentId
    title: str
    description: str
    version: str
    clock: Clock
    digest: Digest
    policy: str = Field(description="The rules, as agents read them.")
    schema_sql: str = Field(description="The tables, for whoever writes queries.")
    tools: tuple[Tool, ...]
    scenarios: int = Field(description="How many scenarios it has.")
    provenance: Provenance


class ScenarioCard(Record):
    """A scenario in a list."""

    id: ScenarioId
    title: str = Field(examples=["Renew before the due day"])
    tags: tuple[str, ...] = Field(examples=[["easy"]])
    task: str = Field(description="What the agent is told to do.")
    checkpoints: int = Field(description="How many checkpoints judge it.", examples=[4])
    goals: int = Field(description="How many of them are goals.", examples=[3])
    guards: int = Field(description="How many of them are guards.", examples=[1])
    calls: int | None = Field(description="How many calls the reference solution makes, if there is one.", examples=[5])
    level: int | None = Field(default=None, description="How hard it is, from 1 to 5, if weak agents played it.")
    second: EnvironmentId | None = Field(
        default=None,
        exclude_if=lambda second: second is None,
        description="Its second environment, if it is over two.",
    )


class ScenarioPart(Part[ScenarioCard]):
    """Scenarios of one environment."""


class ScenarioDetail(Record):
    """A scenario with its checkpoints and solution. Never show it to an agent, apart from its `agent_task`."""

    environment: EnvironmentId
    digest: Digest
    scenario: Scenario
    agent_task: str = Field(
        default="", description="What the agent is told: the task, and behind it the form of the answer's last line."
    )

    @property
    def told(self) -> str:
        """What the agent is told. Records of earlier versions have the task alone."""
        return self.agent_task or self.scenario.task


class Order(Record):
    """A request body, read strictly: no type conversion, no unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class LaunchRequest(Order):
    """Instances to launch: environment, scenario, count, lifetime."""

    environment: EnvironmentId
    scenario: ScenarioId | None = Field(default=None, description="Without one, there is nothing to score by.")
    count: InstanceCount = Field(default=1, description="How many instances.")
    ttl_seconds: Ttl = 3600
    seed: Annotated[IdSeed, Field(le=LARGEST_NUMBER), AsInteger] = 0
    perturb: PerturbLine = Field(
        default="", description="How the tools differ from the environment's.", examples=["names,faults=0.1"]
    )
    pairs: bool = Field(
        default=False,
        exclude_if=lambda pairs: not pairs,
        description="Whether the caller takes a second instance, which a scenario over two environments needs.",
    )
    key: LaunchKey | None = Field(
        default=None,
        description="The caller's own name for this launch. The same key again answers with the same leases.",
        examples=["step-12-group-3"],
    )

    @property
    def digest(self) -> str:
        """The digest of what is ordered, without the key."""
        ordered = self.model_dump_json(exclude={"key"}).encode()
        return blake2b(ordered, digest_size=16).hexdigest()


def _address(instance: str, url: str | None, token: str | None) -> tuple[str, str]:
    if url is None or token is None:
        raise InfraError(f"the lease of instance {instance} has ended before it began")
    return url, token


class SecondInstance(Record):
    """The second instance of a lease over two environments. It begins, is scored and ends with the first."""

    instance: InstanceId = Field(examples=["b71d05ac29fe8831"])
    environment: EnvironmentId
    mcp_url: str | None = Field(description="Where an agent connects; null once the lease has ended.")
    token: str | None = Field(description="What the agent's door wants as a bearer token; null as for the first.")

    def address(self) -> tuple[str, str]:
        """The URL and the token of the instance for an agent. Raises InfraError if it has none."""
        return _address(self.instance, self.mcp_url, self.token)


class Lease(Record):
    """The right to an instance until a time. A scenario over two environments has a second instance."""

    instance: InstanceId = Field(examples=["a3f09c51e77b2d40"])
    environment: EnvironmentId
    scenario: ScenarioId | None
    seed: IdSeed
    worker: str = Field(description="The worker that has it.", examples=["local"])
    mcp_url: str | None = Field(
        description="Where an agent connects; null once the lease has ended.",
        examples=["http://127.0.0.1:8700/i/a3f09c51e77b2d40/mcp"],
    )
    token: str | None = Field(
        description="What the agent's door wants as a bearer token; null in lists, and once the lease has ended."
    )
    status: LeaseStatus
    ttl_seconds: Ttl
    created_at: AwareDatetime
    expires_at: AwareDatetime
    kept_until: AwareDatetime | None = Field(
        description="Of an expired lease whose state is kept: until when it can be read and scored, and a heartbeat"
        " revives it. Otherwise null."
    )
    second: SecondInstance | None = Field(
        default=None,
        exclude_if=lambda second: second is None,
        description="The second instance, if the scenario has two. Left out in lists.",
    )
    second_of: InstanceId | None = Field(
        default=None,
        exclude_if=lambda first: first is None,
        description="Of a second instance: the first one, whose lease it shares.",
    )

    def address(self) -> tuple[str, str]:
        """The URL and the token of the instance for an agent. Raises InfraError if the lease has none."""
        return _address(self.instance, self.mcp_url, self.token)


class Launched(Record):
    """New leases."""

    items: tuple[Lease, ...]


class LeasePart(Part[Lease]):
    """Leases, the newest first."""


class ForkRequest(Order):
    """New instances with the state of an existing one."""

    count: InstanceCount = Field(default=1, description="How many instances.")
    worker: WorkerName | None = Field(
        default=None,
        description="The worker that gets them. By default that of the instance, or another if that has no room.",
    )


class MoveRequest(Order):
    """The worker that an instance moves to."""

    worker: WorkerName | None = Field(default=None, description="By default the one with most room.")


class RewindRequest(Order):
    """The number of the call to return to. Every later one is undone."""

    call: Annotated[int, Field(ge=0, le=LARGEST_NUMBER, description="0 is the start.", examples=[3]), AsInteger]


class MarkedTurn(Record):
    """The number of the turn that begins, from 0."""

    turn: int = Field(examples=[0])


class QueryRequest(Order):
    """One SELECT over the state (`main`) and its start (`start`)."""

    sql: str = Field(min_length=1, max_length=LARGEST_QUERY, examples=["SELECT count(*) FROM main.loans"])
    limit: Annotated[int, Field(ge=1, le=1000, description="At most so many rows."), AsInteger] = 1000


class TableCard(Record):
    """A table of a state, without its rows."""

    name: str = Field(examples=["loans"])
    columns: tuple[str, ...] = Field(examples=[["id", "book_id", "due"]])
    total: int = Field(description="How many rows it has.", examples=[12])


class Tables(Record):
    """The tables of a state."""

    items: tuple[TableCard, ...]


class TablePart(TableRows):
    """Some rows of one table, by key."""

    offset: int
    limit: int


class Diff(Record):
    """The rows that differ from the start, by table and key."""

    items: tuple[RowChange, ...]


class HistoryPart(Part[CallRecord]):
    """Calls, oldest first, each with the rows that it changed."""


class ScoreRequest(Order):
    """The agent's last words, if the scenario judges an answer."""

    answer: str = Field(default="", max_length=LARGEST_ANSWER, examples=["The loan is due on 2026-03-30."])
    close: bool = Field(default=False, description="End the lease and its instance, if it could be judged.")


class Score(Record):
    """The verdicts of a scenario's checkpoints about an instance. `infra_error` has no reward, not 0."""

    instance: InstanceId
    scenario: ScenarioId
    at: AwareDatetime
    outcome: Literal["scored", "infra_error"]
    reward: float | None = Field(description="All guards hold ? weighted share of the goals that hold : 0.")
    success: bool | None = Field(description="Whether every checkpoint holds.")
    verdicts: tuple[Verdict, ...]
    probes: tuple[Verdict, ...] = Field(default=(), description="The answers of its probes, which earn nothing.")
    calls: int | None = Field(description="How many calls had been made.")
    environment_digest: Digest | None
    scenario_digest: Digest
    error: str | None = Field(default=None, description="Why it could not be judged.")


class WorkerCard(Record):
    """A worker that the registry knows."""

    name: str = Field(examples=["local"])
    url: str = Field(description="Where agents reach it.", examples=["http://127.0.0.1:8700"])
    instances: int = Field(description="How many leases it has.")
    answers: bool = Field(description="Whether it does: one that is silent gets no instances.")
    drains: bool = Field(description="Whether it gets no new instances, and ends when its last lease has ended.")
    capacity: int = Field(description="How many instances it takes at most.", examples=[4000])
    walls: tuple[str, ...] = Field(
        description="The walls that stand around its guests.",
        examples=[["uid", "privileges", "network", "files", "syscalls", "limits"]],
    )
    registered_at: AwareDatetime
    seen_at: AwareDatetime


class Workers(Record):
    """All workers."""

    items: tuple[WorkerCard, ...]


class DrainRequest(Order):
    """Whether a worker is to get no new instances."""

    drains: bool = True


class Health(Record):
    """The farm's health. Readable without a token."""

    status: Literal["ok", "degraded"]
    version: str = Field(examples=["0.1.0"])
    workers: int = Field(description="How many workers answer.")
    instances: int = Field(description="How many instances are leased.")
    orphans: int = Field(description="How many leases ended by their time alone since this registry started.")
