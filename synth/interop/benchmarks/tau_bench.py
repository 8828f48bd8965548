"""tau-bench as a bundle: the tools' files and the database as rows, a scenario for each task of a split."""

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Self, cast, get_args

from servers.bundle.description import BenchmarkOrigin, Tool
from servers.errors import RequestError
from servers.scenario.checkpoints.official import QUESTION, OfficialCheckpoint
from servers.scenario.scenario import PlannedCall, Scenario, Solution, UpstreamUser
from synth.interop.benchmarks.bundle_writer import (
    RESULT,
    UPSTREAM_TABLE,
    BenchmarkBundle,
    entity_rows,
    entity_table,
    upstream_rows,
)
from synth.interop.benchmarks.clone import DIGITS, Clone, assigned, composed, literal, method, texts_of
from synth.interop.imports.dataset import ODD, trouble_words

TauDomain = Literal["retail", "airline"]
TauSplit = Literal["test", "train", "dev"]
COMMIT = "59a200c"
KNOWN: dict[str, str] = {
    "b05385d382ff19d78cd196484671802bff2292100bec6c28e76ed2070c634f50": COMMIT,  # retail, test
    "2fb2aa48967479059b218487c0e597e98f14cf5a77855298ae67e57d27fc5817": COMMIT,  # retail, train
    "4eaeb50aec900e2271032dc496f4f08b4ca47c64fd379f616aaab982be156955": COMMIT,  # retail, dev
    "c3b22cab5855fc8bcdb8d89eb01095263959de9031009161027f043398d06d2c": COMMIT,  # airline, test
}
"""Digests of the files of each domain and split at that commit."""
TABLES = {"retail": ("orders", "products", "users"), "airline": ("flights", "reservations", "users")}
TASKS = {
    ("retail", "test"): ("tasks_test.py", "TASKS_TEST"),
    ("retail", "train"): ("tasks_train.py", "TASKS_TRAIN"),
    ("retail", "dev"): ("tasks_dev.py", "TASKS_DEV"),
    ("airline", "test"): ("tasks_test.py", "TASKS"),
}
CHECKER = "tau_bench/envs/base.py"
USER = "tau_bench/envs/user.py"
CODE = (CHECKER, "tau_bench/envs/tool.py", USER, "tau_bench/types.py")
STRATEGY = "LLMUserSimulationEnv"
"""Upstream's default way to simulate the user."""
STOP = "###STOP###"
READERS = ("calculate", "find_", "get_", "list_", "search_", "think", "transfer_to_human_agents")
"""How the names of tools begin that change no entity."""
LONGEST_TITLE = 72
HEAD = '''\
"""The tools of tau-bench {domain}. Their code is in the table `upstream`, as its authors wrote it."""

from servers.imported.benchmarks import tau_bench as _tau_bench
from servers.toolkit import Database as _Database

_TABLES = {tables!r}
_PLACES = {places!r}


def _read(db: _Database, tool: str, arguments: dict) -> dict:
    return _tau_bench.call(db, _TABLES, _PLACES[tool], arguments, writes=False).result


def _write(db: _Database, tool: str, arguments: dict) -> dict:
    result, statements = _tau_bench.call(db, _TABLES, _PLACES[tool], arguments)
    for sql, values in statements:
        db.run(sql, **values)
    return result
'''
TOOL = """

def {name}(db: _Database, **arguments: object) -> dict:
    return {how}(db, {name!r}, arguments)
"""


@dataclass(frozen=True)
class UpstreamTool:
    """A tool of upstream's, and where its class is."""

    tool: Tool
    file: str
    kind: str

    @property
    def name(self) -> str:
        return self.tool.name

    @property
    def module(self) -> str:
        return self.file.removesuffix(".py").replace("/", ".")


def tau_bench(clone: Clone, domain: TauDomain, split: TauSplit, *, any_version: bool = False) -> BenchmarkBundle:
    """Read a domain and a split.

    Raises:
        RequestError: a file is missing or cannot be read, or it is another version.
    """
    if (domain, split) not in TASKS:
        known = ", ".join(one for one in get_args(TauSplit) if (domain, one) in TASKS)
        raise RequestError(f"--split {split}: {domain} has none; there is: {known}")
    folder = f"tau_bench/envs/{domain}"
    tools = list(_tools(clone, f"{folder}/tools"))
    files = {path: clone.text(path) for path in (*CODE, *sorted({one.file for one in tools}))}
    tables = {name: _entities(clone, f"{folder}/data/{name}.json") for name in TABLES[domain]}
    wiki = clone.text(f"{folder}/wiki.md")
    rows = _tasks(clone, folder, *TASKS[domain, split])
    speaking = UserReader.of(clone)
    notice = clone.text("LICENSE")
    version = clone.version(KNOWN, COMMIT, any_version=any_version)
    places = {tool.name: [tool.module, tool.kind] for tool in tools}
    scenarios: list[Scenario] = []
    for number, row in enumerate(rows):
        with clone.reading(f"{folder}/{TASKS[domain, split][0]}", f"task {number}"):
            scenarios.append(_scenario(number, row, domain, split, {"tables": list(tables), "tools": places}, speaking))
    return BenchmarkBundle(
        id=f"tau_bench_{domain}_{split}",
        title=f"tau-bench {domain} ({split})",
        about=f"The public benchmark tau-bench, {domain}, split {split}. A model plays the user in upstream's words.",
        policy=wiki,
        tools=tuple(one.tool for one in tools),
        source=_source(domain, tools),
        schema=UPSTREAM_TABLE + "".join(map(entity_table, tables)),
        seed=upstream_rows(files) + "".join(entity_rows(name, texts) for name, texts in tables.items()),
        scenarios=scenarios,
        benchmark=BenchmarkOrigin(
            name="tau-bench",
            version=version,
            part=f"{domain}, {split}",
            checker=f"{CHECKER} {clone.digest(CHECKER)[:DIGITS]}",
        ),
        licence="MIT, Copyright (c) 2024 Sierra",
        notices={"LICENSE": notice},
    )


def _tools(clone: Clone, folder: str) -> Iterator[UpstreamTool]:
    """The tools in upstream's order."""
    path = f"{folder}/__init__.py"
    tree = clone.tree(path)
    places = {
        alias.name: node.module
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    listed = assigned(tree, "ALL_TOOLS")
    if not isinstance(listed, ast.List):
        raise clone.trouble(path, "lists no ALL_TOOLS")
    for one in listed.elts:
        kind = one.id if isinstance(one, ast.Name) else ""
        if kind not in places:
            raise clone.trouble(path, f"line {one.lineno}: a tool that is not imported there")
        yield UpstreamTool(_tool(clone, f"{folder}/{places[kind]}.py", kind), f"{folder}/{places[kind]}.py", kind)


def _tool(clone: Clone, path: str, kind: str) -> Tool:
    """What `get_info` of a tool's class returns, which is a literal."""
    for node in ast.walk(clone.tree(path)):
        if isinstance(node, ast.FunctionDef) and node.name == "get_info":
            for inner in node.body:
                if isinstance(inner, ast.Return) and inner.value is not None:
                    with clone.reading(path, f"{kind}.get_info returns no literal description"):
                        told = literal(inner.value)["function"]
                        return Tool(
                            name=told["name"],
                            description=told["description"],
                            arguments=told["parameters"],
                            result=RESULT,
                            writes=not told["name"].startswith(READERS),
                        )
    raise clone.trouble(path, f"{kind}.get_info returns no literal description")


def _entities(clone: Clone, path: str) -> list[tuple[str, str]]:
    held = clone.json(path)
    if not isinstance(held, dict):
        raise clone.trouble(path, "is no object of entities")
    return [(key, json.dumps(value, ensure_ascii=False)) for key, value in cast("dict[str, Any]", held).items()]


def _tasks(clone: Clone, folder: str, file: str, name: str) -> list[dict[str, Any]]:
    path = f"{folder}/{file}"
    listed = assigned(clone.tree(path), name)
    if not isinstance(listed, ast.List):
        raise clone.trouble(path, f"lists no {name}")
    if not listed.elts:
        raise clone.trouble(path, f"{name} is empty")
    rows: list[dict[str, Any]] = []
    for number, node in enumerate(listed.elts):
        try:
            row = literal(node)
            actions = [{"name": str(one["name"]), "kwargs": dict(one["kwargs"])} for one in row["actions"]]
            told = {"user_id": str(row["user_id"]), "instruction": str(row["instruction"])}
            rows.append({**told, "actions": actions, "outputs": [str(one) for one in row["outputs"]]})
        except ODD as error:
            raise clone.trouble(
                path, f"task {number} (line {node.lineno}): cannot be read: {trouble_words(error)}"
            ) from None
    return rows


def _source(domain: str, tools: list[UpstreamTool]) -> str:
    places = {tool.name: (tool.module, tool.kind) for tool in tools}
    head = HEAD.format(domain=domain, tables=TABLES[domain], places=places)
    return head + "".join(TOOL.format(name=one.name, how="_write" if one.tool.writes else "_read") for one in tools)


@dataclass(frozen=True)
class UserReader:
    """The words of upstream's simulated user, as its code composes them."""

    clone: Clone
    prompt: ast.FunctionDef
    greeting: str

    @classmethod
    def of(cls, clone: Clone) -> Self:
        """Read them. Raises RequestError."""
        tree = clone.tree(USER)
        prompt, reset = method(tree, STRATEGY, "build_system_prompt"), method(tree, STRATEGY, "reset")
        greetings = texts_of(reset, "user") if reset is not None else []
        if prompt is None or not greetings:
            raise clone.trouble(USER, f"has no prompt and greeting in {STRATEGY}")
        return cls(clone, prompt, greetings[0])

    def user(self, instruction: str) -> UpstreamUser:
        """The user of a task."""
        names = {"instruction": instruction}
        with self.clone.reading(USER, "build_system_prompt"):
            for node in self.prompt.body:
                if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                    names[node.targets[0].id] = composed(node.value, names)
                if isinstance(node, ast.Return) and node.value is not None:
                    told = composed(node.value, names)
                    return UpstreamUser(instructions=told, greeting=self.greeting, stop=STOP)
        raise self.clone.trouble(USER, "build_system_prompt returns nothing")


def _scenario(
    number: int, row: dict[str, Any], domain: str, split: str, places: dict[str, Any], speaking: UserReader
) -> Scenario:
    instruction: str = row["instruction"]
    return Scenario(
        id=f"task_{number}",
        title=instruction if len(instruction) <= LONGEST_TITLE else f"{instruction[:LONGEST_TITLE]}…",
        task=instruction,
        user=speaking.user(instruction),
        tags=("tau-bench", domain, split),
        checkpoints=(
            OfficialCheckpoint(
                id="official",
                role="goal",
                question=QUESTION.format(checker="calculate_reward"),
                kind="official",
                checker="tau_bench",
                truth={**row, **places},
            ),
        ),
        solution=Solution(
            calls=tuple(PlannedCall(tool=one["name"], arguments=one["kwargs"]) for one in row["actions"]),
            answer="\n".join(row["outputs"]),
        ),
    )
