"""Checkpoints of kind `answer`: the facts that the agent's last words must tell, resolved against a state."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from servers.answer.checks.verdict import verdicts
from servers.answer.expected_fact import READ_AS, ExpectedFact, wanted
from servers.answer.fact import LONGEST_GIVEN, LONGEST_VALUE, MOST_FACTS, MOST_WORDS, Cell, Fact, Word
from servers.answer.question import AnswerQuestion, FactVerdict
from servers.errors import BrokenQuery, QueryError, RequestError
from servers.scenario.checkpoints.checkpoint import CheckpointKind, CheckpointResult, JudgedRun, StateReader


class AnswerCheckpoint(CheckpointKind):
    """Holds when the agent's last words tell the facts and nothing that could be taken for them."""

    kind: Literal["answer"]
    facts: tuple[Fact, ...] = Field(default=(), max_length=MOST_FACTS)
    tell: Literal["all", "any"] = "all"
    """Whether all facts must be told, or one of them."""
    given: tuple[Annotated[str, Field(max_length=LONGEST_GIVEN)], ...] = Field(default=(), max_length=MOST_WORDS)
    """Texts whose values may be told too: the task gives them, or they are true and related."""
    silent: tuple[Word, ...] = Field(default=(), max_length=MOST_WORDS)
    """Words that the answer must not contain."""
    silent_sql: str | None = None
    last_line: bool = Field(default=False, exclude_if=lambda demanded: not demanded)
    """Whether the facts must be told in the last line of the answer, which agents are told behind the task."""
    only_if: str | None = None
    """A SELECT over the final state whose single value must be true. Otherwise nothing has to be told."""

    cost: ClassVar[int] = 2
    depends_on_others: ClassVar[bool] = True

    @model_validator(mode="after")
    def something_to_see(self) -> "AnswerCheckpoint":
        if not self.facts and not self.silent and self.silent_sql is None:
            raise ValueError("an answer checkpoint without facts to tell or words to keep silent about sees nothing")
        names = [fact.name for fact in self.facts]
        if len(set(names)) < len(names):
            raise ValueError("two facts of one name")
        if self.last_line and self.tell == "all" and len(self.facts) > 1:
            raise ValueError("a question whose answer stands in the last line asks for one fact")
        if self.last_line and self.tell == "any" and any(fact.type not in READ_AS for fact in self.facts):
            raise ValueError("a reason in the last line is an amount, a count, a date, a time or a duration")
        return self

    @classmethod
    async def asked_together(cls, checkpoints: Sequence[CheckpointKind], case: JudgedRun) -> list[CheckpointResult]:
        """Ask all. The facts of each may be told beside those of the others."""
        own = [one for one in checkpoints if isinstance(one, cls)]
        return await case.in_thread(lambda: _asked(own, case))

    def state_findings(self, start: StateReader) -> Iterator[str]:
        for place, sql in self._selects():
            why = start.finding(sql) if sql else None
            if why:
                yield f"{place}: {why}"

    def _selects(self) -> Iterator[tuple[str, str | None]]:
        """Its SELECTs, with their places."""
        yield from (("only_if", self.only_if), ("silent_sql", self.silent_sql))
        for fact in self.facts:
            yield from (
                (f"facts.{fact.name}.sql", fact.sql),
                (f"facts.{fact.name}.confusable_sql", fact.confusable_sql),
            )

    def written(self) -> AnswerQuestion:
        """The question with the facts whose values stand in the scenario, without a state to ask."""
        facts = tuple(wanted(fact) for fact in self.facts if fact.sql is None)
        return AnswerQuestion(facts, asked=self.question, tell=self.tell, given=self.given, last_line=self.last_line)

    def hidden_texts(self) -> Sequence[str]:
        return tuple(fact.sql for fact in self.facts if fact.sql)


def _asked(checkpoints: Sequence[AnswerCheckpoint], case: JudgedRun) -> list[CheckpointResult]:
    clock = datetime.fromisoformat(case.now)
    found = [_question(one, case.reader) for one in checkpoints]
    told = iter(verdicts([one for one in found if isinstance(one, AnswerQuestion)], case.answer, clock))
    return [one if isinstance(one, CheckpointResult) else _finding(next(told)) for one in found]


def _finding(told: FactVerdict) -> CheckpointResult:
    return CheckpointResult(told.holds, "" if told.holds else told.why)


def _question(checkpoint: AnswerCheckpoint, reader: StateReader) -> AnswerQuestion | CheckpointResult:
    """The facts of a checkpoint with their values, or the verdict if no answer can matter."""
    try:
        if checkpoint.only_if is not None and not _is_true(checkpoint.only_if, reader):
            return CheckpointResult(False, "the state is not one in which there is this to tell")
        return AnswerQuestion(
            tuple(_wanted(fact, reader) for fact in checkpoint.facts),
            asked=checkpoint.question,
            tell=checkpoint.tell,
            given=checkpoint.given,
            silent=(*checkpoint.silent, *_words(checkpoint.silent_sql, reader)),
            last_line=checkpoint.last_line,
        )
    except BrokenQuery as problem:
        raise checkpoint.broken(problem) from None
    except RequestError as problem:
        return CheckpointResult(False, error=str(problem))


def _wanted(fact: Fact, reader: StateReader) -> ExpectedFact:
    found = None if fact.sql is None else _column(fact.sql, reader)
    if found is not None and fact.type not in ("list", "none") and not found:
        raise QueryError(f"fact {fact.name!r}: the SELECT gives no value")
    return wanted(fact, found, _column(fact.confusable_sql, reader) if fact.confusable_sql else ())


def _is_true(sql: str, reader: StateReader) -> bool:
    rows = reader.select(sql).rows
    return len(rows) == 1 and bool(rows[0][0])


def _words(sql: str | None, reader: StateReader) -> list[str]:
    return [str(word) for word in _column(sql, reader)] if sql else []


def _column(sql: str, reader: StateReader) -> list[Cell]:
    """The values of the first column of a SELECT, with the same length limit as written facts."""
    found = [row[0] for row in reader.select(sql).rows if row[0] is not None and not isinstance(row[0], bytes)]
    return [one[:LONGEST_VALUE] if isinstance(one, str) else one for one in found]
