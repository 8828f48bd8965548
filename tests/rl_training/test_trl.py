"""TRL trains in a farm: in a virtual environment of its own, since it wants newer transformers than verl does."""

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from registry.client import FarmClient
from registry.farm import private
from rl_training.data.demonstrations import demonstrations
from rl_training.data.rows import scenarios_of

ROOT = Path(__file__).parents[2]
INSTALLED = ("torch==2.13.0", "trl==1.16.0", "-e", ROOT)


async def ran(*command: str | Path, **environment: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *map(str, command), env={**os.environ, **environment}, stdout=PIPE, stderr=PIPE
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()[-4000:]
    return out.decode()


@pytest.mark.frameworks
async def test_trl_plays_its_groups_on_instances_of_the_farm_and_is_rewarded_by_it(room: Path, tmp_path: Path) -> None:
    await ran(sys.executable, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    await ran(python, "-m", "pip", "install", "-q", *INSTALLED)
    async with private((room,)) as address, FarmClient(address.url, address.token) as farm:
        shown = await demonstrations(farm, await scenarios_of(farm, ["parcel_room"]), instructions=False)
        lines = "".join(one.model_dump_json() + "\n" for one in shown)
        (tmp_path / "demonstrations.jsonl").write_text(lines)
        before = (await farm.leases()).total
        out = await ran(
            python, Path(__file__).with_name("trl_training.py"), address.url, tmp_path, FARM_TOKEN=address.token
        )
        leased = (await farm.leases()).total - before
        assert (await farm.leases(status="live")).total == 0
    steps = [told for told in json.loads(out.splitlines()[-1])["log"] if "reward" in told]
    assert leased >= 2 * 8, "an instance for each episode, and one to list the tools"
    assert len(steps) == 2
    assert all(0 <= told["reward"] <= 1 for told in steps)
    assert all(told["tools/call_frequency"] > told["tools/failure_frequency"] for told in steps), "the farm answered"
