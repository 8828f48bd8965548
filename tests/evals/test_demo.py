"""The demo's three players, and what it says of a scenario whose rewards are not as they must be."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evals.demo import PlayedScenario, play_demo
from registry.client import FarmClient
from registry.farm import private
from servers.errors import BundleError
from tests.bundles import SOUND_SCENARIO, write_bundle

SOLVED = {"tool": "price", "arguments": {"id": "t2", "cents": 250}}
LOOKED = {"tool": "find", "arguments": {"text": "bell"}}
ASKED: dict[str, Any] = {
    **SOUND_SCENARIO,
    "id": "asked",
    "title": "Tell the price",
    "task": "What does the bell cost?",
    "checkpoints": [
        {
            "id": "told",
            "role": "goal",
            "question": "Is the price told?",
            "kind": "python",
            "python": "def check(start, final, answer, calls):\n    return '2.00' in answer\n",
        }
    ],
    "solution": {"calls": [LOOKED], "answer": "It costs 2.00."},
}


async def played(folder: Path, *scenarios: dict[str, Any]) -> tuple[list[PlayedScenario], int]:
    """What the demo shows of a bundle with some scenarios, and how many leases are live afterwards."""
    await write_bundle(folder / "shop", scenarios=scenarios)
    told: list[PlayedScenario] = []
    async with private((folder,)) as address, FarmClient(address.url, address.token) as farm:
        shown = await play_demo(farm, told.append)
        assert sorted(one.scenario.id for one in told) == sorted(one.scenario.id for one in shown)
        return shown, (await farm.leases(status="live")).total


def solved_by(calls: Sequence[dict[str, Any]], answer: str = "Done.", **changes: Any) -> dict[str, Any]:
    return {**SOUND_SCENARIO, **changes, "solution": {"calls": list(calls), "answer": answer}}


def tools(run: Any) -> list[str]:
    return [call.tool for turn in run.trace.turns for call in turn.calls]


async def test_the_three_players_play_all_nothing_and_all_but_the_last_change(tmp_path: Path) -> None:
    made = {"tool": "make", "arguments": {"name": "drum"}}
    [shown], live = await played(tmp_path, solved_by([LOOKED, made, LOOKED, SOLVED, LOOKED], "It is done."))
    assert tools(shown.gold) == ["find", "make", "find", "price", "find"]
    assert tools(shown.idle) == []
    assert tools(shown.sabotaged) == ["find", "make", "find"]
    answers = [run.trace.answer if run.trace else None for run in (shown.gold, shown.idle, shown.sabotaged)]
    assert answers == ["It is done.", "", "All done, as you asked."]
    assert [run.reward for run in (shown.gold, shown.idle, shown.sabotaged)] == [1.0, 0.0, 0.0]
    assert shown.as_it_must_be
    assert live == 0


async def test_of_a_scenario_that_changes_nothing_the_answer_is_sabotaged(tmp_path: Path) -> None:
    [shown], _ = await played(tmp_path, ASKED)
    assert tools(shown.gold) == tools(shown.sabotaged) == ["find"]
    assert shown.sabotaged.trace is not None
    assert shown.sabotaged.trace.answer == "All done, as you asked."
    assert [run.reward for run in (shown.gold, shown.idle, shown.sabotaged)] == [1.0, 0.0, 0.0]
    assert shown.as_it_must_be


async def test_a_solution_that_does_not_solve_is_not_as_it_must_be(tmp_path: Path) -> None:
    wrong = {"tool": "price", "arguments": {"id": "t2", "cents": 1}}
    shown, _ = await played(tmp_path, solved_by([wrong]), solved_by([SOLVED], id="sound"))
    assert {one.scenario.id: one.as_it_must_be for one in shown} == {"dearer": False, "sound": True}


async def test_a_bundle_that_cannot_be_read_is_not_passed_over(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=r"shop/scenarios.jsonl: line 1: tasks: "):
        await played(tmp_path, {**SOUND_SCENARIO, "tasks": "?"}, ASKED)


async def test_a_scenario_that_is_won_by_doing_nothing_is_not_as_it_must_be(tmp_path: Path) -> None:
    [checkpoint] = SOUND_SCENARIO["checkpoints"]
    [shown], _ = await played(tmp_path, solved_by([SOLVED], checkpoints=[{**checkpoint, "sql": "SELECT 250"}]))
    assert (shown.gold.reward, shown.idle.reward) == (1.0, 1.0)
    assert not shown.as_it_must_be


async def test_a_scenario_that_is_won_without_its_last_change_is_not_as_it_must_be(tmp_path: Path) -> None:
    [shown], _ = await played(tmp_path, solved_by([SOLVED, SOLVED]))
    assert shown.sabotaged.success is True
    assert not shown.as_it_must_be
