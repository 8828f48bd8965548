"""A reference of a solution that leads nowhere is found by the tools' result schemas, before anybody plays it."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from agent_client import references
from servers.authoring import solution_references
from servers.authoring.check import findings
from servers.authoring.new_bundle import new_bundle
from servers.sandbox.guest_pool import Guests

LOANS: dict[str, Any] = {"tool": "list_loans", "arguments": {"member": "Jonas Lind"}}


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return new_bundle("games", tmp_path_factory.mktemp("library"))


def with_solution(bundle: Path, folder: Path, calls: list[dict[str, Any]], answer: str) -> Path:
    """A copy of a bundle whose only scenario has this solution."""
    copy = Path(shutil.copytree(bundle, folder / bundle.name))
    scenario = json.loads((bundle / "scenarios.jsonl").read_text().splitlines()[0])
    scenario["solution"] = {"calls": calls, "answer": answer}
    (copy / "scenarios.jsonl").write_text(json.dumps(scenario))
    return copy


WRONG = {
    "${1.loans[0].loan}": "${1.loans[0].loan}: call 1 is list_loans, whose result has no .loan at .loans[0], "
    "which has: due_on, loan_id, member, title",
    "${1.games}": "call 1 is list_loans, whose result has no .games at its top, which has: loans",
    "${1.loans.loan_id}": "call 1 is list_loans, whose result has no .loan_id at .loans, which has nothing below it",
    "${1.loans[0].title[0]}": "has no [0] at .loans[0].title, which has nothing below it",
    "${1[0]}": "has no [0] at its top, which has: loans",
    "${2.days_late}": "${2.days_late}: there is no call 2 before this; the calls before are 1 to 1",
    "${0.loans}": "there is no call 0 before this",
    "${1.loans[first]}": "a path is made of .name and [number], not '.loans[first]'",
    "it is ${1.loans[0].id} here": "${1.loans[0].id}: call 1 is list_loans",
}


@pytest.mark.parametrize("text", WRONG)
async def test_a_reference_that_leads_nowhere_is_found_with_its_place(bundle: Path, tmp_path: Path, text: str) -> None:
    calls = [LOANS, {"tool": "return_game", "arguments": {"loan_id": text}}]
    copy = with_solution(bundle, tmp_path, calls, "Done.")
    async with Guests() as guests:
        [found] = await findings(copy, guests)
    assert found.startswith(f"{copy / 'scenarios.jsonl'}: scenario 'lend_for_the_evening': solution.calls.2.loan_id: ")
    assert WRONG[text] in found


async def test_one_in_the_answer_is_found_and_a_right_one_is_not(bundle: Path, tmp_path: Path) -> None:
    calls = [LOANS, {"tool": "return_game", "arguments": {"loan_id": "${1.loans[0].loan_id}"}}]
    copy = with_solution(bundle, tmp_path, calls, "${2.days_late} days late; ${2.fine}; ${1.loans}")
    async with Guests() as guests:
        [found] = await findings(copy, guests)
    assert "solution.answer: ${2.fine}: call 2 is return_game" in found


PATHS: list[tuple[dict[str, Any], str, bool]] = [
    ({}, ".a[0].b", True),
    ({"type": "object"}, ".a", True),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, ".a", True),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, ".a.b", False),
    ({"type": "object", "additionalProperties": False}, ".a", False),
    ({"anyOf": [{"type": "null"}, {"type": "object", "properties": {"a": {}}}]}, ".a.b", True),
    ({"anyOf": [{"type": "null"}, {"type": "string"}]}, ".a", False),
    ({"type": ["array", "null"], "items": {"type": "string"}}, "[3]", True),
    ({"type": "array", "maxItems": 2}, "[2]", False),
    ({"enum": ["a", "b"]}, ".a", False),
]


@pytest.mark.parametrize(("schema", "path", "leads"), PATHS)
def test_only_what_no_result_can_have_is_a_dead_end(schema: dict[str, Any], path: str, leads: bool) -> None:
    steps = list(solution_references.STEP.finditer(path))
    assert (solution_references.dead_end(schema, steps) is None) is leads


def test_references_are_written_as_those_who_follow_them_read_them() -> None:
    assert solution_references.REFERENCE.pattern == references.REFERENCE.pattern
    assert solution_references.STEP.pattern == references.STEP.pattern


async def test_outdated_certificates_are_told_in_one_line_with_their_number(bundle: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(bundle, tmp_path / bundle.name))
    line = json.loads((bundle / "scenarios.jsonl").read_text().splitlines()[0])
    difficulty: dict[str, Any] = {"calls": 2, "tools": [], "tables": []}
    kept = {"digest": "of old", "mutants": 1, "killed": 1, "variants": 0, "difficulty": difficulty}
    every = [{**line, "id": f"s{number}", "certificate": kept} for number in range(5)]
    (copy / "scenarios.jsonl").write_text("\n".join(map(json.dumps, [*every, line])))
    async with Guests() as guests:
        [found] = await findings(copy, guests)
    assert "5 of 5 certificates are out of date (s0, s1, s2, …)" in found
    assert found.endswith(f"`farm certify {copy} --stale --write` renews what is out of date")


async def test_a_query_of_a_rule_that_cannot_run_is_found(bundle: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(bundle, tmp_path / bundle.name))
    rules = (copy / "rules.json").read_text().replace("WHERE due_on", "WHERE due")
    (copy / "rules.json").write_text(rules)
    async with Guests() as guests:
        [found] = await findings(copy, guests)
    assert found == f"{copy / 'rules.json'}: fourteen_days.never: does not run: no such column: due"
