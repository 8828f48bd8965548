"""The static gate: what it refuses, with the line and what to do instead, and what it lets pass."""

import ast
import builtins
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servers.authoring.check import findings
from servers.bundle_library import OWN_LIBRARY, Library
from servers.gate.allowed_modules import MODULES, NAMES
from servers.gate.allowed_names import BUILTINS
from servers.gate.static_gate import checkpoint_problems, tool_problems
from servers.guest.tool_module import ToolModule
from servers.sandbox.guest_pool import Guests
from servers.scenario.checkpoints.python import PythonCheckpoint
from tests.bundles import HEAD, SOUND_SCENARIO, TOOLS, write_bundle
from tests.library import of_each_environment

BODY = 'def tool(db, *, text=""):\n    """A tool."""\n    {}\n    return {{}}\n'

REFUSED = {
    # what reaches out of the language
    "eval(text)": "eval: may not be used",
    "exec(text)": "exec: may not be used",
    "compile(text, '', 'exec')": "compile: may not be used",
    "open('/etc/shadow')": "open: may not be used; there are no files",
    "__import__('os')": "__import__: names with two underscores",
    "__builtins__['eval']": "__builtins__: names with two underscores",
    "globals()['x'] = 1": "globals: may not be used",
    "locals()": "locals: may not be used",
    "vars(db)": "vars: may not be used",
    "dir(db)": "dir: may not be used",
    "getattr(db, text)": "getattr: may not be used; write the attribute",
    "getattr(db, '_connection')": "getattr: may not be used",
    "setattr(db, 'x', 1)": "setattr: may not be used; build a new dict",
    "delattr(db, 'x')": "delattr: may not be used",
    "input()": "input: may not be used",
    "breakpoint()": "breakpoint: may not be used",
    "memoryview(b'')": "memoryview: may not be used",
    "super()": "super: may not be used",
    "print(text)": "print: may not be used; nobody reads it",
    "id(text)": "id: may not be used; it differs between runs",
    "nobody_knows": "nobody_knows: is not defined",
    "type('X', (), {})": "type: asks for the type of a value where it is compared",
    "type": "type: asks for the type of a value where it is compared",
    "kind = type(text)": "type: asks for the type of a value where it is compared",
    "type(type(text)) is None": "type: asks for the type of a value where it is compared",
    "type(text, *()) is None": "type: asks for the type of a value where it is compared",
    "kind = text\n    match id:\n        case kind(found): pass": "case kind(…): a pattern names a class of the module",
    "eval = 1; [eval for x in (1,)]; (lambda: eval)(); return {}": "",
    "[eval for eval in (1,)]; eval(text)": "eval: may not be used",
    "[eval for eval in eval(text)]": "eval: may not be used",
    "[(lambda: (eval := 1)) for x in (1,)]; eval(text)": "eval: may not be used",
    "[1 for db.all(text)[eval(text)] in ()]": "eval: may not be used",
    "(lambda x=eval: x)(text)": "eval: may not be used",
    # attributes
    "db._connection": "._connection: is not for everybody",
    "text.__class__": ".__class__: is not for everybody",
    "f'{text.__class__}'": ".__class__: is not for everybody",
    "(x for x in ()).gi_frame": ".gi_frame: is not for everybody",
    "str.mro": ".mro: is not for everybody",
    "str.register": ".register: it changes a class for everybody",
    "db.execute('COMMIT')": ".execute: the database has all, new_id, now, one, run",
    "db.x = 1": ".x is set: values are dicts",
    "del db.x": ".x is set: values are dicts",
    "match text:\n        case str(__class__=c): pass": ".__class__: is not for everybody",
    "text.format(db)": ".format: only of a text that is written here",
    "'{0.__class__}'.format(db)": ".format: only of a text that is written here, with holes for whole values",
    "'{0[x]}'.format(db)": ".format: only of a text",
    "'{:{0.x}}'.format(db)": ".format: only of a text",
    "'{}'.format_map({})": ".format_map: only of a text",
    "str.format(text, db)": ".format: only of a text",
    "'{'.format(db)": ".format: only of a text",
    "db = 1": "db: holds the database",
    # state
    "global X; X = 1": "global X: it keeps state beyond a call",
    "LIST.append(1)": ".append(): a module-level value is changed: it keeps state beyond a call",
    "LIST[0] = 1": "a module-level value is changed",
    "LIST[0] += 1": "a module-level value is changed",
    "del LIST[0]": "a module-level value is changed",
    "TABLE['a']['b'] = 1": "a module-level value is changed",
    "TABLE['a'].update({})": ".update(): a module-level value is changed",
    "for LIST[0] in (1, 2): pass": "a module-level value is changed",
    "[0 for LIST[0] in (1, 2)]": "a module-level value is changed",
    "tool.cache = {}": ".cache is set",
    "del text": "del text: let it be",
    # the wall clock, and chance
    "datetime.now()": ".now: the wall clock: ask db.now()",
    "datetime.utcnow()": ".utcnow: the wall clock",
    "date.today()": ".today: the wall clock",
    "datetime.fromtimestamp(0)": ".fromtimestamp: the wall clock",
    "list(map(date.today, ()))": ".today: the wall clock",
    # shapes
    "import re": "import: stands at the top",
    "from os import system": "import: stands at the top",
    "class C(TypedDict): pass": "class C: stands at the top level",
}


@pytest.mark.parametrize("line", REFUSED)
def test_what_a_tool_may_not_say_is_named_with_its_line(line: str) -> None:
    source = (
        "from datetime import date, datetime\nfrom typing import TypedDict\nLIST = []\nTABLE = {'a': {}}\n"
        + BODY.format(line)
    )
    ast.parse(source)
    problems = tool_problems(source)
    if not REFUSED[line]:
        assert problems == []
        return
    assert any(problem.startswith(f"line {7 + line.count(chr(10) + '  ')}: {REFUSED[line]}") for problem in problems)


TOP_LEVEL = {
    "import os": "import os: may not be imported; there are: bisect,",
    "import time": "import time: may not be imported",
    "import random": "import random: may not be imported",
    "import uuid": "import uuid: may not be imported",
    "import secrets": "import secrets: may not be imported",
    "import apsw": "import apsw: may not be imported",
    "import sqlite3": "import sqlite3: may not be imported",
    "import ctypes": "import ctypes: may not be imported",
    "import servers.sandbox.guest_pool": "import servers.sandbox.guest_pool: may not be imported",
    "from os import path": "from os import: may not be imported",
    "from . import toolkit": "from None import: may not be imported",
    "from servers import guests": "from servers import: may not be imported",
    "from servers.toolkit import apsw": "servers.toolkit.apsw: is not what the module is there for",
    "from datetime import *": "datetime.*: is not what the module is there for",
    "from json import codecs": "json.codecs: is not what the module is there for",
    "from functools import cache": "functools.cache: it keeps state beyond a call",
    "from functools import lru_cache": "functools.lru_cache: it keeps state",
    "from operator import attrgetter": "operator.attrgetter: write a lambda",
    "from operator import methodcaller": "operator.methodcaller: write a lambda",
    "from operator import setitem": "operator.setitem: build a new value",
    "from string import Formatter": "string.Formatter: it reaches into values",
    "from typing import get_type_hints": "typing.get_type_hints: it evaluates text",
    "from typing import get_args": "typing.get_args: types are kept beyond a call",
    "from typing import overload": "typing.overload: it keeps state beyond a call",
    "import typing\nX = typing.get_overloads": "typing.get_overloads: it keeps state beyond a call",
    "import typing\nX = typing.clear_overloads": "typing.clear_overloads: it keeps state beyond a call",
    "from typing import TypeVar": "typing.TypeVar: types are kept beyond a call",
    "import typing\ndef _helper(x): return str(typing.Annotated[int, x])": "typing.Annotated: it makes types",
    "from typing import Annotated as A\ndef _helper(x): return A[int, x]": "A: it makes types",
    "from typing import Optional\nX = lambda x: Optional[x]": "Optional: it makes types",
    "from typing import Union\nX = [Union]": "Union: it makes types",
    "from typing import Annotated\nX = Annotated[int, (A := Annotated)]": "Annotated: it makes types",
    "from typing import Annotated\nX = Annotated[int, lambda x: Annotated[int, x]]": "Annotated: it makes types",
    "from typing import Union\ndef _helper(t):\n    def f(x: (y := [Union[int, t]]).z): pass": "Union: it makes",
    "import collections.abc\nX = collections.abc.Sequence.register": ".register: it changes a class for everybody",
    "from decimal import getcontext": "decimal.getcontext: it keeps state",
    "from dataclasses import make_dataclass": "dataclasses.make_dataclass: write the class",
    "from dataclasses import dataclass as d\nX = d(frozen=True)": "d: it changes the class that it gets",
    "import dataclasses as d\nX = d.dataclass(frozen=True)": "dataclasses.dataclass: it changes the class",
    "from functools import total_ordering": "functools.total_ordering: it changes a class",
    "import enum\nX = enum.EnumMeta('X', (), {})": "enum.EnumMeta: it makes classes",
    "import statistics\nX = statistics.random": "statistics.random: is not what the module is there for",
    "import statistics\nX = statistics.NormalDist": "statistics.NormalDist: it draws random numbers",
    "import dataclasses\nX = dataclasses.sys": "dataclasses.sys: is not what the module is there for",
    "import re\nX = [re]": "re: a module is used by its members",
    "import re as eval": "eval: has a meaning already",
    "from datetime import datetime as db": "db: has a meaning already",
    "eval = 1": "eval: has a meaning already; call this something else",
    "def open(db): pass": "open: has a meaning already",
    "if True:\n    X = 1": "a module holds imports, constants, functions and classes, nothing that runs",
    "for x in (): pass": "a module holds imports",
    "import re\nre.compile('x')": "a module holds imports",
    "X = {}\nX['a'] = 1": "a module-level value is changed",
    "def tool(db):\n    yield 1": "tool: yields; a tool returns its whole result",
    "async def tool(db): pass": "async: a tool is a plain function",
    "def _helper(x=[]): pass": "a default that is built once and shared by all calls",
    "def _helper(*, x={}): pass": "a default that is built once",
    "def _helper(*, x=dict()): pass": "a default that is built once",
    "def __getattr__(name): pass": "__getattr__: names with two underscores",
    "def _helper(x: 'eval(1)'): pass": "a type in quotes",
    "def _helper() -> 'eval(1)': pass": "a type in quotes",
    "def _helper(x: dict()): pass": "a type is a name, not something that runs",
    "from typing import Literal\ndef _helper(x: Literal['a'] | eval('1')): pass": "a type is a name",
    "from typing import Literal\ndef _helper(x: Literal[dict()]): pass": "Literal[…]: holds the values themselves",
    "from functools import reduce\n@reduce\ndef tool(db): pass": "a decorator: call what it does inside",
    "class C: pass": "class C: a TypedDict, a NamedTuple, an Enum or a frozen dataclass; no other",
    "class C(dict): pass": "class C: a TypedDict",
    "from servers.toolkit import ToolError\nclass C(ToolError): pass": "class C: a TypedDict",
    "from enum import Enum\nclass C(Enum, metaclass=type): pass": "class C: a TypedDict",
    "from dataclasses import dataclass\n@dataclass\nclass C:\n    x: int": "class C: a TypedDict",
    "from dataclasses import dataclass\n@dataclass(frozen=False)\nclass C:\n    x: int": "class C: a TypedDict",
    "from enum import Enum\nclass C(Enum):\n    def __del__(self): pass": "__del__: names with two underscores",
    "from enum import Enum\nclass C(Enum):\n    x = eval('1')": "eval: may not be used",
    "from enum import Enum\nclass C(Enum):\n    eval = 1\n    x = eval": "eval: may not be used",
    "from enum import Enum\nclass C(Enum):\n    for x in (): pass": "a class holds fields and methods",
}


@pytest.mark.parametrize("source", TOP_LEVEL)
def test_what_a_module_may_not_hold_is_named(source: str) -> None:
    assert any(TOP_LEVEL[source] in problem for problem in tool_problems(source)), tool_problems(source)


FINE = '''
"""Tools."""

import collections.abc
import datetime as dt
import json
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from decimal import Decimal, localcontext
from enum import StrEnum, unique
from functools import partial, reduce
from itertools import groupby
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, Optional, TypedDict, cast

from servers.toolkit import Database, ToolError

Names = Optional[list[Annotated[str, "a name"]]]
PATTERN = re.compile("[a-z]+")
RATES = {"gold": {"percent": 10}, "plain": {"percent": 0}}
FIRST_DAY = dt.date(2026, 1, 1)
MESSAGE = "there is no {!r}; {} lists them"


@unique
class Kind(StrEnum):
    GOLD = "gold"

    @property
    def rate(self) -> int:
        return RATES[self.value]["percent"]


class Point(NamedTuple):
    x: int
    y: int = 0


@dataclass(frozen=True, slots=True)
class Line:
    start: Point
    end: Point


class Base(TypedDict):
    id: str
    type: NotRequired[str]


class Row(Base, total=False):
    cents: int


def find(db: Database, *, id: str, kind: Literal["a", "b"] = "a", most: int | None = None, low: int = -1) -> Row:
    """Find."""
    rows = db.all("SELECT * FROM t WHERE id = :id", id=id)
    if not rows:
        raise ToolError(MESSAGE.format(id, "find"))
    seen: defaultdict[str, list[Any]] = defaultdict(list)
    for row in rows:
        seen[row["id"]].append(row)
        row["cents"] += 1
    total = reduce(lambda a, b: a + b, (row["cents"] for row in rows if (cents := row["cents"]) > 0), 0)
    match rows:
        case [{"id": str(name), **rest}, *others] if rest:
            total += len(others) + len(name) + cents
        case _:
            pass
    try:
        value = json.loads(rows[0]["data"])
    except (ValueError, KeyError) as error:
        raise ToolError("{}: {error}".format(id, error=error)) from None
    with localcontext(prec=4):
        total = int(Decimal(total).quantize(Decimal(1)))
    day = (FIRST_DAY + dt.timedelta(days=1)).isoformat()
    point = cast("Point", Point(1)._replace(y=2))
    names: Optional[list[str]] = cast(list[str], [])
    keys = {key: [*group] for key, group in groupby(sorted(rows, key=lambda row: row["id"]))}
    kinds = [type(value) is str, isinstance(value, collections.abc.Mapping), callable(partial(_twice, 1))]
    return {"id": f"{day:>12} {db.now()} {point.x} {len(keys)} {Counter(kinds)} {kind!s}", "cents": _twice(total)}


def _twice(number: int) -> int:
    def add() -> int:
        nonlocal number
        number += number
        return number

    return add()


def _each(db: Database):
    for row in db.all("SELECT 1"):
        yield row
'''


def test_what_ordinary_tools_say_passes() -> None:
    assert tool_problems(FINE) == []
    assert list(ToolModule(ast.parse(FINE)).functions) == ["find"]
    assert tool_problems(HEAD + TOOLS) == []
    assert tool_problems("") == []


@of_each_environment()
def test_the_bundles_of_the_farm_pass(name: str) -> None:
    library = Library([OWN_LIBRARY])
    assert tool_problems(library.environment(name).source) == []
    pythons = [
        one.python
        for scenario in library.scenarios(name).values()
        for one in scenario.checkpoints
        if isinstance(one, PythonCheckpoint)
    ]
    assert pythons or name not in ("library_loans", "hotel_bookings")
    assert [checkpoint_problems(python) for python in pythons] == [[]] * len(pythons)


def test_a_checkpoint_only_reads() -> None:
    body = "def check(start, final, answer, calls):\n    return {}\n"
    assert checkpoint_problems(body.format("bool(final.one('SELECT 1')) and final.now() > start.now()")) == []
    [run] = checkpoint_problems(body.format("final.run('DELETE FROM t')"))
    assert run == "line 2: .run: the database has all, now, one"
    [opened] = checkpoint_problems(body.format("open(answer)"))
    assert opened.startswith("line 2: open: may not be used")


async def test_farm_check_says_what_the_gate_found(tmp_path: Path) -> None:
    checkpoint = {
        "id": "odd", "role": "goal", "question": "?", "kind": "python",
        "python": "import os\ndef check(start, final, answer, calls):\n    return eval(answer)\n",
    }  # fmt: skip
    tools = TOOLS.replace('    return {"things"', '    import os\n    return {"things"')
    folder = await write_bundle(
        tmp_path / "shop", tools=tools, scenarios=[{**SOUND_SCENARIO, "checkpoints": [checkpoint]}]
    )
    async with Guests() as guests:
        [imports, *others] = await findings(folder, guests)
    number = next(n for n, line in enumerate((folder / "tools.py").read_text().splitlines(), 1) if "import os" in line)
    assert imports == f"{folder / 'tools.py'}: line {number}: import: stands at the top of the module"
    where = f"{folder / 'scenarios.jsonl'}: scenario 'dearer': checkpoints.odd: line"
    assert [one.partition(";")[0] for one in others] == [
        f"{where} 1: import os: may not be imported",
        f"{where} 3: eval: may not be used",
    ]


@pytest.mark.parametrize(
    "source",
    ["-" * 100_000 + "1", "(" * 1000, "x = 1\0", "def (", "x" + ".a" * 50_000, "X = " + "1+" * 3000 + "1", "\ud800"],
    ids=["signs", "parentheses", "NUL", "half", "attributes", "sums", "surrogate"],
)
def test_text_that_no_parser_follows_is_a_finding(source: str) -> None:
    [problem] = tool_problems(source)
    assert problem.startswith("line 1: ")


def test_nothing_that_may_be_used_leads_out() -> None:
    """The lists agree with the language: no built-in that opens, runs or imports, and no module but those loaded."""
    reaching = {"eval", "exec", "compile", "open", "input", "breakpoint", "globals", "locals", "vars", "getattr"}
    reaching |= {"setattr", "delattr", "memoryview", "help", "exit", "quit", "object", "super", "dir", "BaseException"}
    assert not BUILTINS & reaching
    assert set(dir(builtins)) >= BUILTINS
    assert not NAMES & {
        "os",
        "sys",
        "io",
        "time",
        "random",
        "uuid",
        "secrets",
        "socket",
        "subprocess",
        "ctypes",
        "apsw",
    }
    assert len(MODULES) == len(NAMES)


words = st.sampled_from(
    ["eval", "__class__", "x", "db", "LIST", "re", "(", ")", "[", "]", ".", ",", ":", "=", "lambda", "for", "in", "if",
     "def", "class", "import", "\n", "    ", "f'{", "}'", "'", "1", ":=", "*", "global", "del", "@", "match", "case"]
)  # fmt: skip


@given(st.lists(words, max_size=40).map(" ".join))
def test_any_text_is_answered_with_lines_and_reasons(source: str) -> None:
    for problem in tool_problems(source):
        line, _, reason = problem.removeprefix("line ").partition(": ")
        assert line.isdigit()
        assert reason
