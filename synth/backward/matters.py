"""Which commands are one matter: they name the same row, or what belongs to it, or they are about the same person."""

from synth.solutions.row_relations import RowPlace, RowRelations

DEPTH = 3
MOST_OF_A_MATTER = 5
"""A row with more rows than this is a kind of thing, a place or a term: what has it in common has little in common."""


def is_person(world: RowRelations, place: RowPlace) -> bool:
    """True if a row describes a person: it has a name, and contact data or a date of birth."""
    columns = world.rows.get(place, {}).keys()
    named = any(name in columns for name in ("name", "full_name", "first_name"))
    return named and any(part in column for column in columns for part in ("email", "phone", "birth", "born"))


def are_one_matter(world: RowRelations, first: set[RowPlace], second: set[RowPlace]) -> bool:
    """True if the rows of two commands belong together.

    One names a row that the other names too, or that the other's row belongs to. Or the rows of both belong to the
    same person, who has few. The day, the desk, the firm and the same verb join nothing.
    """
    above_first = {parent for place in first for parent in world.ancestors(place)}
    above_second = {parent for place in second for parent in world.ancestors(place)}
    named = (first & (second | above_second)) | (second & above_first)
    if any(is_person(world, place) or _has_few(world, place) for place in named):
        return True
    return any(_has_few(world, person) for person in _people_of(world, first) & _people_of(world, second))


def _people_of(world: RowRelations, places: set[RowPlace]) -> set[RowPlace]:
    """The people to whom rows belong, and not those who are above these."""
    found: set[RowPlace] = set()
    level = {parent for place in places if not is_person(world, place) for parent in world.parents(place)}
    for _ in range(DEPTH):
        people = {place for place in level if is_person(world, place)}
        found |= people
        level = {parent for place in level - people for parent in world.parents(place)}
    return found


def _has_few(world: RowRelations, place: RowPlace) -> bool:
    return len(world.children(place)) <= MOST_OF_A_MATTER
