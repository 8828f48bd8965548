"""A tool of an environment as a Python function: TRL shows a model its signature and docstring.

That is less than a JSON Schema says. A model learns of an object's properties and of bounds only through descriptions.
"""

import inspect
import keyword
from collections.abc import Callable, Mapping
from typing import Any, Literal

from agent_client.trace import ToolSpec
from servers.errors import RequestError

TAKEN = ("reset", "get_reward")
"""Names that TRL uses itself. Every other function of an environment is a tool to it."""
TYPES: dict[str, Any] = {"string": str, "integer": int, "number": float, "boolean": bool, "object": dict, "null": None}
ToolMethod = Callable[..., str]


def as_function(tool: ToolSpec, call: Callable[[Any, dict[str, Any]], str]) -> ToolMethod:
    """A method of an environment with the name, the arguments and the description of a tool.

    Raises:
        RequestError: a name is not valid in Python.
    """
    arguments: Mapping[str, dict[str, Any]] = tool.arguments.get("properties", {})
    for name in (tool.name, *arguments):
        if not name.isidentifier() or keyword.iskeyword(name) or name in TAKEN or name.startswith("_"):
            raise RequestError(f"tool {tool.name}: {name!r} cannot be a name in Python, so TRL cannot have this tool")
    required = set(tool.arguments.get("required", ()))
    hints = {
        name: type_of(schema) if name in required else type_of(schema) | None for name, schema in arguments.items()
    }

    def function(self: Any, **given: Any) -> str:
        return call(self, given)

    function.__name__ = function.__qualname__ = tool.name
    function.__doc__ = _told(tool, arguments)
    function.__annotations__ = {**hints, "return": str}
    vars(function)["__signature__"] = inspect.Signature(
        [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
        + [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                annotation=hint,
                default=inspect.Parameter.empty if name in required else None,
            )
            for name, hint in hints.items()
        ]
    )
    return function


def type_of(schema: Mapping[str, Any]) -> Any:
    """The Python type from which TRL derives nearly the same schema."""
    if "enum" in schema:
        return Literal[tuple(schema["enum"])]
    kind = schema.get("type")
    if isinstance(kind, list):
        return _either([type_of({**schema, "type": one}) for one in kind])  # pyright: ignore[reportUnknownVariableType]
    if "anyOf" in schema:
        return _either([type_of(one) for one in schema["anyOf"]])
    if kind == "array":
        return list[type_of(schema.get("items", {}))]
    return TYPES.get(str(kind), Any)


def _either(types: list[Any]) -> Any:
    either = types[0]
    for one in types[1:]:
        either = either | one
    return either


def _told(tool: ToolSpec, arguments: Mapping[str, dict[str, Any]]) -> str:
    """The description as a docstring in the form that TRL parses."""
    lines = [f"    {name}: {_line(schema.get('description') or name)}" for name, schema in arguments.items()]
    return "\n".join([_line(tool.description or tool.name), "", *(["Args:", *lines] if lines else [])])


def _line(text: str) -> str:
    return " ".join(text.split())
