"""Checks of a call's arguments: says whether they are right, and describes faults in words.

JSON has one kind of number, and many clients write 1.0 for an integer. The tool then gets 1.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import jsonschema_rs

from servers.bundle.tool_schema import CHOICES, most_checks_of, validator
from servers.bundle.whole_numbers import ValuePath, inexact, kinds_of, with_integers
from servers.limits.json_size import values_in
from servers.text.json_values import JsonSchema, as_object, is_list, is_object

MOST_EXPLAINED = 4096
"""Bytes of arguments up to which every fault is listed.

For longer ones only the first, as the validator finds one or all.
"""
MOST_CHECKS_EXPLAINED = 2000
"""Checks of arguments by their schema up to which every fault is listed: each may be a fault, and costs 10 µs.

With more of them only the first is listed, and none if the schema has alternatives: one fault is then all of theirs.
"""
MOST_COPIED = 1024 * 1024
"""Bytes of arguments, times the checks of one value, up to which a fault of alternatives is told.

Each of their faults holds a copy of its value.
"""
MOST_PROBLEMS = 10
"""The most problems in one answer. Further unknown arguments are counted."""
LONGEST_QUOTE = 500
LONGEST_VALUE = 80
TOO_MANY_TO_EXPLAIN = "its arguments are not as its schema says, and too many to say where; give fewer at once"
NOT_EXACT = (
    "expected an integer in digits alone, got one with a point or an exponent"
    " (beyond 2^53 - 1 such a number is not exact: it was read as {value!r})"
)
NOUNS = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "format": "in the format {}",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "minProperties": "at least {} fields",
    "maxProperties": "at most {} fields",
}
PERHAPS_FLOAT = re.compile(r"\d[.eE]")
"""A pattern for JSON that may hold a number with a point or an exponent."""
OF_A_KIND = ("type", "enum", "const")


@dataclass(frozen=True)
class ArgumentCheck:
    """A tool's schema, as a check of arguments."""

    schema: JsonSchema
    validator: jsonschema_rs.Validator

    def is_right(self, arguments: dict[str, Any], text: str) -> bool:
        """A quick check: true if arguments are valid and need no conversion. `text` is their JSON.

        Raises:
            ValueError: they are nested deeper than the validator follows.
        """
        return (
            (self._names is None or arguments.keys() <= self._names)
            and PERHAPS_FLOAT.search(text) is None
            and self.validator.is_valid(arguments)
        )

    @cached_property
    def _names(self) -> frozenset[str] | None:
        """The names of the tool's arguments. None if it takes others too."""
        if self.schema.get("additionalProperties") is not False:
            return None
        return frozenset(self.schema.get("properties", ()))

    @cached_property
    def width(self) -> int:
        """The most checks of one value."""
        return most_checks_of(self.schema)

    @cached_property
    def _has_choices(self) -> bool:
        return any(f'"{name}"' in json.dumps(self.schema) for name in CHOICES)

    def with_integers(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The same arguments with whole numbers as integers, where the schema takes integers and no other numbers.

        A number that is too large to be exact stays, and is a problem.

        Raises:
            TooManyChecks: there are too many alternatives for its numbers.
        """
        return with_integers(arguments, self.schema)

    def problems(self, arguments: dict[str, Any], text: str) -> list[str]:
        """The problems of arguments: each has a name, the expected value and the given one. `text` is their JSON.

        Raises:
            ValueError: they are nested deeper than the validator follows.
            TooManyChecks: there are too many alternatives for its numbers.
        """
        unknown = self._unknown(arguments)
        if len(unknown) > MOST_PROBLEMS:  # the validator would look at every argument, and keep a copy of it
            named = [_no_such((name,), self.schema) for name in unknown[:MOST_PROBLEMS]]
            return [*named, f"and {len(unknown) - MOST_PROBLEMS:,} more"]
        return list(islice(_different(self._found(arguments, text)), MOST_PROBLEMS))

    def _found(self, arguments: dict[str, Any], text: str) -> Iterator[str]:
        for place, value in inexact(arguments, self.schema):
            yield f"argument {_named(place)}: {NOT_EXACT.format(value=value)}"
        if self.validator.is_valid(arguments):
            return
        checks = values_in(text) * self.width
        is_much = checks > MOST_CHECKS_EXPLAINED or len(text) * self.width > MOST_COPIED
        if is_much and self._has_choices:
            yield TOO_MANY_TO_EXPLAIN
            return
        for error in self._errors(arguments, first=is_much or len(text) > MOST_EXPLAINED):
            yield from self._lines(error)

    def _unknown(self, arguments: dict[str, Any]) -> list[str]:
        """The arguments that the tool does not have."""
        names = self._names
        return [] if names is None else [name for name in arguments if name not in names]

    def _at(self, steps: Iterable[str | int]) -> Any:
        """The part of the schema at a path."""
        found: object = self.schema
        for step in steps:
            if is_object(found):
                found = found.get(str(step), {})
            elif is_list(found) and str(step).isdigit() and int(step) < len(found):
                found = found[int(step)]
        return found

    def _errors(self, arguments: dict[str, Any], *, first: bool) -> list[jsonschema_rs.ValidationError]:
        if not first:
            return list(self.validator.iter_errors(arguments))
        try:
            self.validator.validate(arguments)
        except jsonschema_rs.ValidationError as error:
            return [error]
        return []

    def _lines(self, error: jsonschema_rs.ValidationError) -> Iterator[str]:
        place, kind = tuple(error.instance_path), error.kind.as_dict()
        schema = self._schema_of(error)
        match error.kind.name:
            case "required":
                missing = kind["property"]
                wanted = self._expected(schema.get("properties", {}).get(missing, {}))
                yield f"argument {_named((*place, missing))}: expected {wanted}, got nothing"
            case "additionalProperties":
                for unexpected in kind["unexpected"]:
                    yield _no_such((*place, unexpected), schema)
            case "anyOf" | "oneOf" if len(meant := [one for one in kind["context"] if _is_meant(one, place)]) == 1:
                for inner in meant[0]:
                    yield from self._lines(inner)
            case "falseSchema" | "oneOfMultipleValid":
                yield f"argument {_named(place)}: {_shortened(error.message, LONGEST_QUOTE)}"
            case _:
                yield _problem(place, self._expected(schema), error.instance)

    def _schema_of(self, error: jsonschema_rs.ValidationError) -> JsonSchema:
        return as_object(self._at(error.schema_path[:-1]))

    def _expected(self, schema: Any, depth: int = 0) -> str:
        """The values that a schema takes, in words."""
        if not is_object(schema) or depth > 5:
            return "something else"
        for key in ("anyOf", "oneOf"):
            if key in schema:
                options = [self._expected(part, depth + 1) for part in schema[key]]
                return _shortened(_either(dict.fromkeys(options)), LONGEST_QUOTE)
        if "const" in schema or "enum" in schema:
            values = [_as_text(value) for value in schema.get("enum", [schema.get("const")])]
            return _shortened(values[0] if len(values) == 1 else f"one of {', '.join(values)}", LONGEST_QUOTE)
        kinds = _either(NOUNS.get(kind, kind) for kind in kinds_of(schema)) or "something else"
        given = {key: schema[key] for key in BOUNDS if schema.get(key) is not None and schema[key] is not False}
        bounds = ", ".join(BOUNDS[key].format(_as_text(value)) for key, value in given.items())
        return _shortened(f"{kinds} ({bounds})" if bounds else kinds, LONGEST_QUOTE)


class ArgumentChecks(dict[str, ArgumentCheck]):
    """The checks of tools by name. Each is made when it is first asked for, as those of hundreds take long together."""

    def __init__(self, schemas: dict[str, JsonSchema]) -> None:
        super().__init__()
        self.schemas = schemas

    def __missing__(self, tool: str) -> ArgumentCheck:
        schema = self.schemas[tool]
        made = self[tool] = ArgumentCheck(schema, validator(schema))
        return made


def _no_such(place: ValuePath, schema: JsonSchema) -> str:
    """The message about an unknown argument, or an unknown field of one."""
    names = _shortened(", ".join(schema.get("properties", {})), LONGEST_QUOTE) or "none"
    what = "field" if len(place) > 1 else "argument"
    return f"argument {_named(place)}: there is no such {what}; there are: {names}"


def _different(lines: Iterator[str]) -> Iterator[str]:
    """Each line once, in order."""
    told = set[str]()
    for line in lines:
        if line not in told:
            told.add(line)
            yield line


def _is_meant(errors: list[jsonschema_rs.ValidationError], place: ValuePath) -> bool:
    """True if a value has the type of an alternative, and only a part of it is wrong."""
    return not any(tuple(error.instance_path) == place and error.kind.name in OF_A_KIND for error in errors)


def _problem(place: ValuePath, expected: str, value: Any) -> str:
    return f"argument {_named(place)}: expected {expected}, got {_as_text(value)}"


def _named(place: ValuePath) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return _shortened(text.removeprefix("."), LONGEST_VALUE)


def _either(options: Iterable[str]) -> str:
    several = list(options)
    return " or ".join([", ".join(several[:-1]), several[-1]]) if len(several) > 1 else "".join(several)


def _as_text(value: Any) -> str:
    return _shortened(json.dumps(value, ensure_ascii=False), LONGEST_VALUE)


def _shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}…"
