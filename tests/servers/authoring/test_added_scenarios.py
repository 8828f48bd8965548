"""`farm scenarios --add`: what a file holds becomes the bundle's, all of it or nothing."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from servers.bundle.environment import load
from servers.scenario.scenario_file import load_scenarios
from tests.bundles import SOUND_SCENARIO
from tests.processes import AS_ANYBODY, WITHOUT_RIGHTS, Done, farm

SCENARIO: dict[str, Any] = {**SOUND_SCENARIO, "id": "again", "title": "Once more"}
UNSOUND = {**SCENARIO, "id": "unsound", "checkpoints": [{**SOUND_SCENARIO["checkpoints"][0], "sql": "SELECT x FROM y"}]}


@pytest.fixture
def shop(shelf: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(shelf / "shop", tmp_path / "shop"))


async def added(shop: Path, *scenarios: dict[str, Any]) -> Done:
    file = shop.parent / "more.jsonl"
    file.write_text("".join(f"{json.dumps(one)}\n" for one in scenarios))
    return await farm("scenarios", shop, "--add", file, home=shop.parent)


async def test_scenarios_of_a_file_are_played_once_they_are_added(shop: Path) -> None:
    done = await added(shop, SCENARIO, {**SCENARIO, "id": "third", "title": "And again"})
    assert done == (0, f"{shop}/scenarios.jsonl: 2 scenarios added\n", "")
    assert list(load_scenarios(load(shop))) == ["dearer", "again", "third"]
    assert (await farm("play", shop, "--scenario", "third", "--gold", home=shop.parent)).code == 0


async def test_answers_in_other_words_of_those_that_are_there_are_in_nobodys_way(shop: Path) -> None:
    words = {"right": ["It is."], "wrong": ["It is not."]}
    provenance = {"by": "somebody", "at": "2026-11-22", "saw": "the task"}
    whole = {"provenance": provenance, "tells": {}, "scenarios": {"dearer": words}}
    (shop / "paraphrases.json").write_text(json.dumps(whole))
    assert (await added(shop, SCENARIO)).code == 0


@pytest.mark.parametrize(
    ("scenario", "why"),
    [
        (SOUND_SCENARIO, "scenario 'dearer' is there already"),
        ({**SOUND_SCENARIO, "id": "other"}, "scenario 'other' is there already, as 'dearer'"),
        (UNSOUND, "more.jsonl: scenario 'unsound': checkpoints."),
        ({**SCENARIO, "task": 7}, "more.jsonl: line 2: task: "),
    ],
)
async def test_nothing_is_added_where_one_cannot_be(shop: Path, scenario: dict[str, Any], why: str) -> None:
    before = (shop / "scenarios.jsonl").read_bytes()
    done = await added(shop, SCENARIO, scenario)
    assert (done.code in {1, 2}, done.out) == (True, "")
    assert why in done.err
    assert done.err.endswith("nothing was added\n")
    assert (shop / "scenarios.jsonl").read_bytes() == before


async def test_a_file_without_scenarios_has_nothing_to_add(shop: Path) -> None:
    done = await added(shop)
    assert (done.code, "there is no scenario in it" in done.err) == (2, True)


async def test_a_proof_that_is_out_of_date_is_in_nobodys_way(shop: Path) -> None:
    (shop / "proof.json").write_text('{"files": {}}')
    assert (await added(shop, SCENARIO)).code == 0


@pytest.fixture
def closed_shop(shop: Path) -> Iterator[Path]:
    """A bundle in whose folder nothing can be written."""
    shop.chmod(0o500)
    yield shop
    shop.chmod(0o700)


@AS_ANYBODY
async def test_a_folder_that_cannot_be_written_is_named_as_it_was_given(closed_shop: Path) -> None:
    shop = closed_shop
    file = shop.parent / "more.jsonl"
    file.write_text(json.dumps(SCENARIO))
    done = await farm("scenarios", shop, "--add", file, home=shop.parent, launcher=WITHOUT_RIGHTS)
    assert done == (1, "", f"farm: {shop}/scenarios.jsonl: cannot be written: Permission denied\n")
