"""Values of both sides are the same but for made-up ids, the moment within a call, and how numbers are written."""

from typing import Any

import pytest

from synth.relational.likeness import Likeness


@pytest.mark.parametrize(
    ("imported", "own"),
    [
        (580, 580.0),
        (0.1 + 0.2, 0.3),
        ({"b": 1, "a": [None]}, {"a": [None], "b": 1}),
        ("2025-07-01T09:00:00.001000", "2025-07-01T09:00:00"),
        ("5569e7bf-1d6d-4450-aa71-7f25c900bb2c", "meal_0123abcd"),
    ],
)
def test_the_same(imported: Any, own: Any) -> None:
    assert Likeness().difference(imported, own) == ""


@pytest.mark.parametrize(
    ("imported", "own"),
    [
        (1, True),
        (1, "1"),
        (None, ""),
        (1.0, 1.001),
        ([1, 2], [2, 1]),
        ({"a": 1}, {"a": 1, "b": None}),
        ("open", "Open"),
        ("2025-07-01T09:00:00", "2025-07-01T09:00:02"),
        ("5569e7bf", "meal_0123"),
    ],
)
def test_not_the_same(imported: Any, own: Any) -> None:
    assert Likeness().difference(imported, own) != ""


def test_a_made_up_id_stands_for_one_other_id_from_then_on() -> None:
    likeness = Likeness()
    likeness.see({"id": "B1"})
    assert likeness.difference_of_entries({"B1": 1, "u-1": 2}, {"B1": 1, "box_0000000a": 2}, "boxes") == ""
    assert likeness.difference("added u-1", "added box_0000000a") == ""
    assert likeness.difference("added B1", "added box_0000000a") != ""
    assert likeness.difference("u-2", "box_0000000a") != ""
    assert likeness.difference("u-1", "box_0000000b") != ""
    assert likeness.translated({"id": "u-1"}) == {"id": "box_0000000a"}
    assert likeness.as_imported(["box_0000000a"]) == ["u-1"]


def test_an_id_that_was_there_before_is_not_made_up() -> None:
    likeness = Likeness()
    likeness.see("box_0000000a")
    assert likeness.difference("u-1", "box_0000000a") != ""


def test_entries_are_paired_by_what_they_hold() -> None:
    likeness = Likeness()
    own = {"box_0000000b": "second", "box_0000000a": "first"}
    assert likeness.difference_of_entries({"u-1": "first", "u-2": "second"}, own, "boxes") == ""
    assert likeness.imported_of == {"box_0000000a": "u-1", "box_0000000b": "u-2"}
    assert likeness.difference_of_entries({"u-1": "first"}, {"box_0000000a": "other"}, "boxes") != ""
    assert likeness.difference_of_entries({}, {"box_0000000a": "first"}, "boxes") != ""


def test_the_same_in_another_order_is_told_apart_from_other_entries() -> None:
    likeness = Likeness()
    assert likeness.differs_in_order_only({"data": [{"n": 2.0}, {"n": 1}]}, {"data": [{"n": 1.0}, {"n": 2}]})
    assert not likeness.differs_in_order_only({"data": [1, 1, 2]}, {"data": [1, 2, 2]})
