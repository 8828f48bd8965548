"""Checkpoints that could never be answered, found before anybody is judged by them: by `farm check` and `farm certify`.

SQL is compiled against the schema and not run; Python runs once, in a guest, on the first state as both states.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import apsw
import apsw.ext

from servers.answer.fact import AnswerCheckpoint
from servers.errors import FarmError
from servers.guest.sqlite.tables import quoted
from servers.sandbox.guest_pool import GuestDied, GuestLate, Guests
from servers.sandbox.source_inspection import Gate, SourceText, inspected
from servers.scenario.scenario import (
    Allowance,
    Checkpoint,
    Comparison,
    FootprintCheckpoint,
    PythonCheckpoint,
    Scenario,
    SqlCheckpoint,
)
from servers.state.readonly_query import TOO_LARGE, TOO_MANY_NAMES, Reader, SelectOnly
from servers.text.plural import counted, noun

ANSWER = frozenset({"answer"})
NO_NAMES = frozenset[str]()
NEVER_RIGHT = ("NameError:", "UnboundLocalError:")
"""Faults that depend on no state, beside those of its text. Others may say that a goal's row is not there yet."""
SEEN_IN_THE_TEXT = ("SyntaxError:", "ImportError:", "ModuleNotFoundError:")
NO_BOOLEAN = "; a checkpoint returns True or False"


async def text_findings(
    scenarios: Sequence[Scenario], guests: Guests, *, is_imported: bool
) -> list[tuple[Scenario, Checkpoint, str]]:
    """The Python checkpoints of scenarios whose text is not Python, or holds what it may not, with each reason."""
    gate: Gate = "imported" if is_imported else "checkpoint"
    asked = [
        (scenario, one) for scenario in scenarios for one in scenario.checkpoints if isinstance(one, PythonCheckpoint)
    ]
    seen = await inspected([SourceText(one.python, gate) for _, one in asked], guests)
    return [
        (scenario, one, problem)
        for (scenario, one), inspection in zip(asked, seen, strict=True)
        for problem in ([inspection.not_python] if inspection.not_python else inspection.problems)
    ]


async def question_findings(
    image: bytes, scenario: Scenario, clock: str, guests: Guests
) -> list[tuple[Checkpoint, str]]:
    """The checkpoints of a scenario that cannot be answered, with the reason, on the image of its start."""
    try:
        reader = Reader(image, image)
    except FarmError as error:
        return [(one, str(error)) for one in scenario.checkpoints]
    try:
        found = [(one, why) for one in scenario.checkpoints for why in _sql_findings(one, reader)]
    finally:
        reader.close()
    for one in scenario.checkpoints:
        if isinstance(one, PythonCheckpoint):
            why = await _python_finding(one, image, clock, guests)
            found += [(one, why)] if why else []
    return found


def never_findings(image: bytes, queries: dict[str, str]) -> list[tuple[str, str]]:
    """The queries that cannot run on an image, by their names, with the reason."""
    reader = Reader(image, image)
    try:
        return [(name, why) for name, sql in queries.items() if (why := _compiled(reader, sql, NO_NAMES)) is not None]
    finally:
        reader.close()


def _sql_findings(checkpoint: Checkpoint, reader: Reader) -> Iterator[str]:
    match checkpoint:
        case SqlCheckpoint():
            why = _compiled(reader, checkpoint.sql, ANSWER) or _never_expected(reader, checkpoint)
            if why:
                yield f"sql: {why}"
        case FootprintCheckpoint():
            for number, allowance in enumerate(checkpoint.allow, start=1):
                yield from (f"allow.{number}.{why}" for why in _allowance_findings(allowance, reader))
        case AnswerCheckpoint():
            for place, sql in _selects(checkpoint):
                why = _compiled(reader, sql, NO_NAMES) if sql else None
                if why:
                    yield f"{place}: {why}"
        case PythonCheckpoint():
            return


def _never_expected(reader: Reader, checkpoint: SqlCheckpoint) -> str | None:
    """Why the rows of a SELECT can never be those that are expected: they have other columns."""
    connection = reader.connection
    connection.authorizer = SelectOnly()
    try:
        given = len(apsw.ext.query_info(connection, checkpoint.sql).description)
    finally:
        connection.authorizer = None
    expected = {1} if isinstance(checkpoint.expect, Comparison) else {len(row) for row in checkpoint.expect}
    wrong = sorted(expected - {given})
    if not wrong:
        return None
    values = f"{counted(wrong[0], 'value')} a row {noun(wrong[0], 'is', 'are')}"
    return f"gives {counted(given, 'column')}, and {values} expected"


def _selects(checkpoint: AnswerCheckpoint) -> Iterator[tuple[str, str | None]]:
    """The SELECTs of an answer's facts, with their places."""
    yield from (("only_if", checkpoint.only_if), ("silent_sql", checkpoint.silent_sql))
    for fact in checkpoint.facts:
        yield from ((f"facts.{fact.name}.sql", fact.sql), (f"facts.{fact.name}.confusable_sql", fact.confusable_sql))


def _allowance_findings(allowance: Allowance, reader: Reader) -> Iterator[str]:
    if allowance.table not in reader.tables():
        return  # that has been found by its text
    columns, _ = reader.columns(allowance.table)
    for name in allowance.columns or ():
        if name not in columns:
            yield f"columns: {allowance.table} has no column {name!r}"
    if allowance.where is not None:
        sql = f"SELECT 1 FROM main.{quoted(allowance.table)} WHERE 1 AND ({allowance.where})"
        why = _compiled(reader, sql, NO_NAMES)
        if why:
            yield f"where: {why}"


def _compiled(reader: Reader, sql: str, names: frozenset[str]) -> str | None:
    """Why a text is no SELECT over the environment's rows with these parameters, or None. It is compiled, not run."""
    connection = reader.connection
    connection.authorizer = authorizer = SelectOnly()
    try:
        compiled = apsw.ext.query_info(connection, sql)
        rest = apsw.ext.query_info(connection, compiled.query_remaining or "")
    except (apsw.Error, ValueError) as error:
        return _refusal(error, authorizer)
    finally:
        connection.authorizer = None
    if not compiled.description:
        return "does not run: there is no statement in it"
    if rest.description:
        return "does not run: one SELECT at a time"
    unknown = sorted({name or "?" for name in compiled.bindings_names} - names)
    if unknown:
        told = ", ".join(f":{name}" for name in unknown)
        return f"asks for {told}; " + ("only :answer is there" if names else "there are no parameters here")
    return None


def _refusal(error: Exception, authorizer: SelectOnly) -> str:
    """Why SQLite did not compile a text."""
    if authorizer.has_too_many_names:
        return f"does not run: {TOO_MANY_NAMES}"
    if isinstance(error, apsw.NoMemError):
        return f"does not run: {TOO_LARGE}"
    if isinstance(error, apsw.AuthError):
        return f"only a SELECT over the environment's tables is allowed: {error}"
    return f"does not run: {error}"


async def _python_finding(checkpoint: PythonCheckpoint, image: bytes, clock: str, guests: Guests) -> str | None:
    head: dict[str, Any] = {"do": "judge", "now": clock, "answer": "", "calls": []}
    try:
        reply, _ = await guests.job(head, checkpoint.python.encode(), image, image, seconds=guests.call_seconds)
    except GuestLate:
        return f"python: takes more than {guests.call_seconds:g} s on the first state"
    except GuestDied:
        return "python: the process that ran it on the first state ended; does it take much memory?"
    broken, error = str(reply.get("broken", "")), str(reply.get("error", ""))
    if broken and not broken.startswith(SEEN_IN_THE_TEXT):
        return f"python: {broken[:500]}"
    is_never_right = error.startswith(NEVER_RIGHT) or error.endswith(NO_BOOLEAN)
    return f"python: {error[:500]}" if is_never_right else None
