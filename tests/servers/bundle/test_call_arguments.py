"""What a tool is given, and what an agent is told whose arguments are wrong."""

import json
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import jsonschema_rs
import pytest
import pytest_asyncio

from servers.bundle.call_arguments import (
    MOST_CHECKS_EXPLAINED,
    MOST_COPIED,
    MOST_PROBLEMS,
    TOO_MANY_TO_EXPLAIN,
    ArgumentCheck,
)
from servers.bundle.tool_schema import MOST_CHECKS, most_checks_of, validator
from servers.bundle.whole_numbers import MOST_CHECKS_CONVERTED, TooManyChecks, inexact, with_integers
from servers.bundle_library import OWN_LIBRARY, Library
from servers.messages import Launch
from servers.worker.instance import Instance
from servers.worker.worker import Worker
from tests.bundles import write_bundle

TOOLS = '''
class Line(TypedDict):
    sku: str
    count: int
    note: NotRequired[str | None]


def order(
    db: Database,
    *,
    lines: list[Line],
    first: Line | None = None,
    copies: int = 1,
    limit: int | None = None,
    weight: float = 1.0,
    kind: Literal["adult", "child"] = "adult",
    other: Literal["adult", "child"] | None = None,
    stars: Literal[1, 2, 3] = 1,
    counts: dict[str, int] | None = None,
) -> dict:
    """Order things.

    Args:
        lines: The lines.
        first: The first line.
        copies: How many.
        limit: At most.
        weight: How heavy.
        kind: For whom.
        other: For whom else.
        stars: How good.
        counts: Of each.
    """
    given = [lines, first, copies, limit, weight, kind, other, stars, counts]
    return {"given": repr(given)}
'''
ARGUMENTS = "lines, first, copies, limit, weight, kind, other, stars, counts"


@pytest_asyncio.fixture(scope="module")
async def ordering(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Instance]:
    folder = await write_bundle(tmp_path_factory.mktemp("shelf") / "desk", tools=TOOLS, scenarios=())
    async with Worker(Library([folder.parent]), tmp_path_factory.mktemp("worker")) as worker:
        [ticket] = await worker.launch(Launch(environment="desk"))
        yield worker.find(ticket.instance)


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ({"lines": []}, "[[], None, 1, None, 1.0, 'adult', None, 1, None]"),
        ({"lines": [], "copies": 2.0}, "[[], None, 2, None, 1.0, 'adult', None, 1, None]"),
        ({"lines": [], "copies": -0.0}, "[[], None, 0, None, 1.0, 'adult', None, 1, None]"),
        ({"lines": [], "limit": 5.0}, "[[], None, 1, 5, 1.0, 'adult', None, 1, None]"),
        ({"lines": [], "weight": 2.0}, "[[], None, 1, None, 2.0, 'adult', None, 1, None]"),
        ({"lines": [], "stars": 3.0}, "[[], None, 1, None, 1.0, 'adult', None, 3, None]"),
        ({"lines": [], "counts": {"a": 1e3}}, "[[], None, 1, None, 1.0, 'adult', None, 1, {'a': 1000}]"),
        (
            {"lines": [{"sku": "a", "count": 1.0}], "first": {"sku": "b", "count": 9.0}},
            "[[{'sku': 'a', 'count': 1}], {'sku': 'b', 'count': 9}, 1, None, 1.0, 'adult', None, 1, None]",
        ),
    ],
)
async def test_a_whole_number_arrives_as_an_integer_where_one_is_wanted(
    ordering: Instance, arguments: dict[str, Any], given: str
) -> None:
    outcome = await ordering.call("order", arguments)
    assert outcome.structured == {"given": given}


async def test_the_history_has_what_the_tool_was_given(ordering: Instance) -> None:
    await ordering.call("order", {"lines": [], "copies": 2.0})
    assert '"copies":2,' in ordering.state.calls()[-1].arguments.replace("}", ",")


INEXACT = (
    "expected an integer in digits alone, got one with a point or an exponent"
    " (beyond 2^53 - 1 such a number is not exact: it was read as"
)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "argument lines: expected a list, got nothing"),
        ({"lines": [], "copies": 1e308}, f"argument copies: {INEXACT} 1e+308)"),
        ({"lines": [], "copies": -(2.0**53)}, f"argument copies: {INEXACT} -9007199254740992.0)"),
        ({"lines": [{"sku": "a", "count": 1e20}]}, f"argument lines[0].count: {INEXACT} 1e+20)"),
        ({"lines": [], "copies": 1.5}, "argument copies: expected an integer, got 1.5"),
        ({"lines": [], "limit": "5"}, 'argument limit: expected an integer or null, got "5"'),
        ({"lines": [], "kind": "kids"}, 'argument kind: expected one of "adult", "child", got "kids"'),
        ({"lines": [], "other": "kids"}, 'argument other: expected one of "adult", "child" or null, got "kids"'),
        ({"lines": [], "stars": 4}, "argument stars: expected one of 1, 2, 3, got 4"),
        (
            {"lines": [], "other": "x" * 900},
            f'argument other: expected one of "adult", "child" or null, got "{"x" * 79}…',
        ),
        ({"lines": [], "colour": 1}, f"argument colour: there is no such argument; there are: {ARGUMENTS}"),
        ({"lines": [{"count": 1}]}, "argument lines[0].sku: expected a string, got nothing"),
        ({"lines": [], "first": {"sku": 1, "count": 1}}, "argument first.sku: expected a string, got 1"),
        ({"lines": [], "first": "a"}, 'argument first: expected an object or null, got "a"'),
        (
            {"lines": [{"sku": "a", "count": 1, "size": 2}]},
            "argument lines[0].size: there is no such field; there are: sku, count, note",
        ),
        ({"lines": [], "counts": {"a": "b"}}, 'argument counts.a: expected an integer, got "b"'),
    ],
)
async def test_each_wrong_argument_is_told_with_its_name_what_was_expected_and_what_came(
    ordering: Instance, arguments: dict[str, Any], problem: str
) -> None:
    outcome = await ordering.call("order", arguments)
    assert (outcome.kind, outcome.text) == ("invalid", f"order was not called: {problem}")


async def test_of_many_arguments_that_there_are_not_a_few_are_named_and_the_others_counted(ordering: Instance) -> None:
    outcome = await ordering.call("order", {f"k{number}": 1 for number in range(19_000)})
    *named, others = outcome.text.removeprefix("order was not called: ").split("; argument ")[-1].split("; and ")
    assert outcome.text.count("there is no such argument") == MOST_PROBLEMS
    assert named == [f"k{MOST_PROBLEMS - 1}: there is no such argument; there are: {ARGUMENTS}"]
    assert others == f"{19_000 - MOST_PROBLEMS:,} more"


def test_no_problem_is_told_in_the_validators_own_words() -> None:
    """Not one of the library's: every kind of wrong value of every argument."""
    library = Library([OWN_LIBRARY])
    told: set[str] = set()
    for environment in map(library.environment, library.ids()):
        for check in map(environment.checks.__getitem__, environment.tools):
            for name in check.schema["properties"]:
                for value in (None, "wrong", 7, 1.5, True, [], [7], {}, {"a": 1}):
                    problems = check.problems({name: value}, "{}")
                    told |= {line for line in problems if line.startswith(f"argument {name}")}
    assert len(told) > 1000
    assert all(": expected " in line and ", got " in line for line in told)


def _list_of(*alternatives: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": {"type": "array", "items": {"anyOf": list(alternatives)}}}}


SHORT = {"type": "string", "maxLength": 1}


class CountedFaults(ArgumentCheck):
    """A check that refuses to describe a fault: what it returns was described without one."""

    def _errors(self, arguments: dict[str, Any], *, first: bool) -> list[jsonschema_rs.ValidationError]:
        raise AssertionError(f"every fault of {len(arguments)} arguments is described: {first}")


def _checked(schema: dict[str, Any]) -> ArgumentCheck:
    return CountedFaults(schema, validator(schema))


@pytest.mark.parametrize(
    "values",
    [["xx"] * (MOST_CHECKS_EXPLAINED // 100), ["x" * (MOST_COPIED // 100)], [["xx"] * 1000]],
    ids=["many values", "one long value", "values of a value"],
)
def test_no_fault_is_described_where_alternatives_make_too_many(values: list[Any]) -> None:
    """Each alternative has a fault of its own, and each fault a copy of its value."""
    check = _checked(_list_of(*[SHORT] * 100))
    assert check.problems({"a": values}, json.dumps({"a": values})) == [TOO_MANY_TO_EXPLAIN]


def test_of_many_faults_without_alternatives_the_first_is_described() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": SHORT}}}
    given = {"a": ["x", *["xx"] * MOST_CHECKS_EXPLAINED]}
    told = ArgumentCheck(schema, validator(schema)).problems(given, json.dumps(given))
    assert told == ['argument a[1]: expected a string (at most 1 characters), got "xx"']


@pytest.mark.parametrize(
    ("schema", "checks"),
    [
        ({"anyOf": [{"items": {"anyOf": [SHORT] * 20}}] * 30}, 30 * 21),
        ({"allOf": [{"properties": {"b": {"enum": [*range(30)]}}}] * 20}, 20 * 31),
        ({"oneOf": [{"additionalProperties": {"oneOf": [{"items": SHORT}] * 20}}] * 30}, 30 * 21),
    ],
)
def test_alternatives_of_alternatives_are_counted_together(schema: dict[str, Any], checks: int) -> None:
    """Each of them looks at the same value. So their checks add up, however deep the value is."""
    assert most_checks_of(schema) == checks > MOST_CHECKS
    assert most_checks_of({"properties": {"a": schema}}) == checks


def _alternatives(depth: int, last: dict[str, Any]) -> dict[str, Any]:
    """Each level has a field for each of 20 names, and each name a place of its own."""
    return last if depth == 0 else {"properties": {f"f{n}": _alternatives(depth - 1, last) for n in range(20)}}


def _values(depth: int, last: object) -> object:
    return last if depth == 0 else {f"f{n}": _values(depth - 1, last) for n in range(20)}


def test_the_alternatives_of_a_number_are_looked_at_so_often_and_no_more() -> None:
    """Once for a place of values, however many are there. Places are as many as the schema tells apart."""
    one = {"anyOf": [{"type": "integer"}] * 99}
    assert all(type(one) is int for one in with_integers({"a": [1.0] * 9000}, _list_of(one))["a"])
    given = {"a": _values(2, 1.0)}
    schema = {"type": "object", "properties": {"a": _alternatives(2, one)}}
    assert MOST_CHECKS_CONVERTED < 20**2 * 100
    with pytest.raises(TooManyChecks):
        with_integers(given, schema)
    with pytest.raises(TooManyChecks):
        list(inexact({"a": _values(2, 2.0**60)}, schema))
    check = ArgumentCheck(schema, validator(schema))
    with pytest.raises(TooManyChecks):
        check.problems(given, json.dumps(given))


async def test_a_call_with_too_many_alternatives_is_told_so(ordering: Instance) -> None:
    schema = {"type": "object", "properties": {"lines": _alternatives(2, {"anyOf": [{"type": "integer"}] * 99})}}
    environment = replace(
        ordering.environment,
        description=ordering.environment.description.model_copy(
            update={"tools": (ordering.environment.tools["order"].model_copy(update={"arguments": schema}),)}
        ),
    )
    outcome = await replace(ordering, environment=environment).call("order", {"lines": _values(2, 1.0)})
    assert outcome.kind == "invalid"
    told = "its arguments come to more than 20,000 alternatives for its numbers; give fewer at once"
    assert outcome.text == f"order was not called: {told}"


async def test_a_call_makes_the_check_of_its_own_tool_alone(ordering: Instance) -> None:
    """Those of an environment with hundreds of tools take a fraction of a second together."""
    tools = [ordering.environment.tools["order"].model_copy(update={"name": f"tool_{number}"}) for number in range(99)]
    description = ordering.environment.description
    description = description.model_copy(update={"tools": (*description.tools, *tools)})
    instance = replace(ordering, environment=replace(ordering.environment, description=description))
    assert (await instance.call("order", {"lines": []})).kind == "ok"
    assert (await instance.call("no_such_tool", {})).kind == "invalid"
    assert list(instance.environment.checks) == ["order"]


@pytest.mark.parametrize("arguments", [{"lines": [{"sku": "a\0b", "count": 1}]}, {"lines": [], "counts": {"\0": 1}}])
async def test_a_nul_character_in_arguments_is_refused(ordering: Instance, arguments: dict[str, Any]) -> None:
    """SQLite takes a text to end there, and its functions differ in whether they do."""
    outcome = await ordering.call("order", arguments)
    told = "its arguments are not JSON, nested deeper than 100, or hold a NUL character or half of a surrogate pair"
    assert (outcome.kind, outcome.text) == ("invalid", f"order was not called: {told}")


async def test_a_text_that_only_looks_like_a_nul_character_is_a_text(ordering: Instance) -> None:
    assert (await ordering.call("order", {"lines": [{"sku": "\\u0000", "count": 1}]})).kind == "ok"
