"""What a task, an action and a reward are."""

from typing import Any

from pydantic import BaseModel


class Action(BaseModel):
    name: str
    kwargs: dict[str, Any]


class Task(BaseModel):
    user_id: str
    instruction: str
    actions: list[Action]
    outputs: list[str]


class DatabaseInfo(BaseModel):
    same: bool


class OutputInfo(BaseModel):
    same: bool
    outputs: dict[str, bool]


class RewardResult(BaseModel):
    reward: float
    info: DatabaseInfo | OutputInfo
    actions: list[Action]
