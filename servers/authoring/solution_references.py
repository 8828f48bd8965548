"""References of a solution that lead nowhere, by the result schemas of the tools.

A reference is `${2.loans[0].loan_id}`: a value of the result of call 2. `agent_client.references` resolves it in a run.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from servers.bundle.description import Tool
from servers.scenario.scenario import Scenario
from servers.text.json_leaves import leaves
from servers.text.json_values import JsonSchema, as_object

REFERENCE = re.compile(r"\$\{(\d+)([^}]*)\}")
STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
TYPES = {"properties": "object", "items": "array"}


def reference_findings(scenario: Scenario, known: Mapping[str, Tool]) -> Iterator[str]:
    """The faults of the references in a scenario's solution, each with its place."""
    if scenario.solution is None:
        return
    calls = scenario.solution.calls
    tools = [known.get(call.tool) for call in calls]
    for number, call in enumerate(calls, start=1):
        for place, text in leaves(call.arguments, f"solution.calls.{number}"):
            if isinstance(text, str):
                yield from (f"{place}: {why}" for why in _findings(text, tools[: number - 1]))
    yield from (f"solution.answer: {why}" for why in _findings(scenario.solution.answer, tools))


def _findings(text: str, earlier: list[Tool | None]) -> Iterator[str]:
    """The faults of the references in a text that follows these calls."""
    for found in REFERENCE.finditer(text):
        number, path = int(found[1]), found[2]
        if not 1 <= number <= len(earlier):
            before = f"the calls before are 1 to {len(earlier)}" if earlier else "there is no call before"
            yield f"{found[0]}: there is no call {number} before this; {before}"
            continue
        tool = earlier[number - 1]
        steps = list(STEP.finditer(path))
        if "".join(step[0] for step in steps) != path:
            yield f"{found[0]}: a path is made of .name and [number], not {path!r}"
        elif tool is not None:
            why = dead_end(tool.result, steps)
            if why:
                yield f"{found[0]}: call {number} is {tool.name}, {why}"


def dead_end(schema: JsonSchema, steps: list[re.Match[str]]) -> str | None:
    """The step at which a path leaves what a schema allows. None if it may lead somewhere."""
    schemas, walked = [schema], ""
    for step in steps:
        below = [found for schema in _branches(schemas) for found in _below(schema, step)]
        if not below:
            names = sorted({name for schema in _branches(schemas) for name in schema.get("properties", {})})
            there = f"which has: {', '.join(names)}" if names else "which has nothing below it"
            return f"whose result has no {step[0]} at {walked or 'its top'}, {there}"
        schemas, walked = below, walked + step[0]
    return None


def _branches(schemas: list[JsonSchema]) -> Iterator[JsonSchema]:
    """Schemas, and the schemas that they combine."""
    for schema in schemas:
        yield schema
        for keyword in ("anyOf", "oneOf", "allOf"):
            yield from _branches(schema.get(keyword, []))


def _below(schema: JsonSchema, step: re.Match[str]) -> Iterator[JsonSchema]:
    """The schemas one step below. `{}` if anything is allowed there."""
    combined = any(keyword in schema for keyword in ("anyOf", "oneOf", "allOf"))
    kind = "object" if step[1] is not None else "array"
    given = schema.get("type")
    if given is None and (combined or (not TYPES.keys() & schema.keys() and {"enum", "const"} & schema.keys())):
        return
    if given is not None and kind not in ([given] if isinstance(given, str) else given):
        return
    if kind == "array":
        if int(step[2]) < schema.get("maxItems", int(step[2]) + 1):
            yield _schema(schema.get("items", {}))
    elif step[1] in schema.get("properties", {}):
        yield _schema(schema["properties"][step[1]])
    elif schema.get("additionalProperties", True) is not False:
        yield _schema(schema.get("additionalProperties", {}))


def _schema(found: Any) -> JsonSchema:
    return as_object(found)
