"""A check function of EnvScaler's as a checkpoint: it sees its own copy of the state, as its author expected it."""

import marshal
from collections.abc import Callable
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

from servers.imported import moment
from servers.imported.reach import TELLING, all_codes
from servers.imported.rows import Kept, attributes_of, is_marked, read
from servers.toolkit import Database


def holds(check: Callable[[Any], Any], start: Database, final: Database) -> Any:
    """Run a `check_func(final_state)` that may read the global `initial_state`."""
    moment.begin(final.now(), "check")
    names: dict[str, Any] = check.__globals__  # type: ignore[attr-defined]
    if _may_ask(names, "initial_state"):
        names["initial_state"] = state(start)
    return check(state(final))


def _may_ask(names: dict[str, Any], name: str) -> bool:
    """True if a function of a module may read a global."""
    if any(isinstance(one, type) and one.__module__ == names["__name__"] for one in names.values()):
        return True
    functions = [one for one in names.values() if isinstance(one, FunctionType) and one.__globals__ is names]
    codes = [code for one in functions for code in all_codes(one.__code__)]
    return any(name in code.co_names or TELLING & {*code.co_names} for code in codes)


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
    held = _held.get(db)
    if held is None:
        held = _held[db] = _HeldState(read(db))
    return held.copy()


class _HeldState:
    """A state that several checks are asked about: its rows, and its values packed if they are JSON."""

    def __init__(self, kept: Kept) -> None:
        self._kept = kept
        self._packed = b"" if is_marked(kept) else marshal.dumps(attributes_of(kept, {}))

    def copy(self) -> dict[str, Any]:
        """A copy of its own for one check."""
        return marshal.loads(self._packed) if self._packed else attributes_of(self._kept, {})  # noqa: S302 - packed here


_held: "WeakKeyDictionary[Database, _HeldState]" = WeakKeyDictionary()
"""A checkpoint only reads."""
