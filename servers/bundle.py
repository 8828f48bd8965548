"""A bundle on disk, read and checked as far as text can be checked without running anything.

What needs a guest (the schema runs, the tools are there, the seeds fit) is shown by `servers.check`.
"""

import ast
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeGuard

import jsonschema_rs
from pydantic import BaseModel, ValidationError

from servers.arguments import ArgumentCheck
from servers.environment import Description, Tool
from servers.errors import BundleError
from servers.parsing import parsed
from servers.scenario import Scenario

SERVED_FILES = ("environment.json", "policy.md", "schema.sql", "seed.sql", "tools.py")
LARGEST_FILE = 16 * 1024 * 1024
NOT_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What the parser raises at text that is not Python, or that is nested deeper than it follows."""
DERIVE_HINT = "`farm derive BUNDLE --write` brings environment.json up to date"


@dataclass(frozen=True)
class Environment:
    """What a worker needs to serve an environment. Holds no scenario; `tools.py` is text."""

    folder: Path
    description: Description
    policy: str
    schema: str
    seed: str
    source: str
    digest: str

    @property
    def id(self) -> str:
        return self.description.id

    @cached_property
    def tools(self) -> dict[str, Tool]:
        return {tool.name: tool for tool in self.description.tools}

    @cached_property
    def validators(self) -> dict[str, jsonschema_rs.Validator]:
        """Per tool, the check of its arguments."""
        return {tool.name: validator(tool.arguments) for tool in self.description.tools}

    @cached_property
    def checks(self) -> dict[str, ArgumentCheck]:
        """Per tool, what its schema says of arguments."""
        return {name: ArgumentCheck(tool.arguments, self.validators[name]) for name, tool in self.tools.items()}

    @property
    def instructions(self) -> str:
        """What an agent reads first: what this is, and its rules."""
        return f"{self.description.description.strip()}\n\n{self.policy.strip()}\n"


def load(folder: Path) -> Environment:
    """Read the environment of a bundle, without its scenarios.

    Raises:
        BundleError: the first thing that is wrong, with file and field.
    """
    findings, environment = read_environment(folder)
    if environment is None or findings:
        raise BundleError(findings[0])
    return environment


def load_scenarios(environment: Environment) -> dict[str, Scenario]:
    """Read the scenarios of a bundle, by id. For the registry and the judge alone.

    Raises:
        BundleError: the first thing that is wrong, with file, line and field.
    """
    findings, scenarios = read_scenarios(environment.folder, environment)
    if findings:
        raise BundleError(findings[0])
    return {scenario.id: scenario for scenario in scenarios}


def read_environment(folder: Path) -> tuple[list[str], Environment | None]:
    """The environment, or None, and everything that is wrong with its files."""
    findings: list[str] = []
    texts: dict[str, str] = {}
    for name in SERVED_FILES:
        try:
            texts[name] = _text(folder / name)
        except BundleError as error:
            findings.append(str(error))
    description: Description | None = None
    if "environment.json" in texts:
        path = folder / "environment.json"
        try:
            description = Description.model_validate_json(texts["environment.json"])
        except ValidationError as error:
            findings += _problems(path, error)
        else:
            if description.id != folder.resolve().name:
                findings.append(f"{path}: id: {description.id!r} is not the folder's name {folder.resolve().name!r}")
            findings += _schema_problems(path, description)
    if "tools.py" in texts:
        findings += _function_problems(folder, texts["tools.py"], description)
    if description is None or len(texts) < len(SERVED_FILES):
        return findings, None
    digest = hashlib.sha256()
    for name in SERVED_FILES:
        digest.update(f"{name} {len(texts[name])}\n".encode() + texts[name].encode())
    environment = Environment(
        folder=folder,
        description=description,
        policy=texts["policy.md"],
        schema=texts["schema.sql"],
        seed=texts["seed.sql"],
        source=texts["tools.py"],
        digest=digest.hexdigest(),
    )
    return findings, environment


def read_scenarios(folder: Path, environment: Environment | None) -> tuple[list[str], list[Scenario]]:
    """The scenarios that can be read, and everything that is wrong with the others."""
    path = folder / "scenarios.jsonl"
    try:
        text = _text(path)
    except BundleError as error:
        return [str(error)], []
    findings: list[str] = []
    scenarios: list[Scenario] = []
    seen: set[str] = set()
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            scenario = Scenario.model_validate_json(line)
        except ValidationError as error:
            findings += _problems(path, error, line=number)
            continue
        where = f"{path}: line {number}: scenario {scenario.id!r}"
        if scenario.id in seen:
            findings.append(f"{where}: id: used by an earlier line too")
        seen.add(scenario.id)
        if environment is not None:
            findings += [f"{where}: {problem}" for problem in reference_problems(scenario, environment)]
        scenarios.append(scenario)
    return findings, scenarios


def validator(schema: dict[str, Any]) -> jsonschema_rs.Validator:
    """The check of a JSON Schema, which may refer to nothing outside itself.

    Raises:
        jsonschema_rs.ValidationError: it is not a JSON Schema.
        jsonschema_rs.ReferencingError: it refers to something outside.
    """
    return jsonschema_rs.Draft202012Validator(schema, retriever=_nothing_outside)


def _nothing_outside(uri: str) -> Any:
    raise ValueError(f"{uri} is outside this schema")


def table_names(schema: str) -> set[str]:
    """The tables that a schema creates, by its text."""
    return {name.lower() for name in re.findall(r"(?im)^\s*create\s+table\s+(?:if\s+not\s+exists\s+)?\"?(\w+)", schema)}


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise BundleError(f"{path}: larger than {LARGEST_FILE // 1024 // 1024} MiB")
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BundleError(f"{path}: the file is missing") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BundleError(f"{path}: cannot be read: {error}") from None


def _problems(path: Path, error: ValidationError, line: int | None = None) -> list[str]:
    """A validation error as lines that name file and field."""
    prefix = f"{path}: line {line}" if line else f"{path}"
    found: list[str] = []
    for problem in error.errors(include_url=False):
        field = ".".join(str(part) for part in problem["loc"]) or "the whole"
        reason = problem["msg"].removeprefix("Value error, ")
        found.append(f"{prefix}: {field}: {reason}")
    return found


def _schema_problems(path: Path, description: Description) -> Iterator[str]:
    for tool in description.tools:
        for field, schema in (("arguments", tool.arguments), ("result", tool.result)):
            try:
                validator(schema)
            except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
                yield f"{path}: tools.{tool.name}.{field}: not a JSON Schema: {str(error).splitlines()[0]}"
        if tool.arguments.get("type") != "object":
            yield f"{path}: tools.{tool.name}.arguments: must be a schema of an object"


def _function_problems(folder: Path, source: str, description: Description | None) -> Iterator[str]:
    """Where `tools.py` and `environment.json` disagree. The source is parsed, never run."""
    path = folder / "tools.py"
    try:
        tree = parsed(source)
    except NOT_PYTHON as error:
        number = error.lineno if isinstance(error, SyntaxError) else None
        line = f"line {number}" if number else "the whole"
        yield f"{path}: {line}: not Python: {error or 'nested too deep'}"
        return
    yield from (f"{path}: {node.name}: tools are plain functions, not async" for node in tree.body if _is_async(node))
    if description is None:
        return
    functions = {
        node.name: node for node in tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    }
    declared = {tool.name: tool for tool in description.tools}
    for name in sorted(declared.keys() - functions.keys()):
        yield f"{folder / 'environment.json'}: tools.{name}: has no function in tools.py; {DERIVE_HINT}"
    for name in sorted(functions.keys() - declared.keys()):
        yield f"{path}: {name}: is not among the tools of environment.json; {DERIVE_HINT}"
    for name in sorted(declared.keys() & functions.keys()):
        yield from _argument_problems(folder, functions[name].args, declared[name])


def _is_async(node: ast.stmt) -> TypeGuard[ast.AsyncFunctionDef]:
    return isinstance(node, ast.AsyncFunctionDef)


def _argument_problems(folder: Path, arguments: ast.arguments, tool: Tool) -> Iterator[str]:
    path, name = folder / "tools.py", tool.name
    positional = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    if positional != ["db"] or arguments.vararg or arguments.kwarg:
        yield f"{path}: {name}: takes `db` first and its arguments by keyword: def {name}(db: Database, *, ...)"
    names = {argument.arg for argument in arguments.kwonlyargs}
    schema = tool.properties.keys()
    for argument in sorted(schema - names):
        place = folder / "environment.json"
        yield f"{place}: tools.{name}.arguments.{argument}: not an argument of the function; {DERIVE_HINT}"
    for argument in sorted(names - schema):
        yield f"{path}: {name}: argument {argument!r} is not in environment.json; {DERIVE_HINT}"


def reference_problems(scenario: Scenario, environment: Environment) -> Iterator[str]:
    """Tools and tables that a scenario names and its environment does not have."""
    yield from _call_problems(scenario, environment)
    tables = table_names(environment.schema)
    for checkpoint in scenario.checkpoints:
        if checkpoint.kind == "footprint":
            for allowance in checkpoint.allow:
                if allowance.table not in tables:
                    yield f"checkpoints.{checkpoint.id}: no table named {allowance.table!r}"
        elif checkpoint.kind == "python":
            try:
                parsed(checkpoint.python)
            except NOT_PYTHON as error:
                yield f"checkpoints.{checkpoint.id}: not Python: {error or 'nested too deep'}"


def _call_problems(scenario: Scenario, environment: Environment) -> Iterator[str]:
    for number, call in enumerate(scenario.solution.calls if scenario.solution else (), start=1):
        tool = environment.tools.get(call.tool)
        if tool is None:
            yield f"solution.calls.{number}: no tool named {call.tool!r}"
            continue
        unknown = sorted(call.arguments.keys() - tool.properties.keys())
        if unknown:
            yield f"solution.calls.{number}: {call.tool} has no argument {', '.join(map(repr, unknown))}"
        open_to_none = sorted(set(call.free) - call.arguments.keys())
        if open_to_none:
            yield f"solution.calls.{number}.free: this call gives no {', '.join(map(repr, open_to_none))}"


def as_json(value: BaseModel) -> str:
    """A record as the JSON that bundles hold: readable, stable, with a last newline."""
    return json.dumps(value.model_dump(mode="json", exclude_none=True), indent=2, ensure_ascii=False) + "\n"
