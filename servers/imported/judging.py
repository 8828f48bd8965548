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


def state(db: Database) -> dict[str, Any]:
    """The attributes of the object that the rows hold. Instances of its classes show their attributes."""
    return attributes_of(read(db), {})
