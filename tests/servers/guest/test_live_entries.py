"""What stays in a guest between calls is what the rows would give: each call does the same with it and without it."""

import json
from collections.abc import Callable
from random import Random
from typing import Any

import apsw
import pytest

from servers.guest.sqlite.instance_rows import MOST_REMEMBERED, InstanceRows
from servers.imported.live_entries import LiveObject, Unclear
from servers.imported.memory import Memory, lent
from servers.imported.reach import reached
from servers.imported.rows import ATTRIBUTES, Kept, kept_of, read
from servers.imported.running import Imported, attributes_in
from servers.toolkit import Database, ToolError


class Shelf:
    """Methods that do to rows what rows cannot hold, or hold in another way."""

    people: dict[str, Any]
    away: dict[str, Any]
    log: list[Any]
    last: Any
    config: Any

    def show(self, key: str) -> dict[str, Any]:
        return {"data": self.people.get(key), "success": True}

    def count(self) -> dict[str, Any]:
        return {"people": len(self.people), "names": [one.get("name") for one in self.people.values()]}

    def rename(self, key: str, name: Any) -> dict[str, Any]:
        self.people.setdefault(key, {"tags": []})["name"] = name
        return {"success": True}

    def same_but_for_its_type(self, key: str) -> dict[str, Any]:
        self.people[key]["name"] = 1
        self.people[key]["name"] = True
        return {}

    def tag(self, key: str, tags: list[Any]) -> dict[str, Any]:
        self.people[key]["tags"] = tags
        return {}

    def share(self, key: str, other: str) -> dict[str, Any]:
        self.people[key]["tags"] = self.people[other]["tags"]
        return {}

    def add_tag(self, key: str, tag: str) -> dict[str, Any]:
        self.people[key]["tags"].append(tag)
        return {}

    def leave(self, key: str) -> dict[str, Any]:
        self.away[key] = self.people.pop(key)
        return {}

    def come_back(self, key: str) -> dict[str, Any]:
        self.people[key] = self.away[key]
        return {}

    def keep_few(self, most: int) -> dict[str, Any]:
        self.people = {key: one for number, (key, one) in enumerate(self.people.items()) if number < most}
        return {}

    def turn_round(self, key: str) -> dict[str, Any]:
        self.people[key] = dict(reversed(self.people[key].items()))
        return {}

    def note(self, what: Any) -> dict[str, Any]:
        self.log.insert(0, {"what": what})
        return {}

    def drop_note(self) -> dict[str, Any]:
        del self.log[len(self.log) // 2]
        return {}

    def odd(self, key: Any) -> dict[str, Any]:
        self.people[key] = {"name": (1, 2), "tags": [], "set": {1}}
        return {}

    def number(self) -> dict[str, Any]:
        self.people[5] = {"name": "five", "tags": []}  # type: ignore[index]
        return {}

    def one_dict(self) -> dict[str, Any]:
        self.away = self.people
        return {}

    def watch(self, key: str) -> dict[str, Any]:
        self.last = self.people[key]
        return {}

    def own(self, key: str) -> dict[str, Any]:
        helper(self)[key] = {"name": "helped", "tags": []}
        return {}

    def half(self, key: str) -> dict[str, Any]:
        self.people[key]["name"] = "half"
        return {"success": False, "error": "no"}


def helper(shelf: Shelf) -> dict[str, Any]:
    return shelf.people


OBJECT = Imported(Shelf)
NAMES = ["a", "b", "c", "d"]
DRAWS: dict[str, Callable[[Random], dict[str, Any]]] = {
    **{
        name: lambda draw: {"key": draw.choice(NAMES)}
        for name in ("show", "leave", "come_back", "turn_round", "odd", "watch", "own", "half", "same_but_for_its_type")
    },
    **{name: lambda _: {} for name in ("count", "drop_note", "number", "one_dict")},
    "rename": lambda draw: {"key": draw.choice(NAMES), "name": draw.choice([1, True, 1.0, "x", None, [], {"z": 1}])},
    "tag": lambda draw: {"key": draw.choice(NAMES), "tags": draw.choice([[], ["t"], [["deep"]]])},
    "share": lambda draw: {"key": draw.choice(NAMES), "other": draw.choice(NAMES)},
    "add_tag": lambda draw: {"key": draw.choice(NAMES), "tag": draw.choice(NAMES)},
    "keep_few": lambda draw: {"most": draw.randrange(5)},
    "note": lambda draw: {"what": draw.choice([1, "x", {"a": [1]}])},
}
ORDINARY = ["show", "count", "rename", "tag", "add_tag", "note", "drop_note", "leave", "half"]


class Rows:
    """The rows of one object, and calls on them."""

    def __init__(self) -> None:
        self.connection = apsw.Connection(":memory:")
        self.connection.execute(
            "CREATE TABLE containers (attribute TEXT PRIMARY KEY, name TEXT, place INTEGER);"
            f"CREATE TABLE {ATTRIBUTES} (name TEXT PRIMARY KEY, place INTEGER, kept TEXT, value TEXT);"
        )
        self.memory: Memory | None = Memory()
        people = {name: {"name": name, "tags": ["x"], "more": {"n": 1}} for name in NAMES}
        held = {"people": people, "away": {}, "log": [{"what": "begun"}], "last": None, "config": {"people": people}}
        containers = {name: name for name in ("people", "away", "log")}
        for place, name in enumerate(containers):
            self.connection.execute("INSERT INTO containers VALUES (?1, ?1, ?2)", (name, place))
            self.connection.execute(f"CREATE TABLE {name} (key TEXT PRIMARY KEY, place INTEGER, value TEXT)")
        self._write(kept_of(held, {}, Kept(containers)))

    def _write(self, kept: Kept) -> None:
        for name, attribute in kept.attributes.items():
            self.connection.execute(f"INSERT INTO {ATTRIBUTES} VALUES (?, ?, ?, ?)", (name, *attribute))
        for table, rows in kept.tables.items():
            for key, row in rows.items():
                self.connection.execute(f"INSERT INTO {table} VALUES (?, ?, ?)", (key, *row))

    def call(self, method: str, arguments: dict[str, Any], seed: str) -> Any:
        """One call as a guest makes it: what fails changes nothing, and of a crash nothing is remembered."""
        if self.memory is None:
            with lent(Memory()):
                return self._told(method, arguments, seed)
        with lent(self.memory):
            told = self._told(method, arguments, seed)
        if told[0] == "crashed":
            self.memory.clear()
        return told

    def _told(self, method: str, arguments: dict[str, Any], seed: str) -> Any:
        db = Database(self.connection, now="2026-01-01 00:00:00", id_seed=seed)
        try:
            result, statements = OBJECT.call(db, method, arguments)
        except ToolError as error:
            return "refused", str(error)
        except Exception as error:
            return "crashed", type(error).__name__
        for sql, values in statements:
            db.run(sql, **values)
        return result, [sql for sql, _ in statements], [values for _, values in statements]


class WholeRows(Rows):
    """Rows without anything live: every container is marked as not to be, by reading and keeping all."""

    def _told(self, method: str, arguments: dict[str, Any], seed: str) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(LiveObject, "changes", _unclear)
            return super()._told(method, arguments, seed)


def _unclear(*_: object) -> Any:
    raise Unclear


@pytest.mark.parametrize("methods", [list(DRAWS), ORDINARY], ids=["all", "ordinary"])
@pytest.mark.parametrize("seed", range(4))
def test_calls_do_the_same_with_what_was_kept_and_without_it(seed: int, methods: list[str]) -> None:
    live, anew, whole = Rows(), Rows(), WholeRows()
    anew.memory = None
    draw = Random(seed)  # noqa: S311 - it must repeat
    for step in range(50):
        method = draw.choice(methods)
        arguments = DRAWS[method](draw)
        told = [one.call(method, arguments, f"{seed}/{step}") for one in (live, anew, whole)]
        assert told[0] == told[2], (step, method, arguments)
        assert told[1] == told[2], (step, method, arguments)


def test_ordinary_calls_read_no_row_again() -> None:
    rows = Rows()
    rows.call("show", {"key": "a"}, "1")
    asked: list[str] = []

    def note(_cursor: object, sql: str, _bindings: object) -> bool:
        asked.append(sql)
        return True

    rows.connection.exec_trace = note
    rows.call("show", {"key": "b"}, "2")
    rows.call("count", {}, "3")
    assert asked == []
    rows.call("rename", {"key": "b", "name": "Bea"}, "4")
    rows.call("tag", {"key": "b", "tags": ["new"]}, "5")
    rows.call("leave", {"key": "b"}, "6")
    assert [sql.split(" ")[0] for sql in asked] == ["UPDATE", "UPDATE", "DELETE", "INSERT"]


def test_a_refusal_that_had_changed_something_is_forgotten() -> None:
    rows = Rows()
    assert rows.call("half", {"key": "a"}, "1") == ("refused", "no")
    assert rows.call("show", {"key": "a"}, "2")[0]["data"]["name"] == "a"


def test_a_container_that_no_call_may_touch_is_not_asked() -> None:
    assert reached(Shelf, (), "note") == {"log", "insert"}
    assert reached(Shelf, (), "own") is None


def test_an_object_that_is_handed_on_may_be_touched_anywhere() -> None:
    """However a Python loads it: alone, with another variable, or after it has stored one."""

    class Handing:
        log: list[Any]

        def alone(self) -> Any:
            return repr(self)

        def first(self, key: str) -> Any:
            return self, key

        def second(self, key: str) -> Any:
            return key, self

        def after_another(self, key: str) -> Any:
            other = key.upper()
            return self if other else None

        def by_attributes(self, key: str) -> Any:
            other = key.upper()
            self.log = [key, self.log, other]

    handing = {name for name in vars(Handing) if not name.startswith("_") and reached(Handing, (), name) is None}
    assert handing == {"alone", "first", "second", "after_another"}
    assert reached(Handing, (), "by_attributes") == {"upper", "log"}


def test_what_an_object_shares_is_told_of_its_values() -> None:
    rows = Rows()
    live = LiveObject.of(read(Database(rows.connection, now="2026-01-01 00:00:00", id_seed="x")))
    thing = object.__new__(Shelf)
    thing.__dict__.update(live.attributes({}))
    thing.people["a"]["tags"] = thing.people["b"]["tags"]
    with pytest.raises(Unclear):
        live.changes(attributes_in(thing), {}, None)
    assert json.dumps(thing.config["people"]["a"]) == json.dumps(thing.people["a"])


def test_the_memories_of_those_that_were_called_last_are_kept() -> None:
    source = apsw.Connection(":memory:")
    source.execute("CREATE TABLE things (id INTEGER PRIMARY KEY)")
    rows = InstanceRows()
    rows.keep_image("image", source.serialize("main"))
    for name in ("a", "b", "c"):
        rows.hydrate(name, "0", "image", b"", room=10**9)
        rows.instances[name].memory.hold(name, MOST_REMEMBERED // 2, 0)
    last = rows.find("a", "0")
    assert last is not None
    rows.bound_memories(last)
    assert [one.memory.value for one in rows.instances.values()] == [None, "c", "a"]
