"""The trusted side of guests: forks them from a warm zygote, talks to each over a socket, ends broken ones.

A guest's output is untrusted: it is bounded and validated before use.
"""

import asyncio
import logging
import os
import signal
import socket
import subprocess
import sys
import time
import weakref
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, Awaitable, Callable, MutableMapping, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from pydantic_core import to_json

from servers.bundle.environment import Environment
from servers.errors import GuestDied, GuestError, GuestLate, StateError, WallMissing
from servers.files.spooled import SpooledBytes
from servers.guest.branch_coverage import branches
from servers.guest.frames import (
    LARGEST_HEAD,
    LARGEST_HEAD_OF_CALL,
    LENGTHS,
    WRITER,
    FrameError,
    GuestReply,
    unpacked,
    unpacked_head,
)
from servers.guest.sqlite.image import LARGEST_IN_MEMORY, Image, pieces_of
from servers.guest.walls import WALLS, fixed_addresses
from servers.limits.memory import MOST_GUEST_MEMORY, BufferBudget, excess, private_bytes
from servers.limits.process_clock import ClockEnding, Deadline, cpu_seconds, is_ending
from servers.limits.processor_budget import CALL_SECONDS, ProcessorBudget
from servers.limits.turn_queue import TurnQueue
from servers.sandbox.compiled_files import CompiledFiles

START_SECONDS = 20.0
MOST_STARTS = 3
"""How often the first guest of a worker is tried: its processes may be killed, as those of later ones may."""
BOOT_SECONDS = 1.0
"""Processor seconds until a guest has raised its walls, which takes some milliseconds."""
ZYGOTE = "servers.guest.zygote"
"""The module of the parent of guests."""
IMPORTED_MODULES = b"servers.imported"
"""Stands in every source that needs more than what ordinary bundles may import."""
RUNS_SOURCE = ("judge", "judge_each", "describe")
"""Requests whose first part is Python that is executed."""
GUEST_ENVIRON = {"LANG": "C.UTF-8", "PYTHONHASHSEED": "0", "TZ": "UTC"}
"""The environment variables of guests: they make the order of sets, and dates, the same in every replay."""
NONE_HASHED_BY_ADDRESS = sys.version_info < (3, 12)
"""Then a set that holds None has another order in each process whose addresses are drawn by chance."""
LEAST_ROOM = 15 * 1024 * 1024
"""Bytes of rows that a guest may always have in memory."""
LONG_QUEUE = 32
MOST_OWN = 32
"""Guests of one environment of imported endpoints, each of one instance."""
LONG_REQUEST = 0.25
"""Seconds after which a busy guest is left to its current caller, if another one can be had."""
MOST_AFTER = 0.05
"""Processor seconds that a guest may use between an answer and the next request, to free memory."""
DEATH_SECONDS = 5.0
"""Seconds for the zygote to report how a guest ended."""
LARGEST_REPLY = 82 * 1024 * 1024
"""Bytes of the largest image: that of a start, and the allowed growth of its rows."""
LARGEST_CALL_REPLY = 6 * 1024 * 1024
"""Bytes of the reply to a call: its text, and its changed rows before and after."""
LONG_HEADS = {"build", "describe", "inspect", "judge_each", "load", "taken"}
"""Requests whose reply has a long head."""
MOST_BUFFERED = 24 * 1024 * 1024
"""Bytes of unfinished replies of all guests of a worker. The guest with the longest one is ended first."""
MOST_BUILDERS = 4
"""Guests that build starts and wait for the next, each for another environment."""
SMALL_BUFFER = 256 * 1024
"""Bytes up to which a buffer is not counted: a socket's kernel buffer takes as much."""

NONCE_BYTES = 7
NONCES_AT_ONCE = 64
"""Random numbers that the kernel is asked for at once. They stay in this process until each is used."""
CLOSED = "closed its socket"

ImageReply = tuple[dict[str, Any], Image]
AnswerWithImages = tuple[dict[str, Any], Sequence[Image]]
AnswerT = TypeVar("AnswerT", GuestReply, ImageReply)
Doubt = Callable[[GuestReply], bool]
GuestEndCause = Literal[
    "done",
    "idle",
    "memory",
    "closing",
    "forgotten",
    "late",
    "asleep",
    "stalled",
    "restless",
    "abandoned",
    "disk",
    "lied",
    "tools",
    "walls",
    "zygote",
]
"""Why we end a guest. The cause of one that ends by itself is its signal's name, or its exit code."""
OWN_SIGNALS = frozenset({"SIGSEGV", "SIGBUS", "SIGABRT", "SIGFPE", "SIGILL", "SIGSYS", "SIGTRAP"})
"""Signals that a process causes itself. SIGKILL comes from elsewhere, or from the kernel without memory."""
OWN_CAUSES = frozenset({"lied"})
"""Causes that are the guest's own fault.

Memory is not one: a guest has its own limit, and the common one is reached when others use much.
"""
ENDINGS: dict[ClockEnding, str] = {
    "late": "used up its {0:g} s of processor time for {1!r}",
    "asleep": "waited for something else than {1!r}, and did not answer",
    "stalled": "was not let run for {1!r}, which needs at most {0:g} s of processor time",
}
log = logging.getLogger("farm.guests")


_nonces: list[int] = []


def _new_nonces() -> list[int]:
    some = os.urandom(NONCE_BYTES * NONCES_AT_ONCE)
    _nonces.extend(int.from_bytes(some[at : at + NONCE_BYTES]) for at in range(0, len(some), NONCE_BYTES))
    return _nonces


class GuestStalled(GuestError):
    """The guest was not scheduled, and was killed. It is this machine's fault alone."""


class GuestHeld(GuestError):
    """The guest has been busy with another caller's request for long."""


class _Frames(asyncio.Protocol):
    """Reads frames from a socket and calls `on_frame` for each.

    Calls `on_end` at the end, or on a violation of the protocol.
    """

    def __init__(
        self,
        end: socket.socket,
        on_frame: Callable[[AnswerWithImages], None],
        on_end: Callable[[str], None],
        budget: BufferBudget,
    ) -> None:
        self._end = end
        self._on_frame, self._on_end = on_frame, on_end
        self._budget = budget
        self._buffer = bytearray()
        self._arriving: _ArrivingImage | None = None
        self._may_write = asyncio.Event()
        self._may_write.set()
        self.largest = LARGEST_REPLY
        self.largest_head = LARGEST_HEAD
        self.spool: Callable[[], SpooledBytes] | None = None
        """Makes the file for a long image. None if none is asked for."""
        self.on_trouble: Callable[[OSError], None] | None = None
        self.transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # pyright: ignore[reportAttributeAccessIssue]

    def pause_writing(self) -> None:
        self._may_write.clear()

    def resume_writing(self) -> None:
        self._may_write.set()

    def write_at_once(self, whole: bytes) -> None:
        """Send a short message when nothing waits before it: at once, and not at the end of the event loop's turn."""
        if self.transport is None:
            return
        try:
            sent = self._end.send(whole)
        except OSError:  # its buffer is full, or it is gone, which the transport tells
            sent = 0
        if sent < len(whole):
            self.transport.write(whole[sent:])

    async def write(self, piece: bytes) -> None:
        """Send a piece once most of the earlier ones are on their way. After a close it is dropped."""
        await self._may_write.wait()
        if self.transport is not None:
            self.transport.write(piece)

    def data_received(self, data: bytes) -> None:
        if self._arriving is not None:
            self._pour(self._arriving, data)
            return
        if not self._buffer and self._is_one(data):
            return
        self._buffer += data
        while len(self._buffer) >= LENGTHS.size:
            head, body = LENGTHS.unpack_from(self._buffer)
            if head > self.largest_head or body > self.largest:
                self._on_end(f"announced {head + body} bytes")
                return
            end = LENGTHS.size + head + body
            if self.spool is not None and body > LARGEST_IN_MEMORY and len(self._buffer) >= end - body:
                self._begin_to_pour(self.spool, end - body, body)
                return
            if len(self._buffer) < end:
                if len(self._buffer) > SMALL_BUFFER:
                    self._budget.hold(self, len(self._buffer))
                return
            try:
                with memoryview(self._buffer) as whole:
                    frame = unpacked(bytes(whole[LENGTHS.size : LENGTHS.size + head]), whole[end - body : end])
            except FrameError as error:
                self._on_end(str(error))
                return
            del self._buffer[:end]
            self._budget.release(self)
            self._on_frame(frame)

    def _begin_to_pour(self, spool: Callable[[], SpooledBytes], begin: int, size: int) -> None:
        """Have the one part of the frame in the buffer go into a file."""
        try:
            head, sizes = unpacked_head(bytes(self._buffer[LENGTHS.size : begin]), size)
            if sizes != [size]:
                raise FrameError("an image has one part")
            self._arriving = _ArrivingImage(head, spool(), size)
        except FrameError as error:
            self._on_end(str(error))
            return
        except OSError as error:
            self._tell_trouble(error)
            return
        rest = bytes(self._buffer[begin:])
        self._buffer = bytearray()
        self._budget.release(self)
        self._pour(self._arriving, rest)

    def _pour(self, arriving: "_ArrivingImage", data: bytes) -> None:
        left = arriving.size - len(arriving.image)
        try:
            arriving.image.add(data[:left])
        except OSError as error:
            self._tell_trouble(error)
            return
        if len(arriving.image) == arriving.size:
            self._arriving = None
            self._on_frame((arriving.head, [arriving.image]))
            if data[left:]:
                self.data_received(data[left:])

    def _tell_trouble(self, error: OSError) -> None:
        if self.on_trouble is not None:
            self.on_trouble(error)

    def _is_one(self, data: bytes) -> bool:
        """Pass on data that is exactly one frame, as nearly all are. False if it is not."""
        if len(data) < LENGTHS.size:
            return False
        head, body = LENGTHS.unpack_from(data)
        begin = LENGTHS.size + head
        if len(data) != begin + body or head > self.largest_head or body > self.largest:
            return False
        try:
            frame = unpacked(data[LENGTHS.size : begin], data[begin:])
        except FrameError as error:
            self._on_end(str(error))
        else:
            self._on_frame(frame)
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        self.close()
        self._on_end(CLOSED)

    def close(self) -> None:
        """Close the socket, and discard buffered data."""
        self._buffer = bytearray()
        self._arriving = None
        self._may_write.set()
        self._budget.release(self)
        if self.transport is not None:
            self.transport.abort()

    def give_up(self) -> None:
        self._on_end("had sent the most when all guests together had sent too much")


@dataclass
class _ArrivingImage:
    """A reply with a long image that is not complete."""

    head: dict[str, Any]
    image: SpooledBytes
    size: int


async def _channel(
    end: socket.socket,
    on_frame: Callable[[AnswerWithImages], None],
    on_end: Callable[[str], None],
    budget: BufferBudget,
) -> _Frames:
    end.setblocking(False)
    loop = asyncio.get_running_loop()
    _, protocol = await loop.create_unix_connection(lambda: _Frames(end, on_frame, on_end, budget), sock=end)
    return protocol


class Guest:
    """One guest process. It answers one request at a time."""

    def __init__(self, pid: int, budget: BufferBudget, folder: Path | None = None) -> None:
        self.pid = pid
        self._budget = budget
        self._spool = partial(SpooledBytes, folder)
        self.ended: str | None = None
        self.cause: GuestEndCause | None = None
        self.environment: str | None = None
        self.instance: str | None = None
        """The only instance that it serves, if it runs imported endpoints."""
        self.waiting = 0
        self.turns = TurnQueue(LONG_REQUEST)  # protects the socket: one request at a time
        self.walls: tuple[str, ...] = ()
        self.used = time.monotonic()
        self.fate: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._loop = asyncio.get_running_loop()
        self._cpu_at_rest = 0.0
        self._rests_since = 0.0
        self._asked = ""
        self._seconds = 0.0
        self._deadline = Deadline(pid, self._overdue, is_told=self._is_told)
        self._answer: asyncio.Future[AnswerWithImages] | None = None
        self._is_sent = True
        self._nonce: int | None = None
        """What the answer to the present request must repeat. None for the first word."""
        self._frames: _Frames | None = None

    async def open(self, end: socket.socket) -> None:
        """Connect to a new guest, and read which walls it has raised."""
        self._answer = self._loop.create_future()
        frames = await _channel(end, self._heard, self._lost, self._budget)
        if self.ended is not None:
            frames.close()  # it was killed before there was anything to close
        else:
            self._frames = frames
            frames.on_trouble = self._no_room
        head, _ = await self._answered("its first word", BOOT_SECONDS)
        self.walls = tuple(str(wall) for wall in head.get("walls", ()))

    def turn(self, *, patient: bool = True) -> "_Turn":
        """Wait until the guest is free. An impatient caller gets GuestHeld after a while, and can ask another."""
        return _Turn(self, self.turns, patient=patient)

    @property
    def is_held(self) -> bool:
        """True if one request has kept it busy for long."""
        return self.turns.is_held

    @property
    def is_fit(self) -> bool:
        """True if another request would not wait long for it."""
        return self.ended is None and self.waiting < LONG_QUEUE and not self.turns.is_held

    async def ask(self, head: dict[str, Any], *parts: Image, seconds: float) -> GuestReply:
        """Send one request, within a turn. Long parts are sent in pieces.

        Raises:
            GuestDied: it ended, or its reply is not a frame.
            GuestLate: it used up `seconds` of processor time, or sleeps. It has been killed.
            GuestStalled: it was not scheduled for long. It has been killed.
        """
        sending = self._begin(head, parts, None)
        return cast("GuestReply", await self._answered(head["do"], seconds, sending))  # only an image may be in a file

    async def ask_for_image(self, head: dict[str, Any], *parts: Image, seconds: float) -> ImageReply:
        """The same, for an image. A long one is in a file. It is empty if the guest needs something first.

        Raises:
            GuestDied, GuestLate, GuestStalled: as above.
            StateError: there is no room on the disk for it.
        """
        sending = self._begin(head, parts, self._spool)
        said, found = await self._answered(head["do"], seconds, sending)
        return said, found[0] if found else b""

    def _begin(
        self, head: dict[str, Any], parts: Sequence[Image], spool: Callable[[], SpooledBytes] | None
    ) -> Awaitable[None] | None:
        """Send a short request. Returns what is to be awaited for a long one."""
        frames = self._frames
        if self.ended is not None or frames is None or frames.transport is None:
            raise GuestDied(f"a guest ended: {self.ended}")
        self._nonce = (_nonces or _new_nonces()).pop()  # what a tool says cannot pass for a later answer
        self._answer = self._loop.create_future()
        frames.largest_head = LARGEST_HEAD if head["do"] in LONG_HEADS else LARGEST_HEAD_OF_CALL
        frames.largest = LARGEST_CALL_REPLY if spool is None else LARGEST_REPLY
        frames.spool = spool
        sizes = [*map(len, parts)]
        asked = {**head, "nonce": self._nonce, "sizes": sizes}
        try:
            text = to_json(asked)
        except ValueError:  # a lone surrogate, which goes to a slower writer
            text = WRITER.text(asked).encode()
        begin = LENGTHS.pack(len(text), sum(sizes)) + text
        self._is_sent = sum(sizes) <= SMALL_BUFFER
        if not self._is_sent:
            return self._send(frames, begin, parts)
        for part in parts:
            begin += part[:]
        frames.write_at_once(begin)
        return None

    async def _send(self, frames: _Frames, begin: bytes, parts: Sequence[Image]) -> None:
        """Send a long request in pieces, as the guest takes them. It may end meanwhile.

        Raises:
            StateError: an image cannot be read. The guest, which would wait for the rest, has been killed.
        """
        await frames.write(begin)
        try:
            for piece in (piece for part in parts for piece in pieces_of(part)):
                if self.ended is not None:
                    return
                await frames.write(piece)
        except OSError as error:
            self.kill("disk", f"the rest of a request cannot be read: {error.strerror}")
            raise StateError(f"an image in the state folder cannot be read: {error.strerror}") from None
        self._is_sent = True

    async def _answered(self, what: str, seconds: float, sending: Awaitable[None] | None = None) -> AnswerWithImages:
        if self._answer is None:
            raise GuestDied("a guest was not asked anything")
        self._asked, self._seconds = what, seconds
        self._deadline.start(seconds, self._cpu_at_rest)
        try:
            if sending is not None:
                await sending
            answer = await self._answer
        except asyncio.CancelledError:
            self.kill("abandoned", "its caller went away in the middle of a request")
            raise
        finally:
            self._deadline.stop()
            if self._answer.done() and not self._answer.cancelled():
                self._answer.exception()  # it was told by what is raised
            self._answer = None
            self._rest()
        if self._nonce is not None and answer[0].pop("nonce", None) != self._nonce:
            self.kill("lied", "answered what it was not asked")
            raise GuestDied(f"a guest ended: {self.ended}")
        return answer

    def _no_room(self, error: OSError) -> None:
        """Give up a reply for which there is no room on the disk."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(StateError(f"the state folder takes no image: {error.strerror}"))
        self.kill("disk", f"its image cannot be stored: {error.strerror}")

    def _overdue(self, ending: ClockEnding) -> None:
        """Kill it for its missing answer."""
        if self._answer is not None and not self._answer.done():
            why = ENDINGS[ending].format(self._seconds, self._asked)
            self._answer.set_exception((GuestStalled if ending == "stalled" else GuestLate)(f"a guest {why}"))
            self.kill(ending, why)

    @property
    def processor_seconds(self) -> float:
        """Its processor time at its last answer, in seconds."""
        return self._cpu_at_rest

    def _is_told(self) -> bool:
        transport = None if self._frames is None else self._frames.transport
        return transport is None or (self._is_sent and transport.get_write_buffer_size() == 0)

    def _rest(self) -> None:
        if self.ended is None:
            self._rests_since = time.monotonic()
            with suppress(OSError):
                self._cpu_at_rest = cpu_seconds(self.pid)

    def end_if_restless(self) -> None:
        """Kill it if it has used the processor since its last answer, without a request."""
        if self.ended is not None or self._answer is not None or time.monotonic() - self._rests_since < MOST_AFTER:
            return  # it has one thread, which cannot have used more than the time that has passed
        try:
            used = cpu_seconds(self.pid) - self._cpu_at_rest
        except OSError:
            return  # it has ended, which its socket tells
        if used > MOST_AFTER:
            self.kill("restless", f"used {used:.2g} s of processor time after its answer")

    def kill(self, cause: GuestEndCause | None, why: str) -> None:
        """Kill the process. Without a cause it has ended by itself."""
        if self.ended is not None:
            return  # its pid may be somebody else's by now
        self.ended, self.cause = why, cause
        self._deadline.close()
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        if self._frames is not None:
            self._frames.close()
            self._frames = None  # instances remember who served them, and must not keep its buffers

    def _heard(self, reply: AnswerWithImages) -> None:
        if self._answer is None or self._answer.done() or not self._is_sent:
            self._lost("spoke without being asked")
        else:
            self._answer.set_result(reply)

    def _lost(self, why: str) -> None:
        if self.ended is None:
            self.kill(None if why == CLOSED and is_ending(self.pid) else "lied", why)
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(GuestDied(f"a guest ended: {self.ended}"))


class _Turn:
    """The exclusive right to ask a guest."""

    __slots__ = ("_guest", "_patient", "_turns")

    def __init__(self, guest: Guest, turns: TurnQueue, *, patient: bool) -> None:
        self._guest, self._turns, self._patient = guest, turns, patient

    async def __aenter__(self) -> None:
        guest = self._guest
        guest.waiting += 1
        try:
            if not self._turns.take() and not await self._turns.wait(patient=self._patient):
                raise GuestHeld("a guest is busy with another request")
        except BaseException:
            guest.waiting -= 1
            raise
        guest.end_if_restless()

    async def __aexit__(self, *_: object) -> None:
        guest = self._guest
        guest.waiting -= 1
        guest.used = time.monotonic()
        self._turns.pass_on()


class Guests:
    """All guests of a worker. Enter it with `async with`. Leaving it ends them.

    At most `most_each` guests serve one environment. Another one is forked when all are busy. A guest of imported
    endpoints serves one instance, since a framework keeps their module between calls, and `most_own` live at a time. A
    call, or a checkpoint, has `call_seconds` of processor time before its guest is killed. With `covering` they record
    branch coverage. Long images are in files of `folder`.
    """

    def __init__(
        self,
        *,
        most_each: int = 2,
        most_own: int = MOST_OWN,
        call_seconds: float = CALL_SECONDS,
        walls_required: bool = False,
        covering: bool = False,
        most_buffered: int = MOST_BUFFERED,
        folder: Path | None = None,
    ) -> None:
        self.folder = folder
        self.covering = covering
        self.most_each = most_each
        self.most_own = most_own
        self.call_seconds = call_seconds
        self.walls_required = walls_required
        self.room = 0
        self.started = 0
        self.memory = 0
        self.deaths: dict[str, int] = {}
        self._alive: dict[int, Guest | None] = {}
        self._known: weakref.WeakSet[Guest] = weakref.WeakSet()
        self._serving: dict[str, list[Guest]] = {}
        self._verifying: dict[str, Guest] = {}
        self._building: OrderedDict[str, Guest] = OrderedDict()
        self._crowds = weakref.WeakValueDictionary[str, asyncio.Lock]()  # each bounds the guests of one environment
        self._growing = asyncio.Lock()  # protects _serving: one guest more at a time
        self._forking = asyncio.Lock()  # protects the zygote: one is started, one fork at a time
        self._zygote: subprocess.Popen[bytes] | None = None
        self._budget = BufferBudget(most_buffered)
        self._frames: _Frames | None = None
        self._control: socket.socket | None = None
        self._forks: deque[asyncio.Future[int]] = deque()  # the zygote answers in order
        self._compiled = CompiledFiles(self.job)
        self._imports = False
        """True once code from elsewhere has been seen. Then new guests have what it may import."""

    async def __aenter__(self) -> "Guests":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        for guest in list(self._known):
            guest.kill("closing", "the worker closes")
        self._serving.clear()
        self._verifying.clear()
        self._building.clear()
        await self._end_zygote()

    async def serving(self, environment: Environment, instance: str, before: Guest | None = None) -> Guest:
        """A guest that runs an environment's tools for an instance.

        It is the one that served `before`, since that one has the rows, unless its queue has grown, or one request
        keeps it busy. Then it is a new one, or the one with the shortest queue if that is much shorter. An instance
        that was closed and comes back goes to its former guest.

        Raises:
            GuestError: none can be started.
        """
        if before is not None and before.is_fit:
            return before
        self.expect(environment)
        is_own = _needs_framework(environment)
        async with self._crowd(environment) if is_own else nullcontext():
            if is_own:
                await self._make_room(environment, instance)
            async with self._growing:
                guests = self._living(environment)
                found = _own(guests, instance) if is_own else self._shared(guests, instance, before)
                if found is not None:
                    return found
                guest = await self.fork(framework=is_own)
                guest.instance = instance if is_own else None
                self._serving.setdefault(environment.digest, []).append(guest)  # the list may be another one by now
        guest.environment = environment.id
        async with guest.turn():
            load = {"do": "load", "covering": self.covering}
            head, _ = await guest.ask(load, environment.source.encode(), seconds=START_SECONDS)
        if "error" in head:
            guest.kill("tools", "could not load its tools")
            raise GuestError(f"{environment.id}: {head['error']}")
        return guest

    def expect(self, environment: Environment) -> None:
        """Give new guests what imported code may import, if the environment has such code. Others start faster."""
        self._imports |= environment.description.imported is not None or environment.description.benchmark is not None

    def expect_source(self, source: bytes) -> None:
        """Do the same for a source that names the farm's modules for imported code."""
        self._imports |= IMPORTED_MODULES in source

    def _living(self, environment: Environment) -> list[Guest]:
        guests = [guest for guest in self._serving.get(environment.digest, []) if guest.ended is None]
        self._serving[environment.digest] = guests
        return guests

    def _shared(self, guests: list[Guest], instance: str, before: Guest | None) -> Guest | None:
        """The guest of several instances that serves one of them. None if another guest is needed."""
        free = min(guests, key=lambda guest: (guest.is_held, guest.waiting), default=None)
        if before is None and guests:
            before = guests[hash(instance) % len(guests)]
        if free is None or not (free.is_fit or len(guests) >= self.most_each):
            return None
        if before is not None and before in guests and not before.is_held:
            return before if before.waiting < free.waiting + LONG_QUEUE else free
        return free

    def _crowd(self, environment: Environment) -> asyncio.Lock:
        return self._crowds.setdefault(environment.digest, asyncio.Lock())

    async def _make_room(self, environment: Environment, instance: str) -> None:
        """End the guest of another instance if there are too many: the one that was idle for longest.

        When all are busy, it waits for a call to end. Calls that wait for the ended guest get another one.
        """
        guests = self._living(environment)
        if len(guests) >= self.most_own and _own(guests, instance) is None:
            oldest = min(guests, key=lambda guest: (guest.waiting, guest.used))
            async with oldest.turn():
                oldest.kill("idle", "another instance needs its place")

    async def verifier(self, environment: Environment) -> Guest:
        """The guest that verifies changesets for an environment. It loads no tools.

        Raises:
            GuestError: none can be started.
        """
        async with self._growing:
            return await self._apart(self._verifying, environment)

    async def _apart(self, kept: MutableMapping[str, Guest], environment: Environment) -> Guest:
        """The guest of an environment among some that load no tools. It is forked if there is none that lives."""
        guest = kept.get(environment.digest)
        if guest is None or guest.ended is not None:
            guest = kept[environment.digest] = await self.fork()
            guest.environment = environment.id
        return guest

    async def builder(self, environment: Environment) -> Guest:
        """A guest that builds the starts of an environment's scenarios. The last `MOST_BUILDERS` of them live.

        Raises:
            GuestError: none can be started.
        """
        async with self._growing:
            guest = await self._apart(self._building, environment)
            self._building.move_to_end(environment.digest)
            idle = [digest for digest, one in self._building.items() if one.waiting == 0 and one is not guest]
            for digest in idle[: max(len(self._building) - MOST_BUILDERS, 0)]:
                self._building.pop(digest).kill("idle", "another environment's needs its place")
        return guest

    async def taken(self, environment: Environment) -> set[int]:
        """The numbers of the branches that covering guests have taken, by `servers.guest.branch_coverage`.

        Their replies are validated. A guest that has ended is not counted.
        """
        told: set[int] = set()
        for guest in self._serving.get(environment.digest, []):
            if guest.ended is None:
                async with guest.turn():
                    head, _ = await guest.ask({"do": "taken"}, seconds=self.call_seconds)
                told |= {number for number in head.get("taken", ()) if isinstance(number, int)}
        return told & set(range(len(branches(environment.source))))

    @property
    def alive(self) -> int:
        """The number of guests."""
        return len(self._alive)

    @property
    def pids(self) -> set[int]:
        """The processes of the guests."""
        return set(self._alive)

    @property
    def room_each(self) -> int:
        """Bytes of rows that one guest may have in memory: its share of the whole `room`."""
        return max(LEAST_ROOM, self.room // max(self.alive, 1))

    @property
    def buffered(self) -> int:
        """Bytes of unfinished replies."""
        return self._budget.total

    @property
    def waiting(self) -> int:
        """The number of requests that wait for a busy guest."""
        return sum(max(guest.waiting - 1, 0) for guests in self._serving.values() for guest in guests)

    async def walls(self) -> tuple[str, ...]:
        """The walls around guests on this machine.

        Raises:
            GuestError: no guest can be started, or a required wall is missing.
        """
        for _ in range(MOST_STARTS - 1):
            try:
                return await self._walls_of_one()
            except WallMissing:
                raise
            except GuestError as error:
                log.warning("the first guest did not start, and is tried again", extra={"detail": str(error)})
        return await self._walls_of_one()

    async def _walls_of_one(self) -> tuple[str, ...]:
        async with self.fresh() as guest:
            return guest.walls

    def end_idle(self, seconds: float) -> None:
        """End guests that were idle for `seconds`. They are forked again on demand."""
        old = time.monotonic() - seconds
        for guests in self._serving.values():
            for guest in guests:
                if guest.used < old and guest.waiting == 0:
                    guest.kill("idle", "it had nothing to do")
        for kept in (self._verifying, self._building):
            for digest, guest in list(kept.items()):
                if guest.used < old and guest.waiting == 0:
                    guest.kill("idle", "it had nothing to do")
                if guest.ended is not None:
                    del kept[digest]
        self._serving = {
            digest: living
            for digest, guests in self._serving.items()
            if (living := [guest for guest in guests if guest.ended is None])
        }

    def end_excess(self, most: int = MOST_GUEST_MEMORY) -> None:
        """End guests until all together use at most `most` bytes: idle ones first, the largest first."""
        base = 0 if self._zygote is None else private_bytes(self._zygote.pid)
        guests = {pid: guest for pid, guest in self._alive.items() if guest is not None and guest.ended is None}
        sizes = {pid: max(private_bytes(pid) - base, 0) for pid in guests}
        self.memory = sum(sizes.values())
        idle = {pid for pid, guest in guests.items() if guest.waiting == 0}
        for pid in excess(sizes, idle, most):
            guests[pid].kill("memory", f"held {sizes[pid]} bytes when all guests together held {self.memory}")

    def end_restless(self) -> None:
        """End guests that use the processor without a request."""
        for guests in self._serving.values():
            for guest in guests:
                guest.end_if_restless()

    def forget(self, digest: str) -> None:
        """End the guests of an environment."""
        others = (self._verifying.pop(digest, None), self._building.pop(digest, None))
        for guest in [*self._serving.pop(digest, []), *filter(None, others)]:
            guest.kill("forgotten", "its environment is gone")

    @asynccontextmanager
    async def fresh(self, *, framework: bool = False) -> AsyncGenerator[Guest]:
        """A guest for one job. It ends with the context."""
        guest = await self.fork(framework=framework)
        try:
            async with guest.turn():
                yield guest
        finally:
            guest.kill("done", "its job is done")

    async def job(
        self,
        head: dict[str, Any],
        *parts: Image,
        seconds: float,
        doubtful: Doubt | None = None,
        budget: ProcessorBudget | None = None,
    ) -> GuestReply:
        """Send one request to a fresh guest. `budget` is charged for its processor time.

        A second guest is asked if the reply is doubtful, or if the first one ended through no fault of its own.

        Raises:
            GuestDied, GuestLate: the request does that to a guest.
            GuestError: the farm failed to do it.
        """
        budget = budget or ProcessorBudget()
        if head["do"] in RUNS_SOURCE and isinstance(parts[0], bytes):
            self.expect_source(parts[0])
        asked = partial(_asked, head=head, parts=parts, seconds=seconds)
        try:
            reply = await self._fresh_answer(asked, seconds=seconds, budget=budget)
        except GuestError as trouble:
            _see_to_trouble(head, trouble)
        else:
            if doubtful is None or not doubtful(reply) or budget.is_used_up:
                return reply
        return await self._fresh_answer(asked, seconds=seconds, budget=budget)

    async def image_job(self, head: dict[str, Any], *parts: Image, seconds: float) -> ImageReply:
        """The same for an image.

        Raises:
            GuestDied, GuestLate, GuestError: as above.
            StateError: there is no room on the disk for it.
        """
        asked = partial(_asked_for_image, head=head, parts=parts, seconds=seconds)
        try:
            return await self._fresh_answer(asked, seconds=seconds, budget=ProcessorBudget())
        except GuestError as trouble:
            _see_to_trouble(head, trouble)
        return await self._fresh_answer(asked, seconds=seconds, budget=ProcessorBudget())

    async def compiled(self, environment: str, start: Image, *, seconds: float) -> bytes:
        """The code of a benchmark's files, by the digest of its environment. Empty if they cannot be compiled."""
        return await self._compiled.of(environment, start, seconds=seconds)

    async def _fresh_answer(
        self, asked: Callable[[Guest], Awaitable[AnswerT]], *, seconds: float, budget: ProcessorBudget
    ) -> AnswerT:
        """One guest's answer.

        The processor time of a guest that ended by its own fault is unknown, and counts as all.
        """
        async with self.fresh() as guest:
            try:
                reply = await asked(guest)
            except GuestLate:
                budget.charge(seconds)
                raise
            except GuestDied as error:
                if await self.own_doing(guest):
                    budget.charge(seconds)
                    raise
                raise GuestError(f"{error} ({guest.cause or 'killed from outside'})") from None
            budget.charge(guest.processor_seconds)
            return reply

    async def own_doing(self, guest: Guest) -> bool:
        """True if a dead guest caused its end: it broke the protocol, crashed, or exited by itself."""
        if guest.cause is not None:
            return guest.cause in OWN_CAUSES
        try:
            async with asyncio.timeout(DEATH_SECONDS):
                fate = await asyncio.shield(guest.fate)
        except TimeoutError:
            return False
        return fate.startswith("exit") or fate in OWN_SIGNALS

    async def fork(self, *, framework: bool = False) -> Guest:
        """A new guest without any state. With `framework` it has FastAPI and SQLAlchemy.

        Raises:
            GuestError: none can be started.
        """
        async with self._forking:
            control = await self._started_zygote()
            loop = asyncio.get_running_loop()
            ours, theirs = socket.socketpair()
            try:
                with theirs:
                    socket.send_fds(
                        control, [b"w" if framework else b"i" if self._imports else b"f"], [theirs.fileno()]
                    )
                self._forks.append(loop.create_future())
                async with asyncio.timeout(START_SECONDS):
                    pid = await self._forks[-1]
            except (OSError, TimeoutError) as error:
                ours.close()
                raise GuestError(f"no guest can be forked: {error}") from None
            except BaseException:
                ours.close()  # a guest that was forked for nobody sees it, and ends
                raise
            guest = Guest(pid, self._budget, self.folder)
            self._known.add(guest)  # before it says a word: who closes ends it as well
            if pid in self._alive:
                self._alive[pid] = guest
            try:
                await guest.open(ours)
            except GuestError as error:
                raise GuestError(f"no guest can be started: {error}") from None
        missing = [wall for wall in WALLS if wall not in guest.walls]
        if missing and self.walls_required:
            guest.kill("walls", "a wall is missing")
            raise WallMissing(
                f"these walls cannot be raised on this machine: {', '.join(missing)}; `farm doctor` says more, "
                "and --walls available goes on without them"
            )
        return guest

    async def _started_zygote(self) -> socket.socket:
        if self._zygote is not None and self._zygote.poll() is None and self._control is not None:
            return self._control
        await self._end_zygote()
        ours, theirs = socket.socketpair()
        with theirs, fixed_addresses() if NONE_HASHED_BY_ADDRESS else nullcontext():
            self._zygote = subprocess.Popen(  # noqa: ASYNC220 - it must be the child of this thread, which outlives it
                [sys.executable, "-s", "-P", "-m", ZYGOTE, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                env=GUEST_ENVIRON,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        control = self._control = ours.dup()
        gone = partial(self._zygote_gone, control)
        self._frames = await _channel(ours, self._zygote_says, gone, self._budget)
        return control

    async def _end_zygote(self) -> None:
        if self._frames is not None:
            self._frames.close()
        if self._control is not None:
            self._control.close()
            self._control = None
        zygote, self._zygote = self._zygote, None  # two may end it at once
        if zygote is not None and zygote.stderr is not None:
            zygote.kill()
            await asyncio.to_thread(zygote.wait)
            zygote.stderr.close()
        self._give_up_forks("was ended")

    def _zygote_says(self, reply: AnswerWithImages) -> None:
        head, _ = reply
        if "forked" in head:
            forked = self._forks.popleft()
            self.started += 1
            self._alive[int(head["forked"])] = None
            log.info("guest started", extra={"guest": head["forked"]})
            if not forked.done():
                forked.set_result(int(head["forked"]))
        elif "ended" in head:
            self._ended(int(head["ended"]), _cause(int(head["status"])))

    def _ended(self, pid: int, cause: str) -> None:
        """Count a guest's end. Our reason for ending it is more precise than the signal."""
        guest = self._alive.pop(pid, None)
        environment = why = None
        if guest is not None:
            if not guest.fate.done():
                guest.fate.set_result(cause)
            cause, environment, why = guest.cause or cause, guest.environment, guest.ended
        self.deaths[cause] = self.deaths.get(cause, 0) + 1
        log.info("guest ended", extra={"guest": pid, "environment": environment, "cause": cause, "detail": why})

    def _zygote_gone(self, control: socket.socket, why: str) -> None:
        if self._control is not control or self._zygote is None or self._zygote.stderr is None:
            return
        control.close()
        self._control = None
        self._zygote.kill()
        said = self._zygote.stderr.read().decode("utf-8", "replace").strip()
        self._give_up_forks(f"{why}: {said.splitlines()[-1] if said else 'without a word'}")

    def _give_up_forks(self, why: str) -> None:
        for pid in list(self._alive):
            self._ended(pid, "zygote")  # they end with their parent
        while self._forks:
            forked = self._forks.popleft()
            if not forked.done():
                forked.set_exception(GuestError(f"the parent of all guests {why}"))


def _own(guests: list[Guest], instance: str) -> Guest | None:
    return next((guest for guest in guests if guest.instance == instance), None)


def _needs_framework(environment: Environment) -> bool:
    imported = environment.description.imported
    return imported is not None and imported.code == "endpoints"


async def _asked(guest: Guest, *, head: dict[str, Any], parts: Sequence[Image], seconds: float) -> GuestReply:
    return await guest.ask(head, *parts, seconds=seconds)


async def _asked_for_image(guest: Guest, *, head: dict[str, Any], parts: Sequence[Image], seconds: float) -> ImageReply:
    return await guest.ask_for_image(head, *parts, seconds=seconds)


def _see_to_trouble(head: dict[str, Any], trouble: GuestError) -> None:
    """Log that a job is repeated. Raises what the job itself did to its guest."""
    if isinstance(trouble, (GuestDied, GuestLate)):
        raise trouble
    log.info("a job is done once more", extra={"request": head["do"], "detail": str(trouble)})


def _cause(status: int) -> str:
    """How a process ended, in a word."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    return f"exit {os.waitstatus_to_exitcode(status)}"
