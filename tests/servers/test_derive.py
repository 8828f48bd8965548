"""Tool schemas, derived from signatures and docstrings."""

from pathlib import Path
from typing import Any

import pytest

from servers.authoring.check import derived
from servers.bundle.description import Tool
from servers.bundle.tool_schema import validator
from servers.errors import BundleError
from servers.sandbox.guest_pool import Guests
from tests.bundles import HEAD, write


async def tools_of(folder: Path, source: str) -> dict[str, Tool]:
    write(folder, {"tools.py": HEAD + source})
    async with Guests() as guests:
        return {tool.name: tool for tool in await derived(folder, guests)}


async def refusal_of(folder: Path, source: str) -> str:
    with pytest.raises(BundleError) as refusal:
        await tools_of(folder, source)
    return str(refusal.value)


TYPES: dict[str, dict[str, Any]] = {
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "str | None": {"type": ["string", "null"]},
    "Optional[int]": {"type": ["integer", "null"]},
    "int | str": {"type": ["integer", "string"]},
    "Literal['a', 'b']": {"type": "string", "enum": ["a", "b"]},
    "Literal[1, 2]": {"type": "integer", "enum": [1, 2]},
    "Literal['a', 1]": {"type": ["integer", "string"], "enum": ["a", 1]},
    "Literal['a', None]": {"type": ["null", "string"], "enum": ["a", None]},
    "Literal['a'] | None": {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]},
    "list": {"type": "array"},
    "list[Any]": {"type": "array"},
    "list[str]": {"type": "array", "items": {"type": "string"}},
    "list[int] | None": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
    "list[list[int]]": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
    "dict": {"type": "object"},
    "dict[str, Any]": {"type": "object"},
    "dict[str, int]": {"type": "object", "additionalProperties": {"type": "integer"}},
    "'Line'": {
        "type": "object",
        "properties": {"sku": {"type": "string"}, "count": {"type": "integer"}},
        "required": ["sku"],
        "additionalProperties": False,
    },
    "list['Line']": {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"sku": {"type": "string"}, "count": {"type": "integer"}},
            "required": ["sku"],
            "additionalProperties": False,
        },
    },
}


async def test_every_type_has_its_schema(tmp_path: Path) -> None:
    arguments = ", ".join(f"a{number}: {hint}" for number, hint in enumerate(TYPES))
    lines = "".join(f"        a{number}: Number {number}.\n" for number in range(len(TYPES)))
    source = f'''
from typing import Optional


class Line(TypedDict):
    sku: str
    count: NotRequired[int]


def take(db: Database, *, {arguments}) -> dict:
    """Take one of each.

    Args:
{lines}    """
    return {{}}
'''
    properties = (await tools_of(tmp_path, source))["take"].arguments["properties"]
    for number, schema in enumerate(TYPES.values()):
        assert properties[f"a{number}"] == {**schema, "description": f"Number {number}."}
        validator(properties[f"a{number}"])


async def test_defaults_make_arguments_optional_and_docstrings_describe(tmp_path: Path) -> None:
    source = '''
def order(db: Database, *, sku: str, count: int = 1, note: str | None = None) -> dict[str, int]:
    """Order goods.

    They come tomorrow.

    Args:
        sku: What to order, as `find`
            shows it.
        count: How many.
        note: For the driver.
    """
    return {}
'''
    tool = (await tools_of(tmp_path, source))["order"]
    assert tool.description == "Order goods.\n\nThey come tomorrow."
    assert tool.arguments == {
        "type": "object",
        "properties": {
            "sku": {"type": "string", "description": "What to order, as `find` shows it."},
            "count": {"type": "integer", "description": "How many.", "default": 1},
            "note": {"type": ["string", "null"], "description": "For the driver."},
        },
        "required": ["sku"],
        "additionalProperties": False,
    }
    assert tool.result == {"type": "object", "additionalProperties": {"type": "integer"}}


async def test_a_typed_dict_describes_the_result(tmp_path: Path) -> None:
    source = '''
class Part(TypedDict):
    name: str


class Whole(TypedDict):
    parts: list[Part]
    main: Part | None
    note: NotRequired[str]


def show(db: Database) -> Whole:
    """Show it."""
    return {"parts": [], "main": None}
'''
    part = {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "required": ["name"],
        "additionalProperties": False,
    }
    assert (await tools_of(tmp_path, source))["show"].result == {
        "type": "object",
        "properties": {
            "parts": {"type": "array", "items": part},
            "main": {"anyOf": [part, {"type": "null"}]},
            "note": {"type": "string"},
        },
        "required": ["parts", "main"],
        "additionalProperties": False,
    }


async def test_tools_are_the_public_functions_in_their_order(tmp_path: Path) -> None:
    source = '''
from datetime import timedelta
from json import dumps

LIMIT = 3


class Oops(Exception):
    pass


def second(db: Database) -> dict:
    """The second."""
    return {}


def first(db: Database) -> dict:
    """The first."""
    return {}


def _hidden(db: Database) -> dict:
    return {}
'''
    assert list(await tools_of(tmp_path, source)) == ["second", "first"]


async def test_a_tool_writes_when_it_or_what_it_calls_uses_run(tmp_path: Path) -> None:
    source = '''
def looks(db: Database) -> dict:
    """It looks."""
    return {"rows": _count(db)}


def writes(db: Database) -> dict:
    """It writes."""
    db.run("DELETE FROM things")
    return {}


def writes_far_away(db: Database) -> dict:
    """It writes through two others."""
    return {"rows": [_outer(db) for _ in range(2)]}


def calls_a_tool_that_writes(db: Database) -> dict:
    """It writes through another tool."""
    return writes(db)


def _outer(db: Database) -> int:
    return _inner(db)


def _inner(db: Database) -> int:
    return db.run("DELETE FROM parts")


def _count(db: Database) -> int:
    return len(db.all("SELECT * FROM things"))
'''
    tools = await tools_of(tmp_path, source)
    assert {name: tool.writes for name, tool in tools.items()} == {
        "looks": False,
        "writes": True,
        "writes_far_away": True,
        "calls_a_tool_that_writes": True,
    }


DOCUMENTED = '"""Do it.\n\n    Args:\n        x: An x.\n    """'


@pytest.mark.parametrize(
    ("function", "finding"),
    [
        ("def f(db: Database) -> dict:\n    return {}", "f: has no docstring; its text becomes the tool's description"),
        ('def f(db: Database, *, x: str) -> dict:\n    """Do it."""', "f: argument 'x' has no line under Args:"),
        (f"def f(db: Database, *, x) -> dict:\n    {DOCUMENTED}", "f: argument 'x' has no type"),
        (f"def f(db: Database, x: str) -> dict:\n    {DOCUMENTED}", "f: takes `db` first and its arguments by keyword"),
        (f"def f(database: Database, *, x: str) -> dict:\n    {DOCUMENTED}", "f: takes `db` first"),
        (f"def f(db: Database, *x: str) -> dict:\n    {DOCUMENTED}", "f: takes `db` first"),
        (f"def f(db: Database, **x: str) -> dict:\n    {DOCUMENTED}", "f: takes `db` first"),
        ('def f() -> dict:\n    """Do it."""', "f: takes `db` first"),
        (f"def f(db: Database, *, x: bytes) -> dict:\n    {DOCUMENTED}", "f: the type <class 'bytes'> has no schema"),
        (f"def f(db: Database, *, x: set[str]) -> dict:\n    {DOCUMENTED}", "f: the type set[str] has no schema"),
        (f"def f(db: Database, *, x: Literal[b'1']) -> dict:\n    {DOCUMENTED}", "f: the type "),
        (f"def f(db: Database, *, x: str = b'1') -> dict:\n    {DOCUMENTED}", "f: argument 'x' has a default that"),
        ("def f(db: Database, *, x: 'Nothing') -> dict:\n    " + DOCUMENTED, "f: name 'Nothing' is not defined"),
        ('def f(db: Database) -> list[str]:\n    """Do it."""', "f: returns what is not an object"),
        ('def f(db: Database) -> str:\n    """Do it."""', "f: returns what is not an object"),
    ],
)
async def test_what_no_schema_can_be_made_from_is_refused(tmp_path: Path, function: str, finding: str) -> None:
    assert f"tools.py: {finding}" in await refusal_of(tmp_path, f"\n{function}\n")


async def test_all_functions_that_cannot_be_described_are_named(tmp_path: Path) -> None:
    told = await refusal_of(tmp_path, "\ndef f(db): ...\n\n\ndef g(db): ...\n")
    assert "tools.py: f: has no docstring" in told
    assert "tools.py: g: has no docstring" in told


@pytest.mark.parametrize(
    ("kind", "finding"),
    [
        (f"Literal[{', '.join(map(str, range(600)))}]", "properties.a: makes 601 checks of one value, more than 500"),
        ("list[" * 40 + "int" + "]" * 40, "nested deeper than 32"),
    ],
    ids=["many choices", "deep"],
)
async def test_a_schema_that_no_bundle_may_have_is_not_derived(tmp_path: Path, kind: str, finding: str) -> None:
    told = 'def go(db: Database, *, a: {}) -> dict:\n    """Go.\n\n    Args:\n        a: A.\n    """\n    return {{}}\n'
    refusal = await refusal_of(tmp_path, told.format(kind))
    assert "tools.py: go.arguments.properties.a" in refusal
    assert finding in refusal
