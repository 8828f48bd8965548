"""The form of an answer's last line is told behind the task, at every door that tells an agent its task."""

from pathlib import Path
from typing import Any

from agent_client.play import Limits
from agent_client.scripted_model import ScriptedCall, ScriptedModel
from evals.frameworks.farm_link import FarmLink
from evals.frameworks.leased_episode import LeasedEpisode
from evals.rollout import rollout
from registry.client import FarmClient
from registry.farm import Options, private, running
from rl_training.data.rows import rows, scenarios_of
from tests.bundles import SOUND_SCENARIO, write_bundle
from tests.processes import LONG, farm

COST: dict[str, Any] = {
    "id": "told_1",
    "role": "goal",
    "question": "Does the answer tell what the bell costs now: 2.50 euros?",
    "kind": "answer",
    "facts": [{"name": "told_1", "type": "amount", "value": 2.5}],
    "last_line": True,
}
FORM = "Answer: [an amount: what the bell costs now]"
DEARER = ScriptedCall(tool="price", arguments={"id": "t2", "cents": 250})


async def shelf_with(folder: Path) -> Path:
    """A shelf with a shop whose scenario asks for a last line."""
    solution = {**SOUND_SCENARIO["solution"], "answer": "Done.\nAnswer: 2.50 euros"}
    asking = {**SOUND_SCENARIO, "checkpoints": [*SOUND_SCENARIO["checkpoints"], COST], "solution": solution}
    await write_bundle(folder / "shelf" / "shop", scenarios=[asking])
    return folder / "shelf"


async def test_a_farm_and_a_rollout_tell_it_and_an_answer_without_the_line_earns_less(tmp_path: Path) -> None:
    shelf = await shelf_with(tmp_path)
    async with private((shelf,)) as address, FarmClient(address.url, address.token) as client:
        detail = await client.scenario("shop", "dearer")
        assert FORM in detail.told
        assert FORM not in detail.scenario.task
        rewards: dict[str, float | None] = {}
        for answer in ("Done.\nAnswer: 2.50 euros", "Done. The bell costs 2.50 euros now.", "2.50 euros"):
            run = await rollout(client, detail, ScriptedModel([DEARER], answer), limits=Limits(seconds=LONG))
            assert run.trace is not None
            assert run.trace.task == detail.told
            rewards[answer] = run.reward
        assert list(rewards.values()) == [1.0, 0.5, 0.5]
        submitted = ScriptedModel([DEARER], '{"told_1": "2.50 euros"}')
        json_run = await rollout(client, detail, submitted, limits=Limits(seconds=LONG), answers="json")
        assert json_run.reward == 1
        assert json_run.trace is not None
        assert FORM not in json_run.trace.task


async def test_rows_for_training_and_other_frameworks_tell_it(tmp_path: Path) -> None:
    shelf = await shelf_with(tmp_path)
    async with private((shelf,)) as address, FarmClient(address.url, address.token) as client:
        [row] = await rows(client, await scenarios_of(client, ["shop"]), split="train")
        assert FORM in row["prompt"][-1]["content"]
    link = FarmLink(library=(str(shelf),))
    try:
        episode = LeasedEpisode(link, "shop", "dearer")
        await link.do(episode.begin())
        assert FORM in episode.task
        await link.do(episode.end())
    finally:
        link.close()


async def test_commands_tell_it(tmp_path: Path) -> None:
    shelf = await shelf_with(tmp_path)
    done = await farm("play", str(shelf / "shop"), "--scenario", "dearer", "--gold", home=tmp_path)
    assert done.code == 0
    assert FORM in " ".join(done.out.split())
    options = Options(library=(shelf,), state=tmp_path / ".envfarm", port=0)
    async with running(options):
        launched = await farm("launch", "shop", "--scenario", "dearer", home=tmp_path)
    assert FORM in launched.err
