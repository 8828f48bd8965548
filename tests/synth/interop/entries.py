"""Entries as EnvScaler's files hold them, of a small environment that was written for these tests."""

import json
from pathlib import Path
from typing import Any

CODE = '''from typing import Dict, List, Optional, TypedDict, Union
from datetime import datetime
import uuid, time
import random


class ToolInfo(TypedDict):
    tool_id: str
    name: str
    lent_to: str


class ToolShed:
    def __init__(self, init_config: dict):
        self.tools: Dict[str, ToolInfo] = {}
        self.log: List[dict] = []
        self.opened = False
        self.init_config = init_config

    def _find(self, tool_id):
        return self.tools.get(tool_id)

    def list_tools(self) -> dict:
        """List all tools."""
        return {"success": True, "data": list(self.tools.values())}

    def get_tool(self, tool_id: str) -> dict:
        """
        Look up a tool.

        Args:
            tool_id (str): The tool's own id,
                as its label says.

        Returns:
            dict: {"success": True, "data": ToolInfo}

        Constraints:
            - The tool must exist.
        """
        found = self._find(tool_id)
        if not found:
            return {"success": False, "error": "No such tool"}
        return {"success": True, "data": found}

    def add_tool(self, name: str, count: int = 1, note: Optional[str] = None, tags: List[str] = []) -> dict:
        """Add tools of one name."""
        made = []
        for _ in range(count):
            tool_id = str(uuid.uuid4())
            self.tools[tool_id] = {"tool_id": tool_id, "name": name, "lent_to": ""}
            made.append(tool_id)
        self.log.append({"at": datetime.now().isoformat(), "stamp": time.time(), "dice": random.randint(1, 10**9)})
        return {"success": True, "message": "added", "ids": made}

    def lend(self, tool_id: str, person: Union[str, int]) -> dict:
        """Lend a tool."""
        tool = self.tools[tool_id]
        tool["lent_to"] = person
        if person == "nobody":
            return {"success": False, "error": "Nobody cannot borrow"}
        return {"success": True, "message": f"Lent to {person}"}

    def scrap(self, tool_id: str) -> dict:
        """Throw a tool away."""
        del self.tools[tool_id]
        return {"success": True, "message": "Gone"}

    def peek(self) -> dict:
        """Look into the shed, which opens it."""
        self.opened = True
        return {"success": True, "data": self.opened}

    def spoil(self) -> dict:
        """Leave something that no row can hold."""
        self.tools["x"] = {"tool_id": lambda: None}
        return {"success": True, "message": "spoilt"}
'''

LENT = """def check_func(final_state):
    return final_state["tools"]["t1"]["lent_to"] == "Ada"
"""
ADDED = """def check_func(final_state):
    names = [tool.get("name") for tool in final_state.get("tools", {}).values()]
    return "ladder" in names and len(names) > len(initial_state["tools"])
"""
THERE = """def check_func(final_state):
    final_state["tools"].pop("t2")
    return "t1" in final_state["tools"]
"""
WRONG = """def check_func(final_state):
    return final_state["shelves"]["s1"] == 1
"""


def environment(**changes: Any) -> dict[str, Any]:
    """The entry of the tool shed."""
    tools = ("list_tools", "get_tool", "add_tool", "lend", "scrap", "peek", "spoil")
    reading = ("list_tools", "get_tool")
    return {
        "env_id": "env_1",
        "environment_summary": "Tool shed",
        "environment_introduction": "A shed from which neighbours borrow tools.",
        "constraints_rules": ["A tool is lent to one person at a time."],
        "operation_list": [
            {"operation_name": name, "operation_type": "query" if name in reading else "state_change"} for name in tools
        ],
        "env_class_name": "ToolShed",
        "env_class_code": CODE,
        "tools": [],
        **changes,
    }


def config(**changes: Any) -> dict[str, Any]:
    """Where a scenario begins."""
    return {
        "tools": {
            "t1": {"tool_id": "t1", "name": "saw", "lent_to": ""},
            "t2": {"tool_id": "t2", "name": "drill", "lent_to": "Bo"},
        },
        "log": [],
        **changes,
    }


def scenario(*checks: str, **changes: Any) -> dict[str, Any]:
    """The entry of a scenario."""
    return {
        "env_id": "env_1",
        "env_class_name": "ToolShed",
        "task_id": "env_1-task_1",
        "init_config": config(),
        "task": "Lend the saw to Ada, and add a ladder.",
        "checklist_with_func": [
            {"check_item": f"Is check {number} met?", "check_func": check}
            for number, check in enumerate(checks or (LENT, ADDED), start=1)
        ],
        **changes,
    }


def write(folder: Path, environments: Any, scenarios: Any) -> tuple[Path, Path]:
    """Both files."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = (folder / "env_metadata.json", folder / "rl_scenario_metadata.json")
    for path, entries in zip(paths, (environments, scenarios), strict=True):
        path.write_text(entries if isinstance(entries, str) else json.dumps(entries), encoding="utf-8")
    return paths
