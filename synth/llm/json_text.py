"""Extracts a JSON value from a model's text: among prose, after thoughts, in a fence, with extra commas.

Nothing is invented: a truncated value is refused, and a repaired one must match the schema too.
"""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, cast

import json_repair
import jsonschema_rs

MOST_FAULTS = 20
LONGEST_FAULT = 300
MOST_PIECES = 50
THOUGHTS = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
END_OF_THOUGHTS = re.compile(r".*</think(?:ing)?>", re.DOTALL)
FENCE = re.compile(r"^```[a-zA-Z]*[ \t]*\n(.*?)\n[ \t]*```[ \t]*$", re.DOTALL | re.MULTILINE)
CLOSING = {"{": "}", "[": "]"}


class NoJson(ValueError):
    """A text has no JSON value. The message tells its writer why."""


def json_in(text: str, schema: dict[str, Any]) -> Any:
    """The first value in a text that matches the schema. Raises NoJson."""
    said = without_thoughts(text)
    if not said:
        raise NoJson("the answer is empty" + (" after the thoughts" if text.strip() else ""))
    faults: list[str] = []
    for value in _values(said):
        found = faults_of(value, schema)
        if not found:
            return value
        faults = faults or found
    raise NoJson("; ".join(faults) or _why_none(said))


def without_thoughts(text: str) -> str:
    """The text after the thoughts. Some templates open the thoughts in the prompt, so only their end is visible."""
    said = THOUGHTS.sub("", text)
    if "</think" in said and (not said.lstrip().startswith(("{", "["))):
        said = END_OF_THOUGHTS.sub("", said)
    if said.lstrip().startswith(("<think>", "<thinking>")):
        raise NoJson("the answer stops while thinking; think less, and answer")
    return said.strip()


def faults_of(value: Any, schema: dict[str, Any]) -> list[str]:
    """The violations of a schema, a sentence each."""
    validator = _validator(json.dumps(schema, sort_keys=True))
    if validator.is_valid(value):
        return []
    faults: list[str] = []
    for error in validator.iter_errors(value):
        place = ".".join(str(step) for step in error.instance_path)
        faults.append(f"{place or 'the answer'}: {error.message}"[:LONGEST_FAULT])
        if len(faults) == MOST_FAULTS:
            break
    return faults


@lru_cache(maxsize=256)
def _validator(schema: str) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(json.loads(schema))


def _values(said: str) -> Iterator[Any]:
    """The candidate values, the likeliest first."""
    whole = _strict(said)
    if whole is not None:
        yield whole
        return
    places = [*(fence.strip() for fence in reversed(FENCE.findall(said))), *_pieces(said)]
    yield from (value for place in places if (value := _strict(place)) is not None)
    yield from (value for place in places if (value := _mended(place)) is not None)


def _strict(text: str) -> Any:
    try:
        # Models put line breaks into strings as they are.
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _pieces(text: str) -> Iterator[str]:
    """The parts of a text between matching brackets, the longest first."""
    found: list[str] = []
    at = 0
    for _ in range(MOST_PIECES):
        opening = re.compile(r"[{\[]").search(text, at)
        if opening is None:
            break
        end = _end(text, opening.start())
        if end is not None:
            found.append(text[opening.start() : end])
        at = end or opening.end()
    yield from sorted(found, key=len, reverse=True)


def _end(text: str, begin: int) -> int | None:
    """The end of the value that begins with a bracket. None if there is none."""
    waiting: list[str] = []
    in_string = escaped = False
    for at in range(begin, len(text)):
        sign = text[at]
        if in_string:
            in_string = escaped or sign != '"'
            escaped = sign == "\\" and not escaped
        elif sign == '"':
            in_string = True
        elif sign in CLOSING:
            waiting.append(CLOSING[sign])
        elif sign in "}]":
            if waiting.pop() != sign:
                return None
            if not waiting:
                return at + 1
    return None


def _mended(text: str) -> Any:
    """A value with slips: extra commas, comments, single quotes. Only a complete one is repaired."""
    if not text.startswith(tuple(CLOSING)) or _end(text, 0) != len(text):
        return None
    try:
        value: object = json_repair.loads(text, skip_json_loads=True)
    except (ValueError, RecursionError):  # it is nested too deeply
        return None
    return cast("Any", value) if isinstance(value, (dict, list)) else None


def _why_none(said: str) -> str:
    opening = re.search(r"[{\[]", said)
    if opening is None:
        return "there is no JSON in the answer"
    try:
        json.loads(said[opening.start() :], strict=False)
    except ValueError as error:
        return f"it is no JSON, or stops in the middle: {error}"
    except RecursionError:
        return "it is nested too deeply"
    return "there is no JSON in the answer"
