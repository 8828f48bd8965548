"""The base of every kind of checkpoint, and its interface to the farm.

A kind is a class in a file of its own. It inherits from `RowCheckpoint` if it reads only rows, and then defines `cost`
and `asked`. Any other kind defines `asked_together`. The other methods have defaults for a kind without SQL, Python and
names.
"""

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeVar

from pydantic import Field

from servers.errors import BrokenQuery, CheckpointError, QueryError
from servers.guest.frames import GuestReply
from servers.guest.sqlite.image import Image
from servers.limits.processor_budget import ProcessorBudget
from servers.records import Name, Record
from servers.state.rows import QueryResult, RowChange

SLICE_SECONDS = 0.05
"""Seconds of one thread job with checkpoints over rows. Then others may have a turn."""
LONGEST_QUESTION = 2_000
"""Characters of a question."""
NO_CALLS = b"[]"
T = TypeVar("T")


class CheckpointResult(NamedTuple):
    """Whether a checkpoint holds, and what it found. `error` is its failure on this state."""

    holds: bool
    seen: str = ""
    error: str | None = None


def calls_as_json(calls: Iterable[tuple[str, str, str]]) -> bytes:
    """Calls for checkpoints: tool, JSON of the arguments, and outcome of each."""
    told = bytearray()
    for tool, arguments, outcome in calls:
        told += b", " if told else b"["
        told += f'{{"tool": {json.dumps(tool)}, "arguments": {arguments}, "outcome": {json.dumps(outcome)}}}'.encode()
    return bytes(told) + b"]" if told else b"[]"


class RunInThread(Protocol):
    """Runs a job in a thread."""

    def __call__(self, job: Callable[[], T], /) -> Awaitable[T]: ...


class StateReader(Protocol):
    """A state and its start, for checkpoints (`servers.state.readonly_query.Reader`).

    A protocol, so that reading a scenario does not import SQLite.
    """

    budget: ProcessorBudget

    def select(self, sql: str, *, answer: str | None = None, rows: int = ..., steps: int = ...) -> QueryResult: ...
    def tables(self) -> list[str]: ...
    def columns(self, table: str) -> tuple[list[str], list[str]]: ...
    def differences(self) -> Iterator[RowChange]: ...
    def images(self) -> tuple[Image, Image]: ...
    def finding(self, sql: str, names: frozenset[str] = ...) -> str | None: ...
    def width(self, sql: str) -> int: ...


class GuestJobs(Protocol):
    """Guests that run untrusted Python (`servers.sandbox.guest_pool.Guests`)."""

    call_seconds: float

    async def job(
        self,
        head: dict[str, Any],
        *parts: Image,
        seconds: float,
        doubtful: Callable[[GuestReply], bool] | None = None,
        budget: ProcessorBudget | None = None,
    ) -> GuestReply: ...
    async def compiled(self, environment: str, start: Image, *, seconds: float) -> bytes: ...


@dataclass(frozen=True)
class JudgedRun:
    """The subject of a judgement: a state and its start, the agent's last words, and its calls."""

    reader: StateReader
    answer: str
    calls: bytes
    """JSON of the calls, as `calls_as_json` makes it. Only a guest parses it, since agents wrote parts of it."""
    now: str
    guests: GuestJobs
    in_thread: RunInThread
    environment: str = ""
    """The digest of its environment. Without it, nothing of the environment is remembered for the next judgement."""


Role = Literal["goal", "guard", "probe"]
"""A goal must become true, a guard must stay true. A probe says which of several ends came about, and earns nothing."""


class CheckpointKind(Record, ABC):
    """A checkpoint: a question about a final state, whether any reward requires it, and its weight."""

    id: Name
    role: Role
    question: str = Field(min_length=1, max_length=LONGEST_QUESTION)
    weight: float = Field(default=1.0, gt=0, le=1000)

    cost: ClassVar[int]
    """Kinds of lower cost are asked first."""
    needs_images: ClassVar[bool] = False
    """True if it reads the state as an image of its own, not through the judge's connection."""
    needs_calls: ClassVar[bool] = False
    """True if it reads the agent's calls. Otherwise they are not loaded."""
    depends_on_others: ClassVar[bool] = False
    """True if all of this kind must be asked in one judgement, as their results depend on each other."""

    @classmethod
    @abstractmethod
    async def asked_together(cls, checkpoints: Sequence["CheckpointKind"], case: JudgedRun) -> list[CheckpointResult]:
        """Ask the checkpoints of this kind. The results are in their order.

        Raises:
            CheckpointError: one cannot be asked about any state.
            InfraError: the farm failed to finish one, twice.
        """

    def unknown_names(self, tables: frozenset[str]) -> Iterator[str]:
        """The names in it that the environment does not have."""
        return iter(())

    def sources(self) -> Sequence[str]:
        """The Python sources in it."""
        return ()

    def state_findings(self, start: StateReader) -> Iterator[str]:
        """Why it can never be answered, by the first state. SQL is compiled and not run."""
        return iter(())

    async def run_findings(self, start: Image, clock: str, guests: GuestJobs) -> Sequence[str]:
        """Why it can never be answered, by a run with the first state as both states."""
        return ()

    def looks_for_words(self) -> bool:
        """True if it reads the answer's text, which only facts should."""
        return False

    def hidden_texts(self) -> Sequence[str]:
        """Its texts that no agent may read, beside its question."""
        return ()

    def broken(self, problem: object) -> CheckpointError:
        """The error for a checkpoint that cannot be asked about any state."""
        return CheckpointError(f"checkpoint {self.id!r} cannot be asked: {problem}")


class RowCheckpoint(CheckpointKind):
    """A checkpoint over the rows of the final and the first state. All kinds of it are asked in order."""

    @abstractmethod
    def asked(self, case: JudgedRun) -> CheckpointResult:
        """Ask it. Runs in a thread.

        Raises:
            BrokenQuery: it cannot be asked about any state.
            QueryError: it cannot be asked about this state, so it does not hold.
        """

    @classmethod
    async def asked_together(cls, checkpoints: Sequence[CheckpointKind], case: JudgedRun) -> list[CheckpointResult]:
        own = [one for one in checkpoints if isinstance(one, cls)]
        found: list[CheckpointResult] = []
        while len(found) < len(own):
            rest = own[len(found) :]
            found += await case.in_thread(lambda rest=rest: _some_asked(rest, case))
        return found


def _some_asked(checkpoints: Sequence[RowCheckpoint], case: JudgedRun) -> list[CheckpointResult]:
    """Ask as many of the first checkpoints as fit into a slice of time: a thread hop costs as much as one."""
    until = time.monotonic() + SLICE_SECONDS
    found: list[CheckpointResult] = []
    for checkpoint in checkpoints:
        try:
            found.append(checkpoint.asked(case))
        except BrokenQuery as problem:
            raise checkpoint.broken(problem) from None
        except QueryError as problem:
            found.append(CheckpointResult(holds=False, error=str(problem)))
        if time.monotonic() > until:
            break
    return found
