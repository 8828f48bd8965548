"""One call of a method of an imported object: loaded from its rows, called, and what it changed as statements."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, time
from enum import Enum
from typing import Any, NamedTuple, cast

from servers.imported import moment
from servers.imported.finding import Finder
from servers.imported.live_entries import LiveObject, Unclear
from servers.imported.marks import is_dict, is_list, is_tuple
from servers.imported.memory import of_this_call
from servers.imported.reach import reached
from servers.imported.rows import BoundStatement, Kept, changes, kept_of, read
from servers.toolkit import Database, ToolError

DATA = (bool, int, float, str, list, dict, set, tuple, type(None))
"""Values of a class that a method could change for all its objects."""


AS_THEY_ARE = frozenset({bool, int, float, str, type(None)})


class FinishedCall(NamedTuple):
    """What a call gives, and the statements that keep what it did."""

    result: dict[str, Any]
    statements: list[BoundStatement]


class BrokenRule(Exception):
    """The imported code did what its environment cannot hold: it is a fault of the tool, and nothing stays."""


@dataclass(frozen=True)
class Imported:
    """A class that came from elsewhere, and the other classes of its module."""

    kind: type[Any]
    classes: tuple[type[Any], ...] = ()

    def first(self, config: dict[str, Any]) -> dict[str, Any]:
        """The attributes of a new object, as EnvScaler makes one: constructed, then every key of the config is set."""
        given = Finder({}).find(config, ())
        try:
            made = self.kind(given)
        except TypeError:
            made = self.kind()
        for name, value in given.items():
            setattr(made, name, value)
        return attributes_in(made)

    def rows(self, attributes: dict[str, Any], before: Kept) -> Kept:
        """Attributes as rows."""
        return kept_of(attributes, self.named(), before)

    def call(self, db: Database, method: str, arguments: dict[str, Any]) -> FinishedCall:
        """Call a method on the object that the rows hold.

        Raises:
            ToolError: it answered that it failed.
            BrokenRule: it changed its class.
            NotKept: it left something that no row can hold.
        """
        return self._called(db, method, arguments, answer)

    def shown_call(self, db: Database, method: str, arguments: dict[str, Any]) -> FinishedCall:
        """The same, with the text that EnvScaler shows its agent. What a call that failed has changed stays.

        Raises:
            BrokenRule, NotKept: as above.
        """
        return self._called(db, method, arguments, lambda result: {"result": str(result)})

    def _called(
        self, db: Database, method: str, arguments: dict[str, Any], told_of: Callable[[Any], dict[str, Any]]
    ) -> FinishedCall:
        moment.begin(db.now(), db.new_id("call"))
        memory = of_this_call()
        live, named = memory.value, self.named()
        memory.clear()  # until the call is over, as it may end in any way
        if not isinstance(live, LiveObject):
            live = LiveObject.of(read(db))
        thing: Any = object.__new__(self.kind)
        thing.__dict__.update(live.attributes(named))
        shared = self._shared()
        result = getattr(thing, method)(**own_copy(arguments))
        self._refuse_shared(shared)
        told, refusal = _told(result, told_of)
        del result  # it may hold what the object holds, which is asked below
        try:
            statements = live.changes(attributes_in(thing), named, reached(self.kind, self.classes, method))
        except Unclear:
            before = read(db)
            statements = changes(before, self.rows(attributes_in(thing), before))
        else:
            if refusal is None or not statements:
                memory.hold(live, live.size, len(statements))
        if refusal is not None:
            raise refusal
        return FinishedCall(told, statements)

    def reading(self, db: Database, method: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a method that is said to read.

        Raises:
            BrokenRule: it changed something.
        """
        result, statements = self.call(db, method, arguments)
        if statements:
            raise BrokenRule(f"{method} is said to read, and it changed rows")
        return result

    def named(self) -> dict[str, type]:
        """The classes by name."""
        return {kind.__name__: kind for kind in (*self.classes, self.kind)}

    def _shared(self) -> list[tuple[type[Any], str, Any]]:
        """What all objects of a class share, and a copy of it."""
        return [
            (kind, name, copy.deepcopy(cast("Any", value)))
            for kind in (*self.classes, self.kind)
            if not issubclass(kind, Enum)
            for name, value in vars(kind).items()
            if not name.startswith("__") and isinstance(value, DATA)
        ]

    def _refuse_shared(self, before: list[tuple[type[Any], str, Any]]) -> None:
        after = self._shared()
        if after == before:
            return
        for kind, name, _ in after:
            delattr(kind, name)
        for kind, name, value in before:
            setattr(kind, name, value)
        raise BrokenRule(f"it changed what all objects of {self.kind.__name__} share, which no row holds")


def _told(result: Any, told_of: Callable[[Any], dict[str, Any]]) -> tuple[dict[str, Any], ToolError | None]:
    """What an agent is told, or the refusal, which holds nothing of the call."""
    try:
        return told_of(result), None
    except ToolError as error:
        return {}, error.with_traceback(None)


def own_copy(value: Any) -> Any:
    """A copy of JSON, which nothing else holds."""
    if is_dict(value):
        return {key: own_copy(part) for key, part in value.items()}
    return [own_copy(part) for part in value] if is_list(value) else value


def attributes_in(thing: object) -> dict[str, Any]:
    """The attributes that are the state of an object."""
    return {name: value for name, value in vars(thing).items() if not (name.startswith("__") and name.endswith("__"))}


def answer(result: Any) -> dict[str, Any]:
    """What a method returned as a tool's result: without its `success`, which is an error or goes without saying.

    Raises:
        ToolError: it says that it failed.
    """
    if not is_dict(result) or "success" not in result:
        return {"result": plain(result)}
    rest = {str(key): plain(value) for key, value in result.items() if key != "success"}
    if result["success"]:
        return rest
    error = rest.get("error", rest.get("message"))
    raise ToolError(error if isinstance(error, str) and error else f"refused: {rest}")


def plain(value: Any) -> Any:
    """A value as JSON can hold it: sets sorted, times as text, objects as their attributes."""
    kind = cast("type[Any]", type(value))
    if kind in AS_THEY_ARE:
        return value
    if kind is dict:  # nearly all are these
        return {key if type(key) is str else _key(key): plain(part) for key, part in value.items()}
    if kind is list:
        return [plain(part) for part in value]
    made: Any = value
    if isinstance(value, Enum):
        made = plain(value.value)
    elif is_dict(value):
        made = {_key(key): plain(part) for key, part in value.items()}
    elif is_list(value) or is_tuple(value):
        made = [plain(part) for part in value]
    elif isinstance(value, (set, frozenset)):
        made = sorted((plain(part) for part in cast("set[Any]", value)), key=str)
    elif isinstance(value, (date, time)):
        made = value.isoformat()
    elif value is not None and not isinstance(value, (bool, int, float, str)):
        made = dict(_attributes(value)) if hasattr(value, "__dict__") and not callable(value) else str(value)
    return made


def _key(key: Any) -> str:
    return key if isinstance(key, str) else str(plain(key))


def _attributes(value: object) -> Iterator[tuple[str, Any]]:
    for name, part in attributes_in(value).items():
        yield name, plain(part)
