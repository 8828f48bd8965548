"""What is wrong with the parameters of a request: the member, what was expected, what came. The SDK says none of it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from servers.text.json_values import is_list, is_object

SDK_WORDS = "Invalid request parameters"
"""What the SDK says of wrong parameters, and of a request of the older era before `initialize`."""
TOO_EARLY = (
    "initialize comes first: a client of this revision sends initialize, then notifications/initialized, then requests"
)
MOST_PROBLEMS = 10
LONGEST_VALUE = 80
TEXT, WHOLE_NUMBER, NUMBER, CHOICE, LIST, OBJECT = (
    "a string",
    "an integer",
    "a number",
    "true or false",
    "a list",
    "an object",
)
EXPECTED = {
    "string_type": TEXT,
    "int_type": WHOLE_NUMBER,
    "int_from_float": WHOLE_NUMBER,
    "float_type": NUMBER,
    "bool_type": CHOICE,
    "list_type": LIST,
    "dict_type": OBJECT,
    "model_type": OBJECT,
    "literal_error": "{expected}",
}
"""Nouns by the validator's name of a problem. Other kinds keep the validator's words."""
MISSING = {"name": TEXT, "uri": TEXT, "protocolVersion": TEXT, "version": TEXT, "level": TEXT} | dict.fromkeys(
    ("params", "capabilities", "clientInfo", "ref", "argument"), OBJECT
)
"""What members are, of which the validator only says that they are missing."""


NOTHING = object()
"""In the place of a value that is not there."""


def wrong_params(error: ValidationError, params: Mapping[str, Any] | None) -> str:
    """The problems of a request's parameters, in a line."""
    found: dict[str, tuple[list[str], str]] = {}
    for problem in error.errors(include_url=False, include_input=False):
        place, value = _place(problem, params)
        expected, _ = found.setdefault(place, ([], _as_text(value)))
        noun = _expected(problem)
        if noun not in expected:
            expected.append(noun)
    told = [f"{place}: expected {' or '.join(nouns)}, got {value}" for place, (nouns, value) in found.items()]
    return "; ".join(told[:MOST_PROBLEMS])


def _place(problem: Mapping[str, Any], params: Mapping[str, Any] | None) -> tuple[str, Any]:
    """A member by its path, and its value. Steps that name an alternative of the validator are left out."""
    value: Any = NOTHING if params is None else params
    steps: Sequence[str | int] = problem["loc"]
    steps = steps[1:] if steps[:1] == ("params",) else steps
    path = ["params"]
    for number, step in enumerate(steps, 1):
        if _has(value, step):
            value = value[step]
        elif problem["type"] == "missing" and number == len(steps):
            value = NOTHING
        else:
            continue
        path.append(str(step))
    return ".".join(path), value


def _has(value: Any, step: str | int) -> bool:
    if is_object(value):
        return step in value
    return is_list(value) and isinstance(step, int) and step < len(value)


def _expected(problem: Mapping[str, Any]) -> str:
    if problem["type"] == "missing":
        return MISSING.get(str(problem["loc"][-1]), "a value")
    noun = EXPECTED.get(problem["type"])
    return str(problem["msg"]) if noun is None else noun.format_map(problem.get("ctx", {}))


def _as_text(value: Any) -> str:
    if value is NOTHING:
        return "nothing"
    text = json.dumps(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"
