"""Right and wrong answers in other words: what `farm check` finds wrong with `paraphrases.json`."""

import json
from pathlib import Path
from typing import Any

import pytest

from servers.authoring.check import findings
from servers.sandbox.guest_pool import Guests
from tests.bundles import write, write_bundle

RIGHT = "It costs {value|words}."


def tells(right: str = RIGHT, wrong: str = "It costs {other}.") -> dict[str, Any]:
    """Templates for what a thing costs."""
    return {"tells": {"price": {"cents": {"right": [right], "wrong": [wrong]}}}}


@pytest.mark.parametrize(
    ("paraphrases", "problem"),
    [
        ({"tells": {"sell": {}}}, "no tool named 'sell'"),
        ({"scenarios": {"cheaper": {}}}, "no scenario 'cheaper'"),
        ({"scenarios": {"dearer": {"right": [""]}}}, "scenarios.dearer: a text of 0 characters"),
        ({"scenarios": {"dearer": {"wrong": ["x" * 2001]}}}, "a text of 2001 characters; 1 to 2,000 are possible"),
        ({"scenarios": {"dearer": {"rights": []}}}, "scenarios.dearer.rights: no such key"),
        ({"scenarios": {"dearer": {"right": ["x"] * 41}}}, "at most 40 items"),
        (tells(right="It costs a lot."), "tells.price.cents.right: does not tell the value: 'It costs a lot.'"),
        (tells(right="{value}, not {other}"), "right: tells a wrong value"),
        (tells(right="{value|loud}"), "right: no form 'loud'; there are "),
        (tells(right="{value} for {name}"), "right: the holes are {value} and {other}"),
        (tells(wrong="{others}"), "wrong: the holes are {value} and {other}"),
        (["right"], "the whole: must be an object"),
    ],
)
async def test_what_cannot_serve_is_found_by_file_and_place(tmp_path: Path, paraphrases: Any, problem: str) -> None:
    shop = await write_bundle(tmp_path / "shop")
    write(shop, {"paraphrases.json": json.dumps(paraphrases)})
    async with Guests() as guests:
        found = await findings(shop, guests)
    assert [one for one in found if problem in one and one.startswith(f"{shop / 'paraphrases.json'}: ")], found


async def test_what_can_serve_is_no_finding(tmp_path: Path) -> None:
    shop = await write_bundle(tmp_path / "shop")
    write(shop, {"paraphrases.json": json.dumps({**tells(), "scenarios": {"dearer": {"right": ["Done."]}}})})
    async with Guests() as guests:
        assert await findings(shop, guests) == []
