"""Imported code gets a clock and chances that repeat, and attributes that are rows."""

import datetime as real
import random
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servers.gate.imported_gate import imported_problems
from servers.imported import datetime, moment, secrets, time, uuid
from servers.imported.finding import Finder
from servers.imported.keeping import Keeper
from servers.imported.marks import NotKept
from servers.imported.rows import Kept, attributes_of, changes, kept_of

KEYS = st.one_of(st.text(), st.integers(), st.booleans(), st.none(), st.tuples(st.text(), st.integers()))
PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.decimals(allow_nan=False),
    st.datetimes(), st.dates(), st.times(), st.timedeltas(), st.uuids(), st.frozensets(st.text()),
    st.sets(st.integers()),
)  # fmt: skip
VALUES = st.recursive(
    PLAIN, lambda inner: st.one_of(st.lists(inner), st.dictionaries(KEYS, inner), st.tuples(inner, inner)), max_leaves=8
)


class Colour(Enum):
    RED = "red"


@dataclass
class Label:
    text: str
    of: Any = None


CLASSES: dict[str, type] = {"Colour": Colour, "Label": Label}


def there_and_back(value: Any) -> Any:
    return Finder(CLASSES).find(Keeper(CLASSES).keep(value, ("x",)), ("x",))


@given(VALUES)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    assert there_and_back(value) == value


@pytest.mark.parametrize(
    "value",
    [
        defaultdict(list, {"a": [1]}),
        OrderedDict([("b", 1), ("a", 2)]),
        Counter("aab"),
        deque([1, 2]),
        Colour.RED,
        Label("x", Label("y")),
        {"__type__": "set"},
        float("inf"),
        UUID(int=5),
        Decimal("1.10"),
    ],
    ids=str,
)
def test_so_do_the_less_common_ones(value: Any) -> None:
    back = there_and_back(value)
    assert back == value
    assert type(back) is type(value)


def test_what_is_shared_stays_shared_and_a_circle_stays_one() -> None:
    shared: dict[str, Any] = {"n": 1}
    shared["self"] = shared
    back = there_and_back([shared, shared])
    assert back[0] is back[1] is back[0]["self"]


UNKEPT: list[Any] = [object(), lambda: None, iter([1]), {"a": {"b": Label}}, defaultdict[str, int](lambda: 1), 1j]


@pytest.mark.parametrize("value", UNKEPT, ids=lambda value: type(value).__name__)
def test_what_no_row_can_hold_is_named(value: Any) -> None:
    with pytest.raises(NotKept, match=r"x.*cannot be kept in a row"):
        there_and_back(value)


@pytest.mark.parametrize(
    "kept",
    [
        {"__type__": "nothing"},
        {"__type__": "set"},
        {"__type__": "datetime", "value": "x"},
        {"__type__": "same", "at": [1]},
    ],
)
def test_a_marker_that_does_not_fit_is_named(kept: dict[str, Any]) -> None:
    with pytest.raises(NotKept, match="the marker"):
        Finder({}).find(kept, ("x",))


def test_only_what_differs_is_written() -> None:
    before: dict[str, Any] = {"rows": {str(n): {"n": n} for n in range(5)}, "list": [1, 2], "flag": False}
    empty = Kept({"rows": "rows", "list": "list"})
    kept = kept_of(before, {}, empty)
    after = attributes_of(kept, {})
    assert after == before
    assert changes(kept, kept_of(after, {}, kept)) == []
    after["rows"]["3"]["n"] = 33
    del after["rows"]["1"]
    after["rows"]["new"] = {}
    after["list"].append(3)
    after["flag"] = True
    told = [(sql.split(" ")[0], values["key"]) for sql, values in changes(kept, kept_of(after, {}, kept))]
    assert told == [("UPDATE", "flag"), ("DELETE", "1"), ("UPDATE", "3"), ("INSERT", "new"), ("INSERT", "2")]


def test_a_row_that_is_put_in_again_comes_last() -> None:
    kept = kept_of({"rows": {"a": 1, "b": 2, "c": 3}}, {}, Kept({"rows": "rows"}))
    found = attributes_of(kept, {})
    found["rows"]["a"] = found["rows"].pop("a")
    again = kept_of(found, {}, kept)
    assert sorted(again.tables["rows"], key=lambda key: again.tables["rows"][key].place) == ["b", "c", "a"]
    assert len(changes(kept, again)) == 1


def drawn() -> list[Any]:
    return [
        datetime.datetime.now(), datetime.datetime.utcnow(), datetime.datetime.now(datetime.timezone.utc),
        datetime.date.today(), time.time(), time.strftime("%H:%M"), uuid.uuid4(), uuid.uuid1(), random.random(),  # noqa: S311
        secrets.token_hex(), secrets.choice("abc"),
    ]  # fmt: skip


def test_the_same_call_draws_the_same_and_another_does_not() -> None:
    moment.begin("2025-07-01 09:00:00", "a")
    first = drawn()
    moment.begin("2025-07-01 09:00:00", "a")
    assert drawn() == first
    moment.begin("2025-07-02 09:00:00", "b")
    assert all(one != other for one, other in zip(drawn()[:5], first[:5], strict=True))
    assert first[0] == real.datetime(2025, 7, 1, 9)
    assert len({uuid.uuid4() for _ in range(50)}) == 50


def test_the_clock_s_classes_are_taken_for_the_standard_ones() -> None:
    moment.begin("2025-07-01 09:00:00", "a")
    now = datetime.datetime.now()
    assert isinstance(now, real.datetime)
    assert isinstance(real.datetime(2020, 1, 1), datetime.datetime)
    assert isinstance(now.date(), datetime.date)
    assert not isinstance("2020", datetime.date)
    assert (now - datetime.timedelta(days=1)).isoformat() == "2025-06-30T09:00:00"
    assert datetime.datetime.strptime("2025-01-02", "%Y-%m-%d") < now
    assert time.mktime(time.gmtime(5)) == 5
    assert time.sleep(1000) is None  # type: ignore[func-returns-value]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("import os", "import os: may not be imported"),
        ("from subprocess import run", "import subprocess: may not be imported"),
        ("import uuid", "import it from servers.imported"),
        ("from datetime import datetime", "import it from servers.imported"),
        ("from . import x", "may not be imported"),
        ("from math import *", "name what is used"),
        ("x = eval('1')", "eval: may not be used"),
        ("x = __import__('os')", "__import__: may not be used"),
        ("x = __import__('uuid')", "__import__: may not be used"),
        ("name = 'os'\n__import__(name)", "line 2: __import__: may not be used"),
        ("x = hash('a')", "hash: may not be used"),
        ("def f(x):\n    return x.__globals__", "line 2: .__globals__: leads into the interpreter"),
        ("import random\nrandom.seed(1)", "the seed is the call's"),
        ("def f():\n    global x", "keeps state beyond a call"),
        ("async def f():\n    pass", "a tool is a plain function"),
        ("x = (", "not Python"),
        ("x = " + "(" * 300, "not Python"),
    ],
)
def test_the_gate_says_what_imported_code_may_not(source: str, words: str) -> None:
    problems = imported_problems(source)
    assert problems
    assert words in problems[0]


def test_the_gate_lets_classes_be() -> None:
    method = "    def f(self):\n        self.x = getattr(self, 'y', 1)\n"
    assert imported_problems(f"import random, json\nfrom servers.imported import uuid\nclass A:\n{method}") == []


def test_a_hash_is_of_the_content_and_never_of_a_place() -> None:
    assert moment.hash(("a", 1)) == moment.hash(("a", 1))
    assert moment.hash((None,)) == moment.hash((None,))
    assert imported_problems("from servers.imported.moment import hash\nx = hash('a')") == []
    with pytest.raises(TypeError, match="the hash of a object is its place in memory"):
        moment.hash(object())
