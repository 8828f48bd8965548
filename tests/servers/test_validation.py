"""What a record lacks is told in plain words, whatever the validator calls it."""

import json
from typing import Annotated, Any, Literal, get_args

import pytest
from pydantic import Field, ValidationError
from pydantic_core.core_schema import ErrorType

from servers.records import Clock, Name, Record
from servers.validation import REASONS, first_problem, problems


class Circle(Record):
    kind: Literal["circle"]
    radius: float = Field(gt=0, allow_inf_nan=False)


class Square(Record):
    kind: Literal["square"]
    side: float = 1


class Form(Record):
    """A record of every kind of field that records of ours have."""

    name: Name = "shop"
    count: int = Field(default=1, ge=1, le=9)
    is_open: bool = True
    words: tuple[Annotated[str, Field(min_length=1, max_length=3)], ...] = Field(default=(), max_length=2)
    prices: dict[str, float] = {}
    writer: Literal["person", "model", "nobody"] = "person"
    clock: Clock = "2026-01-01 00:00:00"
    shape: Annotated[Circle | Square, Field(discriminator="kind")] | None = None


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown key": ({"colour": 1}, "colour: no such key"),
    "a text for a number": ({"count": "many"}, "count: must be a whole number"),
    "half a number": ({"count": 1.5}, "count: must be a whole number"),
    "too little": ({"count": 0}, "count: must be at least 1"),
    "too much": ({"count": 10}, "count: must be at most 9"),
    "nothing for yes or no": ({"is_open": None}, "is_open: must be true or false"),
    "a number for a text": ({"name": 3}, "name: must be a text"),
    "another kind of name": ({"name": "A b"}, "name: must match ^[a-z][a-z0-9_]{0,63}$"),
    "a text for a list": ({"words": "ab"}, "words: must be a list"),
    "too many items": ({"words": ["a", "b", "c"]}, "words: must have at most 2 items"),
    "an empty text": ({"words": [""]}, "words.0: must have at least 1 character"),
    "a long text": ({"words": ["a", "four"]}, "words.1: must have at most 3 characters"),
    "a list for an object": ({"prices": []}, "prices: must be an object"),
    "a text in an object": ({"prices": {"tea": "dear"}}, "prices.tea: must be a number"),
    "another word": ({"writer": "vscode"}, "writer: must be 'person', 'model' or 'nobody'"),
    "an hour that the day lacks": ({"clock": "2026-02-28 24:00:00"}, "clock: hour must be in 0..23"),
    "no kind": ({"shape": {}}, "shape: 'kind' is missing"),
    "another kind": ({"shape": {"kind": "cube"}}, "shape: 'kind' must be one of 'circle', 'square'"),
    "a key that is missing": ({"shape": {"kind": "circle"}}, "shape.circle.radius: is missing"),
    "nothing": ({"shape": {"kind": "circle", "radius": 0}}, "shape.circle.radius: must be more than 0.0"),
}


def error_of(text: str) -> ValidationError:
    with pytest.raises(ValidationError) as caught:
        Form.model_validate_json(text)
    return caught.value


@pytest.mark.parametrize(("fields", "told"), WRONG.values(), ids=WRONG)
def test_a_field_is_told_with_what_it_must_be(fields: dict[str, Any], told: str) -> None:
    assert problems(error_of(json.dumps(fields))) == [told]


def test_what_is_no_json_is_told_by_its_character() -> None:
    assert first_problem(error_of('{"count": 1,')) == "not JSON: EOF while parsing a value at character 12"
    assert first_problem(error_of("[]")) == "the whole: must be an object"


def test_all_problems_are_told_but_no_more_than_asked_for() -> None:
    wrong = error_of('{"count": 0, "colour": 1, "name": 3}')
    assert len(problems(wrong)) == 3
    assert len(problems(wrong, most=2)) == 2


def test_every_kind_of_problem_is_one_that_the_validator_has() -> None:
    assert REASONS.keys() <= set(get_args(ErrorType))
