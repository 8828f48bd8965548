"""EnvScaler's two files, read leniently: a dict or a list, JSON inside of texts, missing parts.

Nothing is trusted and nothing is run. An unreadable entry is left out, and the reason is recorded.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from servers.errors import BundleError, NotFound, RequestError
from servers.files.named_file import text_named
from servers.files.trouble import trouble
from servers.limits.json_size import strict_json
from servers.text.json_values import is_list, is_object
from servers.validation import first_problem

LARGEST_FILE = 512 * 1024 * 1024
DEEPEST = 100
"""Levels of JSON. What walks over it needs a part of the stack for each."""
PICKLED = ("py/object", "py/tuple", "py/set")


@dataclass(frozen=True)
class Check:
    """One item of a checklist, and the source of its check function."""

    item: str
    source: str


@dataclass(frozen=True)
class ForeignEnvironment:
    """One entry of the file of environments."""

    id: str
    title: str
    introduction: str
    rules: tuple[str, ...]
    class_name: str
    code: str
    tools: tuple[dict[str, Any], ...]
    kinds: Mapping[str, str]
    """The declared kind of each operation: `query` or `state_change`."""


@dataclass(frozen=True)
class ForeignScenario:
    """One entry of a file of scenarios. Without checks it is one for fine-tuning."""

    environment: str
    class_name: str
    id: str
    config: Any
    task: str
    checks: tuple[Check, ...]
    empty_checks: int


@dataclass
class Files:
    """The entries, and the reasons for those left out."""

    environments: dict[str, ForeignEnvironment] = field(default_factory=dict[str, ForeignEnvironment])
    scenarios: list[ForeignScenario] = field(default_factory=list[ForeignScenario])
    left_out: list[str] = field(default_factory=list[str])


class Unreadable(Exception):
    """An entry cannot be read. The message names the field."""


ODD = (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, SyntaxError, RecursionError, MemoryError)
"""What reading data raises that have another shape than their reader expects."""
LONGEST_TROUBLE = 300


def trouble_words(trouble: BaseException) -> str:
    """What such an error says, in a line: a field and a reason where a record refused a value."""
    if isinstance(trouble, ValidationError):
        return first_problem(trouble)[:LONGEST_TROUBLE]
    words = " ".join(f"{type(trouble).__name__}: {trouble}".split())
    return words if len(words) <= LONGEST_TROUBLE else f"{words[:LONGEST_TROUBLE]}…"


def read(environments: Path, scenarios: Path) -> Files:
    """Read both files.

    Raises:
        NotFound: one does not exist.
        RequestError: one cannot be read.
        BundleError: one is not JSON, or not a dict or list of entries.
    """
    files = Files()
    for place, name, entry in entries_in(environments):
        try:
            found = _environment(entry, name)
            if found.id in files.environments:
                raise Unreadable(f"env_id: {found.id!r} is used by an earlier entry too")
        except Unreadable as problem:
            files.left_out.append(f"{place}: {problem}")
        else:
            files.environments[found.id] = found
    for place, _, entry in entries_in(scenarios):
        try:
            scenario = _scenario(entry)
            if scenario.environment not in files.environments:
                raise Unreadable(f"env_id: there is no environment {scenario.environment!r}")
        except Unreadable as problem:
            files.left_out.append(f"{place}: {problem}")
        else:
            files.scenarios.append(scenario)
    return files


def entries_in(path: Path) -> Iterator[tuple[str, str | None, Any]]:
    """Each entry with its position and name."""
    try:
        whole: Any = strict_json(text_named(path, largest=LARGEST_FILE), deepest=DEEPEST)
    except FileNotFoundError:
        raise NotFound(f"{path}: there is no such file") from None
    except OSError as error:
        raise RequestError(f"{path}: cannot be read: {trouble(error)}") from None
    except ValueError as error:
        raise BundleError(f"{path}: cannot be read: {trouble(error)}") from None
    if is_object(whole):
        if any(mark in whole for mark in PICKLED):
            raise BundleError(f"{path}: was written by jsonpickle, whose objects are not read; write plain JSON")
        for name, entry in whole.items():
            yield f"{path}: {name}", name, entry
    elif is_list(whole):
        for number, entry in enumerate(whole):
            yield f"{path}: entry {number}", None, entry
    else:
        raise BundleError(f"{path}: the whole: is neither a list nor an object of entries")


def _environment(entry: Any, name: str | None) -> ForeignEnvironment:
    fields = fields_of(entry)
    code = text_in(fields, "env_class_code")
    summary = fields.get("environment_summary") or name or "an environment"
    operations = list_of(fields, "operation_list")
    return ForeignEnvironment(
        id=str(fields.get("env_id") or name or ""),
        title=str(summary),
        introduction=str(fields.get("environment_introduction") or summary),
        rules=tuple(str(rule) for rule in list_of(fields, "constraints_rules")),
        class_name=str(fields.get("env_class_name") or ""),
        code=code,
        tools=tuple(objects(list_of(fields, "tools"))),
        kinds={str(one.get("operation_name")): str(one.get("operation_type")) for one in objects(operations)},
    )


def _scenario(entry: Any) -> ForeignScenario:
    fields = fields_of(entry)
    checks = [_check(one) for one in list_of(fields, "checklist_with_func")]
    return ForeignScenario(
        environment=text_in(fields, "env_id"),
        class_name=str(fields.get("env_class_name") or ""),
        id=str(fields.get("task_id") or ""),
        config=_config(fields),
        task=text_in(fields, "task"),
        checks=tuple(check for check in checks if check.source.strip()),
        empty_checks=sum(not check.source.strip() for check in checks),
    )


def _check(told: Any) -> Check:
    if not is_object(told):
        raise Unreadable("checklist_with_func: an item is not an object")
    return Check(str(told.get("check_item") or "(no words)"), str(told.get("check_func") or ""))


def _config(fields: dict[str, Any]) -> dict[str, Any]:
    config = _decoded(fields.get("init_config"), "init_config")
    if not is_object(config):
        raise Unreadable("init_config: is not an object")
    return config


def fields_of(entry: Any) -> dict[str, Any]:
    decoded = _decoded(entry, "the whole")
    if not is_object(decoded):
        raise Unreadable("the whole: is not an object")
    return decoded


def text_in(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not value.strip():
        raise Unreadable(f"{name}: is missing or empty")
    return value


def list_of(fields: dict[str, Any], name: str) -> list[Any]:
    value = _decoded(fields.get(name) or [], name)
    if not is_list(value):
        raise Unreadable(f"{name}: is not a list")
    return value


def objects(values: list[Any]) -> list[dict[str, Any]]:
    """The objects among some values."""
    return [value for value in values if is_object(value)]


def _decoded(value: Any, name: str) -> Any:
    """A field, parsed if it is JSON in a text."""
    if not isinstance(value, str):
        return value
    try:
        return strict_json(value, deepest=DEEPEST)
    except ValueError as error:
        raise Unreadable(f"{name}: is text that is not JSON: {error}") from None
