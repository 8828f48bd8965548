"""A Python checkpoint in a guest: it reads two databases and returns True or False."""

import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import apsw

from servers.guest.error_text import named, words_of
from servers.guest.sqlite import clock
from servers.guest.sqlite.connection import teach
from servers.guest.sqlite.instance_rows import FORBIDDEN_FUNCTIONS, READ_ACTIONS
from servers.guest.sqlite.shared_pages import opened
from servers.imported.benchmarks.package import code_of
from servers.toolkit import Database

CheckFunction = Callable[..., Any]
LONGEST_SEEN = 500
LONGEST_ERROR = 500


class BrokenCheckpoint(Exception):
    """It cannot be asked about any state: it does not compile or load, or is no function."""


def reads_only(action: int, _first: str | None, second: str | None, _database: str | None, _by: str | None) -> int:
    """The authorizer of a checkpoint: reads only."""
    if action == apsw.SQLITE_FUNCTION:
        return apsw.SQLITE_DENY if (second or "").lower() in FORBIDDEN_FUNCTIONS else apsw.SQLITE_OK
    return apsw.SQLITE_OK if action in READ_ACTIONS else apsw.SQLITE_DENY


@dataclass(frozen=True)
class CheckedRun:
    """What a checkpoint is asked about: two states, the agent's last words, and the JSON of its calls."""

    start: Database
    final: Database
    now: str
    answer: str
    calls: bytes

    @classmethod
    def of(cls, start: bytes, final: bytes, calls: bytes, *, now: str, answer: str) -> "CheckedRun":
        return cls(_readable(start, now), _readable(final, now), now, answer, calls)


def is_short(error: BaseException) -> bool:
    """True if memory ran out."""
    return isinstance(error, (MemoryError, apsw.NoMemError))


def told(source: str, run: CheckedRun) -> dict[str, Any]:
    """What is told of a checkpoint: whether it holds, its error, or why it cannot be asked."""
    try:
        verdict, seen = holds(source, run)
    except BrokenCheckpoint as error:
        return {"broken": str(error)[:LONGEST_ERROR]}
    except BaseException as error:
        return {"error": named(error)[:LONGEST_ERROR], "short": is_short(error)}
    return {"holds": verdict, **({"seen": seen} if seen else {})}


def holds(source: str, run: CheckedRun) -> tuple[bool, str]:
    """Run `check(start, final, answer, calls)`. It returns a bool, or a bool and what it saw.

    Raises:
        BrokenCheckpoint: there is nothing to run.
        The checkpoint's own errors. TypeError if it does not return True or False.
    """
    clock.set_time(run.now)
    check = _loaded(source)
    verdict: Any = check(run.start, run.final, run.answer, json.loads(run.calls))
    match verdict:
        case bool():
            return verdict, ""
        case (bool() as holding, str() as seen):
            return holding, words_of(seen, LONGEST_SEEN)
        case _:
            raise TypeError(f"returned {type(verdict).__name__}; a checkpoint returns True or False")


def compiled(image: bytes) -> bytes:
    """The code of a benchmark's files, which the table `upstream` of a state has as texts. None of it runs."""
    return code_of(_readable(image, clock.BEGINNING))


def _loaded(source: str) -> CheckFunction:
    module: dict[str, Any] = {"__name__": "checkpoint"}
    try:
        exec(compile(source, "checkpoint", "exec"), module)  # noqa: S102 - this process exists to run it
    except MemoryError:
        raise
    except BaseException as error:
        raise BrokenCheckpoint(named(error)) from None
    check = module.get("check")
    if not callable(check):
        raise BrokenCheckpoint("defines no function check(start, final, answer, calls)")
    try:
        inspect.signature(check).bind(None, None, "", [])
    except (TypeError, ValueError) as error:
        raise BrokenCheckpoint(f"check does not take start, final, answer and calls: {error}") from None
    return check


def _readable(image: bytes, now: str) -> Database:
    connection, _ = opened(image)
    teach(connection)
    connection.authorizer = reads_only
    return Database(connection, now=now, id_seed="")
