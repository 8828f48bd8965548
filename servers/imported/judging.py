"""A check function of EnvScaler's as a checkpoint: it sees its own copy of the state, as its author expected it."""

from collections.abc import Callable
from typing import Any

from servers.imported import moment
from servers.imported.rows import attributes_of, read
from servers.toolkit import Database


def holds(check: Callable[[Any], Any], start: Database, final: Database) -> Any:
    """Run a `check_func(final_state)` that may read the global `initial_state`."""
    moment.begin(final.now(), "check")
    check.__globals__["initial_state"] = state(start)  # type: ignore[attr-defined]
    return check(state(final))


def functions(sources: list[str]) -> list[Callable[[Any], Any]]:
    """The check functions that some texts define, each in a module of its own.

    Raises:
        Whatever a text raises; KeyError when it defines none.
    """
    found: list[Callable[[Any], Any]] = []
    for source in sources:
        module: dict[str, Any] = {"__name__": "checkpoint"}
        exec(compile(source, "checkpoint", "exec"), module)  # noqa: S102 - this runs in a guest, which exists to run it
        found.append(module["check_func"])
    return found


def state(db: Database) -> dict[str, Any]:
    """The attributes of the object that the rows hold. Instances of its classes show their attributes."""
    return attributes_of(read(db), {})
