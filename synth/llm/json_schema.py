"""The wish for an answer that keeps to a schema, as endpoints know it.

With `strict`, OpenAI promises it, for schemas of a certain form: no key optional, none unknown, few keywords. Other
schemas go without; vLLM holds an answer to any of them.
"""

from typing import Any, cast

TAKEN_STRICTLY = {
    "$defs", "$ref", "additionalProperties", "anyOf", "const", "description", "enum", "items", "properties", "required",
    "title", "type",
}  # fmt: skip


def response_format(schema: dict[str, Any]) -> dict[str, Any]:
    """The `response_format` of a request."""
    return {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": schema, "strict": is_strict(schema)},
    }


def is_strict(schema: Any) -> bool:
    """Whether a schema has the form that is taken strictly."""
    if not isinstance(schema, dict):
        return isinstance(schema, bool)
    one = cast("dict[str, Any]", schema)
    if not one.keys() <= TAKEN_STRICTLY:
        return False
    properties: dict[str, Any] = one.get("properties", {})
    if one.get("type") == "object" or properties:
        every_key = set(one.get("required", ())) == properties.keys()
        if one.get("additionalProperties") is not False or not every_key:
            return False
    below = [*properties.values(), *one.get("$defs", {}).values(), *one.get("anyOf", ())]
    return all(map(is_strict, [*below, *([one["items"]] if "items" in one else [])]))
