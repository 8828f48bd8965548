"""Asks a writer until its answer is accepted, and records the exchanges."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import cache
from typing import Any, TypeVar

from pydantic import SerializerFunctionWrapHandler, ValidationError, model_serializer

from servers.errors import FarmError
from servers.records import Record
from servers.validation import problems
from synth.llm.writer import (
    BadAnswer,
    Writer,
    WriterAnswer,
    WriterMessage,
    prompt_digest,
)

T = TypeVar("T", bound=Record)
ItemT = TypeVar("ItemT")
MOST_REASONS = 20


class Rejected(FarmError):
    """No answer of a stage was accepted. `reasons` are those of the last attempt."""

    def __init__(self, stage: str, reasons: Sequence[str]) -> None:
        super().__init__(f"{stage}: {'; '.join(reasons)}")
        self.stage = stage
        self.reasons = tuple(reasons)


class WriterExchange(Record):
    """One request to the writer. `reasons` say why the answer was refused, and are empty if it was accepted.

    `attempt` counts from 1. It is 0 in old artefacts without it, whose digests cover their content.
    """

    prompt: str
    model: str
    prompt_tokens: int
    completion_tokens: int
    cached: bool
    reasons: tuple[str, ...]
    attempt: int = 0

    @model_serializer(mode="wrap")
    def _known(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        kept: dict[str, Any] = plain(self)
        return kept if self.attempt else {name: value for name, value in kept.items() if name != "attempt"}


class Asker:
    """The writer of one environment and stage."""

    def __init__(
        self,
        writer: Writer,
        *,
        environment: str,
        stage: str,
        on_exchange: Callable[[WriterExchange], None] | None = None,
    ) -> None:
        self._writer = writer
        self._environment = environment
        self._stage = stage
        self._on_exchange = on_exchange
        self.exchanges: list[WriterExchange] = []

    async def ask(
        self,
        messages: Sequence[WriterMessage],
        kind: type[T],
        accept: Callable[[T], Awaitable[list[str]]],
        *,
        attempts: int = 4,
    ) -> T:
        """Ask for a value of a kind until `accept` has no finding.

        Raises:
            Rejected: no attempt was accepted.
            WriterError: there is no answer.
        """
        schema = schema_of(kind)
        reasons: list[str] = []
        said = list(messages)
        for attempt in range(1, attempts + 1):
            try:
                answer = await self._writer.ask(said, schema, label=f"{self._environment}/{self._stage}")
            except BadAnswer as bad:
                text, reasons = bad.text, [bad.why]
                spent = bad.spent or WriterAnswer.nothing(prompt_digest(said, schema))
                self._keep(_exchange(spent, reasons, attempt))
            else:
                text = json.dumps(answer.value, ensure_ascii=False, indent=1)
                value, reasons = _read(answer, kind)
                if value is not None:
                    reasons = await accept(value)
                self._keep(_exchange(answer, reasons, attempt))
                if value is not None and not reasons:
                    return value
            said = [*messages, *_told(text, reasons, f"attempt {attempt} of {attempts}")]
        raise Rejected(self._stage, reasons)

    def _keep(self, exchange: WriterExchange) -> None:
        self.exchanges.append(exchange)
        if self._on_exchange is not None:
            self._on_exchange(exchange)


@cache
def schema_of(kind: type[Record]) -> dict[str, Any]:
    """The JSON Schema of a kind. Docstrings of its classes are part of it, so a writer reads them."""
    return kind.model_json_schema()


def _read(answer: WriterAnswer, kind: type[T]) -> tuple[T | None, list[str]]:
    try:
        return kind.model_validate(answer.value), []
    except ValidationError as error:
        return None, in_words(error)


def in_words(error: ValidationError) -> list[str]:
    """The faults of a value, a sentence each, for its writer."""
    return problems(error, whole="the answer", most=MOST_REASONS)


def _exchange(answer: WriterAnswer, reasons: Sequence[str], attempt: int) -> WriterExchange:
    return WriterExchange(**answer.model_dump(exclude={"value"}), reasons=tuple(reasons), attempt=attempt)


def _told(text: str, reasons: Sequence[str], which: str) -> tuple[WriterMessage, ...]:
    """The reply to the writer's last answer. Earlier ones would fill its context.

    It includes the attempt's number, so that a repeated answer does not repeat the request.
    """
    listed = "\n".join(f"- {reason}" for reason in reasons)
    request = f"This answer was not accepted ({which}):\n{listed}\n\nAnswer again, in full, with all of this put right."
    return (WriterMessage(role="assistant", content=text or "(nothing)"), WriterMessage(role="user", content=request))


async def gather_all(waits: Iterable[Awaitable[ItemT]]) -> list[ItemT]:
    """The results in order. Every one ends before the first error is raised.

    So a batch holds all questions of a stage. A task group would cancel the others at the first that waits.
    """
    done = await asyncio.gather(*waits, return_exceptions=True)
    for one in done:
        if isinstance(one, BaseException):
            raise one
    return [one for one in done if not isinstance(one, BaseException)]
