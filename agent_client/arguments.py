"""The arguments of a tool call as a model wrote them, read strictly.

What is let through can be sent, stored and read back unchanged: an object of finite numbers and valid text, not nested
without end. Everything else is the model's mistake, and the message says which.
"""

import json
from typing import Any, cast

from pydantic_core import from_json


class MalformedArguments(ValueError):
    """The arguments are not a JSON object."""


def read_arguments(written: object) -> dict[str, Any]:
    """Read what a model wrote; nothing at all means no arguments. Raises MalformedArguments."""
    value = _parsed(written) if isinstance(written, str) else written
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise MalformedArguments(f"an object {{...}} is needed, not {type(value).__name__}")
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise MalformedArguments(str(error)) from error
    return cast("dict[str, Any]", value)


def _parsed(text: str) -> object:
    if not text.strip():
        return {}
    try:
        return from_json(text.encode(), allow_inf_nan=False)
    except ValueError as error:
        raise MalformedArguments(str(error)) from error
