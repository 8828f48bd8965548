"""Tools of the parcel room of a hardware wholesaler: a small place, for first steps and for small models."""

from datetime import date, timedelta
from typing import Literal, TypedDict, cast

from servers.toolkit import Database, ToolError

MOST_PIECES = 9


class Shelf(TypedDict):
    shelf_id: str
    item: str
    pieces: int
    room: int


class Counter(TypedDict):
    counter_id: str
    town: str
    van_leaves: str


class Parcel(TypedDict):
    parcel_id: str
    item: str
    pieces: int
    town: str
    status: str


class ParcelList(TypedDict):
    parcels: list[Parcel]


class Sent(TypedDict):
    parcel_id: str
    left_on_shelf: int


class Lying(TypedDict):
    pieces: int


def find_item(db: Database, *, item: str) -> Shelf:
    """Say on which shelf an item lies, and how many pieces of it.

    Args:
        item: The exact name of the item, such as `nails`.
    """
    row = db.one("SELECT id AS shelf_id, item, pieces, room FROM shelves WHERE item = :item", item=item)
    if row is None:
        raise ToolError(f"there is no item {item!r} here")
    return cast("Shelf", row)


def find_town(db: Database, *, town: str) -> Counter:
    """Say which counter takes the parcels for a town, and when its van leaves.

    Args:
        town: The exact name of the town, such as `Oslo`.
    """
    row = db.one("SELECT id AS counter_id, town, van_leaves FROM counters WHERE town = :town", town=town)
    if row is None:
        raise ToolError(f"the post does not serve {town!r} from here")
    return cast("Counter", row)


def list_parcels(
    db: Database,
    *,
    town: str | None = None,
    status: Literal["waiting", "gone", "called_back"] | None = None,
) -> ParcelList:
    """List parcels, the earliest first; without arguments, all of them.

    Args:
        town: Only parcels for this town.
        status: Only parcels that wait for their van, are gone with it, or were called back.
    """
    rows = db.all(
        """
        SELECT parcels.id AS parcel_id, item, parcels.pieces, town, status
        FROM parcels
        JOIN shelves ON shelves.id = shelf_id
        JOIN counters ON counters.id = counter_id
        WHERE (:town IS NULL OR town = :town) AND (:status IS NULL OR status = :status)
        ORDER BY sent_at, parcels.id
        """,
        town=town,
        status=status,
    )
    return {"parcels": cast("list[Parcel]", rows)}


def send_parcel(db: Database, *, shelf_id: str, pieces: int, counter_id: str) -> Sent:
    """Pack pieces from a shelf and hand the parcel in at a counter.

    Args:
        shelf_id: The shelf, as `find_item` shows it.
        pieces: How many pieces.
        counter_id: The counter, as `find_town` shows it.
    """
    shelf = _shelf(db, shelf_id)
    counter = db.one("SELECT town, van_leaves FROM counters WHERE id = :id", id=counter_id)
    if counter is None:
        raise ToolError(f"there is no counter {counter_id!r}")
    if not 1 <= pieces <= MOST_PIECES:
        raise ToolError(f"a parcel holds 1 to {MOST_PIECES} pieces")
    if pieces > shelf["pieces"]:
        raise ToolError(f"only {shelf['pieces']} pieces lie on shelf {shelf_id}")
    if counter["van_leaves"] <= db.now()[11:16]:
        tomorrow = date.fromisoformat(db.now()[:10]) + timedelta(days=1)
        raise ToolError(f"the van to {counter['town']} left at {counter['van_leaves']}; the next one goes on {tomorrow}")
    parcel = db.new_id("parcel")
    db.run("UPDATE shelves SET pieces = pieces - :pieces WHERE id = :id", pieces=pieces, id=shelf_id)
    db.run(
        """
        INSERT INTO parcels (id, shelf_id, pieces, counter_id, sent_at) VALUES (:id, :shelf, :pieces, :counter, :now)
        """,
        id=parcel,
        shelf=shelf_id,
        pieces=pieces,
        counter=counter_id,
        now=db.now(),
    )
    return {"parcel_id": parcel, "left_on_shelf": shelf["pieces"] - pieces}


def call_back_parcel(db: Database, *, parcel_id: str) -> Lying:
    """Call a parcel back from its counter, and put its pieces back on their shelf.

    Args:
        parcel_id: The parcel, as `list_parcels` shows it.
    """
    parcel = db.one("SELECT shelf_id, pieces, status FROM parcels WHERE id = :id", id=parcel_id)
    if parcel is None:
        raise ToolError(f"there is no parcel {parcel_id!r}")
    if parcel["status"] != "waiting":
        raise ToolError("the parcel is gone" if parcel["status"] == "gone" else "the parcel was called back already")
    lying = _put(db, parcel["shelf_id"], parcel["pieces"])
    db.run("UPDATE parcels SET status = 'called_back' WHERE id = :id", id=parcel_id)
    return {"pieces": lying}


def put_on_shelf(db: Database, *, shelf_id: str, pieces: int) -> Lying:
    """Put delivered pieces on the shelf of their item, and say how many lie there then.

    Args:
        shelf_id: The shelf, as `find_item` shows it.
        pieces: How many pieces were delivered.
    """
    if pieces < 1:
        raise ToolError("nothing was delivered")
    return {"pieces": _put(db, shelf_id, pieces)}


def _shelf(db: Database, shelf_id: str) -> dict[str, int]:
    row = db.one("SELECT pieces, room FROM shelves WHERE id = :id", id=shelf_id)
    if row is None:
        raise ToolError(f"there is no shelf {shelf_id!r}")
    return row


def _put(db: Database, shelf_id: str, pieces: int) -> int:
    shelf = _shelf(db, shelf_id)
    lying = shelf["pieces"] + pieces
    if lying > shelf["room"]:
        raise ToolError(f"shelf {shelf_id} has room for {shelf['room'] - shelf['pieces']} pieces more")
    db.run("UPDATE shelves SET pieces = :lying WHERE id = :id", lying=lying, id=shelf_id)
    return lying
