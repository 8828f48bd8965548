"""What code runs when a tool is called, by its digest: so one sees which tools a change of the module touched."""

import ast
from collections.abc import Iterable

from servers.gate.parser import parsed
from synth.llm.writer import digest_of
from synth.prove.refusal_places import functions_of


def digests_of(source: str, tools: Iterable[str]) -> dict[str, str]:
    """Of each tool: its function, those that it reaches, and the constants and classes that these name."""
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
    """What a statement of a module defines, apart from functions."""
    if isinstance(node, ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]
