from typing import TypedDict

from servers.toolkit import Database, ToolError


class Place(TypedDict):
    shelf: str


class Taken(TypedDict):
    taken: int


class Sent(TypedDict):
    sent: int


def find(db: Database, *, item: str) -> Place:
    """Say on which shelf an item lies.

    Args:
        item: The item.
    """
    row = db.one("SELECT id FROM shelves WHERE item = :item", item=item)
    if row is None:
        raise ToolError("no such item")
    return {"shelf": row["id"]}


def take(db: Database, *, shelf: str, count: int) -> Taken:
    """Take pieces from a shelf and lay them on the table, which must be empty.

    Args:
        shelf: The shelf.
        count: How many pieces.
    """
    row = db.one("SELECT item, stock FROM shelves WHERE id = :shelf", shelf=shelf)
    if row is None:
        raise ToolError("no such shelf")
    if not 1 <= count <= row["stock"]:
        raise ToolError("not so many")
    if db.one("SELECT id FROM taken"):
        raise ToolError("the table is full")
    db.run("UPDATE shelves SET stock = stock - :count WHERE id = :shelf", shelf=shelf, count=count)
    db.run("INSERT INTO taken (id, item, count) VALUES (1, :item, :count)", item=row["item"], count=count)
    return {"taken": count}


def send(db: Database, *, town: str) -> Sent:
    """Send what lies on the table.

    Args:
        town: Where to.
    """
    row = db.one("SELECT item, count FROM taken")
    if row is None:
        raise ToolError("the table is empty")
    if not town:
        raise ToolError("no town")
    db.run("DELETE FROM taken")
    db.run(
        "INSERT INTO parcels (id, town, item, count) VALUES (:id, :town, :item, :count)",
        id=db.new_id("parcel"),
        town=town,
        item=row["item"],
        count=row["count"],
    )
    return {"sent": row["count"]}
