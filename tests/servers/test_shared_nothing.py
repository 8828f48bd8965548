"""Calls share nothing in memory: each runs in a namespace of its own, whatever the call before left in its."""

import ast
import dis
from pathlib import Path
from types import CodeType, FunctionType

import pytest
import pytest_asyncio

from servers.bundle_library import OWN_LIBRARY, Library
from servers.guest.tool_module import ToolModule
from servers.messages import Launch
from servers.worker.instance import Instance
from servers.worker.worker import Worker
from tests.bundles import write_bundle
from tests.told import diff_of

WAYS = {
    "a closure": """
def _counting():
    seen = []

    def count(text):
        seen.append(text)
        return list(seen)

    return count


_COUNT = _counting()


def tool(db, *, text):
    return {"seen": _COUNT(text)}
""",
    "a field that is not compared": """
import dataclasses


@dataclasses.dataclass
class Box:
    seen: list = dataclasses.field(default_factory=list, compare=False)


BOX = Box()


def tool(db, *, text):
    BOX.seen.append(text)
    return {"seen": list(BOX.seen)}
""",
    "a member of an Enum": """
import enum


class Shelf(enum.Enum):
    TOP = ["first"]


def tool(db, *, text):
    Shelf.TOP.value.append(text)
    return {"seen": list(Shelf.TOP.value)}
""",
    "the default of a NamedTuple": """
from typing import NamedTuple


class Row(NamedTuple):
    seen: list = []


def tool(db, *, text):
    row = Row()
    row.seen.append(text)
    return {"seen": list(row.seen)}
""",
    "a key of a Counter that counts nothing": """
from collections import Counter

COUNTS = Counter()


def tool(db, *, text):
    COUNTS[text] += 0
    return {"seen": list(COUNTS)}
""",
    "the order of a dict": """
ORDER = {"anvil": 1, "bell": 2}


def tool(db, *, text):
    ORDER[text] = ORDER.pop(text, 3)
    return {"seen": list(ORDER)}
""",
    "True for 1": """
FLAGS = [1]


def tool(db, *, text):
    was = FLAGS[0]
    FLAGS[0] = True
    return {"seen": [str(was)]}
""",
    "a table of the standard library": """
import textwrap


def tool(db, *, text):
    table = textwrap.TextWrapper().unicode_whitespace_trans
    try:
        table[9731 + len(table)] = 66
    except TypeError:
        return {"seen": ["it cannot be changed"]}
    return {"seen": [str(len(table))]}
""",
    "a list of the standard library": """
import calendar


def tool(db, *, text):
    classes = calendar.HTMLCalendar.cssclasses
    try:
        classes[0] = classes[0] + text
    except TypeError:
        return {"seen": ["it cannot be changed"]}
    return {"seen": [classes[0]]}
""",
    "an attribute of a function": """
def _kept():
    return None


_kept.seen = []


def tool(db, *, text):
    _kept.seen.append(text)
    return {"seen": list(_kept.seen)}
""",
    "a default argument": """
def _kept(text, seen=[]):
    seen.append(text)
    return seen


def tool(db, *, text):
    return {"seen": list(_kept(text))}
""",
    "an attribute of a class": """
class Shelf:
    seen = ()


def tool(db, *, text):
    Shelf.seen += (text,)
    return {"seen": list(Shelf.seen)}
""",
    "a generator": """
def _numbers():
    number = 0
    while True:
        number += 1
        yield number


NUMBERS = _numbers()


def tool(db, *, text):
    return {"seen": [str(next(NUMBERS))]}
""",
    "an iterator": """
import itertools

NUMBERS = itertools.count()


def tool(db, *, text):
    return {"seen": [str(next(NUMBERS))]}
""",
    "a cache": """
import functools


@functools.lru_cache
def _first(kind):
    return []


def tool(db, *, text):
    _first("x").append(text)
    return {"seen": list(_first("x"))}
""",
    "a global": """
LAST = "nothing"


def tool(db, *, text):
    global LAST
    was, LAST = LAST, text
    return {"seen": [was]}
""",
    "a name found by its text": """
def tool(db, *, text):
    was = globals().get("left", "nothing")
    globals()["left"] = text
    return {"seen": [was]}
""",
    "what a function was called with when it was defined": """
KEPT = []


def _register(function):
    KEPT.append(function.__name__)
    return function


@_register
def _other():
    return None


def tool(db, *, text):
    KEPT.append(text)
    return {"seen": list(KEPT)}
""",
    "the precision of decimals, held by a generator in a cycle": """
import decimal


def _precise():
    with decimal.localcontext() as context:
        context.prec = 3
        yield context


def tool(db, *, text):
    was = str(decimal.Decimal(1) / 7)
    cycle = [_precise()]
    cycle.append(cycle)
    next(cycle[0])
    return {"seen": [was]}
""",
    "the flags of decimals": """
import decimal


def tool(db, *, text):
    with decimal.localcontext() as context:
        was = bool(context.flags[decimal.Inexact])
    decimal.Decimal(1) / 7
    return {"seen": [str(was)]}
""",
    "the last row's number": """
def tool(db, *, text):
    [was] = db.all("SELECT last_insert_rowid() AS number")
    db.run("INSERT INTO log (what) VALUES (:text)", text=text)
    return {"seen": [str(was["number"])]}
""",
    "a generator that writes when it is collected": """
def _writing(db):
    try:
        yield 1
    finally:
        db.run("INSERT INTO log (what) VALUES ('collected')")


def tool(db, *, text):
    cycle = [_writing(db)]
    cycle.append(cycle)
    next(cycle[0])
    return {"seen": [str(row["what"]) for row in db.all("SELECT what FROM log ORDER BY id")]}
""",
}
TOOL = '''
def tool(db: Database, *, text: str) -> dict:
    """Do what can be done.

    Args:
        text: A text.
    """
'''


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ways")


@pytest_asyncio.fixture
async def worker(ways: Path, tmp_path: Path) -> Worker:
    return Worker(Library([ways]), tmp_path / "state")


def told(source: str) -> str:
    """The source with the types and words that a bundle's tools have."""
    return source.replace("def tool(db, *, text):", TOOL.strip("\n").rstrip())


@pytest.mark.parametrize("way", WAYS)
async def test_nothing_of_a_call_is_there_in_the_next(way: str, ways: Path, worker: Worker) -> None:
    """Two instances take turns in one guest, and one has it alone; all are answered the same."""
    name = "w" + str(list(WAYS).index(way))
    await write_bundle(ways / name, tools=told(WAYS[way]), scenarios=())
    async with worker:
        first, second, alone = [
            worker.find(ticket.instance) for ticket in await worker.launch(Launch(environment=name, count=3))
        ]
        turns: list[list[str]] = [[], []]
        for text in ("anvil", "bell", "candle"):
            for seen, instance in zip(turns, (first, second), strict=True):
                seen.append(await answered(instance, text))
        worker.guests.forget(alone.environment.digest)
        by_itself: list[str] = []
        for text in ("anvil", "bell", "candle"):
            by_itself.append(await answered(alone, text))
            worker.guests.forget(alone.environment.digest)
        assert turns == [by_itself, by_itself]
        assert await diff_of(worker, first.id) == await diff_of(worker, second.id) == await diff_of(worker, alone.id)


async def answered(instance: Instance, text: str) -> str:
    outcome = await instance.call("tool", {"text": text})
    assert outcome.kind == "ok", outcome.detail
    return outcome.text


def test_a_tool_finds_all_that_it_uses_in_its_own_namespace() -> None:
    """For every tool of the library: each name of its module that a function reads is there."""
    for path in sorted(OWN_LIBRARY.glob("*/tools.py")):
        module = ToolModule(ast.parse(path.read_text()))
        for name, whole in module.functions.items():
            known = whole.__globals__.keys()
            with module.fresh(name) as tool:
                there = tool.__globals__
                codes = [one.__code__ for one in there.values() if isinstance(one, FunctionType)]
                assert len(codes) >= 1
                missing = {used for code in codes for used in names_of(code) if used in known} - there.keys()
                assert not missing, (path.parent.name, name)


def names_of(code: CodeType) -> set[str]:
    """The global names that a function reads, its inner functions among it."""
    found = {one.argval for one in dis.get_instructions(code) if one.opname == "LOAD_GLOBAL"}
    return found.union(*(names_of(inner) for inner in code.co_consts if isinstance(inner, CodeType)))
