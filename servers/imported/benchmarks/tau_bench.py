"""tau-bench in a guest: its tools on rows, and its reward by its own `calculate_reward`."""

import json
from collections.abc import Sequence
from types import ModuleType
from typing import Any, NamedTuple

from servers.imported import moment
from servers.imported.benchmarks.entities import Entities, texts
from servers.imported.benchmarks.package import Upstream, stub
from servers.imported.rows import BoundStatement
from servers.toolkit import Database

LAST_TOOLS = ["transfer_to_human_agents"]
"""Upstream's `terminate_tools`: a call of one ends the episode."""
RESPOND = "respond"


class UpstreamResult(NamedTuple):
    """The text that upstream gives for a call, and the statements that keep its effect."""

    result: dict[str, str]
    statements: list[BoundStatement]


class PlainModel:
    """Stands in for pydantic's BaseModel, which guests do not have: attributes by name, with the class's defaults."""

    def __init__(self, **values: Any) -> None:
        for name, value in values.items():
            setattr(self, name, value)


def call(
    db: Database, tables: Sequence[str], place: tuple[str, str], arguments: dict[str, Any], *, writes: bool = True
) -> UpstreamResult:
    """Call a tool as upstream's `Env.step` does. `place` is its module and class.

    A tool that raises has an effect up to there, and its error is the text. So it is upstream.
    """
    moment.begin(db.now(), db.new_id("call"))
    module, name = place
    data = {table: Entities(db, table, writes=writes) for table in tables}
    tool = getattr(_upstream(db).module(module), name)
    try:
        observation = tool.invoke(data=data, **arguments)
    except Exception as error:
        observation = f"Error: {error}"
    return UpstreamResult(
        {"result": observation}, [one for table in data.values() for one in table.changes()] if writes else []
    )


def judged(start: Database, final: Database, answer: str, _calls: Sequence[Any], truth: dict[str, Any]) -> Any:
    """The reward by upstream's `calculate_reward`: the hash of the database, and the outputs among the replies.

    `truth` has the task's fields, the tables, and `tools`: module and class of each. The hash takes half a second for
    a whole database. So both sides get the entities alone that differ from the start or that the truth reads: all
    others are equal on both.
    """
    upstream = _upstream(start)
    before, after = texts(start, truth["tables"]), texts(final, truth["tables"])
    needed = _read_by_the_truth(upstream, start, truth)
    for table, keys in needed.items():
        keys.update(key for key, text in before[table].items() if after[table].get(key) != text)
        keys.update(after[table].keys() - before[table].keys())
    env = _env(upstream, truth)
    env.data = _some(after, needed)
    env.data_load_func = lambda: _some(before, needed)
    env.actions = [upstream.module("tau_bench.types").Action(name=RESPOND, kwargs={"content": answer})]
    hashes: list[str] = []
    official = env.get_data_hash
    env.get_data_hash = lambda: hashes.append(official()) or hashes[-1]
    reward = env.calculate_reward()
    outputs = getattr(reward.info, "outputs", {})
    seen = {
        "database": len(set(hashes)) == 1,
        "missing": [output for output, found in outputs.items() if not found],
    }
    return reward.reward == 1.0, json.dumps(seen, ensure_ascii=False)


def _env(upstream: Upstream, truth: dict[str, Any]) -> Any:
    """Upstream's environment at a task, without its data and without a model as the user."""
    types, base = upstream.module("tau_bench.types"), upstream.module("tau_bench.envs.base")
    env = object.__new__(base.Env)
    env.tools_map = {name: getattr(upstream.module(module), kind) for name, (module, kind) in truth["tools"].items()}
    env.terminate_tools = LAST_TOOLS
    env.actions = []
    env.user = _SilentUser()
    env.task = types.Task(
        user_id=truth["user_id"],
        instruction=truth["instruction"],
        actions=[types.Action(**action) for action in truth["actions"]],
        outputs=truth["outputs"],
    )
    return env


def _read_by_the_truth(upstream: Upstream, start: Database, truth: dict[str, Any]) -> dict[str, set[str]]:
    env = _env(upstream, truth)
    env.data = {table: Entities(start, table) for table in truth["tables"]}
    for action in env.task.actions:
        if action.name not in LAST_TOOLS:
            env.step(action)
    return {table: entities.touched for table, entities in env.data.items()}


def _some(held: dict[str, dict[str, str]], needed: dict[str, set[str]]) -> dict[str, dict[str, Any]]:
    return {
        table: {key: json.loads(text) for key, text in rows.items() if key in needed[table]}
        for table, rows in held.items()
    }


class _SilentUser:
    """Answers the truth's own replies, which change nothing."""

    def step(self, _content: str) -> str:
        return ""

    def get_total_cost(self) -> float:
        return 0.0


def _upstream(db: Database) -> Upstream:
    stubs: dict[str, ModuleType] = {
        "pydantic": stub("pydantic", BaseModel=PlainModel),
        "litellm": stub("litellm", completion=None),
    }
    return Upstream(db, stubs)
