"""The task of an agent that the farm does not drive: where its instance is, what it shall do, how long it may take.

Nothing of it tells the scenario, its checkpoints or the control token.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path

from agent_client.trace import ToolSpec

CONFIG_FILE, INSTRUCTIONS_FILE, TASK_FILE, ANSWER_FILE = "mcp.json", "instructions.md", "task.txt", "answer.txt"
LARGEST_VARIABLE = 100_000
"""Bytes of a task that fit into an environment variable. Linux takes 128 KiB for each."""


@dataclass(frozen=True)
class AgentTask:
    """One episode of such an agent."""

    environment: str
    url: str
    token: str = field(repr=False)
    task: str
    instructions: str
    tools: tuple[ToolSpec, ...]
    seconds: float

    @property
    def mcp_config(self) -> str:
        """The configuration of an MCP client, in the form that Claude and most others read."""
        headers = {"Authorization": f"Bearer {self.token}"}
        server = {"type": "http", "url": self.url, "headers": headers}
        return json.dumps({"mcpServers": {self.environment: server}}, indent=2)

    def write_into(self, folder: Path) -> dict[str, str]:
        """Write the files of a program, and return its variables. The folder must be private: a token is in it."""
        texts = {CONFIG_FILE: self.mcp_config, INSTRUCTIONS_FILE: self.instructions, TASK_FILE: self.task}
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
        short = len(self.task.encode()) <= LARGEST_VARIABLE and "\0" not in self.task
        return {
            "FARM_MCP_URL": self.url,
            "FARM_MCP_TOKEN": self.token,
            "FARM_MCP_CONFIG": str(folder / CONFIG_FILE),
            "FARM_ENVIRONMENT": self.environment,
            "FARM_INSTRUCTIONS_FILE": str(folder / INSTRUCTIONS_FILE),
            "FARM_TASK": self.task if short else f"The task is in the file {folder / TASK_FILE}",
            "FARM_TASK_FILE": str(folder / TASK_FILE),
            "FARM_ANSWER_FILE": str(folder / ANSWER_FILE),
            "FARM_SECONDS": f"{self.seconds:g}",
            "FARM_FOLDER": str(folder),
        }
