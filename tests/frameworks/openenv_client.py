# type: ignore  # It runs in an environment of its own, with openenv-core.
"""OpenEnv's own clients play an episode of the farm: `python openenv_client.py URL`."""

import json
import sys

from openenv.core.env_server.mcp_types import CallToolAction
from openenv.core.generic_client import GenericEnvClient
from openenv.core.mcp_client import MCPToolClient

CALLS = [
    ("find_members", {"name": "Ada Lindqvist"}),
    ("find_loans", {"member_id": "mem_ada", "status": "open"}),
    ("renew_loan", {"loan_id": "loan_none"}),
    ("renew_loan", {"loan_id": "loan_0025"}),
]


def main(url: str) -> None:
    """Play by steps with two clients at the same time: one does the task, the other does nothing."""
    with MCPToolClient(url).sync() as worker, GenericEnvClient(url).sync() as idler:
        began = worker.reset(scenario="renew_before_trip", seed=1)
        idler.reset(scenario="renew_before_trip")
        tools = [tool.name for tool in worker.list_tools()]
        steps = [worker.step(CallToolAction(tool_name=tool, arguments=arguments)) for tool, arguments in CALLS]
        count = worker.state().step_count
        words = {"text": "I renewed it.\nAnswer: Dune; 8 April 2026"}
        last = worker.step(CallToolAction(tool_name="answer", arguments=words))
        idle = idler.step({"type": "call_tool", "tool_name": "answer", "arguments": {"text": "Nothing."}})
    told = {
        "task": began.observation.result["task"],
        "tools": tools,
        "refused": steps[2].observation.result,
        "rewards": [step.reward for step in steps],
        "last": [last.done, last.reward, last.observation.result["success"]],
        "idle": [idle.done, idle.reward],
        "steps": count,
    }
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
