"""The arguments of an environment's tools and the sources of their values, computed once from its first rows."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

from servers.bundle.description import Tool
from servers.text.json_leaves import leaves
from synth.play.row_view import SchemaShape, SqlColumn, View
from synth.play.value_sources import ValueSource, source_of
from synth.solutions.plausible_values import enum_of


class Argument(NamedTuple):
    """One argument of a tool."""

    name: str
    schema: dict[str, Any]
    source: ValueSource


class Arguments:
    """All arguments of all tools."""

    def __init__(
        self, tools: dict[str, Tool], shape: SchemaShape, view: View, seen: dict[str, SqlColumn] | None = None
    ) -> None:
        self.tools = tools
        self._seen = seen or {}
        self._of = {
            tool.name: tuple(
                _chosen(_seen(Argument(name, schema, source_of(tool, name, schema, shape, view, tools)), self._seen))
                for name, schema in tool.properties.items()
            )
            for tool in tools.values()
        }

    def names(self, key: SqlColumn) -> tuple[str, ...]:
        """The properties under which queries show a key."""
        return tuple(name for name, column in self._seen.items() if column == key)

    def of(self, tool: Tool) -> tuple[Argument, ...]:
        """The arguments of one tool, in order."""
        return self._of[tool.name]


def _seen(argument: Argument, seen: dict[str, SqlColumn]) -> Argument:
    """An argument with the name under which queries show keys is such a key."""
    source = argument.source
    if source.kind != "text" or argument.name not in seen:
        return argument
    return argument._replace(source=replace(source, kind="id", columns=(seen[argument.name],)))


def _chosen(argument: Argument) -> Argument:
    """An argument whose schema lists its values is a choice, even if a column has its name."""
    if argument.source.kind == "id" and any(isinstance(value, str) for value in enum_of(argument.schema)):
        return argument._replace(source=replace(argument.source, kind="text"))
    return argument


def keys_in(results: Iterable[Any], shape: SchemaShape, view: View) -> dict[str, SqlColumn]:
    """The properties of results whose values are always keys of one table."""
    tables: dict[Any, list[SqlColumn]] = {}
    for key in shape.keys.values():
        for value in view.values(key):
            tables.setdefault(value, []).append(key)
    values: dict[str, set[Any]] = {}
    for result in results:
        for path, value in leaves(result, ""):
            if isinstance(value, str):
                values.setdefault(path.rpartition(".")[2], set()).add(value)
    found: dict[str, SqlColumn] = {}
    for name, there in values.items():
        keys = [key for key in shape.keys.values() if all(key in tables.get(value, ()) for value in there)]
        if len(keys) == 1:
            found[name] = keys[0]
    return found
