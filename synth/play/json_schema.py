"""JSON Schema for sampling: resolves references and alternatives at random, and samples values of any type."""

from random import Random
from typing import Any, cast

from servers.text.json_values import JsonSchema, as_object, is_list, is_object
from synth.play import values

DEEPEST = 5
"""The most nested references and alternatives."""


class Schemas:
    """Makes random choices in schemas, from one source of randomness."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def plain(self, root: JsonSchema, schema: JsonSchema, *, likely: bool = False) -> JsonSchema:
        """A schema without references and alternatives: one of them is chosen, null more rarely."""
        for _ in range(DEEPEST):
            reference = schema.get("$ref")
            branches = schema.get("anyOf") or schema.get("oneOf")
            if isinstance(reference, str):
                schema = {**schema, **_found(root, reference)}
                schema.pop("$ref")
            elif branches:
                real = [one for one in branches if one.get("type") != "null"] or branches
                null = len(real) < len(branches) and not likely and self._random.random() < 0.2
                outer = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")}
                chosen = {"type": "null"} if null else real[0] if likely else self._random.choice(real)
                schema = {**outer, **chosen}
            else:
                return schema
        return schema

    def kind(self, schema: JsonSchema) -> str:
        """Its type; of several one is chosen, null more rarely."""
        told = schema.get("type", "object" if "properties" in schema else "string")
        if is_list(told):
            kinds = cast("list[str]", told)
            real = [one for one in kinds if one != "null"]
            if "null" in kinds and (not real or self._random.random() < 0.15):
                return "null"
            return self._random.choice(real)
        return str(told)

    def strange(self, schema: JsonSchema) -> Any:
        """Anything that a schema permits."""
        branches = schema.get("anyOf") or schema.get("oneOf")
        if branches:
            return self.strange(self._random.choice(branches))
        if "const" in schema or "enum" in schema:
            return schema["const"] if "const" in schema else self._random.choice(schema["enum"])
        kind = self.kind(schema)
        if kind == "object":
            required = set(schema.get("required", ()))
            names = [one for one in properties_of(schema) if one in required or self._random.random() < 0.5]
            return {name: self.strange(properties_of(schema)[name]) for name in names}
        if kind == "array":
            return [self.strange(schema.get("items") or {}) for _ in range(self._random.choice((0, 1, 2, 5)))]
        return self._strange_single(schema, kind)

    def _strange_single(self, schema: JsonSchema, kind: str) -> Any:
        if kind in ("integer", "number"):
            number = self._random.choice(values.NUMBERS if kind == "integer" else (*values.NUMBERS, *values.FLOATS))
            return values.within(number, schema, whole=kind == "integer")
        if kind == "boolean":
            return self._random.random() < 0.5
        return None if kind == "null" else values.fitted(self._random.choice(values.STRANGE), schema)


def properties_of(schema: JsonSchema) -> dict[str, JsonSchema]:
    """The schemas of an object's properties."""
    found = schema.get("properties")
    return cast("dict[str, JsonSchema]", found) if is_object(found) else {}


def _found(root: JsonSchema, reference: str) -> JsonSchema:
    """What a reference within a schema refers to."""
    found: Any = root
    for part in reference.removeprefix("#/").split("/"):
        found = found.get(part, {}) if is_object(found) else {}
    return as_object(found)
