"""Names that stand in the column of the one that is asked for are rivals: an answer that tells them too is wrong."""

import json
from pathlib import Path
from typing import Any

import pytest

from servers.bundle_library import OWN_LIBRARY
from servers.scenario.checkpoints.answer import AnswerCheckpoint
from servers.scenario.scenario import Scenario
from servers.scenario.scenario_file import load_scenarios
from synth.backward.goal_repair import mended
from synth.certify.agents.wrong_agents import AgentRun, WrongAgentPlayer, script_of
from synth.certify.rivals import with_rivals
from synth.play.playground import Playground
from synth.solutions.reference_run import played
from tests.bundles import write_bundle
from tests.library import of_each_environment
from tests.synth.solutions.shops import GOAL, GUARD, LOGGED, with_checkpoints

TOLD: dict[str, Any] = {
    "id": "told",
    "role": "goal",
    "question": "Does the answer name the dearer thing?",
    "kind": "answer",
    "facts": [{"name": "thing", "type": "name", "value": "bell"}],
}
ANSWER = "It is the bell."
ASKED = "Let the dearer thing cost 2.50, and tell me its name."


async def rewarded(folder: Path, scenario: Scenario, answer: str) -> float | None:
    """What the right calls earn with an answer."""
    async with Playground(folder) as stage:
        reference = await played(stage, scenario)
        try:
            return await WrongAgentPlayer(reference).reward(AgentRun(script_of(reference).steps, answer))
        finally:
            await reference.close()


async def test_an_answer_that_names_other_rows_too_earns_everything_until_they_are_rivals(tmp_path: Path) -> None:
    shop = await write_bundle(tmp_path / "shop", scenarios=[])
    told = with_checkpoints(GOAL, LOGGED, TOLD, GUARD, task=ASKED)
    told["solution"]["answer"] = ANSWER
    loose = Scenario.model_validate(told)
    async with Playground(shop) as stage:
        better = (await mended(stage, loose)).scenario
    [fact] = [fact for one in better.checkpoints if isinstance(one, AnswerCheckpoint) for fact in one.facts]
    assert fact.confusable
    both = f"{ANSWER} It is the {fact.confusable[0]}."
    assert await rewarded(shop, loose, both) == 1
    assert (await rewarded(shop, better, both) or 0) < 1
    async with Playground(shop) as stage:
        assert (await mended(stage, better)).scenario == better


async def test_a_name_that_the_task_or_the_reference_tells_is_no_rival(tmp_path: Path) -> None:
    shop = await write_bundle(tmp_path / "shop", scenarios=[])
    told = with_checkpoints(
        GOAL, LOGGED, TOLD, GUARD, task="Let the bell cost 2.50, not the anvil, and tell me its name."
    )
    told["solution"]["answer"] = "It is the bell, the candle stays."
    async with Playground(shop) as stage:
        better = (await mended(stage, Scenario.model_validate(told))).scenario
    [fact] = [fact for one in better.checkpoints if isinstance(one, AnswerCheckpoint) for fact in one.facts]
    assert not fact.confusable


async def rivals(folder: Path, told: dict[str, Any], answer: str = ANSWER, **changes: Any) -> tuple[Any, ...]:
    """The rivals that mending gives to what an answer must tell."""
    scenario = with_checkpoints(GOAL, LOGGED, told, GUARD, task=ASKED, **changes)
    scenario["solution"]["answer"] = answer
    async with Playground(folder) as stage:
        better = (await mended(stage, Scenario.model_validate(scenario))).scenario
    [fact] = [fact for one in better.checkpoints if isinstance(one, AnswerCheckpoint) for fact in one.facts]
    return fact.confusable


async def test_what_a_right_answer_names_is_no_rival_where_that_would_make_it_wrong(tmp_path: Path) -> None:
    shop = await write_bundle(tmp_path / "shop", scenarios=[])
    assert await rivals(shop, TOLD) == ("anvil", "candle")
    words = {"right": ["The bell; the anvil keeps its price."], "wrong": ["The anvil."]}
    (shop / "paraphrases.json").write_text(json.dumps({"scenarios": {"dearer": words}}))
    assert await rivals(shop, TOLD) == ("candle",)


async def test_what_the_task_names_is_a_rival_in_the_last_line_and_may_stand_above_it(tmp_path: Path) -> None:
    shop = await write_bundle(tmp_path / "shop", scenarios=[])
    asked = {**TOLD, "question": "Does the answer tell which thing is dearer: bell?", "last_line": True}
    told = with_checkpoints(
        GOAL, LOGGED, asked, GUARD, task="Let the bell cost 2.50, not the anvil, and tell its name."
    )
    told["solution"]["answer"] = "It is dearer than the anvil.\nAnswer: bell"
    async with Playground(shop) as stage:
        better = (await mended(stage, Scenario.model_validate(told))).scenario
    [one] = [one for one in better.checkpoints if isinstance(one, AnswerCheckpoint)]
    assert one.facts[0].confusable == ("anvil", "candle")
    assert one.given == ("anvil",)
    assert await rewarded(shop, better, "The anvil is cheaper.\nAnswer: the bell") == 1
    for wrong in ("Answer: anvil", "It is dearer than the candle.\nAnswer: bell"):
        assert (await rewarded(shop, better, wrong) or 0) < 1


async def test_the_items_of_a_list_have_rivals(tmp_path: Path) -> None:
    shop = await write_bundle(tmp_path / "shop", scenarios=[])
    both = {**TOLD, "facts": [{"name": "things", "type": "list", "value": ["bell", "candle"]}]}
    assert await rivals(shop, both, "It is the bell and the candle.") == ("anvil",)


async def test_a_surname_is_found_at_the_end_of_a_name_and_a_plain_word_is_not(tmp_path: Path) -> None:
    shop = await write_bundle(tmp_path / "shop", scenarios=[])
    setup = "INSERT INTO things (id, name) VALUES ('t4', 'Ada Lund'), ('t5', 'Bo Ek'), ('t6', 'new horn')"
    called = [{**TOLD, "facts": [{"name": "thing", "type": "name", "value": name}]} for name in ("Lund", "new")]
    surname = await rivals(shop, called[0], "It is Lund.", setup=setup)
    assert "Bo Ek" in surname
    assert "Ada Lund" not in surname
    assert await rivals(shop, called[1], "It is new.", setup=setup) == ()


async def test_a_name_with_some_rivals_gets_the_others_too(tmp_path: Path) -> None:
    shop = await write_bundle(tmp_path / "shop", scenarios=[])
    some = {**TOLD, "facts": [{"name": "thing", "type": "name", "value": "bell", "confusable": ["candle"]}]}
    assert await rivals(shop, some) == ("candle", "anvil")


@pytest.mark.library
@of_each_environment()
async def test_each_name_that_the_library_asks_for_has_all_rivals_that_its_state_has(name: str) -> None:
    async with Playground(OWN_LIBRARY / name) as stage:
        for scenario in load_scenarios(stage.environment).values():
            facts = [fact for one in scenario.checkpoints if isinstance(one, AnswerCheckpoint) for fact in one.facts]
            if scenario.second is None and any(fact.type in ("name", "list") for fact in facts):
                reference = await played(stage, scenario)
                await reference.close()
                assert with_rivals(reference) == scenario.checkpoints, scenario.id
