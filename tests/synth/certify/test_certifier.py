"""A certificate is given to a scenario whose checkpoints mean what they say, and to no other."""

from pathlib import Path
from typing import Any

import pytest

from servers.authoring.check import findings
from servers.bundle_library import OWN_LIBRARY
from servers.scenario.scenario_file import is_current, load_scenarios
from synth.certify.certifier import examine
from synth.play.playground import Playground
from tests.bundles import TOOLS
from tests.servers.authoring.test_checkpoint_findings import WRONG, bundle_with_checkpoints
from tests.synth.solutions.shops import GOAL, GUARD, LOGGED, SOUND, examined, python, with_checkpoints

ALWAYS = "def check(start, final, answer, calls):\n    return True\n"
NEVER = "def check(start, final, answer, calls):\n    return False\n"
NODS = "def check(start, final, answer, calls):\n    return {}\n"
PRICED = "final.one(\"SELECT cents FROM things WHERE id = 't2'\")['cents'] == 250"


async def test_a_sound_scenario_is_certified_with_every_mutant_killed(tmp_path: Path) -> None:
    seen = await examined(tmp_path, SOUND)
    assert seen.findings == []
    assert seen.certificate is not None
    assert seen.certificate.kill_score == 1.0
    assert seen.certificate.mutants == len(seen.mutants) >= 10
    assert seen.certificate.variants == len(seen.tried) - len(seen.mutants) >= 3
    assert seen.certificate.difficulty.calls == 2
    assert seen.certificate.difficulty.tools == ("find", "price")
    assert seen.certificate.difficulty.tables == ("log", "things")


@pytest.mark.parametrize("task", ["Bitte setzen Sie den Preis der Glocke auf 2,50.", "请把铃铛的价格改为 2.50。"])
async def test_a_task_may_be_in_another_language(tmp_path: Path, task: str) -> None:
    seen = await examined(tmp_path, {**SOUND, "task": task})
    assert seen.certificate is not None


async def test_the_mutants_are_of_the_run_and_of_the_state(tmp_path: Path) -> None:
    tried = {tried.what for tried in (await examined(tmp_path, SOUND)).mutants}
    assert "left out call 2 (price)" in tried
    assert "repeated call 2 (price)" in tried  # the trigger logs it twice
    assert "call 2 (price) with cents 251 for 250" in tried
    assert "call 2 (price) with id 't3' for 't2'" in tried or "call 2 (price) with id 't1' for 't2'" in tried
    assert "things t2: cents 251 for 250" in tried
    assert any(what.startswith("things t2: as it was") for what in tried)
    assert any(what.endswith(": deleted") for what in tried)
    assert any("nobody asked for" in what for what in tried)
    assert any(what.endswith(": one row too many") for what in tried)


async def test_a_mutant_that_passes_is_listed_with_what_it_leaves_otherwise(tmp_path: Path) -> None:
    seen = await examined(tmp_path, with_checkpoints(GOAL, GUARD))
    assert seen.certificate is not None
    assert 0.9 <= seen.certificate.kill_score < 1
    [survivor] = seen.certificate.survivors
    assert survivor.mutant == "log 1: not there"
    assert survivor.why == "no checkpoint tells it from the reference; it differs in log 1"


async def test_without_a_footprint_the_wrong_states_pass_and_are_named(tmp_path: Path) -> None:
    seen = await examined(tmp_path, with_checkpoints(GOAL))
    assert seen.certificate is None
    *_, finding = seen.findings
    assert finding.startswith("kill score 0.")
    assert "nobody asked for" in finding or "deleted" in finding or "repeated" in finding


@pytest.mark.parametrize(
    ("checkpoint", "finding"),
    [
        (python(ALWAYS), "checkpoint odd: a goal that holds at the start"),
        (python(NEVER), "checkpoint odd: does not hold after the reference"),
        (python(NODS.format(1)), "checkpoints.odd: python: TypeError: returned int"),
        (python(NODS.format(None)), "checkpoints.odd: python: TypeError: returned NoneType"),
        (python(NODS.format("1 / 0")), "checkpoint odd: does not hold after the reference: ZeroDivisionError"),
        (
            python("def check(start, final, answer, calls):\n    while True:\n        pass\n"),
            "checkpoints.odd: python: takes more",
        ),
        (python(NODS.format("final.run('DELETE FROM things') == 0")), "checkpoints.odd: line 2: .run"),
        (python(NEVER, role="guard"), "checkpoint odd: a guard that does not hold at the start"),
        (python(NODS.format("1"), role="guard"), "checkpoints.odd: python: TypeError: returned int"),
        (
            {**GOAL, "id": "other", "expect": [[999]]},
            "checkpoint other: does not hold after the reference; seen [[250]]",
        ),
        (
            {**GOAL, "id": "other", "sql": "SELECT wrong"},
            "checkpoints.other: sql: does not run: no such column: wrong",
        ),
    ],
    ids=str,
)
async def test_a_checkpoint_that_is_not_one_gets_no_certificate(
    tmp_path: Path, checkpoint: dict[str, Any], finding: str
) -> None:
    seen = await examined(tmp_path, with_checkpoints(GOAL, GUARD, checkpoint))
    assert seen.certificate is None
    assert any(finding in one for one in seen.findings), seen.findings


@pytest.mark.parametrize("name", WRONG)
async def test_what_check_finds_about_a_checkpoint_certify_finds_in_the_same_words(
    shelf: Path, tmp_path: Path, name: str
) -> None:
    shop = bundle_with_checkpoints(shelf, tmp_path, WRONG[name][0])
    where = f"{shop / 'scenarios.jsonl'}: scenario 'dearer': "
    async with Playground(shop, call_seconds=0.5) as stage:
        found = await findings(shop, stage.worker.guests)
        [scenario] = load_scenarios(stage.environment).values()
        seen = await examine(stage, scenario)
    assert seen.findings == [one.removeprefix(where) for one in found]


async def test_a_python_checkpoint_that_is_one_is_as_good_as_sql(tmp_path: Path) -> None:
    seen = await examined(tmp_path, with_checkpoints(python(NODS.format(PRICED)), LOGGED, GUARD))
    assert seen.certificate is not None
    assert seen.certificate.kill_score == 1.0


async def test_an_agent_that_refuses_everything_earns_nothing(tmp_path: Path) -> None:
    sorry = {**GOAL, "id": "sorry", "sql": "SELECT :answer LIKE '%cannot%'", "expect": [[1]]}
    seen = await examined(tmp_path, with_checkpoints(GOAL, GUARD, sorry))
    assert "an agent that refuses everything earns 0.5" in seen.findings


async def test_a_tool_that_answers_otherwise_each_time_is_found(tmp_path: Path) -> None:
    tools = TOOLS.replace(
        'return {"id": id, "cents": cents}', 'return {"id": id, "cents": cents, "at": os.urandom(4).hex()}'
    )
    seen = await examined(tmp_path, SOUND, tools="import os\n" + tools)
    assert seen.certificate is None
    assert seen.findings == ["solution.calls.2: price answers differently when it is played again"]


async def test_a_reference_that_leads_nowhere_is_a_finding(tmp_path: Path) -> None:
    calls = [{"tool": "price", "arguments": {"id": "${3.things[0].id}", "cents": 250}}]
    seen = await examined(tmp_path, with_checkpoints(GOAL, GUARD, solution={"calls": calls, "answer": "Done."}))
    assert seen.certificate is None
    assert seen.findings[0].startswith("solution.calls.1: ${3.things[0].id}: there is no call 3")


async def test_goals_that_hang_on_a_made_up_id_are_too_strict(tmp_path: Path) -> None:
    goal = {**GOAL, "sql": "SELECT id LIKE '%_3397ac14' FROM things WHERE name = 'drum'", "expect": [[1]]}
    allow = [{"table": "things", "operation": "insert", "rows": 1}]
    make = {"calls": [{"tool": "make", "arguments": {"name": "drum"}}], "answer": "Done."}
    first = await examined(
        tmp_path, with_checkpoints(goal, {**GUARD, "allow": allow}, task="Make a drum.", solution=make)
    )
    made = next(one.partition("seen ")[2] for one in first.findings) if first.findings else "[[1]]"
    assert first.certificate is None, made


@pytest.mark.parametrize(
    ("task", "finding"),
    [
        (
            "Please find_things and let the bell cost 2.50, that is t2.",
            "the task gives 't2', which call 2 is to find out as id",
        ),
    ],
)
async def test_a_task_that_gives_away_what_is_to_be_found_out_is_found(tmp_path: Path, task: str, finding: str) -> None:
    seen = await examined(tmp_path, {**SOUND, "task": task})
    assert seen.findings == [finding]


async def test_a_task_whose_own_words_are_the_answer_is_found(tmp_path: Path) -> None:
    told = {**GOAL, "id": "told", "sql": "SELECT :answer LIKE '%2.50%'", "expect": [[1]]}
    scenario = with_checkpoints(GOAL, GUARD, told, task="Let the bell cost 2.50 and tell me its new price.")
    scenario["solution"]["answer"] = "It costs 2.50."
    seen = await examined(tmp_path, scenario)
    assert seen.findings == ["the task tells what the answer is to tell: its own words pass as an answer"]


async def test_a_task_that_asks_something_that_nobody_judges_loses_mutants(tmp_path: Path) -> None:
    scenario = {**SOUND, "task": "Please let the bell cost 2.50 and tell me what it cost before."}
    seen = await examined(tmp_path, scenario)
    alive = {tried.what for tried in seen.mutants if not tried.fails}
    assert {"saying nothing", "only claiming to be done", "refusing in words"} <= alive


async def test_what_the_task_leaves_open_is_no_mutant(tmp_path: Path) -> None:
    scenario = with_checkpoints(
        {**GOAL, "sql": "SELECT cents > 200 FROM things WHERE id = 't2'", "expect": [[1]]},
        GUARD,
        task="Please let the bell cost a little more than it does.",
    )
    closed = {tried.what for tried in (await examined(tmp_path / "closed", scenario)).mutants if not tried.fails}
    assert "call 2 (price) with cents 251 for 250" in closed
    scenario["solution"]["calls"][1]["free"] = ["cents"]
    seen = await examined(tmp_path / "open", scenario)
    assert seen.certificate is not None
    assert not any("251" in tried.what for tried in seen.mutants)


@pytest.mark.parametrize("name", ["library_loans", "hotel_bookings"])
async def test_a_certificate_of_the_library_comes_out_the_same_again(name: str) -> None:
    async with Playground(OWN_LIBRARY / name) as stage:
        scenarios = list(load_scenarios(stage.environment).values())
        assert len(scenarios) >= 68
        assert [one.id for one in scenarios if not is_current(stage.environment, one)] == []
        for scenario in (scenarios[0], scenarios[9], scenarios[-1]):
            made, kept = (await examine(stage, scenario)).certificate, scenario.certificate
            assert made is not None
            assert kept is not None
            is_judged = any(one.kind == "answer" for one in scenario.checkpoints)
            judge = kept.judge if is_judged else made.judge  # else no judge of answers played a part
            assert made == kept.model_copy(update={"judge": judge})


async def test_a_solution_that_its_bundle_would_not_take_gets_no_certificate(tmp_path: Path) -> None:
    scenario = with_checkpoints(GOAL, GUARD)
    scenario["solution"]["calls"][1]["free"] = ["reason"]
    seen = await examined(tmp_path, scenario)
    assert (seen.certificate, seen.findings) == (None, ["solution.calls.2.free: this call gives no 'reason'"])


async def test_what_only_a_query_knew_is_no_reason_to_call_a_task_too_strict(tmp_path: Path) -> None:
    tools = TOOLS.replace('return {"id": thing_id, "now": db.now()}', 'return {"done": True}')
    goal = {**GOAL, "sql": "SELECT count(*) FROM things WHERE name = 'drum' AND cents = 250", "expect": [[1]]}
    made = {"table": "things", "operation": "insert", "where": "name = 'drum'", "rows": 1}
    logged = {"table": "log", "operation": "insert", "rows": 2}
    calls = [
        {"tool": "find", "arguments": {"text": "bell"}},
        {"tool": "make", "arguments": {"name": "drum", "cents": 100}},
        {"tool": "find", "arguments": {"text": "drum"}},
        {"tool": "price", "arguments": {"id": "${3.things[0].id}", "cents": 250}},
    ]
    scenario = with_checkpoints(
        goal,
        {**GUARD, "allow": [made, logged]},
        task="Please make a drum for 1.00, and then let it cost 2.50.",
        solution={"calls": calls, "answer": "Done."},
    )
    seen = await examined(tmp_path, scenario, tools=tools)
    assert [finding for finding in seen.findings if "too strict" in finding] == []
    assert "without its queries" not in {tried.what for tried in seen.tried}
