"""Data for training: which scenarios are taken, how they are split, and what stands in a row."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from registry.client import FarmClient
from registry.farm import private
from registry.messages import ScenarioDetail
from rl_training.config import load_config, overrides
from rl_training.data.rows import Task, rows, scenarios_of
from rl_training.data.selection import Band, ScenarioSelection, split
from rl_training.demo.demo import make_room
from rl_training.errors import RowError, TrainingError
from rl_training.verl.trainer import run_trainer
from servers.errors import RequestError
from servers.scenario.scenario import Scenario
from tests.bundles import SOUND_SCENARIO
from tests.processes import until


def scenario(environment: str, number: int, calls: int = 1, **more: Any) -> ScenarioDetail:
    solution = {"calls": [{"tool": "find"}] * calls, "answer": "Done."}
    made = Scenario.model_validate({**SOUND_SCENARIO, "id": f"s{number}", "solution": solution, **more})
    return ScenarioDetail(environment=environment, digest="d", scenario=made)


MANY = [scenario(environment, number, calls=number) for environment in "abcdefghij" for number in range(1, 6)]


def test_whole_environments_are_kept_apart() -> None:
    found = split(MANY, ScenarioSelection(validation_share=0.2))
    train, apart = ({one.environment for one in part} for part in (found.train, found.validation))
    assert (len(train), len(apart), train & apart) == (8, 2, set())
    assert split(list(reversed(MANY)), ScenarioSelection(validation_share=0.2)).validation[::-1] == found.validation
    assert split(MANY, ScenarioSelection(validation_share=0.2, seed=1)).validation != found.validation


def test_or_scenarios_or_the_environments_that_are_named() -> None:
    by_scenario = split(MANY, ScenarioSelection(split="scenario", validation_share=0.2))
    assert (len(by_scenario.train), len(by_scenario.validation)) == (40, 10)
    named = split(MANY, ScenarioSelection(validation_environments=("c",)))
    assert {one.environment for one in named.validation} == {"c"}
    with pytest.raises(RowError, match=r"no selected scenario is of z; there are: a, b"):
        split(MANY, ScenarioSelection(validation_environments=("z",)))


def test_only_what_is_asked_for_is_taken() -> None:
    found = split(MANY, ScenarioSelection(environments=("a", "b"), calls=Band(low=2, high=3), validation_share=0))
    assert [(one.environment, one.scenario.id) for one in found.train] == [
        ("a", "s2"), ("a", "s3"), ("b", "s2"), ("b", "s3"),
    ]  # fmt: skip
    assert found.left_out == 46
    with pytest.raises(RowError, match="of 50 scenarios 0 are selected and none is left to learn from"):
        split(MANY, ScenarioSelection(tag="hard"))
    with pytest.raises(RowError, match="0 are selected"):
        split(MANY, ScenarioSelection(kill_score=0.5))


async def test_a_row_shows_what_the_agent_is_shown_and_no_answer(shelf: Path) -> None:
    async with private((shelf,)) as address, FarmClient(address.url, address.token) as farm:
        details = await scenarios_of(farm, ["shop"])
        [row] = await rows(farm, details, split="train")
        live = (await farm.leases(status="live")).total
    assert [message["role"] for message in row["prompt"]] == ["system", "user"]
    assert "A thing has a price." in row["prompt"][0]["content"]
    assert row["prompt"][1]["content"] == SOUND_SCENARIO["task"]
    assert [tool["function"]["name"] for tool in row["tools"]] == ["find", "make", "price", "scrap"]
    assert Task.of_row(row) == Task(environment="shop", scenario="dearer")
    text = json.dumps(row)
    assert "checkpoint" not in text
    assert "SELECT" not in text
    assert "Done." not in text
    assert live == 0


async def test_a_row_may_ask_for_its_answer_as_json(shelf: Path) -> None:
    async with private((shelf,)) as address, FarmClient(address.url, address.token) as farm:
        [detail] = await scenarios_of(farm, ["shop"])
        told = {"id": "told", "role": "goal", "kind": "answer", "question": "Does the answer tell the price: 7 euros?"}
        fact = {"name": "told_1", "type": "amount", "value": 7}
        asked = Scenario.model_validate({**SOUND_SCENARIO, "checkpoints": [{**told, "facts": [fact]}]})
        [row] = await rows(farm, [detail.model_copy(update={"scenario": asked})], split="train", answers="json")
    task = row["prompt"][-1]["content"]
    assert task.startswith(SOUND_SCENARIO["task"])
    assert task.endswith('- "told_1": an amount: the price\n- "message": what else is to be told, in words')


async def test_the_demo_trains_on_scenarios_that_were_made_and_certified_as_anybodys_are(
    room: Path, tmp_path: Path
) -> None:
    async with private((room,)) as address, FarmClient(address.url, address.token) as farm:
        details = await scenarios_of(farm, ["parcel_room"])
    assert len(details) == 6
    for detail in details:
        assert [call.tool for call in detail.scenario.reference().calls][2:] == ["send_parcel"]
        assert [one.id for one in detail.scenario.checkpoints] == ["done_1", "nothing_else"], "nothing is to be told"
        assert detail.scenario.certificate is not None
    assert make_room(room, 6) == room
    made = (room / "parcel_room" / "scenarios.jsonl").read_text()
    again = (make_room(tmp_path / "again", 2) / "parcel_room" / "scenarios.jsonl").read_text()
    assert (again.count("\n"), made.startswith(again)) == (2, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("turns = 3", "turns: no such key"),
        ("[episodes]\nturns = 0", "episodes.turns: must be at least 1"),
        ("[", "is no TOML"),
        ('extends = "a.toml"', "it extends itself"),
        ('extends = "b.toml"', "b.toml: cannot be read: No such file"),
        ('[farm]\nurl = "http://x"\nlibrary = ["y"]', "give url .* or library .* not both"),
    ],
)
def test_a_config_that_is_wrong_is_told_with_its_file_and_field(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises((TrainingError, RequestError), match=f"a.toml.*{said}|{said}"):
        load_config(tmp_path / "a.toml")


def test_a_config_goes_over_the_one_that_it_extends(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text('[verl.a]\nx = 1\ny = ["it\'s", true]\n[episodes]\nturns = 7\n')
    (tmp_path / "own.toml").write_text('extends = "base.toml"\n[verl.a]\nx = "null"\nb.c = 1e-6\n')
    config = load_config(tmp_path / "own.toml")
    assert config.episodes.turns == 7
    assert overrides(config.verl) == ["++a.x=null", "++a.y=['it\\'s',true]", "++a.b.c=1e-06"]


def test_a_trainer_that_fails_is_told_by_what_lies_at_the_bottom_of_it(tmp_path: Path) -> None:
    script = "print('x rl_training.errors.RowError: a prompt is too long'); raise ValueError('an empty list')"
    with pytest.raises(TrainingError, match=r"ended with 1; .*log says: x .*RowError: a prompt is too long"):
        run_trainer([sys.executable, "-c", script], {}, tmp_path / "log")
    with pytest.raises(TrainingError, match="log says: ValueError: an empty list"):
        run_trainer([sys.executable, "-c", script.partition("; ")[2]], {}, tmp_path / "log")


def test_an_interrupted_training_ends_a_trainer_that_does_not_end_itself(tmp_path: Path) -> None:
    deaf = "import os, signal, time; signal.signal(15, signal.SIG_IGN); print(os.getpid(), flush=True); time.sleep(600)"
    training = "import sys, pathlib; from rl_training.verl import trainer; trainer.STOPPING_SECONDS = 0.2; "
    training += f"trainer.run_trainer([sys.executable, '-c', {deaf!r}], {{}}, pathlib.Path({str(tmp_path / 'log')!r}))"
    log = tmp_path / "log"
    with subprocess.Popen([sys.executable, "-c", training], stderr=subprocess.DEVNULL) as process:
        asyncio.run(until(lambda: log.exists() and log.read_text().endswith("\n"), "the trainer is deaf"))
        process.send_signal(signal.SIGINT)
        assert process.wait() != 0
    with pytest.raises(ProcessLookupError):
        os.kill(int(log.read_text()), 0)
