"""The arguments of an environment's tools and where their values come from, worked out once from its first rows."""

from typing import Any, NamedTuple, cast

from servers.environment import Tool
from synth.proving.sources import Source, source_of
from synth.proving.view import Shape, View


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
        self._of = {
            tool.name: tuple(
                Argument(name, schema, source_of(tool, name, schema, shape, view, names))
                for name, schema in _properties(tool).items()
            )
            for tool in tools.values()
        }

    def of(self, tool: Tool) -> tuple[Argument, ...]:
        """Those of one tool, in its order."""
        return self._of[tool.name]


def required(tool: Tool) -> set[str]:
    """The arguments that a tool cannot do without."""
    return set(cast("list[str]", tool.arguments.get("required", [])))


def _properties(tool: Tool) -> dict[str, dict[str, Any]]:
    return cast("dict[str, dict[str, Any]]", tool.arguments.get("properties", {}))
