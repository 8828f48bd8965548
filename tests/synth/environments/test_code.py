"""What of written code is accepted, and that hostile code harms nobody before it is refused."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from servers.sandbox.guest_pool import Guests
from synth.environments.code import Bench, Example, Written, groups
from synth.environments.drafts.tool_module import Module
from synth.environments.interface import Interface, Plan
from synth.environments.stages import STAGES
from synth.pipeline.stage import Artefacts
from tests.synth.environments.replay import all_answers, made_of

FIRST = ("find_owners", "find_animals", "list_vets", "list_visit_kinds", "find_appointments")


@pytest.fixture
async def made(tmp_path: Path) -> Artefacts:
    """The clinic up to its interface."""
    return await made_of(tmp_path, STAGES[:4])


@pytest.fixture
async def bench(made: Artefacts) -> AsyncGenerator[Bench]:
    async with Guests(call_seconds=1.0) as guests:
        yield Bench(made, guests, "")


@pytest.fixture
def written() -> Written:
    """The recorded answer for the first tools."""
    return Written.model_validate_json(all_answers("veterinary_clinic", "Written")[0])


async def findings(bench: Bench, answer: Written) -> list[str]:
    plans = {plan.name: plan for plan in bench.made[Interface].tools}
    group: list[Plan] = [plans[name] for name in FIRST]
    return await bench.findings(answer, Module(bench.made[Interface].stubs_py), group, again=False)


def test_queries_are_written_before_the_commands_that_use_what_they_need(made: Artefacts) -> None:
    parts = groups(made[Interface].tools)
    assert tuple(plan.name for plan in parts[0]) == FIRST
    assert {len(part) for part in parts} <= {5, 6}
    assert [plan.kind for part in parts for plan in part] == ["query"] * 12 + ["command"] * 14


async def test_the_recorded_code_is_accepted(bench: Bench, written: Written) -> None:
    assert await findings(bench, written) == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("def _day(", "def _day((", "not Python"),
        ("from datetime import date", "from datetime import date\nimport os", "import os"),
        ("        day = date.fromisoformat(text)", "        day = date.today()", "the wall clock"),
        ("def list_visit_kinds(db: Database)", "def list_visit_kinds(db: Database, *, kind: str)", "to the letter"),
        ("def list_visit_kinds(", "def list_kinds(", "list_visit_kinds: is missing"),
        (
            "owner_id, owner FROM animal_details",
            "owner_id FROM animal_details",
            "result is not what its TypedDict says",
        ),
        ("FROM visit_kinds ORDER", "FROM visit_kind ORDER", "the tool broke"),
        ("        _animal(db, animal_id)\n", "        pass\n", "says refused, and it was ok"),
        (
            '    return {"owners":',
            '    db.run("DELETE FROM payments")\n    return {"owners":',
            "is a query, and uses db.run",
        ),
    ],
)
async def test_code_with_a_fault_is_told_where_it_is(
    bench: Bench, written: Written, old: str, new: str, told: str
) -> None:
    faulty = written.code_py.replace(old, new)
    assert faulty != written.code_py
    found = await findings(bench, written.model_copy(update={"code_py": faulty}))
    assert any(told in one for one in found), found


async def test_examples_must_come_out_as_they_say(bench: Bench, written: Written) -> None:
    def example(**change: object) -> Example:
        return written.examples[0].model_copy(update=change)

    faults = [
        (example(outcome="refused"), "says refused, and it was ok"),
        (example(arguments='{"txt": "x"}'), "never reached the tool"),
        (example(arguments="text"), "no JSON"),
        (example(changes=("insert owners",)), "says that it does insert owners"),
        (example(setup="DELETE FROM nothing;"), "its setup does not run"),
        (example(tool="void_invoice"), "not among the functions"),
        (example(rule="kindness"), "there is no rule 'kindness'"),
    ]
    for one, told in faults:
        found = await findings(bench, written.model_copy(update={"examples": (one, *written.examples[1:])}))
        assert any(told in finding for finding in found), (told, found)
    only = tuple(one for one in written.examples if one.outcome == "ok")
    found = await findings(bench, written.model_copy(update={"examples": only}))
    assert any("find_animals has none with the outcome `refused`" in one for one in found)


HOSTILE = {
    "at the top": 'open("{path}", "w").write("was here")\n\n\n{code}',
    "in a constant": "HERE = [c for c in ().__class__.__base__.__subclasses__()][0]\n\n\n{code}",
    "in a default": '{code}\n\n\ndef _x(a=open("{path}", "w")):\n    return a\n',
    "in an annotation": '{code}\n\n\ndef _x(a: open("{path}", "w")):\n    return a\n',
    "in a class": 'class Evil(dict):\n    x = open("{path}", "w")\n\n\n{code}',
    "by an import": "import subprocess\n\n\n{code}",
}


@pytest.mark.parametrize("where", HOSTILE)
async def test_hostile_code_is_refused_and_never_runs(
    bench: Bench, written: Written, tmp_path: Path, where: str
) -> None:
    path = tmp_path / "was_here"
    code = HOSTILE[where].replace("{path}", str(path)).replace("{code}", written.code_py)
    found = await findings(bench, written.model_copy(update={"code_py": code}))
    assert found
    assert all(one.startswith("code_py") for one in found)
    assert not path.exists()
    assert bench.guests.started == 0, "the gate stands before any guest"


async def test_hostile_code_that_the_gate_lets_pass_finds_walls_in_the_guest(bench: Bench, written: Written) -> None:
    """A tool that never ends, and one that eats memory, are found by their examples."""
    for body, told in (("while True:\n        pass", "did not finish"), ('x = "a" * 10**10', "the tool broke")):
        code = written.code_py.replace("    vets: list[Vet] = []\n", f"    {body}\n    vets: list[Vet] = []\n")
        assert code != written.code_py
        example = next(one for one in written.examples if one.tool == "list_vets")
        rest = tuple(one for one in written.examples if one.tool != "list_vets")
        found = await findings(bench, Written(code_py=code, examples=(example, *rest), unbreakable=()))
        assert any("list_vets" in one and ("the tool broke" in one or told in one) for one in found), found


async def test_hostile_sql_runs_in_a_guest_and_nowhere_else(made: Artefacts, tmp_path: Path) -> None:
    async with Guests() as guests:
        bench = Bench(made, guests, "")
        attack = f"ATTACH '{tmp_path / 'evil.db'}' AS evil; CREATE TABLE evil.x (id INTEGER PRIMARY KEY);"
        first = Written.model_validate_json(all_answers("veterinary_clinic", "Written")[0])
        example = first.examples[0].model_copy(update={"setup": attack})
        found = await findings(bench, first.model_copy(update={"examples": (example, *first.examples[1:])}))
    assert any("its setup does not run" in one for one in found)
    assert not (tmp_path / "evil.db").exists()
