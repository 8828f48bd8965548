"""BFCL's multi-turn tasks in a guest: upstream's `execute_multi_turn_func_call` on objects in rows, and its checker.

Upstream keeps its objects as globals of a module, by model and task. Here the module is new for each call, and gets the
objects from the rows.
"""

import json
import re
from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import Any

import servers.imported.datetime
from servers.imported import moment
from servers.imported.benchmarks.objects import changes_of, object_of, rows_of
from servers.imported.benchmarks.package import Upstream, import_module, stub
from servers.imported.benchmarks.tau_bench import UpstreamResult
from servers.imported.rows import BoundStatement
from servers.toolkit import Database

PACKAGE = "bfcl_eval.eval_checker.multi_turn_eval"
BACKEND = "bfcl_eval.constants.executable_backend_config"
MODEL = "farm"
TURN_MARK = "next turn"
LONGEST_WHY = 300


def call(db: Database, tool: str, arguments: dict[str, Any]) -> UpstreamResult:
    """Call a tool as upstream's runner does: as the text of a call, which upstream evaluates."""
    moment.begin(db.now(), db.new_id("call"))
    task = db.one("SELECT * FROM task")
    if task is None:
        raise LookupError("there is no task: launch an instance with a scenario")
    upstream = _upstream(db)
    utils = upstream.module(f"{PACKAGE}.multi_turn_utils")
    classes: list[str] = json.loads(task["classes"])
    before = rows_of(db)
    for name in classes:
        if name in before:
            vars(utils)[_instance(task["id"], name)] = object_of(_module(upstream, name), name, before[name])
    [text], instances = utils.execute_multi_turn_func_call(
        func_call_list=[written(tool, arguments)],
        initial_config=json.loads(task["config"]),
        involved_classes=classes,
        model_name=MODEL,
        test_entry_id=task["id"],
        long_context=bool(task["long_context"]),
    )
    statements: list[BoundStatement] = []
    for name in classes:
        statements += changes_of(_module(upstream, name), name, instances[name], before.get(name, {}))
    return UpstreamResult({"result": text}, statements)


def judged(start: Database, _final: Database, _answer: str, calls: Sequence[Any], truth: dict[str, Any]) -> Any:
    """Upstream's `multi_turn_checker` on the calls by turns. As in its runner, the number of turns must be the truth's.

    `truth` has `entry` (the task's row) and `ground_truth` (the calls of each turn).
    """
    turns = turns_of(calls)
    wanted: list[list[str]] = truth["ground_truth"]
    if len(turns) != len(wanted):
        return False, json.dumps({"error": "turns", "turns": len(turns), "of": len(wanted)})
    entry = truth["entry"]
    moment.begin(start.now(), "judge")
    checker = _upstream(start).module(f"{PACKAGE}.multi_turn_checker")
    found = checker.multi_turn_checker(turns, wanted, entry, entry["id"].rsplit("_", 1)[0], MODEL)
    if found["valid"]:
        return True, ""
    told = {"error": found["error_type"], "turn": _turn(found), "why": str(found["error_message"])[:LONGEST_WHY]}
    return False, json.dumps(told, ensure_ascii=False)


def turns_of(calls: Iterable[dict[str, Any]]) -> list[list[list[str]]]:
    """The calls of a history as upstream's decoded result: turns of steps of calls. Each call is a step."""
    turns: list[list[list[str]]] = []
    for one in calls:
        if one["tool"] == TURN_MARK:
            turns.append([])
            continue
        if not turns:
            turns.append([])
        turns[-1].append([written(one["tool"], one["arguments"])])
    return turns


def written(tool: str, arguments: dict[str, Any]) -> str:
    """A call as text, as upstream writes those of a model with function calling."""
    given = ",".join(f"{name}={value!r}" for name, value in arguments.items() if name.isidentifier())
    return f"{tool}({given})"


def _turn(found: dict[str, Any]) -> int | None:
    """The turn at which the checker stopped."""
    numbers = re.findall(r"turn (\d+)", found["error_message"])
    results = found.get("execution_result") or found.get("details", {}).get("execution_result")
    return int(numbers[-1]) if numbers else (len(results) - 1 if results else None)


def _upstream(db: Database) -> Upstream:
    stubs: dict[str, ModuleType] = {"datetime": servers.imported.datetime, "subprocess": stub("subprocess")}
    upstream = Upstream(db, stubs)
    upstream.add("importlib", stub("importlib", import_module=import_module(upstream)))
    return upstream


def _instance(task: str, name: str) -> str:
    """The global in which upstream keeps an object."""
    return re.sub(r"[-./:]", "_", f"{MODEL}_{task}_{name}_instance")


def _module(upstream: Upstream, name: str) -> ModuleType:
    return upstream.module(upstream.module(BACKEND).CLASS_FILE_PATH_MAPPING[name])
