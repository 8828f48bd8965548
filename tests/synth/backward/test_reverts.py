"""No errand asks for something and then for its undoing."""

import json
from pathlib import Path
from typing import Any

import pytest

from servers.scenario.scenario import Scenario
from servers.state.rows import RowChange
from synth.backward.errand import undoes
from synth.backward.generator import make_backward
from synth.play.playground import Playground
from tests.bundles import TOOLS, write, write_bundle

FLIPS = (
    TOOLS[: TOOLS.index("def make")]
    + '''
def raise_price(db: Database, *, id: str) -> dict:
    """Raise the price of a thing.

    Args:
        id: The thing.
    """
    return {"changed": db.run("UPDATE things SET cents = cents + 50 WHERE id = :id", id=id)}


def lower_price(db: Database, *, id: str) -> dict:
    """Lower the price of a thing.

    Args:
        id: The thing.
    """
    return {"changed": db.run("UPDATE things SET cents = cents - CENTS WHERE id = :id", id=id)}
'''
)


def update(before: dict[str, Any], after: dict[str, Any]) -> RowChange:
    return RowChange(table="things", operation="update", key={"id": "t1"}, before=before, after=after)


def insert(after: dict[str, Any]) -> RowChange:
    return RowChange(table="things", operation="insert", key={"id": "t1"}, before={}, after=after)


DELETED = RowChange(table="things", operation="delete", key={"id": "t1"}, before={"status": "new"}, after={})


@pytest.mark.parametrize(
    ("before", "change", "undone"),
    [
        ([update({"status": "free"}, {"status": "held"})], update({"status": "held"}, {"status": "free"}), True),
        ([update({"status": "free"}, {"status": "held"})], update({"status": "held"}, {"status": "lent"}), False),
        ([update({"who": None}, {"who": "Ada"})], update({"who": "Ada"}, {"who": None}), False),
        (
            [update({"status": "free"}, {"status": "held"}), update({"status": "held"}, {"status": "lent"})],
            update({"status": "lent"}, {"status": "free"}),
            True,
        ),
        ([insert({"status": "new"})], DELETED, True),
        ([insert({"status": "new"})], update({"status": "new"}, {"status": "rejected"}), True),
        ([insert({"status": "new"})], update({"status": "new"}, {"status": "approved"}), False),
        ([], update({"status": "new"}, {"status": "rejected"}), False),
        ([], DELETED, False),
    ],
)
def test_what_takes_back_an_earlier_change(before: list[RowChange], change: RowChange, undone: bool) -> None:
    assert undoes(change, before) == undone


async def made(shop: Path) -> list[Scenario]:
    """Scenarios in which prices may be lowered once they were raised."""
    write(shop, {"phrases.json": json.dumps({"chains": [["raise_price", "lower_price"]]})})
    found: list[Scenario] = []
    async with Playground(shop) as stage:
        await make_backward(stage, n=4, seed=1, there=[], on_certified=found.append, on_walk=lambda _: None)
    return found


def both_of_one(scenario: Scenario) -> bool:
    """Whether the price of one thing is raised and lowered."""
    calls = [(call.tool, str(call.arguments)) for call in scenario.reference().calls if call.tool != "find"]
    return len({arguments for _, arguments in calls}) < len(calls)


@pytest.mark.parametrize(("cents", "may"), [(50, False), (20, True)])
async def test_a_chain_of_commands_is_followed_but_not_to_where_it_began(tmp_path: Path, cents: int, may: bool) -> None:
    shop = await write_bundle(tmp_path / "shop", tools=FLIPS.replace("CENTS", str(cents)), scenarios=())
    assert any(both_of_one(one) for one in await made(shop)) == may
