"""An environment of tools on a dict of tables, and the reward of an episode."""

import hashlib
import json
from collections.abc import Callable
from typing import Any

from tau_bench.envs.tool import Tool
from tau_bench.envs.user import LLMUserSimulationEnv
from tau_bench.types import Action, DatabaseInfo, OutputInfo, RewardResult, Task

SAID = "respond"


class Env:
    def __init__(self, data_load_func: Callable[[], dict[str, Any]], tools: list[type[Tool]], task: Task) -> None:
        self.data_load_func = data_load_func
        self.data = data_load_func()
        self.tools_map = {tool.get_info()["function"]["name"]: tool for tool in tools}
        self.terminate_tools: list[str] = []
        self.task = task
        self.user = LLMUserSimulationEnv("")
        self.actions: list[Action] = []

    def step(self, action: Action) -> str:
        """Do one thing, and note it."""
        self.actions.append(action)
        if action.name == SAID:
            return self.user.step(action.kwargs["content"])
        if action.name not in self.tools_map:
            return f"There is no {action.name}"
        try:
            return self.tools_map[action.name].invoke(data=self.data, **action.kwargs)
        except Exception as error:
            return f"Error: {error}"

    def get_data_hash(self) -> str:
        return hashlib.sha256(json.dumps(self.data, sort_keys=True).encode()).hexdigest()

    def calculate_reward(self) -> RewardResult:
        """1 if the database is what the task's actions make of it, and every output was said."""
        done, said = self.get_data_hash(), [one.kwargs["content"] for one in self.actions if one.name == SAID]
        self.data = self.data_load_func()
        for action in self.task.actions:
            if action.name not in self.terminate_tools:
                self.step(action)
        reward = 1.0
        same = done == self.get_data_hash()
        found = {one: any(one.lower() in text.lower() for text in said) for one in self.task.outputs}
        if not same or not all(found.values()):
            reward = 0.0
        info = OutputInfo(same=same, outputs=found) if found else DatabaseInfo(same=same)
        return RewardResult(reward=reward, info=info, actions=self.task.actions)
