"""The commands of a walk are one matter: they share a row, or a person, and not a place, a kind or a superior."""

import pytest

from synth.backward.matters import are_one_matter
from synth.play.row_view import SchemaShape, SqlColumn, View, ViewRow
from synth.solutions.row_relations import RowPlace, RowRelations

ROWS: dict[str, list[ViewRow]] = {
    "wards": [{"id": "w", "title": "Ward 1"}],
    "people": [
        {"id": name, "name": name, "email": f"{name}@mail.example", "boss_id": boss}
        for name, boss in (("boss", None), ("ann", "boss"), ("bob", "boss"), ("firm", None))
    ],
    "orders": [
        {"id": name, "person_id": person, "ward_id": "w"}
        for name, person in (("a1", "ann"), ("a2", "ann"), ("b1", "bob"), *((f"f{at}", "firm") for at in range(1, 7)))
    ],
    "parcels": [{"id": "pa", "order_id": "a1"}, {"id": "pb", "order_id": "b1"}],
}
POINTS = (("people", "boss_id", "people"), ("orders", "person_id", "people"), ("orders", "ward_id", "wards"))


@pytest.fixture(scope="module")
def world() -> RowRelations:
    points = (*POINTS, ("parcels", "order_id", "orders"))
    shape = SchemaShape(
        {table: tuple(rows[0]) for table, rows in ROWS.items()},
        {table: SqlColumn(table, "id") for table in ROWS},
        {SqlColumn(table, column): SqlColumn(aim, "id") for table, column, aim in points},
        (),
    )
    return RowRelations(shape, View(ROWS))


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [
        ({("orders", "a1")}, {("orders", "a1")}, True),
        ({("orders", "a1")}, {("parcels", "pa")}, True),
        ({("parcels", "pb")}, {("orders", "b1"), ("wards", "w")}, True),
        ({("orders", "a1")}, {("orders", "a2")}, True),
        ({("people", "ann")}, {("orders", "a2")}, True),
        ({("orders", "a1")}, {("orders", "b1")}, False),
        ({("orders", "a1")}, {("wards", "w")}, False),
        ({("people", "ann")}, {("people", "bob")}, False),
        ({("orders", "f1")}, {("orders", "f2")}, False),
        ({("orders", "a1")}, {("parcels", "pb")}, False),
    ],
    ids=[
        "the same row",
        "a row and what belongs to it",
        "what belongs to a row, and the row beside a ward",
        "two rows of one person",
        "a person and what is theirs",
        "two people of one superior in one ward",
        "a row and the ward of all",
        "two people of one superior",
        "two rows of a firm that has many",
        "a row and what belongs to another",
    ],
)
def test_a_matter_is_a_row_or_a_person(
    world: RowRelations, first: set[RowPlace], second: set[RowPlace], joined: bool
) -> None:
    assert are_one_matter(world, first, second) is joined
    assert are_one_matter(world, second, first) is joined
