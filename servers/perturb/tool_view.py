"""The tools of an environment as a perturbation shows them, and the way back: what a call means for the environment."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import Any, NamedTuple

from servers.bundle.call_arguments import ArgumentChecks
from servers.bundle.description import Tool
from servers.errors import RequestError
from servers.perturb.other_words import (
    STYLES,
    Style,
    other_argument,
    other_name,
    reworded,
    shuffled,
    with_names,
)
from servers.perturb.perturbation import Perturbation
from servers.text.json_values import as_object

TRANSIENT = "the system did not answer; nothing was changed; the same call may be made again"
"""What an agent reads of a transient fault."""
NOT_OPEN = "{} is not open to you here; nothing was changed"
DATA = "data"
"""The field that holds the result if its shape is another."""
EXTRA_FIELDS: dict[str, dict[str, Any]] = {
    "api_version": {"type": "string"},
    "request_number": {"type": "integer"},
    "warnings": {"type": "array", "items": {"type": "string"}},
}


class OwnCall(NamedTuple):
    """A call as the environment knows it."""

    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class ToolView:
    """The tools that an agent sees. `own` are the environment's, by the names seen, `foreign` are those of others."""

    perturbation: Perturbation
    listed: tuple[Tool, ...]
    names: dict[str, str]
    """The names seen, by the environment's own."""
    arguments: dict[str, dict[str, str]]
    """For each tool, by its own name, the names seen of its arguments, by their own."""
    foreign: frozenset[str] = field(default_factory=frozenset[str])

    @cached_property
    def tools(self) -> dict[str, Tool]:
        """The tools by the names seen."""
        return {tool.name: tool for tool in self.listed}

    @cached_property
    def checks(self) -> ArgumentChecks:
        """The check of each tool's arguments, by the names seen."""
        return ArgumentChecks({tool.name: tool.arguments for tool in self.listed})

    @cached_property
    def _own_names(self) -> dict[str, str]:
        return {seen: own for own, seen in self.names.items()}

    def seen_call(self, tool: str, arguments: dict[str, Any]) -> OwnCall:
        """A call of the environment's own, as an agent makes it here."""
        names = self.arguments.get(tool, {})
        return OwnCall(self.names.get(tool, tool), {names.get(name, name): value for name, value in arguments.items()})

    def own_call(self, tool: str, arguments: dict[str, Any]) -> OwnCall:
        """A call that an agent made, as the environment knows it."""
        own = self._own_names.get(tool, tool)
        names = {seen: name for name, seen in self.arguments.get(own, {}).items()}
        return OwnCall(own, {names.get(name, name): value for name, value in arguments.items()})

    def own_text(self, tool: str, arguments: str) -> tuple[str, str]:
        """The same of a call in a history, whose arguments are JSON."""
        if tool not in self._own_names:
            return tool, arguments
        own = self.own_call(tool, as_object(json.loads(arguments)))
        return own.tool, json.dumps(own.arguments, ensure_ascii=False)

    def seen_path(self, path: str) -> str:
        """Where a value of a result stands: `.rooms[0].room_id` of the environment's own."""
        return f".{DATA}{path}" if self.perturbation.shape else path

    def seen_result(self, result: dict[str, Any], seq: int) -> dict[str, Any]:
        """A result as an agent gets it."""
        if self.perturbation.fields:
            extra: dict[str, Any] = {"api_version": "2", "request_number": seq, "warnings": []}
            result = {**extra, **result}
        return {"ok": True, DATA: result} if self.perturbation.shape else result

    def seen_text(self, text: str, tool: str = "") -> str:
        """A text of the environment with the names that are seen: a refusal of a tool, or instructions."""
        return with_names(text, {**self.arguments.get(tool, {}), **self.names})

    def fault(self, seed: int, seq: int) -> bool:
        """True if call `seq` fails although nothing is wrong with it. The next one does not."""
        return self._is_unlucky(seed, seq) and not self._is_unlucky(seed, seq - 1)

    def _is_unlucky(self, seed: int, seq: int) -> bool:
        rate = self.perturbation.faults
        return seq > 0 and rate > 0 and _random(self.perturbation, f"fault/{seed}/{seq}").random() < rate


def view_of(tools: Sequence[Tool], perturbation: Perturbation, foreign: Sequence[Tool] = ()) -> ToolView:
    """The view of some tools. `foreign` ones are listed among them under names that are free.

    Raises:
        RequestError: two tools would have one name, or a tool is renamed that does not exist.
    """
    names = _names(tools, perturbation)
    arguments = {tool.name: _arguments(tool, perturbation) for tool in tools}
    guests = _foreign(foreign, set(names.values()) | names.keys())
    seen = [_seen(tool, names, arguments[tool.name], perturbation) for tool in tools]
    every = {tool.name: tool for tool in [*seen, *guests]}
    order = shuffled(sorted(every), _random(perturbation, "order")) if perturbation.order else list(every)
    return ToolView(
        perturbation,
        tuple(every[name] for name in order),
        names,
        arguments,
        frozenset(tool.name for tool in guests),
    )


def _random(perturbation: Perturbation, what: str) -> Random:
    return Random(f"{perturbation.seed}/{what}")  # noqa: S311 - a choice that can be repeated, no secret


def _style(perturbation: Perturbation) -> Style:
    return STYLES[perturbation.seed % len(STYLES)]


def _names(tools: Sequence[Tool], perturbation: Perturbation) -> dict[str, str]:
    own = {tool.name for tool in tools}
    missing = sorted(perturbation.renamed.keys() - own)
    if missing:
        raise RequestError(f"perturb: there is no tool {missing[0]!r} to be renamed")
    names: dict[str, str] = dict(perturbation.renamed)
    for tool in tools:
        if tool.name not in names:
            taken = own | set(names.values())
            names[tool.name] = other_name(tool.name, _style(perturbation), taken) if perturbation.names else tool.name
    seen = Counter(names.values())
    twice = next((name for name, count in seen.items() if count > 1), None)
    if twice is not None:
        both = " and ".join(sorted(one for one, other in names.items() if other == twice))
        raise RequestError(f"perturb: {both} would both be named {twice!r}; give each tool a name of its own")
    return names


def _arguments(tool: Tool, perturbation: Perturbation) -> dict[str, str]:
    names: dict[str, str] = {}
    for name in tool.properties if perturbation.arguments else ():
        taken = (tool.properties.keys() - {name}) | set(names.values())
        names[name] = other_argument(name, _style(perturbation), taken)
    return {own: other for own, other in names.items() if own != other}


def _foreign(tools: Sequence[Tool], taken: set[str]) -> list[Tool]:
    found: dict[str, Tool] = {}
    for tool in tools:
        if tool.name not in taken:
            found.setdefault(tool.name, tool)
    return list(found.values())


def _seen(tool: Tool, names: dict[str, str], arguments: dict[str, str], perturbation: Perturbation) -> Tool:
    """One tool as it is seen."""
    results: Any = tool.result.get("properties", {})
    inner = {own: other for own, other in arguments.items() if f'"{own}"' not in json.dumps(results)}
    random = _random(perturbation, tool.name)
    say = _sayer(perturbation, random)
    properties = {
        arguments.get(name, name): _described(schema, lambda text: say(with_names(text, {**arguments, **names}), False))
        for name, schema in tool.properties.items()
    }
    if perturbation.order:
        properties = {name: properties[name] for name in shuffled(sorted(properties), random)}
    schema = {**tool.arguments, "properties": properties}
    if "required" in schema:
        schema["required"] = [arguments.get(name, name) for name in tool.properties if name in tool.required]
    return Tool(
        name=names[tool.name],
        description=say(with_names(tool.description, {**inner, **names}), True),
        arguments=schema,
        result=_result(tool.result, perturbation),
        writes=tool.writes,
    )


def _sayer(perturbation: Perturbation, random: Random) -> Callable[[str, bool], str]:
    """What words a description, of a tool (True) or of an argument."""
    if not perturbation.descriptions:
        return lambda text, _: text
    return lambda text, is_order: reworded(text, random, is_order=is_order)


def _described(schema: dict[str, Any], say: Callable[[str], str]) -> dict[str, Any]:
    text = schema.get("description")
    return {**schema, "description": say(text)} if isinstance(text, str) else schema


def _result(schema: dict[str, Any], perturbation: Perturbation) -> dict[str, Any]:
    """The schema of a result as it is seen."""
    if perturbation.fields and isinstance(schema.get("properties"), dict):
        schema = {**schema, "properties": {**EXTRA_FIELDS, **schema["properties"]}}
    if not perturbation.shape:
        return schema
    inner = {name: value for name, value in schema.items() if name != "$defs"}
    shaped: dict[str, Any] = {
        "type": "object",
        "properties": {"ok": {"type": "boolean"}, DATA: inner},
        "required": ["ok", DATA],
        "additionalProperties": False,
    }
    return {**shaped, "$defs": schema["$defs"]} if "$defs" in schema else shaped
