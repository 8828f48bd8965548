"""ACEBench's agent tasks in a guest: upstream's execution role on objects in rows, and its `agent_eval`.

A result goes through JSON, as upstream's files do: keys of dicts become texts there.
"""

import io
import json
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import servers.imported.datetime
from servers.imported import moment
from servers.imported.benchmarks.bfcl import TURN_MARK
from servers.imported.benchmarks.objects import changes_of, object_of, rows_of
from servers.imported.benchmarks.package import Upstream, import_module, stub
from servers.imported.benchmarks.tau_bench import UpstreamResult
from servers.imported.rows import BoundStatement
from servers.toolkit import Database

MODEL = "farm"
LONGEST_WHY = 300
ROLES = {
    "multi_turn": ("execution_role", "multi_turn_utils", "EXECUTION"),
    "multi_step": ("execution_role_step", "multi_step_utils", "EXECUTION_STEP"),
}


def call(db: Database, tool: str, arguments: dict[str, Any]) -> UpstreamResult:
    """Call a tool through upstream's execution role. Its message is the text."""
    moment.begin(db.now(), db.new_id("call"))
    task = db.one("SELECT * FROM task")
    if task is None:
        raise LookupError("there is no task: launch an instance with a scenario")
    kind, language = task["kind"], task["language"]
    role, utils_name, class_name = ROLES[kind]
    upstream = _upstream(db)
    utils = upstream.module(f"model_inference.{kind}.{utils_name}")
    classes: list[str] = json.loads(task["classes"])
    before = rows_of(db)
    modules = {name: _module(upstream, utils, name, language) for name in classes}
    for name in classes:
        if name in before:
            vars(utils)[_instance(task["id"], name)] = object_of(modules[name], name, before[name])
    make = getattr(upstream.module(f"model_inference.{kind}.{role}"), class_name)
    execution = make(MODEL, json.loads(task["config"]), classes, task["id"], language)
    given = ", ".join(f"{name}={value!r}" for name, value in arguments.items() if name.isidentifier())
    try:
        message, _ = execution.respond([{"message": f"[{tool}({given})]"}])
        text = str(message["message"])
    except Exception as error:
        text = f"Error during execution: {error}"
    statements: list[BoundStatement] = []
    for name in classes:
        made = vars(utils).get(_instance(task["id"], name))
        if made is not None:
            statements += changes_of(modules[name], name, made, before.get(name, {}))
    return UpstreamResult({"result": text}, statements)


def judged(start: Database, final: Database, _answer: str, calls: Sequence[Any], truth: dict[str, Any]) -> Any:
    """End and process accuracy by upstream's `agent_eval`. The first alone is the verdict.

    `truth` has `answer` (the row of the possible answer), `category`, `classes`, `language` and `saved`: the attributes
    of each class that upstream compares.
    """
    upstream = _upstream(start)
    main = upstream.module("eval_main")
    kept: list[Any] = []

    def save(_name: str, result: list[Any], _folder: str) -> None:
        kept.extend(result)

    vars(main).update(
        open=_no_file,
        save_score_as_json=save,
        convert_result_to_excel=None,
        language=truth["language"],
        OUTPUT_PATH="",
    )
    result = result_of(final, upstream, truth)
    process = [written(one["tool"], one["arguments"]) for one in calls if one["tool"] != TURN_MARK]
    rows = [json.loads(json.dumps({"result": result, "process": process}))]
    end, accuracy = main.agent_eval(rows, [{}], [truth["answer"]], truth["category"], MODEL)
    why = "; ".join(str(one.get("error") or one.get("error_type")) for one in kept[1:])
    told = {"end": end, "process": accuracy, "why": why[:LONGEST_WHY]}
    return end == 1.0, json.dumps(told, ensure_ascii=False)


def _no_file(*_place: object, **_how: object) -> io.StringIO:
    """What upstream's `open` gives here: it writes scores into files, and a guest has none."""
    return io.StringIO()


def result_of(final: Database, upstream: Upstream, truth: dict[str, Any]) -> list[dict[str, Any]]:
    """The saved attributes of each class, as upstream's runner saves them. Empty if nothing was called."""
    rows = rows_of(final)
    utils = upstream.module(f"model_inference.{truth['kind']}.{ROLES[truth['kind']][1]}")
    found: list[dict[str, Any]] = []
    for name in truth["classes"]:
        if name not in rows:
            continue
        made = object_of(_module(upstream, utils, name, truth["language"]), name, rows[name])
        found.append({name: {one: value for one, value in vars(made).items() if one in truth["saved"][name]}})
    return found


def written(tool: str, arguments: dict[str, Any]) -> str:
    """A call as upstream's milestones are written: texts in quotes, and nothing escaped."""
    return f"[{tool}({', '.join(f'{name}={_value(value)}' for name, value in arguments.items())})]"


def _value(value: object) -> str:
    return f"'{value}'" if isinstance(value, str) else repr(value)


def _upstream(db: Database) -> Upstream:
    stubs: dict[str, ModuleType] = {
        "datetime": servers.imported.datetime,
        "argparse": stub("argparse"),
        "category": stub("category", ACE_DATA_CATEGORY={}),
        "model_eval.evaluation_helper": stub("model_eval.evaluation_helper"),
        "model_inference.utils": stub("model_inference.utils", decode_ast=None),
    }
    upstream = Upstream(db, stubs)
    upstream.add("importlib", stub("importlib", import_module=import_module(upstream)))
    return upstream


def _instance(task: str, name: str) -> str:
    return f"{MODEL}_{task}_{name.lower()}_instance"


def _module(upstream: Upstream, utils: ModuleType, name: str, language: str) -> ModuleType:
    return upstream.module(vars(utils)[f"CLASS_FILE_PATH_MAPPING_{language.upper()}"][name])
