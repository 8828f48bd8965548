"""Whole numbers among a call's arguments: 1.0 becomes 1 where the tool takes integers and no other numbers.

A value may have many alternatives, and each of those its own parts. They are looked at once for each place of values,
and their number is bounded.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, cast

from servers.bundle.tool_schema import CHOICES
from servers.text.json_values import JsonSchema, is_list, is_object

MOST_EXACT = 2**53 - 1
"""The largest whole number with a point or an exponent that is exact. Beyond it two texts can mean the same number."""
MOST_CHECKS_CONVERTED = 20_000
"""The most alternatives of a schema that are looked at for the numbers of one call: 2 µs each."""
MANY_ALTERNATIVES = f"more than {MOST_CHECKS_CONVERTED:,} alternatives for its numbers"
ValuePath: TypeAlias = tuple[str | int, ...]


class TooManyChecks(Exception):
    """Arguments and their schema come to more alternatives than are looked at."""


def has_float(value: dict[str, Any] | list[Any]) -> bool:
    """True if an array or an object holds a number with a point or an exponent."""
    for part in value.values() if is_object(value) else value:
        if isinstance(part, float):
            return True
        if (is_object(part) or is_list(part)) and has_float(part):
            return True
    return False


def with_integers(arguments: dict[str, Any], schema: JsonSchema) -> dict[str, Any]:
    """The same arguments with whole numbers as integers, if the schema takes integers and no other numbers.

    A number that is too large to be exact stays.

    Raises:
        TooManyChecks: more than `MOST_CHECKS_CONVERTED` alternatives.
    """
    if not has_float(arguments):
        return arguments
    return cast("dict[str, Any]", _converted(arguments, _ValuePlace([schema], _CheckBudget())))


def inexact(arguments: dict[str, Any], schema: JsonSchema) -> Iterator[tuple[ValuePath, float]]:
    """The numbers in place of integers that are too large to be exact. Raises TooManyChecks likewise."""
    if has_float(arguments):
        yield from _inexact(arguments, _ValuePlace([schema], _CheckBudget()), ())


def kinds_of(schema: JsonSchema) -> list[str]:
    """The types that a schema names."""
    kind = schema.get("type", [])
    return [kind] if isinstance(kind, str) else list(kind)


@dataclass
class _CheckBudget:
    """The alternatives that may still be looked at."""

    left: int = MOST_CHECKS_CONVERTED

    def take(self, checks: int) -> None:
        self.left -= checks
        if self.left < 0:
            raise TooManyChecks(MANY_ALTERNATIVES)


class _ValuePlace:
    """A place of values in arguments, with the schemas that apply to each value there."""

    def __init__(self, schemas: Iterable[object], budget: _CheckBudget) -> None:
        self._budget = budget
        self._schemas = list(self._with_alternatives(one for one in schemas if is_object(one)))
        self._kinds = {kind for schema in self._schemas for kind in kinds_of(schema)}
        self._names = {name for schema in self._schemas for name in schema.get("properties", ())}
        self._choices = {one for schema in self._schemas for one in schema.get("enum", ()) if type(one) is int}
        self._fields = dict[str | None, _ValuePlace]()

    @cached_property
    def items(self) -> "_ValuePlace":
        return _ValuePlace([schema.get("items") for schema in self._schemas], self._budget)

    def field(self, name: str) -> "_ValuePlace":
        key = name if name in self._names else None  # all others are one place
        if key not in self._fields:
            self._fields[key] = _ValuePlace([_field_of(schema, name) for schema in self._schemas], self._budget)
        return self._fields[key]

    def wants_integer(self, value: float) -> bool:
        return ("integer" in self._kinds and "number" not in self._kinds) or value in self._choices

    def _with_alternatives(self, schemas: Iterable[JsonSchema]) -> Iterator[JsonSchema]:
        for schema in schemas:
            self._budget.take(1 + len(schema.get("enum", ())) + len(schema.get("properties", ())))
            yield schema
            parts = [part for key in CHOICES for part in schema.get(key, ())]
            yield from self._with_alternatives(part for part in parts if is_object(part))


def _field_of(schema: JsonSchema, name: str) -> object:
    named = schema.get("properties", {})
    return named[name] if name in named else schema.get("additionalProperties")


def _converted(value: Any, place: _ValuePlace) -> Any:
    if isinstance(value, float):
        return int(value) if _is_exact(value) and place.wants_integer(value) else value
    if is_object(value):
        return {name: _converted(part, place.field(name)) for name, part in value.items()}
    if is_list(value):
        return [_converted(part, place.items) for part in value]
    return value


def _inexact(value: Any, place: _ValuePlace, path: ValuePath) -> Iterator[tuple[ValuePath, float]]:
    if isinstance(value, float):
        if value.is_integer() and not _is_exact(value) and place.wants_integer(value):
            yield path, value
    elif is_object(value):
        for name, part in value.items():
            yield from _inexact(part, place.field(name), (*path, name))
    elif is_list(value):
        for number, part in enumerate(value):
            yield from _inexact(part, place.items, (*path, number))


def _is_exact(value: float) -> bool:
    return value.is_integer() and abs(value) <= MOST_EXACT
