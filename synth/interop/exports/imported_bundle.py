"""A bundle that came from EnvScaler's files as those files again: the class and the check functions as they were.

What rows hold beyond JSON is left out, since their loader reads plain JSON. The class then makes it anew.
"""

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

from servers.bundle.environment import Environment
from servers.errors import BundleError
from servers.gate.parser import parsed
from servers.guest.sqlite.sql_text import quoted
from servers.imported.marks import MARK
from servers.sandbox.guest_pool import Guests
from servers.scenario.checkpoints.python import IMPORTED_CHECK, PythonCheckpoint
from servers.scenario.scenario import Scenario
from servers.state.readonly_query import Reader
from synth.interop.exports.export_entries import ExportedBundle, rules_of, start_image, tool_entry
from synth.interop.imports.source import HASHING, MODULES
from synth.interop.imports.source_writer import CHECK, RUNTIME

RUNTIME_HEAD = RUNTIME[: RUNTIME.index("\n\nfrom typing")]
NAMES = "|".join(sorted(MODULES))
OURS = "|".join(sorted({re.escape(one) for one in MODULES.values()}))
TURNED = (
    (re.compile(rf"\bfrom (?:{OURS}) import ({NAMES})\b"), r"import \1"),
    (re.compile(rf"\bfrom (?:{OURS})\.({NAMES}) import\b"), r"from \1 import"),
    (re.compile(rf'__import__\("(?:{OURS})\.({NAMES})", fromlist=\["\*"\]\)'), r'__import__("\1")'),
    (re.compile(rf"^from {re.escape(HASHING)} import hash\n", re.MULTILINE), ""),
)
"""How an import replaced a module by ours, and the way back."""


def is_imported(environment: Environment) -> bool:
    """True if a bundle came from EnvScaler's files."""
    imported = environment.description.imported
    return imported is not None and imported.code == "methods" and RUNTIME_HEAD in environment.source


async def export_imported(environment: Environment, scenarios: list[Scenario], guests: Guests) -> ExportedBundle:
    """Both files of an imported bundle.

    Raises:
        BundleError: schema, seed or a setup does not run.
    """
    exported = ExportedBundle()
    head, runtime = environment.source.split(RUNTIME_HEAD)
    code, name = _theirs(head), _class_name(runtime)
    methods = dict(_methods(runtime))
    functions = {
        node.name: ast.unparse(node)
        for one in parsed(head).body
        if isinstance(one, ast.ClassDef)
        for node in one.body
        if isinstance(node, ast.FunctionDef)
    }
    exported.environments[environment.id] = {
        "env_id": environment.id,
        "environment_summary": environment.description.title,
        "environment_introduction": environment.description.description,
        "state_space_definition": [],
        "constraints_rules": rules_of(environment.policy),
        "operation_list": [
            {
                "operation_name": methods[tool.name],
                "operation_description": tool.description,
                "operation_type": "state_change" if tool.writes else "query",
                "code": _theirs(functions.get(methods[tool.name], "")),
            }
            for tool in environment.tools.values()
        ],
        "env_class_name": name,
        "env_class_code": code,
        "env_class_def": code[: code.index(f"class {name}")],
        "tools": [tool_entry(methods[tool.name], tool) for tool in environment.tools.values()],
    }
    for scenario in scenarios:
        clock = scenario.clock or environment.description.clock
        image = await start_image(environment, scenario.setup, clock, guests)
        config = dict(_attributes(image, scenario.id, exported.lost))
        checks = list(_checks(scenario, exported.lost))
        if not checks:
            exported.lost.append(f"{scenario.id}: has no check function of theirs; it is left out")
            continue
        exported.add(environment, name, scenario, config, checks)
    return exported


def _theirs(text: str) -> str:
    """A text with its own imports again."""
    for found, put in TURNED:
        text = found.sub(put, text)
    return text.rstrip() + "\n"


def _class_name(runtime: str) -> str:
    found = re.search(r"^_OBJECT = _Imported\((\w+), ", runtime, re.MULTILINE)
    if found is None:
        raise BundleError("tools.py: it does not say which class was imported; it was changed by hand")
    return found[1]


def _methods(runtime: str) -> Iterator[tuple[str, str]]:
    """The method behind each tool."""
    for node in parsed(runtime).body:
        for call in ast.walk(node):
            if (
                isinstance(node, ast.FunctionDef)
                and isinstance(call, ast.Call)
                and isinstance(call.func, ast.Name)
                and call.func.id in ("_read", "_write")
                and isinstance(call.args[1], ast.Constant)
            ):
                yield node.name, str(call.args[1].value)


def _attributes(image: bytes, scenario: str, lost: list[str]) -> Iterator[tuple[str, Any]]:
    """The attributes of a start that are JSON."""
    reader = Reader(image, image)
    try:
        listed = reader.connection.execute("SELECT attribute, name FROM containers").fetchall()
        tables = {str(attribute): str(table) for attribute, table in listed}
        found = reader.connection.execute("SELECT name, kept, value FROM attributes ORDER BY place").fetchall()
        for name, kept, text in found:
            rows: list[Any] = []
            if kept != "value":
                sql = f"SELECT key, value FROM {quoted(tables[str(name)])} ORDER BY place, key"
                rows = reader.connection.execute(sql).fetchall()
            texts = [str(text), *(str(part) for row in rows for part in row)]
            if any(f'"{MARK}"' in one for one in texts):
                lost.append(f"{scenario}: {name} holds more than JSON; the class makes it from the rest")
            elif kept == "value":
                yield str(name), json.loads(str(text))
            elif kept == "list":
                yield str(name), [json.loads(str(value)) for _, value in rows]
            else:
                yield str(name), {str(key): json.loads(str(value)) for key, value in rows}
    finally:
        reader.close()


def _checks(scenario: Scenario, lost: list[str]) -> Iterator[dict[str, str]]:
    """The check functions of the goals. What a cleaned set has beside them, their files cannot say."""
    for checkpoint in scenario.checkpoints:
        is_theirs = isinstance(checkpoint, PythonCheckpoint) and IMPORTED_CHECK in checkpoint.python
        if isinstance(checkpoint, PythonCheckpoint) and is_theirs and checkpoint.role == "goal":
            yield {"check_item": checkpoint.question, "check_func": _theirs(checkpoint.python.removesuffix(CHECK))}
        else:
            lost.append(f"{scenario.id}: {checkpoint.id} ({checkpoint.role}): no check function of theirs says it")
