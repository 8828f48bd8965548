"""One agent's own copy of an environment, while it is in use.

It can be dropped at any time: its state file has everything.
"""

import asyncio
import json
import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, cast

from servers.bundle import Environment
from servers.guests import CALL_SECONDS, Guest, GuestDied, GuestLate, Guests
from servers.orders import OutcomeKind
from servers.starts import Start
from servers.state import KeptCall, StateFile

SECONDS_PER_CALL = 60
MOST_WAITING = 32


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one tool call did, as the agent is told. `structured` is the result of a call that went well."""

    kind: OutcomeKind
    text: str
    structured: dict[str, Any] | None = None
    detail: str | None = None
    changes: bytes = b""
    micros: int = 0

    @property
    def is_error(self) -> bool:
        return self.kind != "ok"


@dataclass
class Instance:
    """An instance in use: its environment, its start, its state file. Its calls take turns."""

    environment: Environment
    start: Start
    state: StateFile
    guests: Guests
    used: float = field(default_factory=time.monotonic)
    waiting: int = 0
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # protects state: one call at a time

    @property
    def id(self) -> str:
        return self.state.origin.id

    @property
    def instructions(self) -> str:
        """What an agent reads first: what this is, its rules, and what time it is here."""
        return (
            f"{self.environment.instructions}\nIt is {self.state.origin.clock} when you begin; a call takes a minute.\n"
        )

    async def call(self, tool: str, arguments: dict[str, Any]) -> Outcome:
        """Make one call, keep what it did, and say what to tell the agent.

        Raises:
            InfraError: no guest can be started, or the state cannot be written. Nothing has changed then.
        """
        if self.waiting >= MOST_WAITING:
            return Outcome("invalid", f"more than {MOST_WAITING} calls at once; wait for the earlier ones")
        self.waiting += 1
        try:
            async with self.turn:
                outcome = self._refusal(tool, arguments) or await self._run(tool, arguments)
                self._keep(tool, arguments, outcome)
                return outcome
        finally:
            self.waiting -= 1
            self.used = time.monotonic()

    def now(self, seq: int | None = None) -> str:
        """The instance's time at call `seq` (from 1); by default at the next one."""
        begin = datetime.fromisoformat(self.state.origin.clock)
        passed = (self.state.last if seq is None else seq - 1) * SECONDS_PER_CALL
        return (begin + timedelta(seconds=passed)).isoformat(sep=" ")

    def _refusal(self, tool: str, arguments: dict[str, Any]) -> Outcome | None:
        """What is wrong with a call that no guest needs to see."""
        if tool not in self.environment.tools:
            names = ", ".join(self.environment.tools)
            return Outcome("invalid", f"there is no tool named {tool!r}; the tools are: {names}")
        validator = self.environment.validators[tool]
        if validator.is_valid(arguments):
            return None
        problems: list[str] = []
        for error in validator.iter_errors(arguments):
            place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.instance_path)
            problems.append(f"argument {place[1:]}: {error.message}" if place else error.message)
        return Outcome("invalid", f"{tool} was not called: " + "; ".join(problems[:10]))

    async def _run(self, tool: str, arguments: dict[str, Any]) -> Outcome:
        """Ask a guest; when one dies in the middle, ask another once."""
        cause = ""
        for _ in range(2):
            try:
                return await self._asked(tool, arguments)
            except GuestLate:
                text = f"{tool} did not finish within {CALL_SECONDS:g} s and was stopped; nothing was changed"
                return Outcome("timeout", text, detail="killed at its deadline", micros=int(CALL_SECONDS * 1e6))
            except GuestDied as error:
                cause = str(error)
        return Outcome("died", f"{tool} crashed; this is a fault of the tool, and nothing was changed", detail=cause)

    async def _asked(self, tool: str, arguments: dict[str, Any]) -> Outcome:
        seq = self.state.last + 1
        head = {
            "do": "call",
            "instance": self.id,
            "revision": self.state.revision,
            "next_revision": f"{self.state.origin.generation}.{seq}",
            "tool": tool,
            "arguments": arguments,
            "now": self.now(),
            "id_seed": f"{self.state.origin.seed}/{seq}",
        }
        while True:
            guest = await self.guests.serving(self.environment)
            async with guest.turn():
                if guest.ended is not None:
                    continue  # it was killed for another call while this one waited
                reply, parts = await guest.ask(head, seconds=CALL_SECONDS)
                if "need" in reply:
                    await self._hydrate(guest)
                    reply, parts = await guest.ask(head, seconds=CALL_SECONDS)
                try:
                    return self._believed(tool, reply, parts)
                except (KeyError, IndexError, ValueError, TypeError, RecursionError) as error:
                    guest.kill(f"answered what is not an outcome: {error}")
                    raise GuestDied(f"a guest ended: {guest.ended}") from None

    async def _hydrate(self, guest: Guest) -> None:
        head = {
            "do": "hydrate",
            "instance": self.id,
            "revision": self.state.revision,
            "image": self.start.digest,
        }
        changes = self.state.changes_since_start()
        reply, _ = await guest.ask(head, changes, seconds=CALL_SECONDS)
        if "need" in reply:
            await guest.ask({"do": "image", "digest": self.start.digest}, self.start.image, seconds=CALL_SECONDS)
            await guest.ask(head, changes, seconds=CALL_SECONDS)

    def _believed(self, tool: str, reply: dict[str, Any], parts: list[bytes]) -> Outcome:
        """A guest's word as an outcome, once it has been checked. Raises what reading it raises."""
        kind, micros = reply["outcome"], int(reply["micros"])
        text, changes = parts[0].decode(), parts[1]
        structured: Any = json.loads(text) if kind == "ok" else None
        if kind == "ok" and changes and not self.environment.tools[tool].writes:
            return self._fault(tool, "it says that it only reads, and it changed rows", micros)
        if kind == "ok" and isinstance(structured, dict):
            return Outcome("ok", text, cast("dict[str, Any]", structured), changes=changes, micros=micros)
        if kind == "refused":
            return Outcome("refused", text, micros=micros)
        return self._fault(tool, text, micros)

    def _fault(self, tool: str, detail: str, micros: int) -> Outcome:
        text = f"{tool} failed; this is a fault of the tool, not of your request, and nothing was changed"
        return Outcome("failed", text, detail=detail, micros=micros)

    def _keep(self, tool: str, arguments: dict[str, Any], outcome: Outcome) -> None:
        self.state.keep(
            KeptCall(
                seq=self.state.last + 1,
                tool=tool,
                arguments=json.dumps(arguments, ensure_ascii=False),
                outcome=outcome.kind,
                text=outcome.text,
                detail=outcome.detail,
                changes=outcome.changes,
                micros=outcome.micros,
                at=time.time(),
            )
        )
