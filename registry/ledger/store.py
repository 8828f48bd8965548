"""The store of a ledger: leases, workers and scores.

Its functions block on the database. Call them in a thread from an event loop.
"""

import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from functools import cache
from typing import Any, Literal, NamedTuple, cast, get_args

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Update,
    bindparam,
    case,
    delete,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from registry.ledger.database import LedgerError, bring_up_to_date, engine_of, named, see_to_revision
from registry.ledger.lock import LedgerLock, lock_of
from registry.ledger.tables import farm, leases, scores, workers
from registry.messages import Score
from servers.errors import InfraError, RequestError
from servers.worker.settings import MOST_INSTANCES

Status = Literal["live", "closed", "expired", "lost"]
KeptStatus = Literal["live", "closed", "expired", "gone", "lost"]
"""`gone`: expired, and its state was deleted. `lost`: its worker has stopped answering."""
HELD: tuple[KeptStatus, ...] = ("live", "expired")
"""Statuses whose instance exists."""
OPEN: tuple[KeptStatus, ...] = (*HELD, "lost")
"""Statuses that can still change: the instance of a lost lease may come back with its worker."""
AT_ONCE = 500
"""The most instances in one statement."""
COPY: ColumnElement[str] = case((leases.c.held_as.is_(None), leases.c.instance), else_=leases.c.held_as)
"""`KeptLease.copy` in SQL."""
NEW, NEW_SCORE = insert(leases), insert(scores)
FOUND = select(leases).where(leases.c.instance == bindparam("of"))
REVIVED = (
    update(leases)
    .where(
        leases.c.instance == bindparam("of"), leases.c.status.in_(HELD), leases.c.expires_at > bindparam("over_since")
    )
    .values(expires_at=bindparam("until"), status="live", closed_at=None)
)
"""What each lease needs is made once: SQLAlchemy takes longer to make a statement than SQLite to execute it."""


class TakenInstance(InfraError):
    """A new lease would be over an instance that has one already."""


class KeptLease(NamedTuple):
    """A lease as stored. `expires_at` is a moment of the lease clock, other times are seconds since 1970."""

    instance: str
    worker: str
    path: str
    environment: str
    scenario: str | None
    seed: int
    ttl_seconds: int
    status: KeptStatus
    created_at: float
    expires_at: float
    closed_at: float | None = None
    launch_key: str | None = None
    launch_number: int | None = None
    launch_order: str | None = None
    second: str | None = None
    second_of: str | None = None
    perturb: str | None = None
    held_as: str | None = None
    moving: str | None = None
    moving_since: float | None = None

    @property
    def copy(self) -> str:
        """The id that its instance has at its worker."""
        return self.held_as or self.instance

    def forked_as(self, instance: str) -> "KeptLease":
        """The lease of another instance with the same state, which was never launched by a client's key."""
        none = dict.fromkeys(("launch_key", "launch_number", "launch_order", "held_as", "moving", "moving_since"))
        return self._replace(instance=instance, **none)

    @property
    def instances(self) -> tuple[str, ...]:
        """Its instance, and the second one if there is one."""
        return (self.instance,) if self.second is None else (self.instance, self.second)

    def standing(self, now: float) -> Status:
        """Its status now. A lease ends at its time, even if the reaper has not come by yet."""
        if self.status in ("closed", "lost"):
            return self.status
        return "live" if self.status == "live" and self.expires_at > now else "expired"


class KeptWorker(NamedTuple):
    """A worker that has joined."""

    name: str
    url: str
    registered_at: float
    seen_at: float
    identity: str = ""
    session: str = ""
    reached_at: str = ""
    capacity: int = MOST_INSTANCES
    drains: bool = False
    beat: int = 0


class KeptFarm(NamedTuple):
    """The farm that a ledger belongs to, its last place, and the last reading of its lease clock."""

    id: str
    folder: str
    host: str
    time: float


class Ledger:
    """An open, locked ledger. Close it when done. It is thread-safe."""

    def __init__(self, engine: Engine, lock: LedgerLock) -> None:
        self._engine = engine
        self._lock = lock
        self._farm = ""
        # Writers of one process wait for each other here: SQLite would have each look again and again, and might let
        # one wait for ever. PostgreSQL has a better order of its own.
        self._turn = threading.Lock() if engine.dialect.name == "sqlite" else nullcontext()

    @classmethod
    def open(cls, url: str, *, shared: bool = False) -> "Ledger":
        """Open a ledger by its SQLAlchemy URL. A new one is created, an old one is migrated.

        It is locked first, so that two farms that open a new one at the same time do not collide. With `shared`,
        other registries of the same farm may open it too.

        Raises:
            RequestError: another farm uses it.
            LedgerError: it cannot be reached or written, or it is newer than this program.
        """
        engine = engine_of(url)
        with ExitStack() as undo:
            undo.callback(engine.dispose)
            lock = lock_of(engine, shared=shared)
            undo.callback(lock.release)
            if lock.alone:
                bring_up_to_date(engine)
            else:
                see_to_revision(engine)
            lock.share()
            undo.pop_all()
        return cls(engine, lock)

    def close(self) -> None:
        self._lock.release()
        self._engine.dispose()

    def claim(self, claimant: KeptFarm) -> KeptFarm:
        """Bind the ledger to one farm until it is closed. Returns what was stored of that farm, with its lease clock.

        Raises:
            RequestError: it belongs to another farm.
        """
        self._farm = claimant.id
        with self._writing() as connection:
            owner = connection.execute(select(farm.c.id, farm.c.folder, farm.c.host, farm.c.time)).first()
            if owner is None:
                connection.execute(insert(farm).values(row=1, **claimant._asdict()))
                return claimant
            kept = KeptFarm(*owner)
            if kept.id != claimant.id:
                raise RequestError(
                    f"the ledger belongs to another farm, that of the state folder {kept.folder} on {kept.host};"
                    " give this one another --ledger"
                )
            connection.execute(update(farm).values(folder=claimant.folder, host=claimant.host))
            return claimant._replace(time=kept.time)

    def leads(self) -> bool:
        """True if this registry is the one that looks after the leases. Raises LedgerError."""
        with named(self._engine):
            return self._lock.leads()

    def tick(self, time: float) -> float:
        """Store a reading of the lease clock, unless a later one is stored. Returns the latest.

        Raises:
            LedgerError: another farm has taken the ledger, so nothing in it is reliable.
        """
        with named(self._engine):
            self._lock.confirm()
        with self._writing() as connection:
            latest = case((farm.c.time < time, time), else_=farm.c.time)
            mine = update(farm).where(farm.c.id == self._farm).values(time=latest).returning(farm.c.time)
            found = connection.execute(mine).scalar()
            if found is None:
                raise LedgerError("the ledger does not know this farm any more: it was emptied, or another's put there")
            return found

    def belongs_to(self) -> str | None:
        """The id of the farm that has claimed the ledger."""
        with self._reading() as connection:
            return connection.execute(select(farm.c.id)).scalar()

    def add(self, kept: Sequence[KeptLease]) -> bool:
        """Insert new leases, all or none. False if another launch has their key.

        Raises:
            TakenInstance: there is a lease of one of these instances.
        """
        key = kept[0].launch_key
        with named(self._engine):
            try:
                with self._turn, self._engine.begin() as connection:
                    rows = [lease._asdict() for lease in kept]
                    if key is None:
                        connection.execute(NEW, rows)
                    else:  # in one statement, of which a conflict leaves nothing to be told in PostgreSQL's driver
                        connection.execute(insert(leases).values(rows))
            except IntegrityError:
                if key is not None and self.launched(key):
                    return False
                raise TakenInstance("an instance is leased already") from None
        return True

    def launched(self, key: str) -> list[KeptLease]:
        """The leases of a launch, in its order."""
        mine = select(leases).where(leases.c.launch_key == key).order_by(leases.c.launch_number)
        with self._reading() as connection:
            return [KeptLease(*row) for row in connection.execute(mine)]

    def find(self, instance: str) -> KeptLease | None:
        with self._reading() as connection:
            row = connection.execute(FOUND, {"of": instance}).first()
        return None if row is None else KeptLease(*row)

    def page(
        self, *, now: float, status: Status | None, environment: str | None, offset: int, limit: int
    ) -> tuple[list[KeptLease], int]:
        """One page of leases, newest first, and the number of all."""
        wanted = [] if status is None else [_is(status, now)]
        if environment is not None:
            wanted.append(leases.c.environment == environment)
        newest = select(leases).where(*wanted).order_by(leases.c.created_at.desc(), leases.c.instance)
        with self._reading() as connection:
            total = connection.execute(select(func.count()).select_from(leases).where(*wanted)).scalar_one()
            rows = connection.execute(newest.offset(offset).limit(limit)).all()
        return [KeptLease(*row) for row in rows], total

    def prolong(self, instance: str, *, until: float, over_since: float) -> bool:
        """Extend a lease that is live, or expired after `over_since` and kept. Returns whether it was."""
        with self._writing() as connection:
            revived = connection.execute(REVIVED, {"of": instance, "over_since": over_since, "until": until})
            return revived.rowcount == 1

    def close_leases(self, instances: Iterable[str], *, at: float) -> int:
        """Mark existing instances' leases as closed. Returns how many there were."""
        with self._writing() as connection:
            return sum(_end(connection, instance, "closed", at, OPEN) for instance in instances)

    def begin_move(self, kept: KeptLease, *, moving: str, at: float) -> bool:
        """Let a move of an instance begin, to the copy `moving`. False if another goes on, or the lease has changed."""
        where = (_unchanged(kept), leases.c.status == "live", leases.c.moving.is_(None))
        with self._writing() as connection:
            begun = update(leases).where(*where).values(moving=moving, moving_since=at)
            return connection.execute(begun).rowcount == 1

    def settle_move(self, kept: KeptLease, *, moving: str, worker: str, path: str) -> bool:
        """Make the copy of a move the instance. This is the moment at which it moves. False if the move is over."""
        where = (_unchanged(kept), leases.c.status == "live", leases.c.moving == moving)
        there = {"worker": worker, "path": path, "held_as": moving, "moving": None, "moving_since": None}
        with self._writing() as connection:
            return connection.execute(update(leases).where(*where).values(there)).rowcount == 1

    def end_move(self, moving: str) -> None:
        """Give up a move, unless it is over. Its copy will never be the instance."""
        with self._writing() as connection:
            ended = update(leases).where(leases.c.moving == moving)
            connection.execute(ended.values(moving=None, moving_since=None))

    def end_moves(self, *, begun_before: float) -> int:
        """Give up moves that began before a moment: their registries are gone. Returns how many there were."""
        old = update(leases).where(leases.c.moving.is_not(None), leases.c.moving_since <= begun_before)
        with self._writing() as connection:
            return connection.execute(old.values(moving=None, moving_since=None)).rowcount

    def held(self, copies: Sequence[str]) -> dict[str, KeptLease]:
        """The leases of the instances that have these ids at their workers, unless they have ended for good."""
        found: dict[str, KeptLease] = {}
        with self._reading() as connection:
            for some in _parts(copies):
                mine = leases.c.held_as.in_(some) | (leases.c.held_as.is_(None) & leases.c.instance.in_(some))
                rows = connection.execute(select(leases).where(mine, leases.c.status.in_(OPEN)))
                found.update({kept.copy: kept for kept in (KeptLease(*row) for row in rows)})
        return found

    def arriving(self, copies: Sequence[str]) -> set[str]:
        """The subset of the copies that moves are making now."""
        return self._subset(leases.c.moving, copies)

    def drop(self, worker: str, copies: Sequence[str], *, at: float) -> int:
        """Close the leases of instances that a worker no longer has, unless they are elsewhere. Returns how many."""
        mine = (leases.c.worker == worker, leases.c.status.in_(OPEN))
        gone = update(leases).where(*mine).values(status="closed", closed_at=at)
        with self._writing() as connection:
            return sum(connection.execute(gone.where(COPY.in_(some))).rowcount for some in _parts(copies))

    def lose(self, worker: str, *, at: float) -> list[str]:
        """End the live leases of a worker as lost. Returns their instances."""
        mine = (leases.c.worker == worker, leases.c.status == "live")
        with self._writing() as connection:
            ended = update(leases).where(*mine).values(status="lost", closed_at=at).returning(leases.c.instance)
            return list(connection.execute(ended).scalars())

    def revive(self, worker: str, present: Sequence[str]) -> int:
        """Make lost leases live again whose instances came back with their worker. Returns how many there were."""
        lost = (leases.c.worker == worker, leases.c.status == "lost")
        with self._reading() as connection:
            missed = set(connection.execute(select(COPY).where(*lost)).scalars())
        found = [instance for instance in present if instance in missed]
        if not found:
            return 0
        back = update(leases).where(*lost).values(status="live", closed_at=None)
        with self._writing() as connection:
            return sum(connection.execute(back.where(COPY.in_(some))).rowcount for some in _parts(found))

    def expire(self, *, now: float, at: float, limit: int) -> list[KeptLease]:
        """Mark overdue leases as expired, at most `limit`, and return them."""
        return self._end_due("live", "expired", now=now, at=at, limit=limit)

    def forget(self, *, over_since: float, at: float, limit: int) -> list[KeptLease]:
        """Mark leases that expired before a moment as gone, and return them: their states are to be deleted."""
        return self._end_due("expired", "gone", now=over_since, at=at, limit=limit)

    def _end_due(self, before: KeptStatus, after: KeptStatus, *, now: float, at: float, limit: int) -> list[KeptLease]:
        late = leases.c.expires_at <= now
        due = select(leases).where(leases.c.status == before, late).order_by(leases.c.expires_at).limit(limit)
        with self._reading() as connection:
            found = [KeptLease(*row) for row in connection.execute(due)]
        if not found:
            return []
        with self._writing() as connection:
            return [kept for kept in found if _end(connection, kept.instance, after, at, (before,), late)]

    def instances_on(self, worker: str) -> dict[str, KeptStatus]:
        """The instances of a worker by the ledger: of live leases, overdue ones included, of kept and of lost ones.

        They have the ids by which their worker knows them.
        """
        mine = select(COPY, leases.c.status).where(leases.c.worker == worker, leases.c.status.in_(OPEN))
        with self._reading() as connection:
            return {instance: cast("KeptStatus", status) for instance, status in connection.execute(mine).all()}

    def known(self, instances: Sequence[str]) -> set[str]:
        """The subset of the instances that were ever leased, or moved to where they are."""
        return self._subset(leases.c.instance, instances) | self._subset(leases.c.held_as, instances)

    def _subset(self, column: ColumnElement[Any], values: Sequence[str]) -> set[str]:
        """The subset of some values that a column has."""
        found: set[str] = set()
        with self._reading() as connection:
            for some in _parts(values):
                found.update(connection.execute(select(column).where(column.in_(some))).scalars())
        return found

    def loads(self) -> dict[str, int]:
        """The number of active leases of each worker."""
        counts = select(leases.c.worker, func.count()).where(leases.c.status == "live").group_by(leases.c.worker)
        with self._reading() as connection:
            return dict(connection.execute(counts).all())

    def standings(self, *, now: float) -> dict[Status, int]:
        """The number of leases of each status."""
        with self._reading() as connection:
            return {
                status: connection.execute(
                    select(func.count()).select_from(leases).where(_is(status, now))
                ).scalar_one()
                for status in get_args(Status)
            }

    def live_by_environment(self, *, now: float) -> dict[str, int]:
        """The number of live leases of each environment that has some."""
        asked = select(leases.c.environment, func.count()).where(_is("live", now)).group_by(leases.c.environment)
        with self._reading() as connection:
            return {str(row[0]): int(row[1]) for row in connection.execute(asked)}

    def orphans(self) -> int:
        """The number of leases that expired without being closed."""
        ended = select(func.count()).select_from(leases).where(leases.c.status.in_(("expired", "gone")))
        with self._reading() as connection:
            return connection.execute(ended).scalar_one()

    def add_score(self, score: Score, *, close_at: float | None = None) -> bool:
        """Store a score. With a closing time, also close the lease. Returns whether its instance existed."""
        values = {**score.model_dump(mode="json"), "at": score.at.timestamp()}
        with self._writing() as connection:
            connection.execute(NEW_SCORE, values)
            if close_at is None:
                return False
            return _end(connection, score.instance, "closed", close_at, OPEN)

    def scores(self, instance: str) -> list[Score]:
        """The scores of an instance, oldest first."""
        with self._reading() as connection:
            rows = connection.execute(select(scores).where(scores.c.instance == instance).order_by(scores.c.id))
            return [Score.model_validate({name: row[name] for name in Score.model_fields}) for row in rows.mappings()]

    def beaten(self, beats: Mapping[str, tuple[str, int]], *, at: float) -> None:
        """Store heartbeats: of each worker the session and the number. Older ones change nothing."""
        with self._writing() as connection:
            for name, (session, number) in sorted(beats.items()):  # in one order, so that no two registries wait
                mine = (workers.c.name == name, workers.c.session == session, workers.c.beat < number)
                connection.execute(update(workers).where(*mine).values(beat=number, seen_at=at))

    def enrol(self, worker: KeptWorker, *, instead_of: str | None = None) -> bool:
        """Store a worker. A known one keeps its first date, and goes on to drain.

        With the identity of the worker that had the name before, False if another has taken the name meanwhile.
        """
        changed = worker._asdict()
        for kept in ("name", "registered_at", "drains"):
            del changed[kept]
        mine = [workers.c.name == worker.name]
        if instead_of is not None:
            mine.append(workers.c.identity.in_((instead_of, worker.identity)))
        with named(self._engine):
            try:
                with self._turn, self._engine.begin() as connection:
                    known = connection.execute(update(workers).where(*mine).values(changed))
                    if known.rowcount == 0:
                        connection.execute(insert(workers), worker._asdict())
            except IntegrityError:
                return False
        return True

    def saw(self, name: str, *, at: float) -> None:
        """Note that a worker has answered."""
        with self._writing() as connection:
            connection.execute(update(workers).where(workers.c.name == name).values(seen_at=at))

    def drain(self, name: str, *, drains: bool) -> None:
        """Note that a worker drains, or no longer."""
        with self._writing() as connection:
            connection.execute(update(workers).where(workers.c.name == name).values(drains=drains))

    def dismiss(self, name: str) -> None:
        """Forget a worker that has left. Its leases stay."""
        with self._writing() as connection:
            connection.execute(delete(workers).where(workers.c.name == name))

    def worker(self, name: str) -> KeptWorker | None:
        with self._reading() as connection:
            row = connection.execute(select(workers).where(workers.c.name == name)).first()
        return None if row is None else KeptWorker(*row)

    def workers(self) -> list[KeptWorker]:
        with self._reading() as connection:
            return [KeptWorker(*row) for row in connection.execute(select(workers).order_by(workers.c.name))]

    @contextmanager
    def _reading(self) -> Generator[Connection]:
        with named(self._engine), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Generator[Connection]:
        """One transaction that begins with a write, so that SQLite's wait for another writer works."""
        with named(self._engine), self._turn, self._engine.begin() as connection:
            yield connection


def _unchanged(kept: KeptLease) -> ColumnElement[bool]:
    """A lease whose instance is still the same copy at the same worker, as an SQL condition."""
    return (leases.c.instance == kept.instance) & (leases.c.worker == kept.worker) & COPY.in_([kept.copy])


def _parts(values: Sequence[str]) -> list[Sequence[str]]:
    """Values in parts that are short enough for one statement."""
    return [values[begin : begin + AT_ONCE] for begin in range(0, len(values), AT_ONCE)]


def _is(status: Status, now: float) -> ColumnElement[bool]:
    """`KeptLease.standing` as an SQL condition."""
    if status == "live":
        return (leases.c.status == "live") & (leases.c.expires_at > now)
    if status == "expired":
        return leases.c.status.in_(("expired", "gone")) | ((leases.c.status == "live") & (leases.c.expires_at <= now))
    return leases.c.status == status


def _end(
    connection: Connection,
    instance: str,
    status: KeptStatus,
    at: float,
    before: tuple[KeptStatus, ...],
    *conditions: ColumnElement[bool],
) -> bool:
    ended = _ended(before).where(*conditions) if conditions else _ended(before)
    return connection.execute(ended, {"of": instance, "to": status, "at": at}).rowcount == 1


@cache
def _ended(before: tuple[KeptStatus, ...]) -> Update:
    """What ends the lease `of` an instance that has one of some statuses."""
    mine = (leases.c.instance == bindparam("of"), leases.c.status.in_(before))
    return update(leases).where(*mine).values(status=bindparam("to"), closed_at=bindparam("at"))
