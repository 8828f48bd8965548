"""The registry's side of joining: who may be a worker of this farm, and that it is still there.

Nothing is believed from a worker that has not proved that it knows the join token. The registry keeps no nonces: they
carry their own time and proof, so that any registry of a farm can take the next step.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from weakref import WeakValueDictionary

from registry.leases import Registry
from registry.ledger.store import KeptWorker
from registry.workers.fleet import FleetMember
from registry.workers.remote_worker import RemoteWorker
from servers.errors import BundleError, Conflict, FarmError, InfraError, NotFound, RequestError
from servers.files.spooled import SpooledBytes
from servers.files.trouble import trouble
from servers.joining.messages import (
    MOST_CLOCKS_DIFFER,
    NONCE_SECONDS,
    VERSION,
    Beat,
    BeatAnswer,
    BundleOrder,
    Challenge,
    ChallengeAnswer,
    JoinAnswer,
    JoinOrder,
)
from servers.joining.proofs import control_token, fresh_nonce, proof, proves
from servers.records import checked_url
from servers.text.wording import counted

MOST_PACKING = 2
"""Bundles that are read for workers at the same time."""
log = logging.getLogger("farm.joining")


class Joining:
    """The workers that join one registry. `key` is the join token.

    With `shared`, the farm has other registries too. A worker joins one of them, and may send its heartbeats to any.
    Long answers of workers are in files of `folder`.
    """

    def __init__(
        self,
        registry: Registry,
        token: str,
        *,
        authority: Path | None = None,
        shared: bool = False,
        folder: Path | None = None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.registry = registry
        self.key = token.encode()
        self.heard: dict[str, tuple[str, int]] = {}
        """Of each worker, the session and number of the last heartbeat that other registries do not know yet."""
        self._shared = shared
        self.children: dict[str, Callable[[], None]] = {}
        """The workers that this farm starts itself, and what kills each so that it is started anew."""
        self._authority = authority
        self._folder = folder
        self._wall = wall
        self._doors: dict[str, RemoteWorker] = {}
        self._used: dict[str, float] = {}
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """Each has one worker of a name join at a time, so that no name is given twice. Others do not wait for it."""
        self._returns: dict[str, asyncio.Task[None]] = {}
        self._packing = asyncio.Semaphore(MOST_PACKING)

    async def aclose(self) -> None:
        returns = list(self._returns.values())
        for task in returns:
            task.cancel()
        await asyncio.gather(*(door.aclose() for door in self._doors.values()), *returns, return_exceptions=True)

    def challenge(self, order: Challenge) -> ChallengeAnswer:
        """The registry's nonce. The proof of the answer shows that the registry knows the join token.

        Raises:
            Conflict: the worker has another version.
        """
        self._see_to_version(order.version)
        head = f"{int(self._wall())}-{fresh_nonce()}"
        return ChallengeAnswer(nonce=f"{head}-{proof(self.key, 'nonce', head)[:32]}", version=VERSION)

    async def join(self, order: JoinOrder) -> JoinAnswer:
        """Take a worker into the fleet, or let it come back. One that lacks bundles is told which, and nothing else.

        Raises:
            RequestError, Conflict: why it cannot be one of this farm's.
        """
        self.see_to_nonce(order.session)
        self._see_to_version(order.version)
        self._see_to_clock(order.at)
        url = _url(order.url)
        reached_at = _url(order.reached_at or order.url)
        lacking = _lacking(order.bundles, await asyncio.to_thread(self.registry.catalogue.library.digests))
        if lacking:
            return JoinAnswer(lacks=lacking)
        token = control_token(self.key, order.session, order.name, order.identity)
        door = RemoteWorker(reached_at, token, authority=self._authority, folder=self._folder)
        try:
            wrong = await door.reach()
            if wrong is not None:
                raise Conflict(
                    f"the registry cannot reach this worker at {reached_at}: {wrong}; advertise a URL that the registry"
                    " and the agents can reach, and open its port"
                )
            async with self._turn(order.name):
                former = await self._see_to_name(order)
                await self._seat(order, url, reached_at, door, instead_of=former)
        except BaseException:
            await door.aclose()
            raise
        return JoinAnswer()

    async def bundle(self, order: BundleOrder) -> SpooledBytes:
        """A bundle for a worker that lacks it, as the text that its digest is of.

        Raises:
            RequestError: the session is none.
            InfraError: the bundle of this digest is not here any more.
        """
        self.see_to_nonce(order.session)
        async with self._packing:
            try:
                packed = SpooledBytes(self._folder)
                digest = await asyncio.to_thread(self.registry.catalogue.library.pack, order.name, packed.add)
            except (NotFound, BundleError, OSError) as error:
                raise InfraError(f"the bundle {order.name} cannot be sent: {_told(error)}") from None
        if digest != order.digest:
            raise InfraError(f"the bundle {order.name} has other files by now; join again")
        return packed

    async def _seat(self, order: JoinOrder, url: str, reached_at: str, door: RemoteWorker, *, instead_of: str) -> None:
        seat = FleetMember(
            order.name,
            url,
            door,
            capacity=order.capacity,
            identity=order.identity,
            session=order.session,
            reached_at=reached_at,
            restart=self.children.get(order.name),
        )
        former = self.registry.fleet.seats.get(order.name)
        if former is not None:
            seat.restarts = former.restarts
        await self.registry.join(seat, instead_of=instead_of)
        await self._keep_door(order.name, door)
        log.info("worker joined", extra={"worker": order.name, "url": url, "capacity": order.capacity})

    async def _keep_door(self, name: str, door: RemoteWorker) -> None:
        former = self._doors.get(name)
        self._doors[name] = door
        if former is not None:
            former.give_way(door)
            await former.aclose()

    async def key_of(self, name: str) -> bytes | None:
        """The control token of a worker of this farm. None for one that has to join first."""
        seat = self.registry.fleet.seats.get(name)
        kept = None
        if seat is None or self._shared:
            kept = await asyncio.to_thread(self.registry.ledger.worker, name)
        if self._shared:
            seat = None if kept is None else await self.take_up(kept)
        known = seat or (None if name in self.children else kept)
        if known is None or not known.session:
            return None
        return control_token(self.key, known.session, name, known.identity).encode()

    async def beat(self, order: Beat) -> BeatAnswer:
        """A heartbeat. A worker that was drained may leave once its last lease has ended.

        Raises:
            Conflict: it is an old one.
        """
        seat = await self._heard(order)
        if not seat.drains or seat.restart is not None or seat.launching:
            seat.drained_beats = 0
            return BeatAnswer()
        seat.drained_beats += 1
        if self._shared and seat.drained_beats == 1:  # other registries may not know yet that it drains
            return BeatAnswer()
        loads = await asyncio.to_thread(self.registry.ledger.loads)
        if loads.get(seat.name, 0):
            return BeatAnswer()
        await self.registry.dismiss(seat)
        log.info("worker has left", extra={"worker": seat.name})
        return BeatAnswer(leave=True)

    async def leave(self, order: Beat) -> BeatAnswer:
        """A worker ends now, and may come back."""
        seat = await self._heard(order)
        seat.answers = False
        log.info("worker ends", extra={"worker": seat.name})
        return BeatAnswer()

    async def _heard(self, order: Beat) -> FleetMember:
        """The worker of a heartbeat. After a restart of the registry the ledger knows it."""
        seat = self.registry.fleet.seats.get(order.name) or await self._seated_again(order.name)
        if order.number <= seat.beat:
            raise Conflict("this heartbeat is not the next one")
        if self._shared:
            self.heard[order.name] = (seat.session, order.number)
        self.hear(seat, order.number)
        return seat

    def hear(self, seat: FleetMember, number: int) -> None:
        """Note a heartbeat of a worker, here or at another registry."""
        seat.beat, seat.silence = number, 0.0
        if seat.lost:
            self._come_back(seat)
        else:
            seat.answers = True

    async def take_up(self, kept: KeptWorker) -> FleetMember | None:
        """The seat of a worker that is in the ledger. It may have joined through another registry."""
        seats = self.registry.fleet.seats
        seat = seats.get(kept.name)
        if seat is not None and seat.session == kept.session:
            return seat
        async with self._turn(kept.name):
            now = await asyncio.to_thread(self.registry.ledger.worker, kept.name)
            seat = seats.get(kept.name)
            if now is None or not now.session or (seat is not None and seat.session == now.session):
                return seat
            seat = await self._seat_of(now)
            seat.answers = False  # until its next heartbeat
            await self.registry.notice(seat)
            return seat

    async def forget(self, name: str) -> None:
        """Take a worker off that has left through another registry."""
        self.registry.fleet.seats.pop(name, None)
        door = self._doors.pop(name, None)
        if door is not None:
            await door.aclose()

    async def _seat_of(self, kept: KeptWorker) -> FleetMember:
        """A seat for a worker that is in the ledger, with a door to it."""
        token = control_token(self.key, kept.session, kept.name, kept.identity)
        door = RemoteWorker(kept.reached_at, token, authority=self._authority, folder=self._folder)
        await self._keep_door(kept.name, door)
        return FleetMember(
            kept.name,
            kept.url,
            door,
            drains=kept.drains,
            capacity=kept.capacity,
            identity=kept.identity,
            session=kept.session,
            reached_at=kept.reached_at,
            beat=kept.beat,
        )

    def _come_back(self, seat: FleetMember) -> None:
        """Have the leases of a worker live again that was cut off, and whose instances are there."""

        async def back() -> None:
            try:
                await self.registry.welcome(seat)
            except FarmError as error:  # the next heartbeat tries again
                log.error("worker cannot come back", extra={"worker": seat.name, "error": str(error)})

        if seat.name not in self._returns:
            task = self._returns[seat.name] = asyncio.create_task(back())
            task.add_done_callback(lambda _: self._returns.pop(seat.name, None))

    async def _seated_again(self, name: str) -> FleetMember:
        async with self._turn(name):
            seat = self.registry.fleet.seats.get(name)
            if seat is not None:
                return seat
            kept = await asyncio.to_thread(self.registry.ledger.worker, name)
            if kept is None:
                raise Conflict(f"no worker {name!r} has joined")
            seat = await self._seat_of(kept)
            await self.registry.welcome(seat)
            return seat

    def _turn(self, name: str) -> asyncio.Lock:
        return self._turns.setdefault(name, asyncio.Lock())

    def see_to_nonce(self, session: str) -> None:
        """Refuse a nonce that this farm did not give, gave too long ago, or that was used here."""
        now = self._wall()
        head, _, mac = session.partition(".")[2].rpartition("-")
        if not proves(mac + proof(self.key, "nonce", head)[32:], self.key, "nonce", head):
            raise RequestError("this registry did not give that nonce")
        if now - int(head.partition("-")[0]) > NONCE_SECONDS:
            raise RequestError("that nonce is too old; ask for another")
        self._used = {one: at for one, at in self._used.items() if now - at <= NONCE_SECONDS}
        if session in self._used:
            raise RequestError("that nonce was used before; ask for another")
        self._used[session] = now

    def _see_to_version(self, version: str) -> None:
        if version != VERSION:
            raise Conflict(f"this worker has version {version} and the registry {VERSION}; install the same on both")

    def _see_to_clock(self, at: float) -> None:
        ahead = at - self._wall()
        if abs(ahead) > MOST_CLOCKS_DIFFER:
            side = "ahead of" if ahead > 0 else "behind"
            raise Conflict(
                f"the clock of this worker is {abs(ahead):.0f} s {side} the registry's, and may differ by"
                f" {MOST_CLOCKS_DIFFER:g} s; have both set by NTP"
            )

    async def _see_to_name(self, order: JoinOrder) -> str:
        """Refuse a second worker of one name, while the first answers or has leases. Returns the first's identity."""
        kept = await asyncio.to_thread(self.registry.ledger.worker, order.name)
        if kept is None:
            return ""
        if kept.session == order.session:
            raise RequestError("that nonce was used before; ask for another")
        if kept.identity in ("", order.identity):
            return kept.identity
        seat = self.registry.fleet.seats.get(order.name)
        leases = (await asyncio.to_thread(self.registry.ledger.loads)).get(order.name, 0)
        if (seat is not None and not seat.lost) or leases:
            raise Conflict(
                f"the name {order.name} is taken by the worker at {kept.url}, with {counted(leases, 'live lease')};"
                " choose another with --name, or start it on the --state that it had"
            )
        return kept.identity


def _lacking(theirs: Mapping[str, str], ours: Mapping[str, str]) -> dict[str, str]:
    """The bundles of the registry that a worker lacks, or of which it has other files, with their digests."""
    return {name: digest for name, digest in ours.items() if theirs.get(name) != digest}


def _told(error: Exception) -> str:
    """What a worker is told of an error: no path of this machine."""
    return trouble(error) if isinstance(error, OSError) else "it is gone, or cannot be read"


def _url(url: str) -> str:
    try:
        return checked_url(url).rstrip("/")
    except ValueError as error:
        raise RequestError(f"the advertised address: {error}") from None
