"""The facts that an answer must tell, asked of a state, and what an answer says of them."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from servers.answer.checks.question import AnswerQuestion, FactVerdict
from servers.answer.checks.verdict import verdicts
from servers.answer.expected_fact import ExpectedFact, wanted
from servers.answer.fact import AnswerCheckpoint, Cell, Fact
from servers.errors import CheckpointError, QueryError, RequestError
from servers.state.readonly_query import BrokenQuery, Reader


class AnswerFinding(NamedTuple):
    """Whether a checkpoint holds, why not, and what is wrong with the checkpoint itself."""

    holds: bool
    seen: str = ""
    error: str | None = None


def asked_of(checkpoints: Sequence[AnswerCheckpoint], reader: Reader, answer: str, now: str) -> list[AnswerFinding]:
    """What an answer says to all checkpoints of its kind: the facts of each may be told beside those of the others."""
    clock = datetime.fromisoformat(now)
    found: list[AnswerFinding | AnswerQuestion] = [_question(one, reader) for one in checkpoints]
    told = iter(verdicts([one for one in found if isinstance(one, AnswerQuestion)], answer, clock))
    return [one if isinstance(one, AnswerFinding) else _finding(next(told)) for one in found]


def _finding(told: FactVerdict) -> AnswerFinding:
    return AnswerFinding(told.holds, "" if told.holds else told.why)


def _question(checkpoint: AnswerCheckpoint, reader: Reader) -> AnswerQuestion | AnswerFinding:
    """The facts of a checkpoint with their values, or why it does not hold whatever is said."""
    try:
        if checkpoint.only_if is not None and not _is_true(checkpoint.only_if, reader):
            return AnswerFinding(False, "the state is not one in which there is this to tell")
        return AnswerQuestion(
            tuple(_wanted(fact, reader) for fact in checkpoint.facts),
            asked=checkpoint.question,
            tell=checkpoint.tell,
            given=checkpoint.given,
            silent=(*checkpoint.silent, *_words(checkpoint.silent_sql, reader)),
        )
    except BrokenQuery as problem:
        raise CheckpointError(f"checkpoint {checkpoint.id!r} cannot be asked: {problem}") from None
    except RequestError as problem:
        return AnswerFinding(False, error=str(problem))


def _wanted(fact: Fact, reader: Reader) -> ExpectedFact:
    found = None if fact.sql is None else _column(fact.sql, reader)
    if found is not None and fact.type not in ("list", "none") and not found:
        raise QueryError(f"fact {fact.name!r}: the SELECT gives no value")
    return wanted(fact, found, _column(fact.confusable_sql, reader) if fact.confusable_sql else ())


def _is_true(sql: str, reader: Reader) -> bool:
    rows = reader.select(sql).rows
    return len(rows) == 1 and bool(rows[0][0])


def _words(sql: str | None, reader: Reader) -> list[str]:
    return [str(word) for word in _column(sql, reader)] if sql else []


def _column(sql: str, reader: Reader) -> list[Cell]:
    """The values of the first column of a SELECT."""
    return [row[0] for row in reader.select(sql).rows if row[0] is not None and not isinstance(row[0], bytes)]
