"""Wrong agents play every scenario: none earns everything, unless what it does is right there."""

import json
from pathlib import Path
from typing import Any

import pytest

from servers.bundle_library import OWN_LIBRARY
from servers.scenario.checkpoints.answer import AnswerCheckpoint
from servers.scenario.scenario import Scenario
from servers.scenario.scenario_file import load_scenarios
from synth.certify.agents.exploit_search import search
from synth.certify.agents.wrong_agents import (
    MOST_OTHERS,
    Script,
    WrongAgentPlayer,
    echo,
    hedger,
    lister,
    paster,
    script_of,
)
from synth.certify.certifier import examine
from synth.play.playground import Playground
from synth.solutions.reference_run import played
from tests.bundles import write_bundle
from tests.library import of_each_environment
from tests.processes import farm
from tests.synth.solutions.shops import GOAL, GUARD, LOGGED, SOUND, examined, with_checkpoints

SHORT: dict[str, Any] = {"id": "told", "role": "goal", "question": "Does it tell the price before?", "kind": "sql"}
PASTED = {**SHORT, "sql": "SELECT instr(:answer, '200') > 0", "expect": [[1]]}
EXACT = {**SHORT, "sql": "SELECT :answer IN ('It was 2.00.', 'It was 2,00.')", "expect": [[1]]}
TWO = "Please let the bell cost 2.50 and tell me what it cost before."
LAZY = '''"""A wrong agent of ours."""

from synth.certify.agents.wrong_agents import AgentRun


def sleeper(script):
    """Do everything but the last call."""
    yield AgentRun(script.steps[:-1], "All done.")


def cheat(script):
    """Do it right and say something else."""
    yield AgentRun(script.steps, script.answer + " Honestly.")
'''


async def test_what_each_wrong_agent_earns_stands_in_the_certificate(tmp_path: Path) -> None:
    scenario = with_checkpoints(GOAL, LOGGED, EXACT, GUARD, task=TWO)
    scenario["solution"]["answer"] = "It was 2.00."
    seen = await examined(tmp_path, scenario)
    assert seen.certificate is not None
    earned = seen.certificate.company
    assert earned["paster"] == earned["lister"] == earned["echo"] == pytest.approx(2 / 3, abs=1e-4)
    assert earned["claimer"] == earned["refuser"] == pytest.approx(2 / 3, abs=1e-4)
    assert earned["reader"] == pytest.approx(1 / 3, abs=1e-4)
    assert earned["near miss"] < 1
    assert earned["over doer"] == 0
    assert "half" not in earned  # there is one command: nothing to stop behind
    assert seen.certificate.leak == pytest.approx(sum(earned.values()), abs=1e-4)


def test_the_right_words_stand_plainly_beside_others() -> None:
    right, wrong = "It was due on 2026-05-11.", "It was due on 2026-05-12."
    script = Script("", {}, (), (), (), (), (), answer=right, contradiction=wrong)
    assert [run.answer for run in hedger(script) if run.added] == [f"{right} {wrong}"]
    days = next(run.answer for run in lister(script) if run.added)
    assert days.startswith(wrong)
    assert days.endswith(right)
    assert days.count("It was due on") == MOST_OTHERS + 1


async def test_an_agent_that_does_no_wrong_in_a_scenario_is_not_counted(tmp_path: Path) -> None:
    seen = await examined(tmp_path, SOUND)
    assert seen.certificate is not None
    assert not {"paster", "lister", "hedger", "echo", "first match"} & seen.certificate.company.keys()
    assert seen.certificate.company["claimer"] == 0  # it does nothing, and says that all is done


async def test_a_wrong_agent_that_earns_everything_is_a_finding(tmp_path: Path) -> None:
    loose = {**GUARD, "allow": [{"table": "things", "operation": "update"}, {"table": "log", "operation": "insert"}]}
    logged = {**LOGGED, "sql": "SELECT what FROM log LIMIT 1"}
    seen = await examined(tmp_path, with_checkpoints(GOAL, logged, loose))
    assert any(one.startswith("the over doer earns 1 with 3 calls") for one in seen.findings)
    assert seen.certificate is None


async def test_agents_of_a_file_join_the_company(tmp_path: Path) -> None:
    await write_bundle(tmp_path / "shop", scenarios=[SOUND])
    file = tmp_path / "lazy.py"
    file.write_text(LAZY)
    code, out, err = await farm(
        "certify", str(tmp_path / "shop"), "--against", str(file), "--told", "--jobs", "1", home=tmp_path
    )
    assert code == 0, err
    assert "sleeper 0.0" in out
    assert "cheat" not in out  # nobody is to be told anything: its words are no mistake
    assert "priced" in out


@pytest.mark.parametrize(
    ("text", "told"),
    [("def (", "does not run: SyntaxError"), ("x = 1\n", "defines no function"), ("1 / 0\n", "ZeroDivisionError")],
)
async def test_a_file_that_holds_no_agent_is_misuse(tmp_path: Path, text: str, told: str) -> None:
    await write_bundle(tmp_path / "shop", scenarios=[SOUND])
    file = tmp_path / "wrong.py"
    file.write_text(text)
    code, _, err = await farm("certify", str(tmp_path / "shop"), "--against", str(file), home=tmp_path)
    assert code == 2
    assert told in err


async def test_a_search_finds_a_hole_and_it_can_be_played(tmp_path: Path) -> None:
    scenario = with_checkpoints(GOAL, LOGGED, PASTED, GUARD, task=TWO)
    scenario["solution"]["answer"] = "It was 200."
    await write_bundle(tmp_path / "shop", scenarios=[scenario])
    holes = tmp_path / "holes"
    code, out, _ = await farm(
        "hack", str(tmp_path / "shop"), "--budget", "40", "--out", str(holes), "--jobs", "1", home=tmp_path
    )
    assert code == 1
    assert "in 1 scenario" in out
    first = sorted(holes.glob("*.json"))[0]
    assert json.loads(first.read_text())["answer"] != "It was 200."
    code, out, _ = await farm(
        "play", str(tmp_path / "shop"), "--scenario", "dearer", "--solution", str(first), home=tmp_path
    )
    assert code == 0  # every checkpoint holds: that is what makes it a hole


async def test_scenarios_of_one_name_in_two_bundles_are_two(tmp_path: Path) -> None:
    scenario = with_checkpoints(GOAL, LOGGED, PASTED, GUARD, task=TWO)
    scenario["solution"]["answer"] = "It was 200."
    shops = [str(await write_bundle(tmp_path / name, scenarios=[scenario])) for name in ("shop", "store")]
    done = await farm("hack", *shops, "--budget", "40", "--jobs", "1", home=tmp_path)
    assert (done.code, "in 2 scenarios" in " ".join(done.out.split())) == (1, True)


async def test_a_sound_scenario_has_no_hole_and_a_search_is_the_same_each_time(tmp_path: Path) -> None:
    await write_bundle(tmp_path / "shop", scenarios=[])
    async with Playground(tmp_path / "shop") as stage:
        first, second = [await search(stage, Scenario.model_validate(SOUND), 40) for _ in range(2)]
    assert first == second
    assert first.holes == ()
    assert first.runs > 15


@pytest.mark.parametrize(("text", "told"), [("{", "not JSON"), ('{"calls": 1, "answer": ""}', "calls"), (None, "read")])
async def test_a_solution_that_cannot_be_played_is_misuse(tmp_path: Path, text: str | None, told: str) -> None:
    file = tmp_path / "one.json"
    if text is not None:
        file.write_text(text)
    code, _, err = await farm("play", "parcel_room", "--scenario", "back1_0000", "--solution", str(file), home=tmp_path)
    assert code == 2
    assert told in err


async def test_re_examining_is_the_same_each_time(tmp_path: Path) -> None:
    await write_bundle(tmp_path / "shop", scenarios=[])
    async with Playground(tmp_path / "shop") as stage:
        first, second = [await examine(stage, Scenario.model_validate(SOUND)) for _ in range(2)]
    assert first.certificate == second.certificate


@pytest.mark.library
@of_each_environment()
async def test_no_answer_of_the_library_is_paid_for_a_paste_a_list_a_hedge_or_an_echo(name: str) -> None:
    """Each scenario that judges what is said, with the right calls."""
    async with Playground(OWN_LIBRARY / name) as stage:
        for scenario in load_scenarios(stage.environment).values():
            if not any(isinstance(one, AnswerCheckpoint) for one in scenario.checkpoints):
                continue
            if scenario.second is not None:
                continue  # its certificate has what these earn
            reference = await played(stage, scenario)
            player, script = WrongAgentPlayer(reference), script_of(reference)
            earned = [await player.play(agent, script) for agent in (paster, lister, hedger, echo)]
            await reference.close()
            assert earned[-1].counts
            assert [one.finding() for one in earned if one.counts and one.reward >= 1] == []
