"""A stored rollout is judged by today's checkpoints; what is not as it was is said."""

import json
from pathlib import Path
from typing import Any

from evals.rejudging import RejudgedRollout
from tests.bundles import SOUND_SCENARIO, TOOLS, write_bundle
from tests.evals.suite_runs import SCENARIOS, evaluated, shop, suite
from tests.processes import Done, farm

CHECK = SOUND_SCENARIO["checkpoints"][0]


async def stored(folder: Path) -> None:
    """A run of two scenarios, with the bundle beside it."""
    async with shop(folder / "shelf") as client:
        await evaluated(client, folder / "run", suite(run={"attempts": 2, "concurrency": 2, "seed": 3}))


async def judged(folder: Path) -> tuple[Done, list[RejudgedRollout]]:
    done = await farm("judge", "run", "--with", "shelf/shop", "--out", "again.jsonl", home=folder)
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith("\nWritten: again.jsonl\n")
    lines = (folder / "again.jsonl").read_text().splitlines()
    return done, [RejudgedRollout.model_validate_json(line) for line in lines]


async def test_what_did_not_change_is_judged_the_same(tmp_path: Path) -> None:
    await stored(tmp_path)
    done, found = await judged(tmp_path)
    assert "4 of 4 rollouts judged again; 0 rewards changed." in done.out
    assert [(one.name, one.after) for one in found] == [
        ("shop/easy#0", 1.0), ("shop/easy#1", 1.0), ("shop/half#0", 0.5), ("shop/half#1", 0.5),
    ]  # fmt: skip
    assert not any(one.scenario_changed or one.environment_changed or one.difference for one in found)


async def test_changed_checkpoints_change_rewards_and_it_is_said_why(tmp_path: Path) -> None:
    await stored(tmp_path)
    told = {**CHECK, "id": "told", "sql": "SELECT :answer", "expect": [["Done."]], "weight": 3}
    stricter: dict[str, Any] = {**SCENARIOS[0], "checkpoints": [{**CHECK, "sql": "SELECT 0"}, told]}
    milder: dict[str, Any] = {**SCENARIOS[1], "checkpoints": [CHECK]}
    await write_bundle(tmp_path / "shelf" / "shop", scenarios=[stricter, milder])
    done, found = await judged(tmp_path)
    assert "4 rewards changed" in done.out
    assert "4 rollouts were made at another version of their scenario" in done.out
    assert [(one.before, one.after, one.turned) for one in found[::2]] == [
        (1.0, 0.75, ("priced does not hold now", "told is new and holds")),
        (0.5, 1.0, ("never is gone (it does not hold)",)),
    ]
    assert all(one.scenario_changed and not one.environment_changed for one in found)


async def test_a_replay_that_is_answered_otherwise_is_said(tmp_path: Path) -> None:
    await stored(tmp_path)
    tools = TOOLS.replace('return {"id": id, "cents": cents}', 'return {"id": id, "cents": cents + 1}')
    await write_bundle(tmp_path / "shelf" / "shop", scenarios=SCENARIOS, tools=tools)
    done, found = await judged(tmp_path)
    assert "4 replays were answered otherwise than at the time" in done.out
    assert "4 rollouts were made in another version of the environment" in done.out
    difference = found[0].difference
    assert difference is not None
    assert (difference.call, difference.tool) == (0, "price")
    assert [json.loads(text)["cents"] for text in (difference.stored, difference.now)] == [250, 251]


async def test_what_cannot_be_judged_is_said_in_its_place(tmp_path: Path) -> None:
    await stored(tmp_path)
    await write_bundle(tmp_path / "shelf" / "shop", scenarios=SCENARIOS[:1])
    done, found = await judged(tmp_path)
    assert "2 of 4 rollouts judged again; 0 rewards changed." in done.out
    assert "not judged: 2 × its scenario is not in the bundle any more" in done.out
    assert [one.after for one in found] == [1.0, 1.0, None, None]


async def test_a_run_without_the_environment_is_said(tmp_path: Path) -> None:
    await stored(tmp_path)
    done = await farm("judge", "run", "--with", "library_loans", home=tmp_path)
    assert (done.code, done.err) == (2, "farm: no rollout of library_loans in run; there are some of: shop\n")
