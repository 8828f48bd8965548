"""What every kind of checkpoint has, and what the farm asks of it.

A kind of checkpoint is a class in a file of its own. It inherits from `RowCheckpoint` if it reads the rows alone, and
then has to define `cost` and `asked`. Another kind defines `asked_together`. The other methods have a default: a kind
that holds no SQL, no Python and no names has nothing to say there.
"""

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeVar

from pydantic import Field

from servers.errors import BrokenQuery, CheckpointError, QueryError
from servers.limits.processor_budget import ProcessorBudget
from servers.records import Name, Record
from servers.state.rows import QueryResult, RowChange

SLICE_SECONDS = 0.05
"""How long checkpoints over rows are asked one after another in one job of a thread; then others may have a turn."""
LONGEST_QUESTION = 2_000
"""Characters of a question."""
NO_CALLS = b"[]"
Reply = tuple[dict[str, Any], list[bytes]]
"""What a guest answers: a head, and parts."""
T = TypeVar("T")


class CheckpointResult(NamedTuple):
    """Whether a checkpoint holds, and what was seen. `error` says what this state does to a checkpoint that fails."""

    holds: bool
    seen: str = ""
    error: str | None = None


def calls_as_json(calls: Iterable[tuple[str, str, str]]) -> bytes:
    """Calls as checkpoints see them: the tool, the JSON of its arguments, and the outcome of each."""
    told = (
        f'{{"tool": {json.dumps(tool)}, "arguments": {arguments}, "outcome": {json.dumps(outcome)}}}'
        for tool, arguments, outcome in calls
    )
    return f"[{', '.join(told)}]".encode()


class RunInThread(Protocol):
    """Runs a job in a thread."""

    def __call__(self, job: Callable[[], T], /) -> Awaitable[T]: ...


class StateReader(Protocol):
    """A state and its start, to be read by checkpoints (`servers.state.readonly_query.Reader`).

    Checkpoints know it by this shape alone: what reads a scenario needs no SQLite.
    """

    budget: ProcessorBudget

    def select(self, sql: str, *, answer: str | None = None, rows: int = ..., steps: int = ...) -> QueryResult: ...
    def tables(self) -> list[str]: ...
    def columns(self, table: str) -> tuple[list[str], list[str]]: ...
    def differences(self) -> Iterator[RowChange]: ...
    def images(self) -> tuple[bytes, bytes]: ...
    def finding(self, sql: str, names: frozenset[str] = ...) -> str | None: ...
    def width(self, sql: str) -> int: ...


class GuestJobs(Protocol):
    """Guests, for what untrusted Python is to be run in (`servers.sandbox.guest_pool.Guests`)."""

    call_seconds: float

    async def job(
        self,
        head: dict[str, Any],
        *parts: bytes,
        seconds: float,
        doubtful: Callable[[Reply], bool] | None = None,
        budget: ProcessorBudget | None = None,
    ) -> Reply: ...


@dataclass(frozen=True)
class JudgedRun:
    """What is judged: a state beside its start, the agent's last words, and its calls."""

    reader: StateReader
    answer: str
    calls: bytes
    """JSON of the calls, as `calls_as_json` makes it. Only a guest reads what agents wrote in them."""
    now: str
    guests: GuestJobs
    in_thread: RunInThread


class CheckpointKind(Record, ABC):
    """A checkpoint: a question to a final state, whether it must hold for any reward, and its share of the reward."""

    id: Name
    role: Literal["goal", "guard"]
    question: str = Field(min_length=1, max_length=LONGEST_QUESTION)
    weight: float = Field(default=1.0, gt=0, le=1000)

    cost: ClassVar[int]
    """Kinds of lower cost are asked first."""
    needs_images: ClassVar[bool] = False
    """Whether it reads the state as an image of its own, not by the judge's connection."""
    needs_calls: ClassVar[bool] = False
    """Whether it sees the calls of the agent. Else they are not read."""
    depends_on_others: ClassVar[bool] = False
    """Whether those of this kind must be asked in one judgement: what one says depends on the others."""

    @classmethod
    @abstractmethod
    async def asked_together(cls, checkpoints: Sequence["CheckpointKind"], case: JudgedRun) -> list[CheckpointResult]:
        """Ask those of the checkpoints that are of this kind; the results in their order.

        Raises:
            CheckpointError: one cannot be asked about any state.
            InfraError: the farm could not ask one to its end, twice.
        """

    def unknown_names(self, tables: frozenset[str]) -> Iterator[str]:
        """What it names and the environment does not have."""
        return iter(())

    def sources(self) -> Sequence[str]:
        """The texts of Python in it."""
        return ()

    def state_findings(self, start: StateReader) -> Iterator[str]:
        """Why it can never be answered, asked of the first state. SQL is compiled and not run."""
        return iter(())

    async def run_findings(self, start: bytes, clock: str, guests: GuestJobs) -> Sequence[str]:
        """Why it can never be answered, found by running it on the first state as both states."""
        return ()

    def looks_for_words(self) -> bool:
        """Whether it reads the answer's text, which only facts should."""
        return False

    def hidden_texts(self) -> Sequence[str]:
        """Its texts that no agent may read, beside its question."""
        return ()

    def broken(self, problem: object) -> CheckpointError:
        """The error of a checkpoint that cannot be asked about any state."""
        return CheckpointError(f"checkpoint {self.id!r} cannot be asked: {problem}")


class RowCheckpoint(CheckpointKind):
    """A checkpoint over the rows of the final state and the first one. All kinds of it are asked in their order."""

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
    """Of the first checkpoints, as many as a slice of time holds: the way to a thread costs as much as one."""
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
