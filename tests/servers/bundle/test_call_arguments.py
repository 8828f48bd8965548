"""What a tool is given, and what an agent is told whose arguments are wrong."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from servers.bundle.call_arguments import MOST_PROBLEMS
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


@pytest_asyncio.fixture
async def ordering(tmp_path: Path) -> AsyncGenerator[Instance]:
    folder = await write_bundle(tmp_path / "shelf" / "desk", tools=TOOLS, scenarios=())
    async with Worker(Library([folder.parent]), tmp_path / "state") as worker:
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
    assert '"copies":2,' in ordering.state.calls()[0].arguments.replace("}", ",")


MANY = "an integer in digits alone (beyond 2^53 - 1 a point or an exponent is not exact)"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "argument lines: expected a list, got nothing"),
        ({"lines": [], "copies": 1e308}, f"argument copies: expected {MANY}, got 1e+308"),
        ({"lines": [], "copies": -(2.0**53)}, f"argument copies: expected {MANY}, got -9007199254740992.0"),
        ({"lines": [{"sku": "a", "count": 1e20}]}, f"argument lines[0].count: expected {MANY}, got 1e+20"),
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
        for check in environment.checks.values():
            for name in check.schema["properties"]:
                for value in (None, "wrong", 7, 1.5, True, [], [7], {}, {"a": 1}):
                    told |= {line for line in check.problems({name: value}, 50) if line.startswith(f"argument {name}")}
    assert len(told) > 1000
    assert all(": expected " in line and ", got " in line for line in told)
