"""The arguments of a tool call as a model wrote them, read strictly.

Accepted arguments can be sent, stored and read back unchanged: an object of finite numbers and valid text, with bounded
nesting. Anything else is the model's mistake, and the message names it.
"""

import json
from typing import Any

from pydantic_core import from_json

from agent_client.json_values import is_deeper, is_object

DEEPEST = 100


class MalformedArguments(ValueError):
    """The arguments are not a JSON object."""


def read_arguments(written: object) -> dict[str, Any]:
    """Parse the arguments that a model wrote. An empty text means no arguments. Raises MalformedArguments."""
    value = _parsed(written) if isinstance(written, str) else written
    if value is None:
        return {}
    if not is_object(value):
        raise MalformedArguments(f"an object {{...}} is needed, not {type(value).__name__}")
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        text.encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise MalformedArguments(str(error)) from error
    if is_deeper(value, text, DEEPEST):
        raise MalformedArguments(f"they are nested deeper than {DEEPEST}")
    return value


def _parsed(text: str) -> object:
    if not text.strip():
        return {}
    try:
        return from_json(text.encode(), allow_inf_nan=False)
    except ValueError as error:
        raise MalformedArguments(str(error)) from error
