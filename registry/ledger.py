"""What a registry must remember: who has which instance until when, which workers there are, what was scored.

Plain functions that wait for a database; whoever is in an event loop calls them in a thread.
"""

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Literal, NamedTuple, get_args

from sqlalchemy import ColumnElement, Connection, Engine, func, insert, select, update

from registry.database import named, opened
from registry.tables import leases, scores, workers
from registry.wire import Score

Status = Literal["live", "closed", "expired"]


class KeptLease(NamedTuple):
    """A lease as the ledger keeps it: times in seconds since 1970."""

    instance: str
    worker: str
    path: str
    environment: str
    scenario: str | None
    seed: int
    ttl_seconds: int
    status: Status
    created_at: float
    expires_at: float
    closed_at: float | None = None

    def standing(self, now: float) -> Status:
        """Its status now. A lease ends at its time, not when the reaper comes by."""
        return "expired" if self.status == "live" and self.expires_at <= now else self.status


class KeptWorker(NamedTuple):
    """A worker that has joined."""

    name: str
    url: str
    token: str | None
    registered_at: float
    seen_at: float


class Ledger:
    """An open ledger. Close it when done; safe to use from several threads."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @classmethod
    def open(cls, url: str) -> "Ledger":
        """Open a ledger by its SQLAlchemy URL, made if it is new and brought up to date if it is old.

        Raises:
            LedgerError: it cannot be reached or written, or it is newer than this program.
        """
        return cls(opened(url))

    def close(self) -> None:
        self._engine.dispose()

    def add(self, kept: Sequence[KeptLease]) -> None:
        """Write new leases, all or none."""
        with self._writing() as connection:
            connection.execute(insert(leases), [lease._asdict() for lease in kept])

    def find(self, instance: str) -> KeptLease | None:
        with self._reading() as connection:
            row = connection.execute(select(leases).where(leases.c.instance == instance)).first()
        return None if row is None else KeptLease(*row)

    def page(
        self, *, now: float, status: Status | None, environment: str | None, offset: int, limit: int
    ) -> tuple[list[KeptLease], int]:
        """Some leases, the newest first, and how many there are."""
        wanted = [] if status is None else [_is(status, now)]
        if environment is not None:
            wanted.append(leases.c.environment == environment)
        newest = select(leases).where(*wanted).order_by(leases.c.created_at.desc(), leases.c.instance)
        with self._reading() as connection:
            total = connection.execute(select(func.count()).select_from(leases).where(*wanted)).scalar_one()
            rows = connection.execute(newest.offset(offset).limit(limit)).all()
        return [KeptLease(*row) for row in rows], total

    def prolong(self, instance: str, *, until: float, now: float) -> bool:
        """Let a live lease end later; whether it was live."""
        live = update(leases).where(leases.c.instance == instance, _is("live", now))
        with self._writing() as connection:
            return connection.execute(live.values(expires_at=until)).rowcount == 1

    def close_leases(self, instances: Iterable[str], *, at: float) -> int:
        """Mark live leases as closed; how many were live."""
        with self._writing() as connection:
            return sum(_end(connection, instance, "closed", at, _is("live", at)) for instance in instances)

    def expire(self, *, now: float, limit: int) -> list[KeptLease]:
        """Mark leases whose time is over as expired, and say which they were."""
        due = select(leases).where(leases.c.status == "live", leases.c.expires_at <= now)
        with self._reading() as connection:
            found = [KeptLease(*row) for row in connection.execute(due.order_by(leases.c.expires_at).limit(limit))]
        if not found:
            return []
        late = leases.c.expires_at <= now
        with self._writing() as connection:
            return [kept for kept in found if _end(connection, kept.instance, "expired", now, late)]

    def instances_on(self, worker: str) -> set[str]:
        """The instances of a worker whose lease has not been ended, late ones among them."""
        mine = select(leases.c.instance).where(leases.c.worker == worker, leases.c.status == "live")
        with self._reading() as connection:
            return set(connection.execute(mine).scalars())

    def loads(self) -> dict[str, int]:
        """How many leases each worker has that were not ended."""
        counts = select(leases.c.worker, func.count()).where(leases.c.status == "live").group_by(leases.c.worker)
        with self._reading() as connection:
            return dict(connection.execute(counts).all())

    def standings(self, *, now: float) -> dict[Status, int]:
        """How many leases have each status."""
        with self._reading() as connection:
            return {
                status: connection.execute(
                    select(func.count()).select_from(leases).where(_is(status, now))
                ).scalar_one()
                for status in get_args(Status)
            }

    def orphans(self) -> int:
        """How many leases ended by their time alone: nobody closed them."""
        with self._reading() as connection:
            return connection.execute(
                select(func.count()).select_from(leases).where(leases.c.status == "expired")
            ).scalar_one()

    def add_score(self, score: Score, *, close_at: float | None = None) -> bool:
        """Keep a score, and mark the lease as closed if there is a time for that; whether it was live until then."""
        values = {**score.model_dump(mode="json"), "at": score.at.timestamp()}
        with self._writing() as connection:
            connection.execute(insert(scores), values)
            if close_at is None:
                return False
            return _end(connection, score.instance, "closed", close_at, _is("live", close_at))

    def scores(self, instance: str) -> list[Score]:
        """What was scored of an instance, oldest first."""
        with self._reading() as connection:
            rows = connection.execute(select(scores).where(scores.c.instance == instance).order_by(scores.c.id))
            return [Score.model_validate({name: row[name] for name in Score.model_fields}) for row in rows.mappings()]

    def enrol(self, worker: KeptWorker) -> None:
        """Remember a worker; one of that name that was known keeps the time at which it first came."""
        changed = {"url": worker.url, "token": worker.token, "seen_at": worker.seen_at}
        with self._writing() as connection:
            known = connection.execute(update(workers).where(workers.c.name == worker.name).values(changed))
            if known.rowcount == 0:
                connection.execute(insert(workers), worker._asdict())

    def saw(self, name: str, *, at: float) -> None:
        """Note that a worker has answered."""
        with self._writing() as connection:
            connection.execute(update(workers).where(workers.c.name == name).values(seen_at=at))

    def workers(self) -> list[KeptWorker]:
        with self._reading() as connection:
            return [KeptWorker(*row) for row in connection.execute(select(workers).order_by(workers.c.name))]

    @contextmanager
    def _reading(self) -> Generator[Connection]:
        with named(self._engine), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Generator[Connection]:
        """One transaction. It begins with a write, so SQLite's wait for another writer works."""
        with named(self._engine), self._engine.begin() as connection:
            yield connection


def _is(status: Status, now: float) -> ColumnElement[bool]:
    """What `KeptLease.standing` says, as SQL."""
    if status == "live":
        return (leases.c.status == "live") & (leases.c.expires_at > now)
    if status == "expired":
        return (leases.c.status == "expired") | ((leases.c.status == "live") & (leases.c.expires_at <= now))
    return leases.c.status == status


def _end(connection: Connection, instance: str, status: Status, at: float, condition: ColumnElement[bool]) -> bool:
    ended = update(leases).where(leases.c.instance == instance, leases.c.status == "live", condition)
    return connection.execute(ended.values(status=status, closed_at=at)).rowcount == 1
