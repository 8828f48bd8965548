# pyright: basic, reportMissingImports=false, reportMissingModuleSource=false
"""The curriculum where verl meets it: its dataset, and the agent loop that notes what was passed."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import datasets
import pytest
from omegaconf import OmegaConf
from verl.trainer.ppo.utils import create_rl_dataset

from rl_training.data.curriculum_dataset import CurriculumData
from rl_training.data.pass_rates import Key, note
from tests.rl_training.rig import ScriptedServer, rig
from tests.rl_training.texts import DEARER

pytestmark = pytest.mark.rl


def dataset(folder: Path, split: str, **changes: Any) -> Any:
    """What verl makes of twelve rows with our settings, as the trainer makes it."""
    rows = [
        {
            "data_source": "shop",
            "prompt": [{"role": "user", "content": f"Task {number}"}],
            "extra_info": {"index": number, "split": split, "environment": "shop", "scenario": f"s{number}"},
        }
        for number in range(12)
    ]
    datasets.Dataset.from_list(rows).to_parquet(str(folder / f"{split}.parquet"))
    config = {
        "custom_cls": {"path": "pkg://rl_training.data.curriculum_dataset", "name": "CurriculumData"},
        "curriculum": {"pass_rates": str(folder / "rates.jsonl"), "floor": 0.02, "memory": 8},
        "train_batch_size": 2,
        "cache_dir": str(folder / "cache"),
        "filter_overlong_prompts": False,
        "seed": 1,
        **changes,
    }
    return create_rl_dataset(str(folder / f"{split}.parquet"), OmegaConf.create(config), None, None)


def test_rows_for_training_are_those_that_are_due(tmp_path: Path) -> None:
    for number in range(12):
        for episode in range(8):
            note(tmp_path / "rates.jsonl", Key("shop", f"s{number}"), passed=number == 5 and episode % 2 == 0)
    made = dataset(tmp_path, "train")
    assert isinstance(made, CurriculumData)
    drawn = [made[number % 12]["extra_info"]["scenario"] for number in range(40)]
    assert drawn.count("s5") > 10, "the only one that is sometimes passed, in every second place at most"
    assert {left for left, right in pairwise(drawn) if left == right} == set()


def test_rows_for_training_say_how_many_episodes_they_begin_and_others_do_not(tmp_path: Path) -> None:
    more = {"curriculum": None, "extra_episodes": 3, "kept_episodes": 8}
    assert dataset(tmp_path, "train", **more)[0]["__rollout_n__"] == 11
    assert dataset(tmp_path, "train", **more)[5]["extra_info"]["scenario"] == "s5", "without a curriculum, in order"
    assert "__rollout_n__" not in dataset(tmp_path, "validation", **more)[0]
    assert "__rollout_n__" not in dataset(tmp_path, "train")[0]


def test_rows_for_validation_stand_as_they_are(tmp_path: Path) -> None:
    made = dataset(tmp_path, "validation")
    assert [made[number]["extra_info"]["scenario"] for number in range(12)] == [f"s{number}" for number in range(12)]


async def test_an_episode_of_the_training_data_is_noted_and_none_of_a_validation(
    tiny: Path, shelf: Path, tmp_path: Path
) -> None:
    row = {"environment": "shop", "scenario": "dearer"}
    rates = tmp_path / "rates.jsonl"
    async with rig(tiny, shelf, tmp_path, ScriptedServer([DEARER, "Done."]), pass_rates=str(rates)) as at:
        await at.rollouts({**row, "split": "validation"}, {**row, "split": "train"})
        at.server.script = ["Done."]
        await at.rollouts({**row, "split": "train"})
    assert [json.loads(line) for line in rates.read_text().splitlines()] == [
        {**row, "passed": True},
        {**row, "passed": False},
    ]
