"""Phrases: how people speak of an environment, in the optional `phrases.json`. Tasks are built from them.

They are text with holes for arguments and columns. Nothing in them runs, and agents do not see them.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from servers.bundle.description import Provenance
from servers.bundle.environment import Environment, table_names
from servers.bundle.files import text_if_there
from servers.errors import BundleError
from servers.records import Name, Record
from servers.validation import problems

Speaking = Literal["self", "other", "chores"]
"""The speaker: the person, somebody for the person, or a colleague with back-office work."""
HOLE = re.compile(r"\{(?P<name>\w+)(?P<own>\.my)?(?P<small>~)?(?:\|(?P<one>[^{}|]+))?(?:\|(?P<many>[^{}|]+))?\}")
CONDITION = re.compile(r"\[!?(\w+):")
"""A part of a template that is used only if an argument is true, or only if it is not."""
PRONOUNS = {"name", "me", "my", "I"}


class Voice(Record):
    """How a request begins and how it ends."""

    open: tuple[str, ...] = Field(min_length=1)
    close: tuple[str, ...] = ("",)


class Tell(Record):
    """Something that may be asked about a call's result, and how the answer says it."""

    value: str
    ask: str
    say: str = "{value}"


class Sender(Record):
    """People who may ask for what is nobody's own errand: rows of a table, or others whose names stand here.

    `name` says what a row's person is called, `only` the column values that its row must have; without `tools` they
    may ask for anything.
    """

    table: Name | None = None
    name: str = "{name}"
    only: dict[str, tuple[Any, ...]] = {}
    names: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()


class Phrases(Record):
    """The words for an environment's rows and tools."""

    speaker: Name | None = None
    speaker_if: dict[str, tuple[Any, ...]] = {}
    name: str = "{name}"
    senders: tuple[Sender, ...] = ()
    currency: str = "{}"
    voices: dict[Speaking, Voice] = {}
    rows: dict[Name, tuple[str, ...]] = {}
    made: dict[Name, str] = {}
    asks: dict[str, dict[Speaking, tuple[str, ...]]] = {}
    tells: dict[str, tuple[Tell, ...]] = {}
    examples: dict[str, tuple[dict[str, Any], ...]] = {}
    amounts: dict[str, dict[str, str]] = {}
    words: dict[str, str] = {}
    then: dict[str, str] = {}
    chains: tuple[tuple[str, ...], ...] = ()
    only_if: dict[str, dict[str, tuple[Any, ...]]] = {}
    provenance: Provenance | None = None


def read_phrases(folder: Path, environment: Environment) -> tuple[list[str], Phrases | None]:
    """Findings about the phrases of a bundle, and the phrases. None without the file."""
    path = folder / "phrases.json"
    try:
        text = text_if_there(path)
    except BundleError as error:
        return [str(error)], None
    if text is None:
        return [], None
    try:
        phrases = Phrases.model_validate_json(text)
    except ValidationError as error:
        return [f"{path}: {problem}" for problem in problems(error)], None
    return [f"{path}: {problem}" for problem in problems_of(phrases, environment)], phrases


def phrases_if_readable(environment: Environment) -> Phrases:
    """The phrases of an environment. Empty ones if it has none that can be read."""
    try:
        text = text_if_there(environment.folder / "phrases.json")
        return Phrases.model_validate_json(text) if text else Phrases()
    except (BundleError, ValidationError):
        return Phrases()


def holes(template: str) -> list[str]:
    """The names of a template's holes."""
    return [hole["name"] for hole in HOLE.finditer(template)]


def problems_of(phrases: Phrases, environment: Environment) -> Iterator[str]:
    """The names in phrases that the environment does not have."""
    tables = table_names(environment.schema)
    named = {*phrases.rows, *phrases.made, *([phrases.speaker] if phrases.speaker else [])}
    named |= {sender.table for sender in phrases.senders if sender.table}
    for table in sorted(named - tables):
        yield f"no table named {table!r}"
    tools = {*phrases.asks, *phrases.tells, *phrases.examples, *phrases.then, *phrases.then.values(), *phrases.only_if}
    tools |= {tool for chain in phrases.chains for tool in chain}
    tools |= {place.partition(".")[0] for place in phrases.amounts}
    tools |= {tool for sender in phrases.senders for tool in sender.tools}
    for tool in sorted(tools - environment.tools.keys()):
        yield f"no tool named {tool!r}"
    yield from _sender_problems(phrases)
    for tool, by_voice in phrases.asks.items():
        if tool in environment.tools:
            yield from _ask_problems(tool, by_voice, environment)
    for tool, examples in phrases.examples.items():
        for number, example in enumerate(examples, start=1):
            unknown = sorted(example.keys() - _arguments(environment, tool))
            if tool in environment.tools and unknown:
                yield f"examples.{tool}.{number}: {tool} has no argument {', '.join(map(repr, unknown))}"


def _sender_problems(phrases: Phrases) -> Iterator[str]:
    for number, sender in enumerate(phrases.senders, start=1):
        if (sender.table is None) == (not sender.names):
            yield f"senders.{number}: give either the table whose rows they are, or their names"
        elif sender.table is not None and not holes(sender.name):
            yield f"senders.{number}: every row would be called the same: {sender.name!r}"
    if phrases.senders and not any(is_named(form) for form in _openings(phrases)):
        yield "voices.chores.open: none says who asks; there are senders, so one must have the hole {name}"


def _openings(phrases: Phrases) -> tuple[str, ...]:
    return phrases.voices["chores"].open if "chores" in phrases.voices else ()


def is_named(opening: str) -> bool:
    """True if an opening names the person who asks."""
    return "{name}" in opening


def _ask_problems(tool: str, by_voice: dict[Speaking, tuple[str, ...]], environment: Environment) -> Iterator[str]:
    arguments = _arguments(environment, tool)
    required = environment.tools[tool].required
    for voice, templates in by_voice.items():
        for template in templates:
            there = set(holes(template))
            unknown = sorted(there - arguments - PRONOUNS)
            if unknown:
                yield f"asks.{tool}.{voice}: {tool} has no argument {', '.join(map(repr, unknown))}: {template!r}"
            prose = {name for name in required if environment_prose(environment, tool, name)}
            missing = sorted(required - there - prose - set(CONDITION.findall(template))) if voice == "chores" else []
            if missing:
                yield f"asks.{tool}.{voice}: does not tell {', '.join(map(repr, missing))}: {template!r}"


def environment_prose(environment: Environment, tool: str, argument: str) -> bool:
    """True if an argument is free text by its schema."""
    schema = environment.tools[tool].properties.get(argument, {})
    return schema.get("type") == "string" and "enum" not in schema


def _arguments(environment: Environment, tool: str) -> set[str]:
    found = environment.tools.get(tool)
    return set(found.properties) if found else set()
