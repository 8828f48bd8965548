"""One agent's own copy of an environment, while it is in use.

It can be dropped at any time, as its state file has everything.
"""

import asyncio
import json
import re
import time
from collections.abc import AsyncGenerator, Container, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, NamedTuple

from pydantic_core import from_json, to_json

from servers.answer import HOW_TO_ANSWER
from servers.bundle.description import Tool
from servers.bundle.environment import Environment
from servers.bundle.tool_schema import MOST_CHECKS_A_CALL
from servers.bundle.whole_numbers import MANY_ALTERNATIVES, TooManyChecks
from servers.errors import Conflict, GuestDied, GuestError, GuestLate, InfraError, Moving
from servers.guest.sqlite.image import Image
from servers.guest.sqlite.tables import ChangesError
from servers.limits.json_size import has_more_values, key_twice_in, values_in
from servers.limits.throttle import Pace
from servers.messages import OutcomeKind
from servers.perturb.tool_view import NOT_OPEN, TRANSIENT, ToolView
from servers.sandbox.guest_pool import Guest, GuestHeld, Guests
from servers.state.changeset_verification import Verification
from servers.state.row_diff import as_json, changeset_as_json, in_changeset
from servers.state.rows import RowChange
from servers.state.start_images import StartImage
from servers.state.state_file import KeptCall, StateFile
from servers.telemetry.worker_events import WorkerEvents
from servers.text.json_values import is_deeper, is_object, parts_of

MANY_CHECKS = f"more than {MOST_CHECKS_A_CALL:,} checks of one call"
SECONDS_PER_CALL = 60
MOST_WAITING = 32
LARGEST_TEXT = 256 * 1024
MOST_RESULT_VALUES = 20_000
"""The most JSON values of a result. They are counted before the result is parsed."""
LARGEST_HISTORY = 36 * 1024 * 1024
"""Bytes of a history above which its instance takes no more calls."""
LONGEST_QUOTE = 500
TURN_MARK = "next turn"
"""What stands in a history where the user begins a turn. No tool has such a name."""
NEVER = -1
DEEPEST = 100
MOST_MICROS = 3_600_000_000
LONGEST_REASON = 1000
"""Characters of the text of a call that did nothing, in a history from elsewhere."""
NUL = "\\u0000"
"""A NUL character in JSON. Another text may hold these characters too."""
ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
MAY_OVERFLOW = re.compile(r"\d(?:[eE]\+?\d{3}|\d{308})")
"""What stands in each JSON text with a number that no float holds."""


class CallOutcome(NamedTuple):
    """The outcome of one tool call for the agent. `structured` is the result of a successful call."""

    kind: OutcomeKind
    text: str
    structured: dict[str, Any] | None = None
    detail: str | None = None
    changes: bytes = b""
    micros: int = 0
    said: str | None = None
    """The text for the agent, if it is not the JSON of the result: that of a benchmark's tool."""

    @property
    def is_error(self) -> bool:
        return self.kind != "ok"


@dataclass
class Instance:
    """An instance in use: its environment, its start, its state file. Its calls take turns."""

    environment: Environment
    start: StartImage
    state: StateFile
    guests: Guests
    verification: Verification
    watch: WorkerEvents
    pace: Pace | None = None
    view: ToolView | None = None
    """The tools as a perturbation shows them. The history has the calls as the agent made them."""
    used: float = field(default_factory=time.monotonic)
    waiting: int = 0
    guest: Guest | None = None
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # protects state: one call at a time
    marked: int | None = None
    """The turns of the user so far. None if they must be counted in the history."""
    leaving: Container[str] = ()
    """The instances that leave their worker. Whoever had to wait for a turn finds here that there are no more."""

    @property
    def id(self) -> str:
        return self.state.origin.id

    @property
    def busy(self) -> bool:
        """True if the instance is in use."""
        return self.waiting > 0 or self.turn.locked()

    @asynccontextmanager
    async def in_turn(self) -> AsyncGenerator[None]:
        """Wait for a turn. A waiting caller uses the instance already, so it is not closed meanwhile.

        Raises:
            Moving: it leaves its worker.
        """
        async with self.last_turn():
            self._see_that_it_stays()
            yield

    @asynccontextmanager
    async def last_turn(self) -> AsyncGenerator[None]:
        """The same, also for an instance that leaves: to copy it, or to delete it."""
        with self.in_use():
            async with self.turn:
                yield

    def _see_that_it_stays(self) -> None:
        if self.id in self.leaving:
            raise Moving(f"instance {self.id} is being moved to another worker, and nothing was done; try again")

    @contextmanager
    def in_use(self) -> Generator[None]:
        """Use the instance without a turn, so that it is not closed meanwhile."""
        self.waiting += 1
        try:
            yield
        finally:
            self.waiting -= 1
            self.used = time.monotonic()

    @property
    def instructions(self) -> str:
        """The agent's instructions: description, policy, current time, and how to answer."""
        told = self.environment.instructions
        if self.environment.description.benchmark is not None:
            return told
        told = told if self.view is None else self.view.seen_text(told)
        return f"{told}\nIt is {self.state.origin.clock} when you begin; a call takes a minute.\n\n{HOW_TO_ANSWER}\n"

    @property
    def tools_change(self) -> bool:
        """True if a later turn brings a tool."""
        return any(turn > 0 for turn in (self.state.origin.tools or {}).values())

    def listed_tools(self) -> list[Tool]:
        """The tools that the agent sees at this turn."""
        if self.view is not None:
            return list(self.view.listed)
        tools, seen_from = self.environment.description.tools, self.state.origin.tools
        if seen_from is None:
            return list(tools)
        now = max(self._marked() - 1, 0) if self.tools_change else 0
        return [tool for tool in tools if 0 <= seen_from.get(tool.name, NEVER) <= now]

    async def mark_turn(self) -> int:
        """Mark in the history that the user begins a turn. Returns its number, from 0.

        Raises:
            Conflict: it is no instance of a benchmark.
        """
        if self.environment.description.benchmark is None:
            raise Conflict(f"instance {self.id} is not of a benchmark; turns are marked for their judges alone")
        async with self.in_turn():
            marked = self._marked()
            self._keep(TURN_MARK, to_json({"turn": marked}).decode(), CallOutcome("ok", "{}"))
            self.marked = marked + 1
            return marked

    def _marked(self) -> int:
        if self.marked is None:
            self.marked = sum(call.tool == TURN_MARK for call in self.state.every_call()) if self.state.last else 0
        return self.marked

    async def call(self, tool: str, arguments: dict[str, Any]) -> CallOutcome:
        """Make one call, store its effect, and return the agent's answer.

        Raises:
            InfraError: no guest can be started, or the state cannot be written. Nothing has changed then.
            Moving: the instance leaves its worker. Nothing has changed then.
        """
        begin = time.perf_counter()
        too_much = self._too_much()
        if too_much is not None:
            return self._told(tool, CallOutcome("invalid", too_much), begin)
        self.waiting += 1
        try:
            async with self.turn:
                if self.leaving:  # rarely: no function is entered for nothing
                    self._see_that_it_stays()
                told, refusal = self._checked(tool, arguments)
                now = self.now()
                running = self._run if self.view is None else self._run_seen
                outcome = refusal or await running(tool, told, now)
                if outcome.changes:
                    outcome = await self._verified(tool, outcome, now)
                self._keep(tool, told, outcome)
                return self._told(tool, outcome, begin)
        except InfraError as error:
            self.watch.could_not("answer a call", error, instance=self.id, seq=self.state.last + 1)
            raise
        finally:
            self.waiting -= 1
            self.used = time.monotonic()

    async def repeat(self, call: KeptCall) -> None:
        """Make a call of a history from elsewhere once more, and keep it if it ends as it is said to have ended.

        Only its tool and its arguments are believed. A call that is said to have failed is not made: it did nothing.

        Raises:
            InfraError: it ends in another way, or could not be made.
        """
        async with self.in_turn():
            is_mark = call.tool == TURN_MARK and self.environment.description.benchmark is not None
            if not (self._marks_so(call) if is_mark else await self._ends_so(call)):
                raise InfraError(
                    f"call {call.seq} of {_shortened(repr(call.tool))} does not end here as it is said to have ended"
                )
            self.state.keep(call)
            self.marked = self._marked() + 1 if is_mark else self.marked

    def _marks_so(self, call: KeptCall) -> bool:
        expected = call._replace(
            arguments=to_json({"turn": self._marked()}).decode(), outcome="ok", text="{}", detail=None, changes=b""
        )
        return call == expected

    async def _ends_so(self, call: KeptCall) -> bool:
        """True if a call ends as it is said to have ended."""
        now = self.now()
        told, refusal = self._checked(call.tool, _arguments_in(call))
        if told != call.arguments:
            return False
        if call.outcome not in ("ok", "refused"):
            return self._may_have_failed(call, refusal)
        running = self._run if self.view is None else self._run_seen
        outcome = refusal or await running(call.tool, told, now)
        if outcome.changes:
            outcome = await self._verified(call.tool, outcome, now)
        said = (call.outcome, call.text, call.detail, call.changes)
        return (outcome.kind, outcome.text, outcome.detail, outcome.changes) == said

    def _may_have_failed(self, call: KeptCall, refusal: CallOutcome | None) -> bool:
        """True if a call may have ended so without doing anything. `refusal` is how its arguments are refused here."""
        if call.outcome != "invalid":
            is_short = len(call.text) <= LONGEST_REASON and len(call.detail or "") <= LARGEST_TEXT
            return refusal is None and is_short and call.text.startswith(f"{call.tool} ")
        if call.tool not in (self.environment if self.view is None else self.view).tools:
            return refusal is not None and call.detail is None  # its name may have been longer than a history keeps it
        too_long = [_too_long(call.tool, why) for why in (MANY_CHECKS, MANY_ALTERNATIVES)]
        might_be = [_unreadable(call.tool), *too_long, *([refusal] if refusal else [])]
        return call.detail is None and call.text in [one.text for one in might_be]

    async def image(self, *, plain: bool = False) -> Image:
        """The current rows, as the bytes of a SQLite database. Call this within a turn.

        Raises:
            StateError: the state file is damaged.
        """
        return await self.verification.image(self.environment, self.start, self.state, plain=plain)

    def changed_rows(self, changes: bytes) -> list[RowChange]:
        """A stored changeset as rows."""
        return in_changeset(changes, self.start.tables) if changes else []

    def changed_rows_as_json(self, changes: bytes) -> str:
        """The same, as a JSON list. Raises QueryError if they are too large."""
        return changeset_as_json(changes, self.start.tables) if changes else as_json(())

    def now(self, seq: int | None = None) -> str:
        """The instance's time at call `seq` (from 1), by default at the next one."""
        passed = (self.state.last if seq is None else seq - 1) * SECONDS_PER_CALL
        return (self._begin + timedelta(seconds=passed)).isoformat(sep=" ")

    @cached_property
    def _begin(self) -> datetime:
        return datetime.fromisoformat(self.state.origin.clock)

    async def _run_seen(self, tool: str, told: str, now: str) -> CallOutcome:
        """Run a call of a perturbed tool, and return what its agent sees of the outcome."""
        view, seq = self.view, self.state.last + 1
        if view is None or tool in view.foreign:
            return CallOutcome("refused", NOT_OPEN.format(tool))
        if view.fault(self.state.origin.seed, seq):
            return CallOutcome("refused", TRANSIENT)
        own = view.own_text(tool, told)
        outcome = await self._run(*own, now)
        if outcome.structured is None:
            return outcome._replace(text=view.seen_text(outcome.text, own[0]))
        structured = view.seen_result(outcome.structured, seq)
        return outcome._replace(text=ENCODER.encode(structured), structured=structured)

    def _checked(self, tool: str, arguments: dict[str, Any]) -> tuple[str, CallOutcome | None]:
        """The arguments as the JSON that a guest is told, or that they are none; and what is wrong with the call."""
        told, own = _as_json(arguments), self.state.origin.tools
        seen = self.environment if self.view is None else self.view
        if tool not in seen.tools or (own is not None and tool not in own):
            names = ", ".join(one.name for one in self.listed_tools())
            text = f"there is no tool named {_shortened(repr(tool))}; the tools are: {names}"
            return told, CallOutcome("invalid", text)
        check = seen.checks[tool]
        try:
            if not told or (NUL in told and _has_nul(arguments)):
                return told, _unreadable(tool)
            if len(told) * check.width > MOST_CHECKS_A_CALL and values_in(told) * check.width > MOST_CHECKS_A_CALL:
                raise TooManyChecks(MANY_CHECKS)  # there are no more values than bytes, and counting takes time
            if check.is_right(arguments, told):
                return told, None
            given = check.with_integers(arguments)
            told = told if given is arguments else _as_json(given)
            problems = check.problems(given, told)
        except TooManyChecks as error:
            return told, _too_long(tool, str(error))
        except ValueError:  # the validator has a depth of its own
            return told, _unreadable(tool)
        return told, CallOutcome("invalid", f"{tool} was not called: " + "; ".join(problems)) if problems else None

    def _too_much(self) -> str | None:
        """Why there is no room for another call. A call refused here is not in the history."""
        if self.waiting >= MOST_WAITING:
            return f"more than {MOST_WAITING} calls at once; wait for the earlier ones"
        if self.state.size > LARGEST_HISTORY:
            most = LARGEST_HISTORY // 1024 // 1024
            return f"the history of this instance has used up its {most} MiB; it takes no more calls"
        if self.pace is not None and not self.pace.take():
            return f"slow down: at most {self.pace.per_second:g} calls a second; nothing was done, call again later"
        return None

    async def _run(self, tool: str, told: str, now: str) -> CallOutcome:
        """Run a call in a guest. If the guest dies, or is not scheduled, another one is asked once.

        Raises:
            GuestError: the second one did not finish either, and it was not the tool's fault.
        """
        try:
            return await self._asked(tool, told, now)
        except GuestLate as error:
            return self._late(tool, error)
        except GuestError:
            pass
        try:
            return await self._asked(tool, told, now)
        except GuestLate as error:
            return self._late(tool, error)
        except GuestDied as error:
            if self.guest is None or not await self.guests.own_doing(self.guest):
                raise
            text = f"{tool} crashed; this is a fault of the tool, and nothing was changed"
            return CallOutcome("died", text, detail=str(error))

    def _late(self, tool: str, error: GuestLate) -> CallOutcome:
        seconds = self.guests.call_seconds
        text = f"{tool} did not finish within {seconds:g} s and was stopped; nothing was changed"
        return CallOutcome("timeout", text, detail=str(error), micros=int(seconds * 1e6))

    async def _asked(self, tool: str, told: str, now: str) -> CallOutcome:
        seq, origin = self.state.last + 1, self.state.origin
        self.state.begin_call()
        head = {
            "do": "call",
            "instance": origin.id,
            "revision": self.state.revision,
            "next_revision": self.state.next_revision,
            "tool": tool,
            "now": now,
            "id_seed": f"{origin.seed}/{seq}",
        }
        waited_for: Guest | None = None
        while True:
            guest = self.guest
            if guest is None or not guest.is_fit:
                guest = self.guest = await self.guests.serving(self.environment, self.id, guest)
            patient = guest is waited_for and guest.is_held  # all are busy: this call keeps its place in a queue
            try:
                async with guest.turn(patient=patient):
                    if guest.ended is not None:
                        continue  # it was killed for another call while this one waited
                    outcome = await self._answered(guest, head, tool, told.encode())
            except GuestHeld:
                waited_for = guest
                continue
            if guest.turns.since is not None:  # another call has it by now, which is sent first: so both work at once
                await asyncio.sleep(0)
            return outcome

    async def _answered(self, guest: Guest, head: dict[str, Any], tool: str, arguments: bytes) -> CallOutcome:
        reply, parts = await guest.ask(head, arguments, seconds=self.guests.call_seconds)
        if "need" in reply:
            await self._hydrate(guest)
            reply, parts = await guest.ask(head, arguments, seconds=self.guests.call_seconds)
        try:
            return self._believed(tool, reply, parts)
        except (LookupError, ValueError, TypeError, ArithmeticError, RecursionError) as error:
            guest.kill("lied", f"answered what is not an outcome: {error}")
            raise GuestDied(f"a guest ended: {guest.ended}") from None

    async def _hydrate(self, guest: Guest) -> None:
        head = {
            "do": "hydrate",
            "instance": self.id,
            "revision": self.state.revision,
            "image": self.start.digest,
            "room": self.guests.room_each,
        }
        changes = await self.verification.changes_since_start(self.state)
        seconds = self.guests.call_seconds
        reply, _ = await guest.ask(head, changes, seconds=seconds)
        if "need" in reply:
            await guest.ask({"do": "image", "digest": self.start.digest}, self.start.image, seconds=seconds)
            await guest.ask(head, changes, seconds=seconds)

    async def _verified(self, tool: str, outcome: CallOutcome, now: str) -> CallOutcome:
        """An outcome with verified changes, or the failure instead, which leaves the rows unchanged.

        Raises:
            GuestError: no guest could verify them.
        """
        try:
            changes = await self.verification.verify(self.environment, self.start, self.state, outcome.changes, now=now)
            return outcome if changes == outcome.changes else outcome._replace(changes=changes)
        except ChangesError as error:
            if self.guest is not None:
                self.guest.kill("lied", str(error))
            return self._fault(tool, str(error), outcome.micros)
        except GuestLate:
            took = f"took more than {self.guests.call_seconds:g} s to check"
            text = f"{tool} was stopped: the rules of the database {took}; nothing was changed"
            return CallOutcome("timeout", text, detail="killed while it verified the changes", micros=outcome.micros)
        except GuestDied as error:
            return self._fault(tool, f"its changes could not be verified: {error}", outcome.micros)

    def _believed(self, tool: str, reply: dict[str, Any], parts: list[bytes]) -> CallOutcome:
        """A guest's reply as an outcome, after validation. Raises the reader's errors."""
        kind, micros = reply["outcome"], min(max(int(reply["micros"]), 0), MOST_MICROS)
        text, changes = parts[0].decode(), parts[1]
        if len(parts[0]) > LARGEST_TEXT:
            raise ValueError(f"{len(parts[0])} bytes of text")
        if kind == "refused":
            return CallOutcome("refused", text, micros=micros)
        if kind == "failed":
            return self._fault(tool, text, micros)
        if kind != "ok":
            raise ValueError(f"the outcome {kind!r}")
        try:
            structured = _object(text)
        except _UnfitResult as error:
            return self._fault(tool, str(error), micros)
        if changes and not self.environment.tools[tool].writes:
            return self._fault(tool, "it says that it only reads, and it changed rows", micros)
        said = structured.get("result") if self.environment.description.benchmark is not None else None
        said = said if isinstance(said, str) else None
        return CallOutcome("ok", text, structured, changes=changes, micros=micros, said=said)

    def _fault(self, tool: str, detail: str, micros: int) -> CallOutcome:
        text = f"{tool} failed; this is a fault of the tool, not of your request, and nothing was changed"
        return CallOutcome("failed", text, detail=detail, micros=micros)

    def _told(self, tool: str, outcome: CallOutcome, begin: float) -> CallOutcome:
        """Count and log an outcome, and return it."""
        self.watch.called(
            self.environment.description.id,
            _shortened(tool),
            outcome.kind,
            instance=self.state.origin.id,
            seq=self.state.last,
            seconds=time.perf_counter() - begin,
            micros=outcome.micros,
            guest=None if self.guest is None else self.guest.pid,
            detail=outcome.detail,
        )
        return outcome

    def _keep(self, tool: str, told: str, outcome: CallOutcome) -> None:
        self.state.keep(
            KeptCall(
                seq=self.state.last + 1,
                tool=_shortened(tool.encode("utf-8", "replace").decode()),
                arguments=told or "{}",
                outcome=outcome.kind,
                text=outcome.text,
                detail=outcome.detail,
                changes=outcome.changes,
                micros=outcome.micros,
                at=time.time(),
            )
        )


def _arguments_in(call: KeptCall) -> dict[str, Any]:
    """The arguments of a call of a history from elsewhere. Raises InfraError if they are no JSON object."""
    with suppress(ValueError):
        arguments: Any = from_json(call.arguments, allow_inf_nan=False)
        if is_object(arguments):
            return arguments
    raise InfraError(f"call {call.seq} has arguments that are no JSON object")


def _unreadable(tool: str) -> CallOutcome:
    text = (
        f"its arguments are not JSON, nested deeper than {DEEPEST}, or hold a NUL character or half of a surrogate pair"
    )
    return CallOutcome("invalid", f"{tool} was not called: {text}")


def _too_long(tool: str, why: str) -> CallOutcome:
    return CallOutcome("invalid", f"{tool} was not called: its arguments come to {why}; give fewer at once")


def _has_nul(value: object) -> bool:
    """True if a text or a name in a value holds a NUL character, where SQLite takes a text to end."""
    if isinstance(value, str):
        return "\0" in value
    names = value if is_object(value) else ()
    return any("\0" in name for name in names) or any(map(_has_nul, parts_of(value)))


def _as_json(arguments: dict[str, Any]) -> str:
    """The arguments as JSON. Empty if they hold values that JSON lacks: lone surrogates, NaN, a great depth."""
    try:
        text = to_json(arguments).decode()
        if "NaN" in text or "Infinity" in text:  # a text may hold these words, and a number is refused
            text = ENCODER.encode(arguments)
    except (ValueError, RecursionError):
        return ""
    return "" if is_deeper(arguments, text, DEEPEST) else text


def _refuse_infinity(result: dict[str, Any]) -> None:
    """Refuse a number such as 1e999, which one reader takes as infinite and another as null."""
    try:
        ENCODER.encode(result)
    except ValueError:
        raise _UnfitResult("its result holds a number that is too large for JSON") from None


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}…"


class _UnfitResult(Exception):
    """A result that not every reader takes, or not as the others do. An honest guest may send it."""


def _object(text: str) -> dict[str, Any]:
    """A guest's result, if it is a JSON object that every reader takes.

    Raises _UnfitResult, and the parser's errors.
    """
    if len(text) > MOST_RESULT_VALUES and has_more_values(text.encode(), MOST_RESULT_VALUES):
        raise _UnfitResult(f"its result holds more than {MOST_RESULT_VALUES:,} values")
    too_deep = _UnfitResult(f"its result is nested deeper than {DEEPEST}")
    try:
        result: Any = from_json(text, allow_inf_nan=False)
    except ValueError:
        if is_deeper(json.loads(text), text, DEEPEST):  # its reader follows no further than twice that depth
            raise too_deep from None
        raise
    if not is_object(result):
        raise TypeError("a result that is no object")
    if is_deeper(result, text, DEEPEST):
        raise too_deep
    if MAY_OVERFLOW.search(text):
        _refuse_infinity(result)
    twice = key_twice_in(text) if text.count(":") != len(result) else None  # few texts have a colon, as keys do
    if twice is not None:
        raise _UnfitResult(f"its result has the key {_shortened(repr(twice))} twice in one object")
    return result
