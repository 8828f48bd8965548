"""Names that stand in the column of the one that is asked for are rivals: an answer that tells them too is wrong."""

from pathlib import Path
from typing import Any

from servers.scenario.checkpoints.answer import AnswerCheckpoint
from servers.scenario.scenario import Scenario
from synth.backward.goal_repair import mended
from synth.certify.agents.wrong_agents import AgentRun, WrongAgentPlayer, script_of
from synth.play.playground import Playground
from synth.solutions.reference_run import played
from tests.bundles import write_bundle
from tests.synth.solutions.shops import GOAL, GUARD, LOGGED, with_checkpoints

TOLD: dict[str, Any] = {
    "id": "told",
    "role": "goal",
    "question": "Does the answer name the dearer thing?",
    "kind": "answer",
    "facts": [{"name": "thing", "type": "name", "value": "bell"}],
}
ANSWER = "It is the bell."


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
    told = with_checkpoints(GOAL, LOGGED, TOLD, GUARD, task="Let the dearer thing cost 2.50, and tell me its name.")
    told["solution"]["answer"] = ANSWER
    loose = Scenario.model_validate(told)
    async with Playground(shop) as stage:
        better = await mended(stage, loose)
    [fact] = [fact for one in better.checkpoints if isinstance(one, AnswerCheckpoint) for fact in one.facts]
    assert fact.confusable
    both = f"{ANSWER} It is the {fact.confusable[0]}."
    assert await rewarded(shop, loose, both) == 1
    assert (await rewarded(shop, better, both) or 0) < 1
    async with Playground(shop) as stage:
        assert await mended(stage, better) == better


async def test_a_name_that_the_task_or_the_reference_tells_is_no_rival(tmp_path: Path) -> None:
    shop = await write_bundle(tmp_path / "shop", scenarios=[])
    told = with_checkpoints(
        GOAL, LOGGED, TOLD, GUARD, task="Let the bell cost 2.50, not the anvil, and tell me its name."
    )
    told["solution"]["answer"] = "It is the bell, the candle stays."
    async with Playground(shop) as stage:
        better = await mended(stage, Scenario.model_validate(told))
    [fact] = [fact for one in better.checkpoints if isinstance(one, AnswerCheckpoint) for fact in one.facts]
    assert not fact.confusable
