"""A farm's environments as TRL plays them; TRL itself is in `test_trl.py`, in an environment of its own."""

import asyncio
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_type_hints

import pytest

from agent_client.trace import ToolSpec
from registry.client import FarmClient
from registry.farm import private
from rl_training.trl.environments import TrlEnvironments
from rl_training.trl.signature import as_function, type_of
from servers.errors import RequestError


@pytest.mark.parametrize(
    ("schema", "hint"),
    [
        ({"type": "string"}, str),
        ({"type": "integer", "minimum": 1}, int),
        ({"type": "string", "enum": ["a", "b"]}, Literal["a", "b"]),
        ({"type": "array", "items": {"type": "number"}}, list[float]),
        ({"type": ["string", "null"]}, str | None),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, int | None),
        ({"type": "object", "properties": {}}, dict),
        ({}, Any),
    ],
)
def test_a_schema_is_a_type(schema: dict[str, Any], hint: Any) -> None:
    assert type_of(schema) == hint


def spec(name: str = "loan", **properties: Any) -> ToolSpec:
    arguments = {"type": "object", "properties": properties, "required": list(properties)[:1]}
    return ToolSpec(name=name, description="Lend a book\nto a member.", arguments=arguments)


def test_a_tool_is_a_function_that_says_what_it_takes() -> None:
    given: list[dict[str, Any]] = []
    tool = spec(book={"type": "string", "description": "The book."}, days={"type": "integer"})
    function = as_function(tool, lambda _, arguments: given.append(arguments) or "lent")
    assert (function.__name__, function.__doc__) == (
        "loan",
        "Lend a book to a member.\n\nArgs:\n    book: The book.\n    days: days",
    )
    assert get_type_hints(function) == {"book": str, "days": int | None, "return": str}
    defaults = {name: one.default for name, one in inspect.signature(function).parameters.items()}
    assert defaults == {"self": inspect.Parameter.empty, "book": inspect.Parameter.empty, "days": None}
    assert function(None, book="b1", pages=3) == "lent"
    assert given == [{"book": "b1", "pages": 3}], "the farm says that it knows no pages, not Python"


@pytest.mark.parametrize(
    "tool", [spec("reset"), spec("get-it"), spec("loan", **{"from": {}}), spec("loan", _x={"type": "string"})]
)
def test_a_name_that_python_or_trl_cannot_have_is_told(tool: ToolSpec) -> None:
    with pytest.raises(RequestError, match=r"cannot be a name in Python, so TRL cannot have this tool"):
        as_function(tool, lambda _, __: "")


ANSWERED: list[dict[str, Any]] = [{"role": "assistant", "content": "Done."}]


async def test_an_episode_is_an_instance_that_is_played_scored_and_given_back(shelf: Path) -> None:
    async with private((shelf,)) as address, FarmClient(address.url, address.token) as farm:

        def plays() -> Iterator[Any]:
            with TrlEnvironments(address.url, address.token) as trl:
                make = trl.factories(["shop"])["shop"]
                first, second = make(), make()
                [row, *_] = [row for row in trl.rows(["shop"]) if row["scenario"] == "dearer"]
                for one in (first, second):
                    one.reset(**{name: value for name, value in row.items() if name != "environment"})
                yield first.price(id="t2", cents=250)  # type: ignore[attr-defined]
                yield second.price(id="t2", cents=-1)  # type: ignore[attr-defined]
                yield trl.reward([ANSWERED, ANSWERED], [first, second])
                first.reset(scenario="dearer")
                yield trl.reward([[]], [first])

        done, refused, rewards, again = await in_thread(plays)
        assert done == '{"id": "t2", "cents": 250}'
        assert "cents" in refused
        assert (rewards, again) == ([1.0, 0.0], [0.0])
        assert ((await farm.leases(status="live")).total, (await farm.leases()).total) == (0, 4)


async def test_an_episode_that_the_farm_broke_has_no_reward(shelf: Path) -> None:
    async with private((shelf,)) as address:

        def plays() -> Iterator[Any]:
            with TrlEnvironments(address.url, address.token) as trl:
                one = trl.factories(["shop"])["shop"]()
                yield trl.reward([ANSWERED], [one])
                one.reset(scenario="dearer")
                [lease] = trl.wait(trl.link.client.leases(status="live")).items
                trl.wait(trl.link.client.close(lease.instance))
                with pytest.raises(Exception, match="closed"):
                    one.find(text="bell")  # type: ignore[attr-defined]
                yield trl.reward([ANSWERED], [one])

        assert await in_thread(plays) == [[None], [None]]


async def in_thread(plays: Any) -> list[Any]:
    """TRL's trainer waits for each call: it runs beside the farm's loop, not in it."""
    return await asyncio.to_thread(lambda: list(plays()))
