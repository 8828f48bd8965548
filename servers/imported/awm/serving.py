"""A server of Agent World Model on the rows of one call, and its verifiers on the rows of a start and of an end.

FastAPI and SQLAlchemy are loaded only in guests that serve one.
"""

import posixpath
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import apsw

from servers.gate.allowed_modules import FRAMEWORK
from servers.imported import moment
from servers.imported.awm import sqlite3
from servers.toolkit import Database

__all__ = ["Application", "complete", "os", "sqlite3"]

START, FINAL = "initial.db", "final.db"
RESULTS = {"complete": True, "others": False}
ENVIRON: dict[str, str] = {"DATABASE_PATH": "sqlite://", "HOST": "127.0.0.1", "PORT": "8000"}


def _yes(_path: str) -> bool:
    return True


def _nothing(_path: str, *_given: object, **_more: object) -> None:
    """A guest has no files."""


os = SimpleNamespace(
    environ=ENVIRON,
    getenv=ENVIRON.get,
    makedirs=_nothing,
    path=SimpleNamespace(
        abspath=posixpath.normpath,
        basename=posixpath.basename,
        dirname=posixpath.dirname,
        exists=_yes,
        isfile=_yes,
        join=posixpath.join,
    ),
)
"""What imported code may ask the operating system: environment variables that name no machine, and words of paths."""


@dataclass(frozen=True)
class Application:
    """A server by its code."""

    code: str

    def run(self, db: Database, route: str | dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
        """Call an endpoint by its route: method, path, where each argument goes. Its tool's name also does, slowly.

        Raises:
            ToolError: it answers with a status from 400 to 499.
            ServerFault: with one from 500, or it waits for what a guest does not have.
            Whatever it raises.
        """
        moment.begin(db.now(), db.new_id("call"))
        sqlite3.DATABASES.open = {sqlite3.MAIN: _connection_of(db)}
        try:
            return self._framework().respond(self.code, route, arguments)
        finally:
            self._framework().let_go(self.code)
            sqlite3.DATABASES.open = {}

    read = run
    """The same, for an endpoint that is said to read."""

    def endpoints(self) -> list[dict[str, Any]]:
        """The endpoints, as tools: name, words, schema of the arguments."""
        return self._framework().endpoints(self.code)

    def _framework(self) -> Any:
        if FRAMEWORK not in sys.modules:
            raise RuntimeError("this guest was started without FastAPI and SQLAlchemy")
        return sys.modules[FRAMEWORK]


def _connection_of(db: Database) -> apsw.Connection:
    """SQLite's own connection. No tool can name it: the gate refuses names that begin with `_`."""
    return db._connection  # pyright: ignore[reportPrivateUsage]


def complete(verify: Callable[..., Any], start: Database, final: Database, answer: str) -> bool:
    """Run `verify_task_completion(initial_db_path, final_db_path, final_answer)`.

    Raises:
        ValueError: it returned neither `{"result": "complete"}` nor `{"result": "others"}`.
    """
    moment.begin(final.now(), "verify")
    sqlite3.DATABASES.open = {START: _connection_of(start), FINAL: _connection_of(final)}
    try:
        told: Any = verify(START, FINAL, answer)
    finally:
        sqlite3.DATABASES.open = {}
    result = cast("dict[str, Any]", told).get("result") if isinstance(told, dict) else None
    if not isinstance(result, str) or result not in RESULTS:
        raise ValueError(
            f"returned {str(cast('object', told))[:100]!r}; a verifier returns {{'result': 'complete'}} or 'others'"
        )
    return RESULTS[result]
