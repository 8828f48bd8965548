"""Writes a project of NeMo Gym that plays a farm's scenarios: its resources server, its config, and the data.

`python -m evals.frameworks.nemo_gym.project library_loans --out gym`, beside a running farm. NeMo Gym needs another
version of the MCP SDK than this project, so its processes have an environment of their own.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agent_client.toolbox import Toolbox
from registry.client import FarmClient, address_of, every_item
from registry.messages import EnvironmentDetail
from servers.errors import RequestError
from servers.files.atomic_write import write_whole

SERVER = "envfarm"
AGENT = "envfarm_agent"
OWN_ROUTES = frozenset({"seed_session", "verify", "aggregate_metrics"})
"""Routes of NeMo Gym beside those of the tools, which have the names of tools."""
CONFIG = """\
envfarm:
  resources_servers:
    envfarm:
      entrypoint: app.py
      domain: agent
      verified: false
      description: Scenarios of a farm
      farm: {farm}
      token_file: {token_file}
envfarm_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.py
      max_steps: 40
      resources_server:
        type: resources_servers
        name: envfarm
      model_server:
        type: responses_api_models
        name: policy_model
"""


async def write_project(out: Path, state: Path, environment: str, scenarios: tuple[str, ...] = ()) -> int:
    """Write the project, for a farm by its state folder. Returns the number of rows.

    Raises:
        RequestError: a tool has the name of a route of NeMo Gym's, or there is no scenario.
    """
    address = address_of(state)
    async with FarmClient(address.url, address.token) as farm:
        told = await farm.environment(environment)
        refuse_taken(environment, [tool.name for tool in told.tools])
        cards = await every_item(lambda offset: farm.scenarios(environment, offset=offset))
        chosen = scenarios or tuple(card.id for card in cards if card.second is None)
        if not chosen:
            raise RequestError(f"{environment}: has no scenario over one environment")
        async with farm.leased(environment, chosen[0]) as live, live.connect() as toolbox:
            rows = [await _row(farm, told, toolbox, scenario) for scenario in chosen]
    folder = out / "resources_servers" / SERVER
    for part in ("configs", "data"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    write_whole(folder / "app.py", Path(__file__).with_name("app.py").read_text(encoding="utf-8"))
    write_whole(folder / "requirements.txt", "nemo-gym\n")
    token_file = json.dumps(str((state / "token").absolute()))
    config = CONFIG.format(farm=json.dumps(address.url), token_file=token_file)
    write_whole(folder / "configs" / f"{SERVER}.yaml", config)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    write_whole(folder / "data" / f"{environment}.jsonl", lines)
    return len(rows)


def refuse_taken(environment: str, tools: Sequence[str]) -> None:
    """Refuse tools whose route NeMo Gym has for itself.

    Raises:
        RequestError: there is one.
    """
    if taken := sorted(OWN_ROUTES & {*tools}):
        raise RequestError(f"{environment}: NeMo Gym has a route of its own that is called {taken[0]}")


async def _row(farm: FarmClient, told: EnvironmentDetail, toolbox: Toolbox, scenario: str) -> dict[str, Any]:
    """A row of the data: what the model is told, its tools, and which scenario it is. It has no answer key."""
    task = (await farm.scenario(told.id, scenario)).told
    said = [{"role": "system", "content": toolbox.instructions}, {"role": "user", "content": task}]
    tools = [
        {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.arguments,
            "strict": False,
        }
        for tool in told.tools
    ]
    return {
        "responses_create_params": {"input": said, "tools": tools, "parallel_tool_calls": False},
        "agent_ref": {"type": "responses_api_agents", "name": AGENT},
        "environment": told.id,
        "scenario": scenario,
        "seed": 0,
    }


def main() -> None:
    """Write a project from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("environment")
    parser.add_argument("--scenario", action="append", default=[], help="again for each; all by default")
    parser.add_argument("--farm", type=Path, default=Path("~/.envfarm"), help="the state folder of a running farm")
    parser.add_argument("--out", type=Path, required=True, help="the folder of the project")
    given = parser.parse_args()
    state = given.farm.expanduser()
    count = asyncio.run(write_project(given.out, state, given.environment, tuple(given.scenario)))
    sys.stdout.write(f"{given.out}: {count} rows for NeMo Gym's agent {AGENT}\n")


if __name__ == "__main__":
    main()
