"""The subset of JSON Schema for a tool's arguments and results, and its validation.

A schema is a tree without references, so the time to check a value is bounded by the size of both. Regular expressions,
references and conditions are left out: their cost is not bounded by their size.
"""

from collections.abc import Iterator
from typing import Any

import jsonschema_rs

from servers.text.json_values import as_list, as_object, is_object

ANNOTATIONS = frozenset({"title", "description", "default", "examples", "format", "deprecated", "$schema"})
NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
COUNTS = frozenset({"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"})
DIALECT = "https://json-schema.org/draft/2020-12/schema"
CHOICES = ("anyOf", "oneOf", "allOf")
LISTS = ("enum", "required", "type")
KEYWORDS = frozenset(
    {"type", "enum", "const", "properties", "required", "additionalProperties", "items", *CHOICES}
    | ANNOTATIONS
    | NUMBERS
    | COUNTS
)
DEEPEST = 32
LONGEST_NAME = 128
"""Characters of the name of an argument or a field. It stands in every answer about one."""
MOST_CHECKS = 500
"""The most checks of one value by a schema: types, choices, properties and enum values, of all alternatives."""
MOST_CHECKS_A_CALL = 1_000_000
"""The most checks of all values in one call's arguments: 10 ns each."""
SCALARS = (str, int, float, bool, type(None))


def schema_problems(schema: dict[str, Any]) -> Iterator[str]:
    """The faults of a schema, each with its place: `.items.pattern: …`."""
    outside = list(_problems(schema, "", 0))
    yield from outside
    if outside:
        return
    checks = most_checks_of(schema)
    if checks > MOST_CHECKS:
        told = f"its alternatives together make {checks} checks of one value, more than {MOST_CHECKS}"
        yield f": {told}; describe it with fewer"
        return
    try:
        validator(schema)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
        yield f": not a JSON Schema: {str(error).splitlines()[0]}"


def _problems(schema: object, place: str, depth: int) -> Iterator[str]:
    """The parts of a schema outside the subset."""
    if isinstance(schema, bool):
        return
    if not is_object(schema):
        yield f"{place}: not a JSON Schema: neither an object nor true or false"
        return
    if depth > DEEPEST:
        yield f"{place}: nested deeper than {DEEPEST}"
        return
    yield from _own_problems(schema, place)
    checks = checks_of(schema)
    if checks > MOST_CHECKS:
        yield f"{place}: makes {checks} checks of one value, more than {MOST_CHECKS}; describe it with fewer"
        return
    names = [*as_object(schema.get("properties")), *map(str, as_list(schema.get("required")))]
    for name in filter(_is_long, names):
        yield f"{place}.properties: {name[:40]}…: a name has at most {LONGEST_NAME} characters"
        return
    for name, part in _parts(schema):
        yield from _problems(part, f"{place}.{name}", depth + 1)


def _own_problems(schema: dict[str, Any], place: str) -> Iterator[str]:
    """The faults of a schema's own keywords."""
    for keyword in sorted(schema.keys() - KEYWORDS):
        yield f"{place}: {keyword!r} is not among the keywords that may be used: {', '.join(sorted(KEYWORDS))}"
    for name, values in (("enum", as_list(schema.get("enum"))), ("const", [schema.get("const")])):
        if not all(isinstance(one, SCALARS) for one in values):
            yield f"{place}.{name}: holds more than texts, numbers, true, false and null"
    dialect = schema.get("$schema", DIALECT)
    if not isinstance(dialect, str) or dialect.rstrip("#") != DIALECT:
        yield f"{place}.$schema: is not {DIALECT}, which every schema is read by; leave it out"


def _is_long(name: str) -> bool:
    return len(name) > LONGEST_NAME


def checks_of(schema: object) -> int:
    """The most checks of one value by a schema, without those of its parts."""
    if not is_object(schema):
        return 1
    checks = 1 + len(as_object(schema.get("properties")))
    for name in LISTS:
        if name in schema:
            checks += len(as_list(schema[name]))
    for name in CHOICES:
        if name in schema:
            checks += sum(map(checks_of, as_list(schema[name])))
    return checks


def most_checks_of(schema: object) -> int:
    """A bound on the checks of one value by a schema, or of a value within it.

    A value within another is checked by each alternative that the other has.
    """
    return max(checks_of(schema), _checks_within(schema))


def _checks_within(schema: object) -> int:
    told = as_object(schema)
    own = [told[name] for name in ("items", "additionalProperties") if name in told]
    own += as_object(told.get("properties")).values()
    alternatives = [one for name in CHOICES if name in told for one in as_list(told[name])]
    return max(map(most_checks_of, own), default=0) + sum(map(_checks_within, alternatives))


def validator(schema: dict[str, Any]) -> jsonschema_rs.Validator:
    """The validator of a schema.

    Raises:
        jsonschema_rs.ValidationError: it is not a JSON Schema.
        jsonschema_rs.ReferencingError: it has an outside reference.
    """
    return jsonschema_rs.Draft202012Validator(schema, retriever=_nothing_outside)


def _nothing_outside(uri: str) -> Any:
    raise ValueError(f"{uri} is outside this schema")


def _parts(schema: dict[str, object]) -> Iterator[tuple[str, object]]:
    """The subschemas of a schema, with their places."""
    for name in ("items", "additionalProperties"):
        if name in schema:
            yield name, schema[name]
    for name, part in as_object(schema.get("properties")).items():
        yield f"properties.{name}", part
    for name in CHOICES:
        for number, part in enumerate(as_list(schema[name])) if name in schema else ():
            yield f"{name}.{number}", part
