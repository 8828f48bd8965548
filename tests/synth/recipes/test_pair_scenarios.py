"""Scenarios over two environments come from the pairs of recipes: certified, and the same each time."""

import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from servers.errors import BundleError
from servers.scenario.scenario import Scenario
from synth.certify.pairs import Stages
from synth.play.playground import Playground
from synth.recipes.pair_scenarios import MadePair, make_pairs
from tests.bundles import write
from tests.pairs import write_pair

LIKE_THE_ROOM: dict[str, Any] = {
    "id": "like_the_room",
    "title": "The {room} costs what the {thing} costs",
    "second": "inn",
    "first": {
        "bind": "SELECT id AS thing_id, name AS thing, cents, room, more FROM things"
        " JOIN (SELECT 'attic' AS room, 150 AS more UNION SELECT 'cellar', 75) WHERE id <> 't1'",
        "picks": {"sum": "SELECT :cents + :more AS new_cents"},
        "steps": [
            {"tool": "find", "arguments": {"text": "{thing}"}},
            {"tool": "price", "arguments": {"id": "{thing_id}", "cents": "{new_cents}"}},
        ],
        "questions": [{"ask": "what the thing costs now", "value": "new_cents", "say": "It costs {value}."}],
    },
    "then": {
        "bind": "SELECT id AS room_id FROM things WHERE name = :room",
        "setup": "UPDATE things SET name = :room WHERE id = 't3';",
        "steps": [
            {"tool": "rooms"},
            {"tool": "price", "arguments": {"id": "{room_id}", "cents": "{new_cents}"}},
        ],
    },
    "task": ["The {thing} gets dearer by {more} cents, and the room called {room} is to cost as much. How much is it?"],
}
SUGGESTED = {"first": {**LIKE_THE_ROOM["first"], "steps": [{"tool": "sell"}]}}


@pytest_asyncio.fixture
async def stages(tmp_path: Path) -> AsyncGenerator[Stages]:
    folder = await write_pair(tmp_path)
    write(folder / "shop", {"recipes.json": json.dumps({"recipes": [], "pairs": [LIKE_THE_ROOM]})})
    async with AsyncExitStack() as stack:
        first, second = [await stack.enter_async_context(Playground(folder / name)) for name in ("shop", "inn")]
        yield first, second


async def made(stages: Stages, n: int, there: list[Scenario] | None = None) -> list[Scenario]:
    tried: list[MadePair] = []
    await make_pairs(stages, n=n, seed=1, there=there or [], on_made=tried.append)
    assert {one.reason for one in tried if one.scenario is None} <= {"was there before"}
    return [one.scenario for one in tried if one.scenario is not None]


async def test_what_the_first_environment_gives_is_done_in_the_second(stages: Stages) -> None:
    first, second = scenarios = await made(stages, 2)
    for one in scenarios:
        assert one.second is not None
        assert one.certificate is not None
        assert one.certificate.kill_score >= 0.9
        tools = [call.tool for call in one.reference().calls]
        assert tools == ["find", "shop__price", "rooms", "inn__price"]
        assert {call.arguments.get("cents") for call in one.reference().calls[1::2]} == {
            one.reference().calls[1].arguments["cents"]
        }
        assert "${3." in one.reference().calls[3].arguments["id"], "its references count the calls of both"
    assert first.task != second.task
    assert await made(stages, 1) == [first], "the same bundles and seed give the same"
    [third] = await made(stages, 2, [first])
    assert third.id == "pair1_0001"


async def test_a_pair_that_names_no_tool_is_refused(stages: Stages) -> None:
    path = stages[0].environment.folder
    write(path, {"recipes.json": json.dumps({"recipes": [], "pairs": [{**LIKE_THE_ROOM, **SUGGESTED}]})})
    with pytest.raises(BundleError, match=r"like_the_room: shop: steps\.1: no tool named 'sell'"):
        await made(stages, 1)
    write(path, {"recipes.json": json.dumps({"recipes": []})})
    with pytest.raises(BundleError, match="has no pairs with inn"):
        await made(stages, 1)
