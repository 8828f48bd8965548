"""Validation errors in plain words: a place and a reason each.

The validator's own words speak of its types (`Input should be a valid integer`), so they are translated here.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

MOST = 10
"""The most problems in one message."""
MOST_LISTED = 10_000
"""Problems up to which the first ones are told. A list of more takes seconds and a gigabyte."""
WHOLE = "the whole"
"""The place of a problem without a field."""
A_WHOLE_NUMBER, A_NUMBER, A_TEXT = "must be a whole number", "must be a number", "must be a text"
TRUE_OR_FALSE, A_LIST, AN_OBJECT = "must be true or false", "must be a list", "must be an object"
A_DATE = "must be a date"
NO_SUCH_KEY = "no such key"
REASONS = {
    "missing": "is missing",
    "extra_forbidden": NO_SUCH_KEY,
    "unexpected_keyword_argument": NO_SUCH_KEY,
    "int_type": A_WHOLE_NUMBER,
    "int_parsing": A_WHOLE_NUMBER,
    "int_from_float": A_WHOLE_NUMBER,
    "int_parsing_size": f"{A_WHOLE_NUMBER} of fewer digits",
    "float_type": A_NUMBER,
    "float_parsing": A_NUMBER,
    "finite_number": f"{A_NUMBER}, neither infinite nor NaN",
    "string_type": A_TEXT,
    "string_unicode": "must be a text of Unicode characters",
    "bool_type": TRUE_OR_FALSE,
    "bool_parsing": TRUE_OR_FALSE,
    "none_required": "must be null",
    "list_type": A_LIST,
    "tuple_type": A_LIST,
    "set_type": A_LIST,
    "frozen_set_type": A_LIST,
    "dict_type": AN_OBJECT,
    "model_type": AN_OBJECT,
    "model_attributes_type": AN_OBJECT,
    "dataclass_type": AN_OBJECT,
    "date_type": A_DATE,
    "date_parsing": A_DATE,
    "date_from_datetime_parsing": A_DATE,
    "json_invalid": "not JSON: {error}",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "union_tag_invalid": "{discriminator} must be one of {expected_tags}",
    "union_tag_not_found": "{discriminator} is missing",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "string_pattern_mismatch": "must match {pattern}",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "too_short": "must have at least {min_length} items",
    "too_long": "must have at most {max_length} items",
    "value_error": "{error}",
}
"""Reasons by the validator's name of a problem. Other kinds keep the validator's words."""
ONE_OF = re.compile(r"\b(at (?:least|most) 1) (character|item)s$")


def reason_of(problem: Mapping[str, Any]) -> str:
    """Why a value was refused."""
    told = REASONS.get(problem["type"])
    if told is None:
        return str(problem["msg"])
    text = told.format_map(problem.get("ctx", {})).replace(" at line 1 column ", " at character ")
    return ONE_OF.sub(r"\1 \2", text)


def place_of(steps: Sequence[str | int], *, whole: str = WHOLE) -> str:
    """A place in a record, such as `checkpoints.0.sql`."""
    return ".".join(map(str, steps)) or whole


def problems(error: ValidationError, *, whole: str = WHOLE, most: int = MOST) -> list[str]:
    """The problems, a place and a reason each. Text that is not JSON has no place."""
    if error.error_count() > MOST_LISTED:
        return [f"{whole}: has {error.error_count():,} problems"]
    return [_told(problem, whole) for problem in error.errors(include_url=False, include_input=False)[:most]]


def first_problem(error: ValidationError) -> str:
    """The first problem, in a line."""
    return problems(error, most=1)[0]


def first_reason(error: ValidationError) -> str:
    """Why a single value was refused."""
    if error.error_count() > MOST_LISTED:
        return f"has {error.error_count():,} problems"
    return reason_of(error.errors(include_url=False, include_input=False)[0])


def _told(problem: Mapping[str, Any], whole: str) -> str:
    reason = reason_of(problem)
    return reason if problem["type"] == "json_invalid" else f"{place_of(problem['loc'], whole=whole)}: {reason}"
