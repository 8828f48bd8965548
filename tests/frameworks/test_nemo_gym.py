"""NeMo Gym plays scenarios of a farm: its servers, its simple agent and its rollout collection, a scripted model."""

import asyncio
import json
import os
import shutil
import signal
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from evals.frameworks.farm_link import own_farm
from evals.frameworks.nemo_gym.project import AGENT, refuse_taken, write_project
from registry.client import URL_FILE, Address
from servers.errors import RequestError
from tests.frameworks.installed import environment_with, ran
from tests.frameworks.scripted_endpoint import ScriptedEndpoint
from tests.frameworks.test_adapters import SCENARIO, solution
from tests.processes import LONG

SERVERS = ("resources_servers/envfarm", "responses_api_agents/simple_agent", "responses_api_models/openai_model")
READY = "servers ready"
PYTHON = shutil.which("python3.13") or shutil.which("python3.12")


def state_of(farm: Address, folder: Path) -> Path:
    """A state folder of a running farm, as a user has one."""
    folder.mkdir()
    (folder / URL_FILE).write_text(farm.url)
    (folder / "token").write_text(farm.token)
    (folder / "token").chmod(0o600)
    return folder


@asynccontextmanager
async def servers(gym: Path, project: Path, model: str) -> AsyncGenerator[None]:
    """NeMo Gym's servers, which all run in the environment that is installed already."""
    for name in SERVERS:
        (project / "venvs" / name).mkdir(parents=True)
        (project / "venvs" / name / ".venv").symlink_to(gym.parent.parent)
    model_server = (
        "--model-type",
        "openai_model",
        "--model",
        "scripted",
        "--model-url",
        model,
        "--model-api-key",
        "none",
    )
    ready = ("+skip_venv_if_present=true", "+uv_venv_dir=venvs")
    given = ("--config", "resources_servers/envfarm/configs/envfarm.yaml", *model_server, *ready)
    process = await asyncio.create_subprocess_exec(
        gym, "env", "start", *given, cwd=project, stdout=PIPE, stderr=STDOUT, start_new_session=True,
        env={**os.environ, "RAY_ADDRESS": "local"},
    )  # fmt: skip
    assert process.stdout is not None
    said: list[str] = []
    try:
        async with asyncio.timeout(10 * LONG):
            while READY not in (said[-1] if said else "") or "All " not in said[-1]:
                line = await process.stdout.readline()
                assert line, "".join(said[-40:])
                said.append(line.decode())
        reading = asyncio.create_task(process.stdout.read())
        yield
        reading.cancel()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)
        try:
            async with asyncio.timeout(LONG):
                await process.wait()
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.frameworks
@pytest.mark.skipif(PYTHON is None, reason="NeMo Gym needs Python 3.12 or newer")
async def test_nemo_gym_collects_rollouts_with_the_farms_reward(tmp_path: Path) -> None:
    programs = await environment_with("nemo-gym", "nemo-gym>=0.4,<0.5", folder=tmp_path, python=PYTHON)
    project = tmp_path / "gym"
    with own_farm(()) as farm:
        rows = await write_project(
            project, state_of(farm, tmp_path / "state"), "library_loans", (SCENARIO, "renew_card")
        )
        assert rows == 2
        async with ScriptedEndpoint(solution()).serve() as url, servers(programs / "gym", project, f"{url}/v1"):
            data = ("--agent", AGENT, "--input", "resources_servers/envfarm/data/library_loans.jsonl")
            collect = ("eval", "run", "--no-serve", *data, "--output", "rollouts.jsonl", "--num-repeats", "2")
            await ran(programs / "gym", *collect, folder=project)
    lines: list[dict[str, Any]] = [json.loads(line) for line in (project / "rollouts.jsonl").read_text().splitlines()]
    earned = sorted((line["scenario"], line["reward"], line["success"]) for line in lines)
    assert earned == [("renew_before_trip", 1.0, 1.0)] * 2 + [("renew_card", 0.0, 0.0)] * 2
    wrong = next(line for line in lines if line["scenario"] == "renew_card")
    assert "Does Ruth's card run a year longer?" in [one["question"] for one in wrong["verdicts"] if not one["holds"]]
    [told] = json.loads((project / "rollouts_aggregate_metrics.json").read_text())
    assert told["agent_metrics"]["mean/reward"] == 0.5


def test_a_tool_cannot_take_a_route_of_nemo_gyms_own() -> None:
    refuse_taken("shop", ["find_items", "buy"])
    with pytest.raises(RequestError, match="NeMo Gym has a route of its own that is called verify"):
        refuse_taken("shop", ["find_items", "verify"])
