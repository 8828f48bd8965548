"""The signatures and docstrings of a tools.py, from a guest; functions as text; a digest of each tool's code."""

import ast
from collections.abc import Iterable
from typing import Any

from servers.bundle.tool_schema import schema_problems
from servers.errors import GuestDied, GuestLate
from servers.gate.parser import parsed
from servers.gate.static_gate import tool_problems
from servers.sandbox.guest_pool import START_SECONDS, Guests
from synth.llm.writer import digest_of
from synth.prove.refusal_places import functions_of


async def described(source: str, guests: Guests) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """The tools of a module by name, and the module's faults."""
    try:
        head, _ = await guests.job({"do": "describe"}, source.encode(), seconds=START_SECONDS)
    except GuestLate:
        return {}, [f"takes more than {START_SECONDS:g} s to load"]
    except GuestDied:
        return {}, ["the process ended while it was loaded"]
    wrong = [str(finding).removeprefix("tools.py: ") for finding in head["findings"]]
    for tool in head["tools"]:
        for field in ("arguments", "result"):
            wrong += [f"{tool['name']}: {field}{problem}" for problem in schema_problems(tool[field])]
    return {tool["name"]: tool for tool in head["tools"]}, wrong


def gate_findings(source: str) -> list[str]:
    """The static gate's findings about a module, each with its line."""
    lines = source.splitlines()
    found: list[str] = []
    for problem in tool_problems(source):
        place, _, reason = problem.partition(": ")
        number = int(place.removeprefix("line "))
        line = lines[number - 1].strip() if 0 < number <= len(lines) else ""
        found.append(f"at `{line[:90]}`: {reason}")
    return found


def tree_of(source: str) -> tuple[ast.Module | None, str]:
    """The syntax tree of a module, or why it is not Python."""
    try:
        return parsed(source), ""
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        number = error.lineno if isinstance(error, SyntaxError) and error.lineno else 0
        line = source.splitlines()[number - 1].strip() if 0 < number <= len(source.splitlines()) else ""
        return None, f"not Python: {error}" + (f", at `{line[:90]}`" if line else "")


def text_of(source: str, node: ast.stmt) -> str:
    """A statement's source, with the comments above it."""
    lines = source.splitlines()
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(one.lineno for one in decorators)]) - 1
    while first > 0 and lines[first - 1].startswith("#"):
        first -= 1
    return "\n".join(lines[first : node.end_lineno])


def digests_of(source: str, tools: Iterable[str]) -> dict[str, str]:
    """A digest for each tool: its function, those that it reaches, and the constants and classes that these use."""
    lines = source.splitlines()
    functions = functions_of(source)
    named = {name: node for node in parsed(source).body for name in _names(node)}
    found: dict[str, str] = {}
    for tool in tools:
        text = "\n".join(lines[number - 1] for number in sorted(functions[tool].reach))
        used = {one.id for one in ast.walk(parsed(text)) if isinstance(one, ast.Name)} & named.keys()
        found[tool] = digest_of([text, *(ast.unparse(named[name]) for name in sorted(used))])
    return found


def _names(node: ast.stmt) -> list[str]:
    """The names that a statement defines, except functions."""
    if isinstance(node, ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]
