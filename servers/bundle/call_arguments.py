"""Checks of a call's arguments: converts whole numbers to integers, and describes faults in words.

JSON has one kind of number, and many clients write 1.0 for an integer. The tool then gets 1.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, cast

import jsonschema_rs

from servers.text.json_values import as_object, is_list, is_object

MOST_EXPLAINED = 4096
"""Bytes of arguments up to which every fault is listed.

For longer ones only the first, as the validator finds one or all.
"""
MOST_PROBLEMS = 10
"""The most problems in one answer. Further unknown arguments are counted."""
LONGEST_QUOTE = 500
LONGEST_VALUE = 80
MOST_EXACT = 2**53 - 1
"""The largest whole number with a point or an exponent that is exact. Beyond it two texts can mean the same number."""
NOT_EXACT = "an integer in digits alone (beyond 2^53 - 1 a point or an exponent is not exact)"
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
Schema: TypeAlias = dict[str, Any]
Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True)
class ArgumentCheck:
    """A tool's schema, as a check of arguments."""

    schema: Schema
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

    def with_integers(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The same arguments with whole numbers as integers, if the schema takes integers and no other numbers.

        A number that is too large to be exact stays, and is a problem.
        """
        if not _has_float(arguments):
            return arguments
        return cast("dict[str, Any]", self._with_integers(arguments, [self.schema]))

    def problems(self, arguments: dict[str, Any], size: int) -> list[str]:
        """The problems of arguments of `size` bytes: each has a name, the expected value and the given one.

        Raises:
            ValueError: they are nested deeper than the validator follows.
        """
        unknown = self._unknown(arguments)
        if len(unknown) > MOST_PROBLEMS:  # the validator would look at every argument, and keep a copy of it
            named = [_no_such((name,), self.schema) for name in unknown[:MOST_PROBLEMS]]
            return [*named, f"and {len(unknown) - MOST_PROBLEMS:,} more"]
        told: list[str] = []
        if _has_float(arguments):
            told += [_problem(place, NOT_EXACT, value) for place, value in self._inexact(arguments, [self.schema], ())]
        if not self.validator.is_valid(arguments):
            told += [line for error in self._errors(arguments, size) for line in self._lines(error)]
        return list(dict.fromkeys(told))[:MOST_PROBLEMS]

    def _unknown(self, arguments: dict[str, Any]) -> list[str]:
        """The arguments that the tool does not have."""
        names = self._names
        return [] if names is None else [name for name in arguments if name not in names]

    def _with_integers(self, value: Any, schemas: list[Schema]) -> Any:
        if isinstance(value, float) and _is_exact(value) and self._wants_integer(value, schemas):
            return int(value)
        if is_object(value):
            return {name: self._with_integers(part, self._of_field(name, schemas)) for name, part in value.items()}
        if is_list(value):
            return [self._with_integers(part, self._of_item(schemas)) for part in value]
        return value

    def _inexact(self, value: Any, schemas: list[Schema], place: Path) -> Iterator[tuple[Path, float]]:
        """The numbers in place of integers that are too large to be exact."""
        if isinstance(value, float):
            if value.is_integer() and not _is_exact(value) and self._wants_integer(value, schemas):
                yield place, value
        elif is_object(value):
            for name, part in value.items():
                yield from self._inexact(part, self._of_field(name, schemas), (*place, name))
        elif is_list(value):
            for number, part in enumerate(value):
                yield from self._inexact(part, self._of_item(schemas), (*place, number))

    def _wants_integer(self, value: float, schemas: list[Schema]) -> bool:
        kinds = {kind for schema in self._options(schemas) for kind in _kinds(schema)}
        choices = [one for schema in self._options(schemas) for one in schema.get("enum", [])]
        is_choice = any(type(one) is int and one == value for one in choices)
        return ("integer" in kinds and "number" not in kinds) or is_choice

    def _of_field(self, name: str, schemas: list[Schema]) -> list[Schema]:
        found: list[Any] = []
        for schema in self._options(schemas):
            named = schema.get("properties", {})
            found.append(named[name] if name in named else schema.get("additionalProperties"))
        return [one for one in found if is_object(one)]

    def _of_item(self, schemas: list[Schema]) -> list[Schema]:
        found = [schema.get("items") for schema in self._options(schemas)]
        return [one for one in found if is_object(one)]

    def _options(self, schemas: Iterable[Schema]) -> Iterator[Schema]:
        """Schemas, and the alternatives that they consist of."""
        for schema in schemas:
            yield schema
            parts = [part for key in ("anyOf", "oneOf", "allOf") for part in schema.get(key, ())]
            yield from self._options([part for part in parts if is_object(part)])

    def _at(self, steps: Iterable[str | int]) -> Any:
        """The part of the schema at a path."""
        found: object = self.schema
        for step in steps:
            if is_object(found):
                found = found.get(str(step), {})
            elif is_list(found) and str(step).isdigit() and int(step) < len(found):
                found = found[int(step)]
        return found

    def _errors(self, arguments: dict[str, Any], size: int) -> list[jsonschema_rs.ValidationError]:
        if size <= MOST_EXPLAINED:
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

    def _schema_of(self, error: jsonschema_rs.ValidationError) -> Schema:
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
        kinds = _either(NOUNS.get(kind, kind) for kind in _kinds(schema)) or "something else"
        given = {key: schema[key] for key in BOUNDS if schema.get(key) is not None and schema[key] is not False}
        bounds = ", ".join(BOUNDS[key].format(_as_text(value)) for key, value in given.items())
        return _shortened(f"{kinds} ({bounds})" if bounds else kinds, LONGEST_QUOTE)


def _no_such(place: Path, schema: Schema) -> str:
    """The message about an unknown argument, or an unknown field of one."""
    names = _shortened(", ".join(schema.get("properties", {})), LONGEST_QUOTE) or "none"
    what = "field" if len(place) > 1 else "argument"
    return f"argument {_named(place)}: there is no such {what}; there are: {names}"


def _has_float(value: dict[str, Any] | list[Any]) -> bool:
    """True if an array or an object holds a number with a point or an exponent."""
    for part in value.values() if is_object(value) else value:
        if isinstance(part, float):
            return True
        if (is_object(part) or is_list(part)) and _has_float(part):
            return True
    return False


def _is_exact(value: float) -> bool:
    return value.is_integer() and abs(value) <= MOST_EXACT


def _is_meant(errors: list[jsonschema_rs.ValidationError], place: Path) -> bool:
    """True if a value has the type of an alternative, and only a part of it is wrong."""
    return not any(tuple(error.instance_path) == place and error.kind.name in OF_A_KIND for error in errors)


def _kinds(schema: Schema) -> list[str]:
    kind = schema.get("type", [])
    return [kind] if isinstance(kind, str) else list(kind)


def _problem(place: Path, expected: str, value: Any) -> str:
    return f"argument {_named(place)}: expected {expected}, got {_as_text(value)}"


def _named(place: Path) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return _shortened(text.removeprefix("."), LONGEST_VALUE)


def _either(options: Iterable[str]) -> str:
    several = list(options)
    return " or ".join([", ".join(several[:-1]), several[-1]]) if len(several) > 1 else "".join(several)


def _as_text(value: Any) -> str:
    return _shortened(json.dumps(value, ensure_ascii=False), LONGEST_VALUE)


def _shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}…"
