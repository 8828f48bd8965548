"""Judging an instance: what is scored, what is not, and that both are kept."""

import asyncio
import json
import shutil
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio

from servers.bundle_library import Library
from servers.errors import Conflict
from tests.bundles import SOUND_SCENARIO
from tests.processes import seconds_used, until
from tests.registry.farms import Clock, Farm, running


async def test_the_reference_solution_earns_everything(farm: Farm) -> None:
    instance = await farm.launched("dearer")
    await farm.call(instance, "price", id="t2", cents=250)
    score = await farm.client.score(instance, "Done.")
    assert (score.outcome, score.reward, score.success, score.calls) == ("scored", 1.0, True, 1)
    assert [(verdict.checkpoint, verdict.holds) for verdict in score.verdicts] == [("priced", True)]
    assert score.environment_digest == farm.registry.catalogue.library.environment("shop").digest
    assert score.scenario_digest == (await farm.client.scenario("shop", "dearer")).digest


async def test_doing_nothing_earns_nothing(farm: Farm) -> None:
    score = await farm.client.score(await farm.launched("dearer"))
    assert (score.outcome, score.reward, score.success) == ("scored", 0.0, False)


async def test_judging_changes_nothing_and_every_score_is_kept(farm: Farm) -> None:
    instance = await farm.launched("dearer")
    before = await farm.client.score(instance)
    farm.clock.now += 5
    await farm.call(instance, "price", id="t2", cents=250)
    after = await farm.client.score(instance)
    assert farm.ledger.scores(instance) == [before, after]


async def test_without_a_scenario_there_is_nothing_to_judge_by(farm: Farm) -> None:
    instance = await farm.launched()
    with pytest.raises(Conflict, match="launched without a scenario; nothing to judge by"):
        await farm.client.score(instance)
    assert farm.ledger.scores(instance) == []


async def test_a_farm_that_cannot_judge_says_so_and_gives_no_reward(farm: Farm) -> None:
    instance = await farm.launched("dearer")
    (farm.folder / "worker" / "instances" / f"{instance}.history").write_bytes(b"spoilt" * 1000)
    score = await farm.client.score(instance)
    assert (score.outcome, score.reward, score.success, score.verdicts) == ("infra_error", None, None, ())
    assert score.error
    assert farm.ledger.scores(instance) == [score]
    assert str(farm.folder) not in score.model_dump_json()


async def test_the_last_score_closes_the_instance_with_it(farm: Farm) -> None:
    instance = await farm.launched("dearer")
    await farm.call(instance, "price", id="t2", cents=250)
    score = await farm.client.score(instance, close=True)
    assert (score.outcome, score.reward) == ("scored", 1.0)
    assert ((await farm.client.lease(instance)).status, farm.ledger.scores(instance)) == ("closed", [score])
    assert (await farm.client.health()).instances == 0
    assert not (farm.folder / "worker" / "instances" / f"{instance}.history").exists()
    with pytest.raises(Conflict, match="is closed"):
        await farm.client.score(instance)


async def test_what_could_not_be_judged_is_not_closed(farm: Farm) -> None:
    instance = await farm.launched("dearer")
    (farm.folder / "worker" / "instances" / f"{instance}.history").write_bytes(b"spoilt" * 1000)
    assert (await farm.client.score(instance, close=True)).outcome == "infra_error"
    assert (await farm.client.lease(instance)).status == "live"


@pytest_asyncio.fixture
async def changing(shelf: Path, tmp_path: Path, clock: Clock) -> AsyncGenerator[Farm]:
    """A farm over a library of its own, in `shelf`."""
    shutil.copytree(shelf, tmp_path / "shelf")
    async with running(Library([tmp_path / "shelf"]), tmp_path / "farm", clock) as farm:
        yield farm


async def test_an_instance_of_a_bundle_that_has_changed_since_is_not_judged(changing: Farm, tmp_path: Path) -> None:
    instance = await changing.launched("dearer")
    (tmp_path / "shelf" / "shop" / "policy.md").write_text("# Other rules, of another length\n")
    with pytest.raises(Conflict, match="has changed since"):
        await changing.client.score(instance)


ENDLESS_PYTHON = {
    "id": "endless",
    "role": "goal",
    "question": "Does it end?",
    "kind": "python",
    "python": "def check(start, final, answer, calls):\n    while True:\n        pass\n",
}


async def test_a_score_is_kept_with_the_answers_of_its_probes(changing: Farm, tmp_path: Path) -> None:
    probe = {**SOUND_SCENARIO["checkpoints"][0], "id": "dear", "role": "probe"}
    scenario = {**SOUND_SCENARIO, "id": "probed", "probes": [probe]}
    (tmp_path / "shelf" / "shop" / "scenarios.jsonl").write_text(json.dumps(scenario))
    instance = await changing.launched("probed")
    score = await changing.client.score(instance)
    assert [(one.checkpoint, one.holds) for one in score.probes] == [("dear", False)]
    assert changing.ledger.scores(instance) == [score]


async def test_a_score_that_nobody_waits_for_is_given_up(changing: Farm, tmp_path: Path) -> None:
    """A checkpoint in Python would take its processor time, and then the next one."""
    scenario = {**SOUND_SCENARIO, "id": "endless", "checkpoints": [ENDLESS_PYTHON]}
    (tmp_path / "shelf" / "shop" / "scenarios.jsonl").write_text(json.dumps(scenario))
    instance = await changing.launched("endless")
    guests = changing.worker.guests
    asking = asyncio.create_task(changing.http.post(f"/v1/instances/{instance}/score", json={}, timeout=60))
    await until(lambda: any(seconds_used(pid) > 0.5 for pid in guests.pids), "the checkpoint runs")
    asking.cancel()
    await until(lambda: "abandoned" in guests.deaths or "late" in guests.deaths, "its guest is ended")
    assert guests.deaths.get("late") is None
    assert changing.ledger.scores(instance) == []
