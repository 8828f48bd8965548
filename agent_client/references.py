"""References in a script: `${2.loans[0].loan_id}` is a value from the result of call 2 (calls count from 1)."""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from agent_client.errors import AgentError
from agent_client.json_values import is_list, is_object, with_texts
from agent_client.trace import ToolResult

REFERENCE = re.compile(r"\$\{(\d+)([^}]*)\}")
STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")


def resolve(value: Any, results: Sequence[ToolResult]) -> Any:
    """Replace references by their values, at any depth.

    A string that is a single reference takes the value's JSON type.

    Raises AgentError with call and path if a reference leads nowhere.
    """

    def found(text: str) -> Any:
        whole = REFERENCE.fullmatch(text)
        return resolve_text(text, results) if whole is None else _find(whole, results)

    return with_texts(value, found)


def resolve_text(text: str, results: Sequence[ToolResult]) -> str:
    """Replace references by their values, as text. Raises AgentError like `resolve`."""
    return REFERENCE.sub(lambda found: _as_text(_find(found, results)), text)


def renumbered(value: Any, number_of: Callable[[int], int]) -> Any:
    """The same value with references, at any depth, to calls that have other numbers now."""
    return with_texts(
        value, lambda text: REFERENCE.sub(lambda found: f"${{{number_of(int(found[1]))}{found[2]}}}", text)
    )


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _find(reference: re.Match[str], results: Sequence[ToolResult]) -> Any:
    number, path = int(reference[1]), reference[2]
    if not 1 <= number <= len(results):
        raise AgentError(f"{reference[0]}: there is no call {number} before this one; {len(results)} were made")
    result = results[number - 1]
    if result.structured is None:
        raise AgentError(f"{reference[0]}: call {number} gave no object but: {result.text[:200]}")
    value: Any = result.structured
    for step in _steps(reference[0], path):
        value = _follow(value, step, f"{reference[0]}: the result of call {number}")
    return value


def _steps(reference: str, path: str) -> list[str | int]:
    found = list(STEP.finditer(path))
    if "".join(step[0] for step in found) != path:
        raise AgentError(f"{reference}: a path is made of .name and [number], not {path!r}")
    return [step[1] if step[1] is not None else int(step[2]) for step in found]


def _follow(value: Any, step: str | int, where: str) -> Any:
    if isinstance(step, str) and is_object(value) and step in value:
        return value[step]
    if isinstance(step, int) and is_list(value) and step < len(value):
        return value[step]
    raise AgentError(f"{where} has no {step!r} here: {_as_text(value)[:200]}")
