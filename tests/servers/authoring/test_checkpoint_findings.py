"""Checkpoints that could never be answered are found before anybody is judged by them."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from servers.authoring.check import findings
from servers.sandbox.guest_pool import Guests
from tests.bundles import SOUND_SCENARIO

GOAL: dict[str, Any] = SOUND_SCENARIO["checkpoints"][0]
FOOTPRINT: dict[str, Any] = {"id": "rest", "role": "guard", "question": "?", "kind": "footprint"}


def asked(sql: str) -> dict[str, Any]:
    return {**GOAL, "sql": sql}


def python(text: str) -> dict[str, Any]:
    return {"id": "odd", "role": "goal", "question": "?", "kind": "python", "python": text}


def allowing(**fields: Any) -> dict[str, Any]:
    return {**FOOTPRINT, "allow": [{"table": "things", "operation": "update", **fields}]}


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "another parameter": (asked("SELECT :other"), "checkpoints.priced: sql: asks for :other; only :answer is there"),
    "a parameter by number": (asked("SELECT ?1"), "checkpoints.priced: sql: asks for :1; only :answer"),
    "a parameter without a name": (asked("SELECT ?"), "checkpoints.priced: sql: asks for :?; only :answer"),
    "a column that is not there": (asked("SELECT colour FROM things"), "sql: does not run: no such column: colour"),
    "a question about SQLite": (asked("EXPLAIN SELECT 1"), "sql: does not run: EXPLAIN shows SQLite's program"),
    "two questions": (asked("SELECT 1; SELECT 2"), "sql: does not run: one SELECT at a time"),
    "no question": (asked("-- nothing"), "sql: does not run: there is no statement in it"),
    "a change": (asked("DELETE FROM things"), "sql: only a SELECT over the environment's tables is allowed"),
    "fewer columns than are expected": (
        {**asked("SELECT 1"), "expect": [[1, 2]]},
        "sql: gives 1 column, and 2 values a row are expected",
    ),
    "more columns than one to compare": (
        {**asked("SELECT 1, 2"), "expect": {"op": ">", "value": 1}},
        "sql: gives 2 columns, and 1 value a row is expected",
    ),
    "a condition on nothing": (allowing(where="colour = 1"), "checkpoints.rest: allow.1.where: does not run: no such"),
    "a condition with a parameter": (allowing(where="id = :answer"), "allow.1.where: asks for :answer; there are no"),
    "a column of an allowance": (allowing(columns=["colour"]), "allow.1.columns: things has no column 'colour'"),
    "a fact of nothing": (
        {
            "id": "told",
            "role": "goal",
            "question": "?",
            "kind": "answer",
            "facts": [{"name": "price", "type": "count", "sql": "SELECT colour FROM things"}],
        },
        "checkpoints.told: facts.price.sql: does not run: no such column: colour",
    ),
    "no check": (python("x = 1"), "checkpoints.odd: python: defines no function check("),
    "an answer of another kind": (
        python("def check(start, final, answer, calls):\n    return 1"),
        "checkpoints.odd: python: TypeError: returned int; a checkpoint returns True or False",
    ),
    "a query without end": (
        asked("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"),
        "checkpoints.priced: sql: on the first state the query took more than 50 million steps",
    ),
    "more memory than there is": (
        python("def check(start, final, answer, calls):\n    return len('x' * 2**34) > 0"),
        "checkpoints.odd: python: runs out of memory on the first state",
    ),
    "no end": (
        python("def check(start, final, answer, calls):\n    while True: pass"),
        "checkpoints.odd: python: takes more than 0.5 s on the first state",
    ),
}


def bundle_with_checkpoints(shelf: Path, folder: Path, *checkpoints: dict[str, Any]) -> Path:
    """A bundle whose one scenario has these checkpoints, and a goal."""
    shop = Path(shutil.copytree(shelf / "shop", folder / "shop"))
    goal = {**GOAL, "id": "also"}
    (shop / "scenarios.jsonl").write_text(json.dumps({**SOUND_SCENARIO, "checkpoints": [*checkpoints, goal]}))
    return shop


@pytest.mark.parametrize("name", WRONG)
async def test_what_can_never_be_answered_is_found_with_scenario_and_checkpoint(
    shelf: Path, tmp_path: Path, name: str
) -> None:
    checkpoint, finding = WRONG[name]
    shop = bundle_with_checkpoints(shelf, tmp_path, checkpoint)
    async with Guests(call_seconds=0.5) as guests:
        found = await findings(shop, guests)
    assert [one for one in found if finding in one], found
    assert all(one.startswith(f"{shop / 'scenarios.jsonl'}: scenario 'dearer': checkpoints.") for one in found)


async def test_what_hangs_on_the_state_is_no_finding(shelf: Path, tmp_path: Path) -> None:
    late = python("def check(start, final, answer, calls):\n    return final.one('SELECT 1 WHERE 0')['x'] == 1")
    fine = {**asked("SELECT :answer, $answer, @answer; -- and no more"), "expect": [["", "", ""]]}
    shop = bundle_with_checkpoints(shelf, tmp_path, late, fine, allowing(where="id = 't1'", columns=["cents"]))
    async with Guests() as guests:
        assert await findings(shop, guests) == []
