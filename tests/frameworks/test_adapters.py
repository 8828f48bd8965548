"""Environments of the farm in other frameworks, each in an environment of its own, played by a scripted model."""

import asyncio
import json
import os
from asyncio.subprocess import PIPE
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from servers.bundle.environment import load
from servers.bundle_library import OWN_LIBRARY
from servers.scenario.scenario import Solution
from servers.scenario.scenario_file import load_scenarios
from tests.frameworks.installed import ROOT, environment_with, ran
from tests.frameworks.scripted_endpoint import ScriptedEndpoint
from tests.processes import LONG

pytestmark = pytest.mark.frameworks
SCENARIO = "renew_before_trip"
OPENENV_SERVER = ("-m", "evals.frameworks.openenv_server", "library_loans", "--port", "0")


def solution() -> Solution:
    return load_scenarios(load(OWN_LIBRARY / "library_loans"))[SCENARIO].reference()


async def test_inspect_evaluates_a_task_by_name_and_its_log_has_the_verdicts(tmp_path: Path) -> None:
    programs = await environment_with("inspect", "inspect-ai", "openai", "-e", ROOT, folder=tmp_path)
    model = ("--model", "openai/scripted", "-M", "responses_api=false", "--display", "none")
    async with ScriptedEndpoint(solution()).serve() as url:
        where: dict[str, Any] = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{url}/v1"}
        chosen = ("-T", f"scenarios={SCENARIO},renew_card", "--log-format", "json", "--log-dir", "logs")
        await ran(programs / "inspect", "eval", "envfarm/library_loans", *model, *chosen, folder=tmp_path, **where)
    [log] = (tmp_path / "logs").glob("*.json")
    told = json.loads(await ran(programs / "inspect", "log", "dump", log, folder=tmp_path))
    assert told["status"] == "success"
    scores = {sample["id"]: sample["scores"]["verdicts"] for sample in told["samples"]}
    assert {name: score["value"] for name, score in scores.items()} == {
        SCENARIO: {"reward": 1.0, "success": 1.0},
        "renew_card": {"reward": 0.0, "success": 0.0},  # the model plays the other solution there
    }
    assert "does not hold: Does Ruth's card run a year longer?" in scores["renew_card"]["explanation"]
    assert scores[SCENARIO]["metadata"]["score"]["outcome"] == "scored"


def results_in(folder: Path) -> list[dict[str, Any]]:
    """The rollouts that `vf-eval` has written."""
    [results] = folder.rglob("results.jsonl")
    return [json.loads(line) for line in results.read_text().splitlines()]


async def test_vf_eval_rolls_out_and_has_the_farms_reward_and_metrics(tmp_path: Path) -> None:
    programs = await environment_with("verifiers", "verifiers<0.4", "-e", ROOT, folder=tmp_path)
    told = {"environment": "library_loans", "scenarios": [SCENARIO, "renew_card"]}
    async with ScriptedEndpoint(solution()).serve() as url:
        endpoint = ("-m", "scripted", "-b", f"{url}/v1", "-k", "OPENAI_API_KEY")
        amount = ("-n", "2", "-r", "2", "-s", "-a", json.dumps(told))
        arguments = ("envfarm-verifiers", *endpoint, *amount)
        await ran(programs / "vf-eval", *arguments, folder=tmp_path, OPENAI_API_KEY="none")
    lines = results_in(tmp_path)
    rewards = sorted(line["reward"] for line in lines)
    assert rewards == [0.0, 0.0, 1.0, 1.0]
    best = max(lines, key=lambda line: line["reward"])
    assert (best["success"], best["checkpoints_held"], best["num_turns"]) == (1.0, 1.0, 4.0)


@asynccontextmanager
async def openenv_server(python: Path, folder: Path) -> AsyncGenerator[str]:
    process = await asyncio.create_subprocess_exec(python, *OPENENV_SERVER, cwd=folder, stdout=PIPE, env=os.environ)
    assert process.stdout is not None
    try:
        async with asyncio.timeout(10 * LONG):
            line = (await process.stdout.readline()).decode()
        assert line.startswith("OpenEnv server at http://"), line
        yield line.split()[-1]
    finally:
        process.terminate()
        await process.wait()


async def test_openenvs_clients_play_through_reset_step_and_state(tmp_path: Path) -> None:
    programs = await environment_with("openenv", "openenv-core", "-e", ROOT, folder=tmp_path)
    client = Path(__file__).with_name("openenv_client.py")
    async with openenv_server(programs / "python", tmp_path) as url:
        told = json.loads(await ran(programs / "python", client, url, folder=tmp_path))
    assert told["task"].startswith("I'm Ada Lindqvist.")
    assert {"find_members", "renew_loan", "answer"} <= set(told["tools"])
    assert told["refused"] == {"error": "no loan 'loan_none'; find_loans lists them"}
    assert told["rewards"] == [None, None, None, None]
    assert (told["last"], told["idle"], told["steps"]) == ([True, 1.0, True], [True, 0.0], 4)
