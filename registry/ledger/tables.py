"""The tables of the ledger: farm, workers, leases, scores. Their column types exist in SQLite and PostgreSQL."""

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    Index,
    Integer,
    MetaData,
    Named,
    String,
    Table,
    Text,
    TypedColumns,
    text,
)

REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008")
"""The revisions of the schema, oldest first, with one migration each. The last one is the schema below."""

metadata = MetaData()


class FarmColumns(TypedColumns):
    """The one farm that the ledger belongs to. `time` is the last reading of its lease clock."""

    row: Named[int] = Column(Integer, primary_key=True, autoincrement=False)
    id: Named[str] = Column(String(64))
    folder: Named[str] = Column(Text)
    host: Named[str] = Column(String(255))
    time: Named[float]


class WorkerColumns(TypedColumns):
    """A worker that has joined. Its control token is not stored: registries compute it from the session.

    `beat` is the number of the last heartbeat of its session. Only several registries of one farm store it.
    """

    name: Named[str] = Column(String(64), primary_key=True)
    url: Named[str] = Column(String(500))
    registered_at: Named[float]
    seen_at: Named[float]
    identity: Named[str] = Column(String(64))
    session: Named[str] = Column(String(200))
    reached_at: Named[str] = Column(String(500))
    capacity: Named[int]
    drains: Named[bool]
    beat: Named[int] = Column(BigInteger)


class LeaseColumns(TypedColumns):
    """The right to an instance. `expires_at` is a moment of the lease clock; the other times are seconds since 1970.

    `launch_key` is the client's name for its launch, `launch_number` counts the launch's instances from 0, and
    `launch_order` is the digest of what was ordered. `second` names the second instance of a scenario over two
    environments, and `second_of` in that one's row the first.

    `held_as` is the id that the instance has at its worker, if it is another than the lease's: it has moved. `moving`
    is the id of the copy that a move makes of it, and is there only during a move.
    """

    instance: Named[str] = Column(String(40), primary_key=True)
    worker: Named[str] = Column(String(64))
    path: Named[str] = Column(String(200))
    environment: Named[str] = Column(String(64))
    scenario: Named[str | None] = Column(String(64))
    seed: Named[int] = Column(BigInteger)
    ttl_seconds: Named[int]
    status: Named[str] = Column(String(16))
    created_at: Named[float]
    expires_at: Named[float]
    closed_at: Named[float | None]
    launch_key: Named[str | None] = Column(String(64))
    launch_number: Named[int | None]
    launch_order: Named[str | None] = Column(String(32))
    second: Named[str | None] = Column(String(40))
    second_of: Named[str | None] = Column(String(40))
    perturb: Named[str | None] = Column(Text)
    held_as: Named[str | None] = Column(String(40))
    moving: Named[str | None] = Column(String(40))
    moving_since: Named[float | None]


class ScoreColumns(TypedColumns):
    """A score, or the reason why there is none."""

    id: Named[int] = Column(Integer, primary_key=True, autoincrement=True)
    instance: Named[str] = Column(String(40))
    at: Named[float]
    scenario: Named[str] = Column(String(64))
    outcome: Named[str] = Column(String(16))
    reward: Named[float | None]
    success: Named[bool | None]
    verdicts: Named[Any] = Column(JSON)
    probes: Named[Any] = Column(JSON)
    calls: Named[int | None]
    environment_digest: Named[str | None] = Column(String(64))
    scenario_digest: Named[str] = Column(String(64))
    error: Named[str | None] = Column(Text)


class RevisionColumns(TypedColumns):
    """Alembic's own table: which revision the ledger is at."""

    version_num: Named[str] = Column(String(32), primary_key=True)


farm = Table("farm", metadata, FarmColumns)
workers = Table("workers", metadata, WorkerColumns)
MOVED, MOVES = text("held_as IS NOT NULL"), text("moving IS NOT NULL")  # so that a lease that never moves costs nothing
leases = Table(
    "leases",
    metadata,
    LeaseColumns,
    Index("leases_by_expiry", "status", "expires_at"),
    Index("leases_by_age", "created_at", "instance"),
    Index("leases_by_worker", "worker", "status"),
    Index("leases_by_launch", "launch_key", "launch_number", unique=True),
    Index("leases_by_copy", "held_as", sqlite_where=MOVED, postgresql_where=MOVED),
    Index("leases_by_move", "moving", sqlite_where=MOVES, postgresql_where=MOVES),
)
scores = Table("scores", metadata, ScoreColumns, Index("scores_by_instance", "instance"))
revision = Table("alembic_version", MetaData(), RevisionColumns)
