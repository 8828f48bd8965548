"""Checkpoints as check functions of EnvScaler: one for each goal, which also asks the guards."""

import ast
import pprint
from collections.abc import Iterator
from typing import Any

from servers.gate.parser import parsed
from servers.scenario.checkpoints.footprint import FootprintCheckpoint
from servers.scenario.checkpoints.kinds import Checkpoint
from servers.scenario.checkpoints.python import PythonCheckpoint
from servers.scenario.checkpoints.sql import SqlCheckpoint
from servers.scenario.scenario import Scenario
from synth.interop.exports.texts import plain_text, scoped, text_of, without_imports

MOST_COPIES = 5


def checks_of(scenario: Scenario, schema: dict[str, Any], lost: list[str]) -> Iterator[dict[str, str]]:
    """A check function for each goal over the state. It holds only if all such guards hold too."""
    kept: list[Checkpoint] = []
    for checkpoint in scenario.checkpoints:
        if _asks_the_agent(checkpoint):
            lost.append(f"{scenario.id}: {checkpoint.id} ({checkpoint.role}): is about the answer or the calls")
        else:
            kept.append(checkpoint)
    goals = [checkpoint for checkpoint in kept if checkpoint.role == "goal"]
    guards = [checkpoint for checkpoint in kept if checkpoint.role == "guard"]
    whole = all(goal.weight == int(goal.weight) and goal.weight <= MOST_COPIES for goal in goals)
    if not whole:
        lost.append(f"{scenario.id}: the weights of its goals: each counts the same")
    for goal in goals:
        for _ in range(int(goal.weight) if whole else 1):
            yield {"check_item": goal.question, "check_func": _check_code([goal, *guards], schema)}


def _asks_the_agent(checkpoint: Checkpoint) -> bool:
    """True if it needs the agent's words or calls: a check function sees only the state."""
    if isinstance(checkpoint, FootprintCheckpoint):
        return False
    if isinstance(checkpoint, SqlCheckpoint):
        return ":answer" in checkpoint.sql
    if not isinstance(checkpoint, PythonCheckpoint):
        return True
    for node in parsed(checkpoint.python).body:
        if isinstance(node, ast.FunctionDef) and node.name == "check":
            asked = {argument.arg for argument in node.args.args[2:]}
            return any(isinstance(inner, ast.Name) and inner.id in asked for inner in ast.walk(node))
    return True


def _check_code(checkpoints: list[Checkpoint], schema: dict[str, Any]) -> str:
    """A source text that defines `check_func` and its dependencies."""
    lean = {"tables": schema["tables"], "views": schema["views"]}
    parts = [
        text_of("database"),
        plain_text(),
        text_of("checking"),
        f"SCHEMA = {pprint.pformat(lean, width=110, sort_dicts=False)}\n",
    ]
    asked: list[str] = []
    for number, checkpoint in enumerate(checkpoints):
        if isinstance(checkpoint, SqlCheckpoint):
            told = {"sql": checkpoint.sql, "expect": checkpoint.model_dump(mode="json")["expect"]}
            asked.append(f"sql_holds(connection, {told!r})")
        elif isinstance(checkpoint, FootprintCheckpoint):
            allow = [allowance.model_dump(mode="json") for allowance in checkpoint.allow]
            asked.append(f"footprint_holds(connection, SCHEMA, {allow!r}, initial_state, final_state)")
        elif isinstance(checkpoint, PythonCheckpoint):
            parts.append(scoped(without_imports(checkpoint.python), f"check_{number}"))
            asked.append(f"python_holds(SCHEMA, check_{number}, initial_state, final_state)")
    body = "".join(f"        if not {one}:\n            return False\n" for one in asked)
    parts.append(
        "def check_func(final_state):\n"
        "    connection = both(SCHEMA, initial_state, final_state)\n"
        f"    try:\n{body}        return True\n"
        "    finally:\n        connection.close()\n"
    )
    return "\n\n".join(parts)
