"""Checks that became SELECTs are asked with the old ones, on states that calls reach and on changed rows."""

from pathlib import Path

import pytest

from servers.errors import CheckpointError
from servers.scenario.checkpoints.python import PythonCheckpoint
from servers.scenario.scenario import PlannedCall
from servers.scenario.scenario_file import load_scenarios
from synth.play.playground import Playground
from synth.relational.carried import MOST_OF_ROWS, Agreement, CheckComparison, rows_shown, sql_checkpoint
from synth.relational.equivalence import twin_starts
from synth.relational.states import HeldAttribute
from tests.synth.relational.shelf import rewritten, shelf, twin

DROPPED = [PlannedCall(tool="drop", arguments={"box_id": "B3"})]
RIGHT = "SELECT NOT EXISTS (SELECT 1 FROM boxes WHERE box_id = 'B3')"
WRONG = {
    "it looks at another table": "SELECT NOT EXISTS (SELECT 1 FROM notes WHERE box_id = 'B3')",
    "it counts": "SELECT count(*) = 2 FROM boxes",
    "it asks for the name": "SELECT NOT EXISTS (SELECT 1 FROM boxes WHERE name = 'hooks')",
}


async def compared(folder: Path, *sqls: str, calls: list[PlannedCall]) -> list[Agreement]:
    """What comparing some SELECTs with the shelf's check found."""
    bundle = await shelf(folder)
    given = twin(bundle)
    async with Playground(bundle) as there, Playground(await rewritten(folder)) as here:
        [_, start] = await twin_starts(there, here, given)
        [scenario] = load_scenarios(there.environment).values()
        [check] = [one for one in scenario.checkpoints if isinstance(one, PythonCheckpoint)]
        return [
            await CheckComparison(there, here, given, start, scenario, [sql_checkpoint(check, sql)]).compare(calls)
            for sql in sqls
        ]


@pytest.mark.slow
async def test_a_select_that_says_what_the_check_says_agrees_and_a_wrong_one_does_not(tmp_path: Path) -> None:
    right, *wrong = await compared(tmp_path, RIGHT, *WRONG.values(), calls=DROPPED)
    assert right.disagreements == {}
    assert (right.at_start, right.at_end) == ({"c01": False}, {"c01": True})
    assert right.mutants > 10
    assert right.asked > right.mutants + 10
    assert [name for name, one in zip(WRONG, wrong, strict=True) if "c01" not in one.disagreements] == []


@pytest.mark.slow
async def test_calls_that_do_not_succeed_are_no_solution(tmp_path: Path) -> None:
    twice = [*DROPPED, *DROPPED]
    missing = [PlannedCall(tool="drop", arguments={"box_id": "${1.box_id}"})]
    [one] = await compared(tmp_path / "a", RIGHT, calls=twice)
    assert one.problem.startswith("calls.2: drop: ")
    [one] = await compared(tmp_path / "b", RIGHT, calls=missing)
    assert one.problem.startswith("calls.1: ${1.box_id}: ")


async def test_a_select_that_cannot_be_asked_is_said(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="no such table: bottles"):
        await compared(tmp_path, "SELECT count(*) = 0 FROM bottles", calls=DROPPED)


def test_a_refusal_shows_the_rows_that_were_changed_however_many_others_there_are() -> None:
    many = HeldAttribute("dict", {f"N{number}": {"text": "x" * 100} for number in range(100)})
    before = {"notes": many, "boxes": HeldAttribute("dict", {"B1": {"name": "nails"}, "B2": {"name": "hooks"}})}
    after = {"notes": many, "boxes": HeldAttribute("dict", {"B1": {"name": "hooks"}})}
    shown = rows_shown(after, before)
    assert shown.startswith(
        "Changed: boxes 'B1' is {'name': 'hooks'} and was {'name': 'nails'}; "
        "boxes 'B2' is gone and was {'name': 'hooks'}. Rows: {'boxes': {'B1': {'name': 'hooks'}}, 'notes': "
    )
    assert len(shown) < 2 * MOST_OF_ROWS + 100
