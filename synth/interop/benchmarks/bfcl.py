"""BFCL's multi-turn categories as bundles: code of the installed package, data of version 3 or 4."""

import ast
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from servers.bundle.description import BenchmarkOrigin, Tool
from servers.errors import RequestError
from servers.gate.parser import parsed_expression
from servers.guest.sqlite.sql_text import sql_literal
from servers.scenario.checkpoints.official import QUESTION, OfficialCheckpoint
from servers.scenario.scenario import Scenario
from servers.text.json_values import is_list, is_object
from synth.interop.benchmarks.bundle_writer import RESULT, UPSTREAM_TABLE, BenchmarkBundle, upstream_rows
from synth.interop.benchmarks.clone import DIGITS, Clone, NumberedRow

BfclVersion = Literal["v3", "v4"]
BfclCategory = Literal["base", "miss_func", "miss_param", "long_context"]
PACKAGE = "bfcl_eval"
RELEASE = "2026.3.23"
INSTALL = f"pip install --no-deps bfcl-eval=={RELEASE} mpmath==1.3.0"
V3 = "EnvScaler's copy at 87e6673"
KNOWN: dict[str, str] = {
    "cbacd9dec03f2bc7851c0c12f99ec450f702e1421c9ac8c6cadb85a7e2d8fd11": RELEASE,  # v4, base
    "bc46e3b4d71d6ffdb9c38239dbf9fb1c4164e65e199050d81f3b337d5d835b13": RELEASE,  # v4, miss_func
    "40068b705a801ab5faf095ca951dbf2ebe80687734c7f87d0ac176dcf82949ea": RELEASE,  # v4, miss_param
    "dd7018aa846459ff9249052e1716b7b32ca0554bc93703eb428cb00df81a01e0": RELEASE,  # v4, long_context
    "e3a35a15fd6c7a9b7aacdb9854e5f837c3f1da075de71b1d50237f7ebcbf0f87": V3,  # v3, base
    "157ddc498d53708aafa8421332f7c5ae92e9d43c4e877ccffbd74ee8b06201b2": V3,  # v3, miss_func
    "a4ccae40c8957d53b5d1a40ce5cdd0157e51ebcf10e12d83a917621b735e5df0": V3,  # v3, miss_param
    "9834066c0a8c0d41b3346959cfcfee85c2f08ba8fab7ee1900ebd346ac35e764": V3,  # v3, long_context
}
"""Digests of the files that are read of each version and category."""
CODE = f"{PACKAGE}/eval_checker/multi_turn_eval"
CHECKER = f"{CODE}/multi_turn_checker.py"
BACKEND = f"{PACKAGE}/constants/executable_backend_config.py"
CLASSES = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TwitterAPI": "posting_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "VehicleControlAPI": "vehicle_control",
}
"""The classes of the multi-turn tasks, and the names of their files."""
REVEALED = "I have updated some more functions you can choose from. What about now?"
"""Upstream's words at the turn at which a missing function is there."""
TYPES = {"dict": "object", "float": "number", "tuple": "array", "any": "string"}
LONGEST_TITLE = 72
NEVER = -1
LICENCE = "Apache-2.0, Berkeley Function Calling Leaderboard"
NOTICE = """\
The table `upstream` has files of bfcl-eval, unmodified: the Berkeley Function Calling Leaderboard
(github.com/ShishirPatil/gorilla). They, and the tasks in scenarios.jsonl, are under the Apache License, Version 2.0:
http://www.apache.org/licenses/LICENSE-2.0
"""
SCHEMA = """
CREATE TABLE task (
    id TEXT PRIMARY KEY, classes TEXT NOT NULL CHECK (json_valid(classes)),
    config TEXT NOT NULL CHECK (json_valid(config)), long_context INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE attributes (
    class TEXT NOT NULL, name TEXT NOT NULL, place INTEGER NOT NULL, value TEXT NOT NULL CHECK (json_valid(value)),
    PRIMARY KEY (class, name)
) WITHOUT ROWID;
"""
HEAD = '''\
"""The tools of BFCL's multi-turn tasks. Their code is in the table `upstream`, as its authors wrote it."""

from servers.imported.benchmarks import bfcl as _bfcl
from servers.toolkit import Database as _Database


def _call(db: _Database, tool: str, arguments: dict) -> dict:
    result, statements = _bfcl.call(db, tool, arguments)
    for sql, values in statements:
        db.run(sql, **values)
    return result
'''
TOOL = """

def {name}(db: _Database, **arguments: object) -> dict:
    return _call(db, {name!r}, arguments)
"""


@dataclass(frozen=True)
class BfclSource:
    """Where the code and the data are, and the version that they are."""

    package: Clone
    data: Clone
    version: BfclVersion

    def tasks(self, category: str) -> str:
        name = f"BFCL_{self.version}_multi_turn_{category}.json"
        return name if self.version == "v3" else f"{PACKAGE}/data/{name}"

    def truths(self, category: str) -> str:
        name = f"possible_answer/BFCL_{self.version}_multi_turn_{category}.json"
        return name if self.version == "v3" else f"{PACKAGE}/data/{name}"

    def documents(self, name: str) -> str:
        file = f"multi_turn_func_doc/{CLASSES[name]}.json"
        return file if self.version == "v3" else f"{PACKAGE}/data/{file}"


def bfcl_source(version: BfclVersion, path: Path | None, package: Path | None) -> BfclSource:
    """The files of a version. Without `package`, those of the installed one; it is not imported.

    Raises:
        RequestError: they are not there.
    """
    found = package or (path if version == "v4" else None) or _installed()
    if found.name != PACKAGE and (found / PACKAGE).is_dir():
        found /= PACKAGE
    code = Clone(found.parent, "bfcl-eval", install=INSTALL)
    if version == "v4":
        return BfclSource(code, code, version)
    if path is None:
        raise RequestError("--version v3 needs PATH: the folder with BFCL_v3_multi_turn_base.json")
    return BfclSource(code, Clone(path, "BFCL v3"), version)


def _installed() -> Path:
    found = _found(PACKAGE)
    if found is None:
        raise RequestError(
            f"bfcl-eval is not installed; `{INSTALL}` installs what is needed, or give its folder with --package"
        )
    return found


def _found(package: str) -> Path | None:
    """The folder of an installed package, which is not imported."""
    return next((Path(one) / package for one in sys.path if (Path(one) / package).is_dir()), None)


def bfcl(source: BfclSource, category: BfclCategory, *, any_version: bool = False) -> BenchmarkBundle:
    """Read one category.

    Raises:
        RequestError: a file is missing or cannot be read, a row is odd, or it is another version.
    """
    if _found("mpmath") is None:
        raise RequestError("mpmath is not installed, which the code of BFCL needs: `pip install mpmath==1.3.0`")
    code, data = source.package, source.data
    files = {path: code.text(path) for path in (BACKEND, CHECKER, f"{CODE}/multi_turn_utils.py")}
    rows = data.rows(source.tasks(category))
    with data.reading(source.tasks(category)):
        involved = {str(name) for row in rows for name in row.get("involved_classes") or ()}
    classes = [name for name in CLASSES if name in involved]
    for name in (*(CLASSES[one] for one in classes), "long_context"):
        path = f"{CODE}/func_source_code/{name}.py"
        files[path] = code.text(path)
    documents = {name: data.rows(source.documents(name)) for name in classes}
    tools: list[Tool] = []
    for name, told in documents.items():
        for number, row in enumerate(told, start=1):
            with data.reading(source.documents(name), f"row {number}"):
                tools.append(_tool(row))
    signatures = {name: methods_of(code, name) for name in classes}
    truths = data.rows_by_id(source.truths(category))
    reading = TaskReader(source, category, documents, {k: v for one in signatures.values() for k, v in one.items()})
    scenarios = [reading.scenario(one, truths) for one in data.rows_by_id(source.tasks(category)).values()]
    version = data.version(KNOWN, RELEASE if source.version == "v4" else V3, any_version=any_version)
    return BenchmarkBundle(
        id=f"bfcl_{source.version}_{category}",
        title=f"BFCL {source.version} multi-turn, {category}",
        about=f"The public benchmark BFCL {source.version}, multi-turn, category {category}. Its turns are fixed.",
        policy="\n",
        tools=tuple(tools),
        source=HEAD + "".join(TOOL.format(name=one.name) for one in tools),
        schema=UPSTREAM_TABLE + SCHEMA,
        seed=upstream_rows(files),
        scenarios=scenarios,
        benchmark=BenchmarkOrigin(
            name="bfcl",
            version=f"{source.version}, {version}",
            part=f"multi-turn {category}",
            checker=f"{CHECKER} {code.digest(CHECKER)[:DIGITS]}",
        ),
        licence=LICENCE,
        notices={"NOTICE": NOTICE},
    )


@dataclass(frozen=True)
class TaskReader:
    """Turns rows of tasks into scenarios."""

    source: BfclSource
    category: str
    documents: dict[str, list[dict[str, Any]]]
    signatures: dict[str, list[str]]

    def scenario(self, task: NumberedRow, truths: dict[str, NumberedRow]) -> Scenario:
        """One task. Raises RequestError with file and row."""
        with self.source.data.reading(self.source.tasks(self.category), f"row {task.number}"):
            return self._scenario(task.row, truths)

    def _truth(self, told: NumberedRow) -> list[tuple[list[str], list[tuple[str, dict[str, Any]]]]]:
        """The turns of a truth: the calls as upstream writes them, and as they are made here."""
        with self.source.data.reading(self.source.truths(self.category), f"row {told.number}"):
            return [(list(turn), [self.call(text) for text in turn]) for turn in told.row["ground_truth"]]

    def _scenario(self, row: dict[str, Any], truths: dict[str, NumberedRow]) -> Scenario:
        name, classes = str(row["id"]), list(row["involved_classes"])
        unknown = [one for one in classes if one not in CLASSES]
        if unknown:
            raise ValueError(f"unknown class {unknown[0]!r}; there are: {', '.join(CLASSES)}")
        if name not in truths:
            raise ValueError(f"{name!r} has no truth in {self.source.truths(self.category)}")
        truth = self._truth(truths[name])
        turns = [_said(turn) for turn in row["question"]]
        config, long_context = row.get("initial_config", {}), int(self.category == "long_context")
        values = ", ".join(map(sql_literal, (name, json.dumps(classes), json.dumps(config, ensure_ascii=False))))
        entry = {"id": name, "involved_classes": classes, "initial_config": config}
        calls = [[list(call) for call in made] for _, made in truth]
        return Scenario(
            id=f"task_{name.rsplit('_', 1)[1]}",
            title=turns[0] if len(turns[0]) <= LONGEST_TITLE else f"{turns[0][:LONGEST_TITLE]}…",
            task=turns[0],
            setup=f"INSERT INTO task VALUES ({values}, {long_context});\n",
            turns=tuple(turns),
            tools=self._tools(row, classes),
            tags=("bfcl", self.source.version, self.category, *classes),
            checkpoints=(
                OfficialCheckpoint(
                    id="official",
                    role="goal",
                    question=QUESTION.format(checker="multi_turn_checker"),
                    kind="official",
                    checker="bfcl",
                    truth={"entry": entry, "ground_truth": [told for told, _ in truth], "calls": calls},
                ),
            ),
        )

    def _tools(self, row: dict[str, Any], classes: list[str]) -> dict[str, int]:
        found = {one["name"]: 0 for name in classes for one in self.documents[name]}
        excluded: list[str] = list(row.get("excluded_function") or ())
        later: dict[str, list[str]] = dict(row.get("missed_function") or {})
        for name in excluded:
            found[name] = NEVER
        for turn, names in later.items():
            for name in names:
                found[name] = int(turn)
        return found

    def call(self, text: str) -> tuple[str, dict[str, Any]]:
        """A call of the truth with its arguments by name. Raises errors of `ODD`."""
        node = parsed_expression(text.strip()).body
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            raise ValueError(f"no call: {text[:80]!r}")
        names = self.signatures.get(node.func.id, [])  # some of v3 are not in the code: upstream answers an error
        given = {names[place]: ast.literal_eval(one) for place, one in enumerate(node.args)}
        given |= {one.arg or "": ast.literal_eval(one.value) for one in node.keywords}
        return node.func.id, given


def _said(turn: list[dict[str, Any]]) -> str:
    """The user's message of a turn. An empty one is that at which a function is revealed."""
    return "\n".join(str(one["content"]) for one in turn) if turn else REVEALED


def methods_of(code: Clone, name: str) -> dict[str, list[str]]:
    """The public methods of a class, with the names of their arguments."""
    path = f"{CODE}/func_source_code/{CLASSES[name]}.py"
    for node in code.tree(path).body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return {
                one.name: [given.arg for given in one.args.args[1:]]
                for one in node.body
                if isinstance(one, ast.FunctionDef) and not one.name.startswith("_")
            }
    raise code.trouble(path, f"has no class {name}")


def _tool(row: dict[str, Any]) -> Tool:
    return Tool(
        name=row["name"],
        description=row["description"],
        arguments=schema_of(row["parameters"]),
        result=RESULT,
        writes=True,
    )


def schema_of(told: Any) -> Any:
    """A function's document as JSON Schema: upstream's own types become those of JSON."""
    if is_list(told):
        return [schema_of(one) for one in told]
    if not is_object(told):
        return told
    found = {key: schema_of(value) for key, value in told.items() if key != "response"}
    kind = told.get("type")
    return {**found, "type": TYPES.get(kind, kind)} if isinstance(kind, str) else found


def categories(chosen: BfclCategory | None) -> Sequence[BfclCategory]:
    """The chosen category, or all."""
    return (chosen,) if chosen else ("base", "miss_func", "miss_param", "long_context")
