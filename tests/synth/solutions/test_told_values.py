"""What a task tells, its checkpoints hold: in whatever form it is told, and whatever a solution calls free."""

from pathlib import Path
from typing import Any

import pytest

from servers.bundle.environment import load
from servers.bundle_library import OWN_LIBRARY
from servers.guest.sqlite.plain_text import LONGEST_PLAIN_TEXT, plain_text
from servers.scenario.scenario import Scenario
from servers.scenario.scenario_file import is_current, load_scenarios
from synth.backward.goal_repair import mended
from synth.certify.certifier import examine
from synth.play.playground import Playground
from synth.solutions.plausible_values import near_misses
from synth.solutions.told_values import TaskWords
from tests.bundles import write_bundle
from tests.processes import farm
from tests.synth.solutions.shops import GOAL, GUARD, SOUND, examined, with_checkpoints

CLOCK = "2026-03-10 09:00:00"
NAMED: dict[str, Any] = {
    "id": "named",
    "role": "goal",
    "question": "Is there a drum?",
    "kind": "sql",
    "sql": "SELECT count(*) FROM things WHERE trim(name) <> '' AND id NOT IN (SELECT id FROM start.things)",
    "expect": [[1]],
}
TOLD = "Please make a thing called “Red drum”."
ADDED = {**GUARD, "allow": [{"table": "things", "operation": "insert", "rows": 1}]}


@pytest.mark.parametrize(
    ("task", "name", "value"),
    [
        ("Book it for 4 May at 14:00.", "at", "2026-05-04 14:00:00"),
        ("Book it for the 4th of May, half past two.", "on", "2026-05-04"),
        ("May 4th, at 2 pm, please.", "at", "2026-05-04 14:00"),
        ("Come tomorrow.", "on", "2026-03-11"),
        ("On 2026-05-04 then.", "on", "2026-05-04"),
        ("On 4 May, that is 2026-05-04.", "on", "2026-05-04"),
        ("Write “We met on 4 May” on it.", "on", "2026-05-04"),
        ("It weighs 1,540 kg.", "weight", 1540),
        ("That is 7.25 euros.", "amount_cents", 725),
        ("That is 240 euros.", "amount_cents", 24000),
        ("Three of them.", "count", 3),
        ("Twenty-five of them.", "count", 25),
        ("the plate is wd-ht 93", "plate", "WD-HT 93"),
        ("Write “Don’t  wake him”.", "note", "don't wake him"),
        ("The name is Zoe\u0308 Abe.", "name", "Zo\u00eb Abe"),
        ("Make it a no show.", "status", "no_show"),
        ("one for Ann and one for Bo", "names", ["Bo", "Ann"]),
    ],
)
def test_a_value_is_found_in_the_forms_that_people_use(task: str, name: str, value: Any) -> None:
    assert TaskWords(task, clock=CLOCK).tell(name, value)


@pytest.mark.parametrize(
    ("task", "name", "value"),
    [
        ("Book it for 4 May at 14:00.", "at", "2026-05-04 15:00:00"),
        ("Book it for 14 May.", "on", "2026-05-04"),
        ("It was on 4 May.", "count", 4),
        ("At 14:00.", "count", 14),
        ("Ask Annabel.", "name", "Ann"),
        ("Flat 1234.", "number", 123),
        ("Yes.", "urgent", True),
        ("Nothing.", "note", ""),
    ],
)
def test_a_value_that_is_only_part_of_another_is_not_found(task: str, name: str, value: Any) -> None:
    assert not TaskWords(task, clock=CLOCK).tell(name, value)


def test_words_for_choices_are_those_of_the_environment() -> None:
    assert TaskWords("as a walk-in", clock=CLOCK, choices={"wi": "a walk-in"}).tell("kind", "wi")


@pytest.mark.parametrize(
    ("value", "near"),
    [
        ("2026-05-04 14:00:00", ["2026-05-04 16:00:00", "2026-05-05 14:00:00", "2026-05-03 14:00:00"]),
        ("2026-05-04", ["2026-05-05", "2026-05-03"]),
        ("14:00", ["16:00", "14:15"]),
        (1540, [1541, 5140]),
        ("WD-HT 93", ["WD-HT 39", "otherwise 93"]),
        ("wasps overhead again", ["wasps otherwise again", "wasps overhead"]),
    ],
)
def test_near_misses_are_what_one_could_take_a_value_for(value: Any, near: list[Any]) -> None:
    assert near_misses(value) == near


def test_writings_of_the_same_words_are_one_plain_text() -> None:
    assert plain_text("“Don’t”   WAKE—him!") == plain_text("'don't' wake - him") == "don t wake him"
    assert plain_text("1.5") != plain_text("15")
    assert plain_text("Zoe\u0308") == plain_text("ZO\u00cb")
    assert plain_text(None) is None
    assert plain_text("a" * (LONGEST_PLAIN_TEXT + 1)) is None


def making(name: str, task: str, *free: str) -> dict[str, Any]:
    call = {"tool": "make", "arguments": {"name": name}, "free": list(free)}
    return with_checkpoints(NAMED, ADDED, task=task, solution={"calls": [call], "answer": "Done."})


async def test_what_is_told_and_called_free_is_a_finding(tmp_path: Path) -> None:
    seen = await examined(tmp_path, making("red drum", TOLD, "name"))
    assert seen.findings == ["solution.calls.1.free: the task tells name: 'red drum'"]


async def test_what_is_told_and_held_by_no_checkpoint_is_a_finding(tmp_path: Path) -> None:
    seen = await examined(tmp_path, making("red drum", TOLD))
    assert seen.certificate is None
    assert any("no checkpoint holds name of call 1 (make), which the task tells" in one for one in seen.findings)


async def test_what_the_task_does_not_tell_may_be_free(tmp_path: Path) -> None:
    seen = await examined(tmp_path, making("red drum", "Please make a thing, named as you like.", "name"))
    assert seen.findings == []
    assert seen.told == []


async def test_a_value_that_is_told_twice_in_two_forms_is_one_value_and_is_held(tmp_path: Path) -> None:
    task = "Please let the bell cost 2.50, two euros and fifty cents, so 250 cents, and not 2.5 of anything else."
    seen = await examined(tmp_path, {**SOUND, "task": task})
    assert seen.findings == []
    assert seen.certificate is not None
    assert seen.certificate.told == {"2.id": "priced", "2.cents": "priced"}


async def test_a_free_text_that_contains_a_told_value_by_chance_is_not_told(tmp_path: Path) -> None:
    task = "Please make a thing, named as you like. The last one came on 4 May and cost 250."
    seen = await examined(tmp_path, making("drum 250 of 4 May", task, "name"))
    assert seen.findings == []
    assert seen.told == []


async def test_mending_makes_a_goal_for_what_nothing_held(tmp_path: Path) -> None:
    await write_bundle(tmp_path / "shop", scenarios=[])
    scenario = making("red drum", TOLD, "name")
    async with Playground(tmp_path / "shop", call_seconds=2) as stage:
        better = (await mended(stage, Scenario.model_validate(scenario))).scenario
        seen = await examine(stage, better)
    assert seen.findings == []
    assert better.reference().calls[0].free == ()
    [added] = [one for one in better.checkpoints if one.id == "as_told_1"]
    assert added.kind == "sql"
    assert "plain_text(\"name\") = 'red drum'" in added.sql
    assert seen.certificate is not None
    assert seen.certificate.told == {"1.name": "as_told_1"}


async def test_the_command_that_mends_writes_goal_and_certificate(tmp_path: Path) -> None:
    shop = await write_bundle(tmp_path / "shop", scenarios=[making("red drum", TOLD, "name")])
    before = load_scenarios(load(shop))
    done = await farm("certify", str(shop), "--mend", home=tmp_path)
    assert (done.code, "give --write with it" in done.err) == (2, True)
    done = await farm("certify", str(shop), "--write", "--jobs", "1", home=tmp_path)
    assert (done.code, "the task tells name" in " ".join(done.out.split())) == (1, True)
    assert load_scenarios(load(shop)) == before
    done = await farm("certify", str(shop), "--mend", "--write", "--jobs", "1", home=tmp_path)
    assert (done.code, "1 of 1 scenario is certified" in done.out) == (0, True)
    assert (await farm("check", str(shop), home=tmp_path)).code == 0
    environment = load(shop)
    [written] = load_scenarios(environment).values()
    assert is_current(environment, written)
    assert written.certificate is not None
    assert written.certificate.told == {"1.name": "as_told_1"}
    mended_once = (shop / "scenarios.jsonl").read_bytes()
    assert (await farm("certify", str(shop), "--mend", "--write", "--jobs", "1", home=tmp_path)).code == 0
    assert (shop / "scenarios.jsonl").read_bytes() == mended_once


async def test_what_cannot_be_mended_is_left_as_it_was(tmp_path: Path) -> None:
    hopeless = with_checkpoints(GUARD, GOAL | {"expect": [[9999]]})
    shop = await write_bundle(tmp_path / "shop", scenarios=[hopeless])
    before = load_scenarios(load(shop))
    done = await farm("certify", str(shop), "--mend", "--write", "--jobs", "1", home=tmp_path)
    assert (done.code, "0 of 1 scenario" in done.out) == (1, True)
    assert load_scenarios(load(shop)) == before


async def test_a_certificate_tells_what_holds_each_value(tmp_path: Path) -> None:
    seen = await examined(tmp_path, SOUND)
    assert seen.certificate is not None
    assert seen.certificate.told == {"2.id": "priced", "2.cents": "priced"}


@pytest.mark.parametrize("name", ["insurance_claims_desk", "parking_permits_of_a_city", "loans_between_museums"])
async def test_no_near_miss_of_a_drawn_scenario_of_the_library_earns_everything(name: str) -> None:
    await hold(name, slice(0, 5))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(one.parent.name for one in OWN_LIBRARY.glob("*/scenarios.jsonl")))
async def test_no_near_miss_of_300_drawn_scenarios_earns_everything(name: str) -> None:
    await hold(name, slice(0, None, 3))


async def hold(name: str, drawn: slice) -> None:
    """Each told value of drawn scenarios, changed to its near misses, one at a time."""
    async with Playground(OWN_LIBRARY / name) as stage:
        for scenario in list(load_scenarios(stage.environment).values())[drawn]:
            seen = await examine(stage, scenario)
            assert [one.finding() for one in seen.told if one.alive] == []
            assert [one.agent for one in seen.company if one.counts and one.reward >= 1] == []
            assert seen.findings == []
