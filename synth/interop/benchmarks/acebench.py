"""ACEBench's agent part as bundles: multi-step and multi-turn tasks, in English and Chinese."""

import ast
import json
from dataclasses import dataclass
from typing import Any, Literal, Self

from servers.bundle.description import BenchmarkOrigin, Tool
from servers.guest.sqlite.sql_text import sql_literal
from servers.scenario.checkpoints.official import QUESTION, OfficialCheckpoint
from servers.scenario.scenario import Scenario, UpstreamUser
from servers.text.json_values import is_list, is_object
from synth.interop.benchmarks.bfcl import TYPES
from synth.interop.benchmarks.bundle_writer import RESULT, UPSTREAM_TABLE, BenchmarkBundle, upstream_rows
from synth.interop.benchmarks.clone import DIGITS, Clone, assigned, filled, method, texts_of

AceLanguage = Literal["en", "zh"]
AceKind = Literal["multi_step", "multi_turn"]
COMMIT = "e6db74b"
KNOWN: dict[str, str] = {
    "a74c458bec3fa5b9e75ec1310ddcd2bac06ed8ab3cc9c95ba5c6848cd6d2d6df": COMMIT,  # en, multi_step
    "4a935e0269df12b4dc5191dc1097ce895ba27f49793e9c2d615df9b19064323f": COMMIT,  # en, multi_turn
    "095dd541127efa64395733df57c8bfe98a5dc5b907b7a3147d5f8241d342d323": COMMIT,  # zh, multi_step
    "b83ab11433ebf3bd04efbbd29b1d3085a8c07f85fd91f4a09dc83f639a777355": COMMIT,  # zh, multi_turn
}
"""Digests of the files that are read of each language and kind."""
CHECKER = "eval_main.py"
INFERENCE = "model_inference/apimodel_inference.py"
EVALUATION = (CHECKER, "model_eval/checker.py", "model_eval/utils.py")
SCENES = ("multi_turn", "multi_step")
"""The folders with classes: those of multi-step import some of multi-turn."""
USER = "model_inference/multi_turn/APIModel_user.py"
STEP_ROLE = "model_inference/multi_step/execution_role_step.py"
STOP = "finish conversation"
DOMAINS = ("BASE", "TRAVEL")
"""The prompts of the user, by what the task is about."""
LONGEST_TITLE = 72
SCHEMA = """
CREATE TABLE task (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL, language TEXT NOT NULL,
    classes TEXT NOT NULL CHECK (json_valid(classes)), config TEXT NOT NULL CHECK (json_valid(config))
) WITHOUT ROWID;

CREATE TABLE attributes (
    class TEXT NOT NULL, name TEXT NOT NULL, place INTEGER NOT NULL, value TEXT NOT NULL CHECK (json_valid(value)),
    PRIMARY KEY (class, name)
) WITHOUT ROWID;
"""
HEAD = '''\
"""The tools of ACEBench's agent tasks. Their code is in the table `upstream`, as its authors wrote it."""

from servers.imported.benchmarks import acebench as _acebench
from servers.toolkit import Database as _Database


def _call(db: _Database, tool: str, arguments: dict) -> dict:
    result, statements = _acebench.call(db, tool, arguments)
    for sql, values in statements:
        db.run(sql, **values)
    return result
'''
TOOL = """

def {name}(db: _Database, **arguments: object) -> dict:
    return _call(db, {name!r}, arguments)
"""


def acebench(clone: Clone, language: AceLanguage, kind: AceKind, *, any_version: bool = False) -> BenchmarkBundle:
    """Read the tasks of one kind in one language.

    Raises:
        RequestError: a file is missing or cannot be read, a row is odd, or it is another version.
    """
    path = f"data_all/data_{language}/data_agent_{kind}.json"
    answers_path = f"data_all/data_{language}/possible_answer/data_agent_{kind}.json"
    rows = clone.rows_by_id(path)
    answers = clone.rows_by_id(answers_path)
    files = {one: clone.text(one) for one in (*EVALUATION, *_code(clone, kind, language))}
    told = assigned(clone.tree(INFERENCE), "SAVED_CLASS")
    if told is None:
        raise clone.trouble(INFERENCE, "has no SAVED_CLASS")
    with clone.reading(INFERENCE, "SAVED_CLASS"):
        saved: dict[str, list[str]] = dict(ast.literal_eval(told))
    policy = _policy(clone, language)
    users = _StepUser.of(clone) if kind == "multi_step" else _TurnUser.of(clone, language)
    tools: dict[str, Tool] = {}
    scenarios: list[Scenario] = []
    for name, (number, row) in rows.items():
        with clone.reading(path, f"row {number}"):
            for one in row["function"]:
                tools.setdefault(one["name"], _tool(one))
            unknown = set(row["involved_classes"]) - saved.keys()
            if unknown:
                raise ValueError(f"unknown class {sorted(unknown)[0]!r}")
            if name not in answers:
                raise ValueError(f"{name!r} has no answer in {answers_path}")
            truth = {"answer": answers[name].row, "category": f"agent_{kind}", "kind": kind, "language": language}
            told_truth = {**truth, "saved": saved, "classes": row["involved_classes"]}
            scenarios.append(_scenario(row, told_truth, users.user(row)))
    notice = clone.text("LICENSE.md")
    version = clone.version(KNOWN, COMMIT, any_version=any_version)
    return BenchmarkBundle(
        id=f"acebench_{language}_{kind}",
        title=f"ACEBench agent, {kind}, {language}",
        about=f"The public benchmark ACEBench, agent part, {kind}, in {language}."
        + (" A model plays the user, as upstream tells it to." if kind == "multi_turn" else ""),
        policy=policy,
        tools=tuple(tools.values()),
        source=HEAD + "".join(TOOL.format(name=name) for name in tools),
        schema=UPSTREAM_TABLE + SCHEMA,
        seed=upstream_rows(files),
        scenarios=scenarios,
        benchmark=BenchmarkOrigin(
            name="acebench",
            version=version,
            part=f"{kind}, {language}",
            checker=f"{CHECKER} {clone.digest(CHECKER)[:DIGITS]}",
        ),
        licence="MIT, ACEBench",
        notices={"LICENSE": notice},
    )


def _code(clone: Clone, kind: str, language: str) -> list[str]:
    """The files of the execution role and of the classes."""
    role = {"multi_turn": "execution_role", "multi_step": "execution_role_step"}[kind]
    found = [f"model_inference/{kind}/{role}.py", f"model_inference/{kind}/{kind}_utils.py"]
    for scene in SCENES:
        folder = f"model_inference/{scene}/scenarios{language}"
        found += [*clone.names(folder, ".py"), *clone.names(f"{folder}/phone_platform", ".py")]
    return found


def _policy(clone: Clone, language: str) -> str:
    """Upstream's rules for its agent, of both domains."""
    path = f"model_inference/prompt_{language}.py"
    tree = clone.tree(path)
    found: list[str] = []
    for name in ("BASE_PROMPT", "TRAVEL_PROMPT"):
        told = assigned(tree, f"{name}_{language.upper()}")
        if told is None:
            raise clone.trouble(path, f"has no {name}_{language.upper()}")
        with clone.reading(path, name):
            found.append(str(ast.literal_eval(told)).strip())
    return "\n\n".join(found) + "\n"


@dataclass(frozen=True)
class _TurnUser:
    """The user of multi-turn tasks, whom a model plays."""

    prompts: dict[str, str]
    greeting: str

    @classmethod
    def of(cls, clone: Clone, language: str) -> Self:
        tree = clone.tree(USER)
        prompts: dict[str, str] = {}
        for domain in DOMAINS:
            name = f"SYSTEM_PROMPT_{domain}_{language.upper()}"
            told = assigned(tree, name)
            if told is None:
                raise clone.trouble(USER, f"has no {name}")
            with clone.reading(USER, name):
                prompts[domain] = str(ast.literal_eval(told))
        first = method(tree, "APIUSER", "get_init_prompt")
        greetings = texts_of(first, "user") if first is not None else []
        wanted = [one for one in greetings if one.isascii() == (language == "en")]
        if not wanted:
            raise clone.trouble(USER, f"has no greeting in {language}")
        return cls(prompts, wanted[0])

    def user(self, row: dict[str, Any]) -> UpstreamUser:
        classes: list[str] = row["involved_classes"]
        domain = "TRAVEL" if "Travel" in classes and "BaseApi" not in classes else "BASE"
        told = filled(self.prompts[domain], instruction=str(row["question"]))
        return UpstreamUser(instructions=told, greeting=self.greeting, stop=STOP, role="system")


@dataclass(frozen=True)
class _StepUser:
    """Nobody is asked in multi-step tasks: upstream's execution role gives the same answer to all that is no call."""

    answer: str

    @classmethod
    def of(cls, clone: Clone) -> Self:
        respond = method(clone.tree(STEP_ROLE), "EXECUTION_STEP", "respond")
        for node in ast.walk(respond) if respond is not None else ():
            if isinstance(node, ast.ExceptHandler):
                for one in ast.walk(node):
                    if isinstance(one, ast.Assign) and isinstance(one.value, ast.Constant):
                        return cls(str(one.value.value))
        raise clone.trouble(STEP_ROLE, "has no answer to what is no call")

    def user(self, _row: dict[str, Any]) -> UpstreamUser:
        return UpstreamUser(greeting=self.answer, stop=STOP)


def _tool(row: dict[str, Any]) -> Tool:
    return Tool(
        name=row["name"],
        description=row["description"],
        arguments=_schema(row["parameters"]),
        result=RESULT,
        writes=True,
    )


def _schema(told: Any) -> Any:
    if is_list(told):
        return [_schema(one) for one in told]
    if not is_object(told):
        return told
    found = {key: _schema(value) for key, value in told.items()}
    kind = told.get("type")
    types = {**TYPES, "list": "array"}
    return {**found, "type": types.get(kind, kind)} if isinstance(kind, str) else found


def _scenario(row: dict[str, Any], truth: dict[str, Any], user: UpstreamUser) -> Scenario:
    number = str(row["id"]).rsplit("_", 1)[1]
    config = json.dumps(row["initial_config"], ensure_ascii=False)
    told = (number, truth["kind"], truth["language"], json.dumps(row["involved_classes"]), config)
    question: str = row["question"]
    return Scenario(
        id=f"task_{number}",
        title=question if len(question) <= LONGEST_TITLE else f"{question[:LONGEST_TITLE]}…",
        task=question,
        user=user,
        setup=f"INSERT INTO task VALUES ({', '.join(map(sql_literal, told))});\n",
        tools={one["name"]: 0 for one in row["function"]},
        tags=("acebench", truth["kind"], truth["language"]),
        checkpoints=(
            OfficialCheckpoint(
                id="official",
                role="goal",
                question=QUESTION.format(checker="agent_eval"),
                kind="official",
                checker="acebench",
                truth=truth,
            ),
        ),
    )
