"""Python objects of a benchmark as rows: every attribute of an object, private ones too, is a row of its own."""

import json
from collections.abc import Iterable
from types import ModuleType

from servers.imported.finding import Finder
from servers.imported.keeping import Keeper
from servers.imported.marks import Classes, text_of
from servers.imported.rows import BoundStatement
from servers.toolkit import Database

WRITE = """
INSERT INTO attributes (class, name, place, value) VALUES (:class, :name, :place, :value)
ON CONFLICT (class, name) DO UPDATE SET place = excluded.place, value = excluded.value
"""
AttributeRow = tuple[int, str]


def rows_of(db: Database) -> dict[str, dict[str, AttributeRow]]:
    """The rows by class and attribute: place and JSON of each."""
    found: dict[str, dict[str, AttributeRow]] = {}
    for row in db.all("SELECT class, name, place, value FROM attributes ORDER BY class, place"):
        found.setdefault(row["class"], {})[row["name"]] = (row["place"], row["value"])
    return found


def object_of(module: ModuleType, name: str, rows: dict[str, AttributeRow]) -> object:
    """An object of a class of a module, with the attributes that the rows hold."""
    made = object.__new__(getattr(module, name))
    finder = Finder(_classes(module))
    for attribute, (_, value) in rows.items():
        vars(made)[attribute] = finder.find(json.loads(value), (attribute,))
    return made


def changes_of(
    module: ModuleType, name: str, made: object, before: dict[str, AttributeRow]
) -> Iterable[BoundStatement]:
    """The statements that keep what an object is now."""
    keeper = Keeper(_classes(module))
    after = set[str]()
    for place, (attribute, value) in enumerate(vars(made).items()):
        after.add(attribute)
        text = text_of(keeper.keep(value, (attribute,)))
        if before.get(attribute) != (place, text):
            yield WRITE, {"class": name, "name": attribute, "place": place, "value": text}
    for attribute in before.keys() - after:
        yield "DELETE FROM attributes WHERE class = :class AND name = :name", {"class": name, "name": attribute}


def _classes(module: ModuleType) -> Classes:
    found = vars(module).items()
    return {name: one for name, one in found if isinstance(one, type) and one.__module__ == module.__name__}
