"""One tool call in a guest: a transaction on the instance's rows, and its changes."""

import gc
import time
from collections.abc import Callable
from contextvars import Context
from dataclasses import dataclass
from typing import Any

import apsw

from servers.guest.error_text import fault_text, without_addresses, words_of
from servers.guest.json_writer import JsonWriter
from servers.guest.sqlite import clock
from servers.guest.sqlite.connection import LARGEST_VALUE
from servers.guest.sqlite.instance_rows import MOST_GROWTH, InstanceRows, RevisionRows
from servers.guest.sqlite.recorded_changes import TooManyRows
from servers.guest.sqlite.tables import LARGEST_CHANGES, MOST_ROWS
from servers.guest.tool_module import ToolModule
from servers.imported.memory import lent
from servers.toolkit import Database, ToolError

LARGEST_RESULT = 256 * 1024
LARGEST_FAULT = 2000
FULL = f"there is no room for so much: what is kept here may grow by {MOST_GROWTH // 1024 // 1024} MiB"
TOO_BIG = f"a text or a row is too long: at most {LARGEST_VALUE:,} bytes can be kept"
TOO_MUCH = f"this would change too much at once: one call changes at most {MOST_ROWS:,} rows; do it in parts"
YOUNGEST = 0
"""The garbage collector's youngest generation: the objects of this call."""
WRITER = JsonWriter(ensure_ascii=False, allow_nan=False, separators=(", ", ": "))


class ToolFault(Exception):
    """The tool returned something that a tool may not return."""


@dataclass(frozen=True)
class CallResult:
    """The outcome of a call, before the worker has stored it."""

    outcome: str
    text: bytes
    changes: bytes = b""


def call(rows: InstanceRows, tools: ToolModule, head: dict[str, Any], arguments: dict[str, Any]) -> CallResult | None:
    """Make one call. None if this guest does not have the instance at that revision.

    Any outcome but `ok` leaves the rows unchanged. A call's objects end with it: its namespace is cleared, and its
    garbage collected.
    """
    hydrated = rows.find(head["instance"], head["revision"])
    if hydrated is None:
        return None
    clock.set_time(head["now"])
    clock.set_chances(head["id_seed"])
    try:
        return Context().run(_outcome, rows, hydrated, tools, head, arguments)
    finally:
        rows.bound_memories(hydrated)
        gc.collect(YOUNGEST)


def _outcome(
    rows: InstanceRows, hydrated: RevisionRows, tools: ToolModule, head: dict[str, Any], arguments: dict[str, Any]
) -> CallResult:
    instance: str = head["instance"]
    database = Database(hydrated.connection, now=head["now"], id_seed=head["id_seed"])

    def run() -> Any:
        try:
            with lent(hydrated.memory), tools.fresh(head["tool"]) as tool:
                return tool(database, **arguments)
        finally:
            database.close()  # what is left of a call, such as a generator, writes no more

    try:
        return _in_transaction(hydrated, head["next_revision"], run)
    except ToolError as error:
        rows.roll_back(instance)
        return CallResult("refused", _cut(words_of(error, LARGEST_RESULT), LARGEST_RESULT))
    except apsw.ConstraintError as error:
        if _is(error, apsw.SQLITE_CONSTRAINT_COMMITHOOK):  # it writes after it has ended its transaction
            rows.forget(instance)
            return CallResult("failed", _cut(fault_text(error), LARGEST_FAULT))
        rows.roll_back(instance)
        return CallResult("refused", _cut(_constraint_text(error), LARGEST_RESULT))
    except (apsw.FullError, apsw.TooBigError) as error:
        rows.roll_back(instance)
        return CallResult("refused", (FULL if isinstance(error, apsw.FullError) else TOO_BIG).encode())
    except BaseException as error:
        if isinstance(error, ToolFault):  # it is of a result, so the tool had ended
            rows.roll_back(instance)
        else:
            rows.forget(instance)
        return CallResult("failed", _cut(fault_text(error), LARGEST_FAULT))


def _in_transaction(hydrated: RevisionRows, next_revision: str, run: Callable[[], Any]) -> CallResult:
    hydrated.begin()
    hydrated.changes.begin()
    try:
        text = _as_json(run())
        changes = hydrated.changes.changeset()
    except TooManyRows:
        raise ToolError(TOO_MUCH) from None
    finally:
        hydrated.changes.end()
    if len(changes) > LARGEST_CHANGES:
        raise ToolError(TOO_MUCH)
    hydrated.commit()
    hydrated.forget_unless_written(hydrated.memory.written)
    if changes:
        hydrated.revision = next_revision
    return CallResult("ok", text, changes)


def _as_json(result: Any) -> bytes:
    if not isinstance(result, dict):
        raise ToolFault(f"returned a {type(result).__name__}, not an object")
    try:
        text = WRITER.text(result).encode()
    except RecursionError:
        raise ToolFault("returned what is not JSON: it is nested too deep") from None
    except (TypeError, ValueError) as error:
        raise ToolFault(f"returned what is not JSON: {words_of(error)}") from None
    if len(text) > LARGEST_RESULT:
        raise ToolFault(f"returned {len(text)} bytes; {LARGEST_RESULT} is the most that an agent is sent")
    return without_addresses(text)


def _cut(text: str, most: int) -> bytes:
    """A text cut to at most `most` bytes of UTF-8."""
    return text.encode("utf-8", "replace")[:most].decode("utf-8", "ignore").encode()


def _is(error: apsw.ConstraintError, kind: int) -> bool:
    return getattr(error, "extendedresult", 0) == kind


def _constraint_text(error: apsw.ConstraintError) -> str:
    """A trigger's own words, or the broken constraint."""
    if _is(error, apsw.SQLITE_CONSTRAINT_TRIGGER):
        return words_of(error)
    return f"this would break a rule of the database: {words_of(error)}"


def timed(run: Callable[[], CallResult | None]) -> tuple[CallResult | None, int]:
    """The result of `run`, and its microseconds."""
    begin = time.perf_counter_ns()
    answer = run()
    return answer, (time.perf_counter_ns() - begin) // 1000
