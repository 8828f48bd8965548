"""The arguments of an environment's tools and where their values come from, worked out once from its first rows."""

from collections import Counter
from dataclasses import replace
from typing import Any, NamedTuple, cast

from servers.environment import Tool
from synth.proving.sources import Source, source_of
from synth.proving.view import Column, Shape, View


class Argument(NamedTuple):
    """One argument of a tool."""

    name: str
    schema: dict[str, Any]
    source: Source


class Arguments:
    """All arguments of all tools."""

    def __init__(self, tools: dict[str, Tool], shape: Shape, view: View) -> None:
        self.tools = tools
        names = set(tools)
        found = {
            tool.name: [
                Argument(name, schema, source_of(tool, name, schema, shape, view, names))
                for name, schema in _properties(tool).items()
            ]
            for tool in tools.values()
        }
        shown = _shown([argument for arguments in found.values() for argument in arguments])
        self._of = {tool: tuple(_led(argument, shown) for argument in arguments) for tool, arguments in found.items()}

    def of(self, tool: Tool) -> tuple[Argument, ...]:
        """Those of one tool, in its order."""
        return self._of[tool.name]


def _shown(arguments: list[Argument]) -> dict[str, Column]:
    """Of each query, the key that arguments take from it wherever their names tell which."""
    found: dict[str, Counter[Column]] = {}
    for argument in arguments:
        source = argument.source
        if source.kind == "id" and len(source.tools) == 1:
            found.setdefault(source.tools[0], Counter())[source.columns[0]] += 1
    return {tool: counts.most_common(1)[0][0] for tool, counts in found.items()}


def _led(argument: Argument, shown: dict[str, Column]) -> Argument:
    """An argument that is said to be shown by a query names a row, though its own name does not tell of what."""
    source = argument.source
    if source.kind not in ("text", "date") or len(source.tools) != 1 or source.tools[0] not in shown:
        return argument
    if "enum" in str(argument.schema) or "string" not in str(argument.schema):
        return argument
    return argument._replace(source=replace(source, kind="id", columns=(shown[source.tools[0]],)))


def required(tool: Tool) -> set[str]:
    """The arguments that a tool cannot do without."""
    return set(cast("list[str]", tool.arguments.get("required", [])))


def _properties(tool: Tool) -> dict[str, dict[str, Any]]:
    return cast("dict[str, dict[str, Any]]", tool.arguments.get("properties", {}))
